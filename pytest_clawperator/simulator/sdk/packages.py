"""The packages of the simulated SDK: what can be installed, and what is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_clawperator.simulator.sdk.avd_files import read_ini, write_ini
from pytest_clawperator.simulator.sdk.scenario import Scenario

EMULATOR_VERSION = "35.4.9"
_APIS = range(21, 37)
_TAGS = {
    "default": "System Image",
    "google_apis": "Google APIs System Image",
    "google_apis_playstore": "Google Play System Image",
}
_ABIS = ("arm64-v8a", "x86", "x86_64")
_TOOLS = {
    "cmdline-tools;latest": ("19.0", "Android SDK Command-line Tools (latest)"),
    "emulator": (EMULATOR_VERSION, "Android Emulator"),
    "platform-tools": ("36.0.0", "Android SDK Platform-Tools"),
}
_PROPERTIES = "source.properties"


@dataclass(frozen=True)
class SdkPackage:
    """One package, by the name that ``sdkmanager`` has for it."""

    name: str
    version: str
    description: str

    @property
    def place(self) -> str:
        """Its folder inside the SDK."""
        return self.name.replace(";", "/")

    @property
    def archive(self) -> str:
        """The name of the file that is downloaded."""
        words = self.name.split(";")
        return f"{words[-1]}-{words[1].rpartition('-')[2]}_r0{self.version}.zip"


def available(scenario: Scenario) -> list[SdkPackage]:
    """Return the system images that can be installed."""
    return [
        package
        for package in _images()
        if any(fnmatchcase(package.name, pattern) for pattern in scenario.images)
    ]


def installed(sdk: Path) -> list[SdkPackage]:
    """Return what is installed: the tools, and the system images that were downloaded."""
    found = [SdkPackage(name, *about) for name, about in _TOOLS.items()]
    for marker in sorted(sdk.glob(f"system-images/*/*/*/{_PROPERTIES}")):
        values = read_ini(marker)
        name = ";".join(marker.parent.relative_to(sdk).parts)
        found.append(
            SdkPackage(name, values.get("Pkg.Revision", "1"), values.get("Pkg.Desc", name))
        )
    return found


def install(sdk: Path, package: SdkPackage) -> None:
    """Put a package into its folder, at once: others may look at the same time."""
    folder, made = sdk / package.place, sdk / ".temp" / package.place.replace("/", "_")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    (made / "system.img").touch()
    values = {"Pkg.Revision": package.version, "Pkg.Desc": package.description}
    write_ini(made / _PROPERTIES, values)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    made.replace(folder)


def uninstall(sdk: Path, name: str) -> bool:
    """Remove a system image; return whether it was there."""
    folder = sdk / name.replace(";", "/")
    if not name.startswith("system-images;") or not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _images() -> Iterator[SdkPackage]:
    for api in _APIS:
        for tag, description in _TAGS.items():
            for abi in _ABIS:
                name = f"system-images;android-{api};{tag};{abi}"
                yield SdkPackage(name, "9", f"{description} {abi}, API {api}")
