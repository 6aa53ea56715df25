"""The folder of a simulated SDK: virtual devices, packages, calls, and who is running.

A running process holds a lock on a file, which ends with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

EMULATOR_VERSION = "35.4.9"
USER_DATA = "userdata-qemu.img"

_CPUS = {"x86_64": "x86_64", "x86": "x86", "arm64-v8a": "arm64"}
_TAGS = {
    "default": "System Image",
    "google_apis": "Google APIs System Image",
    "google_apis_playstore": "Google Play System Image",
}
_TOOLS = {
    "cmdline-tools;latest": ("19.0", "Android SDK Command-line Tools (latest)"),
    "emulator": (EMULATOR_VERSION, "Android Emulator"),
    "platform-tools": ("36.0.0", "Android SDK Platform-Tools"),
}
_PROPERTIES = "source.properties"
_CALLS = "calls.jsonl"


def session_file(sdk: Path) -> Path:
    """Return the file that is held while the SDK is in use."""
    return sdk / ".session"


def running_folder(sdk: Path) -> Path:
    """Return the folder where each running emulator holds a file."""
    return sdk / ".running"


# -- Virtual devices ---------------------------------------------------------------------------


#: Width, height and density of each kind of device.
DEVICE_PROFILES: Mapping[str, tuple[int, int, int]] = {
    "medium_phone": (1080, 2400, 420),
    "Nexus 5": (1080, 1920, 480),
    "pixel_6": (1080, 2400, 420),
    "pixel_7": (1080, 2400, 420),
    "pixel_8": (1080, 2400, 420),
    "pixel_tablet": (2560, 1600, 320),
    "small_phone": (720, 1280, 320),
}


def avd_home(sdk: Path) -> Path:
    """Return the folder of the virtual devices: that of the environment, else one in the SDK.

    The real tools would use ``~/.android/avd``, which tests must not touch.
    """
    avds, user = (os.environ.get(f"ANDROID_{name}_HOME") for name in ("AVD", "USER"))
    if avds:
        return Path(avds)
    return Path(user) / "avd" if user else sdk / "avd"


def list_avds(home: Path) -> list[str]:
    """Return the names of the virtual devices in a folder."""
    return sorted(path.stem for path in home.glob("*.ini"))


@dataclass(frozen=True)
class AvdFiles:
    """The files of one virtual device: ``NAME.ini`` and the folder that it names."""

    home: Path
    name: str

    @property
    def ini(self) -> Path:
        """The file with the path of the folder."""
        return self.home / f"{self.name}.ini"

    @property
    def folder(self) -> Path:
        """The folder with everything else."""
        return Path(read_ini(self.ini).get("path") or self.home / f"{self.name}.avd")

    @property
    def config(self) -> Mapping[str, str]:
        """The configuration; empty for a device that does not exist."""
        return read_ini(self.folder / "config.ini")

    @property
    def exists(self) -> bool:
        """Whether there is such a device."""
        return self.ini.is_file()

    @property
    def lock(self) -> Path:
        """The file that a running emulator holds."""
        return self.folder / "hardware-qemu.ini.lock"

    @property
    def is_running(self) -> bool:
        """Whether an emulator runs with it; the lock of a killed one does not count."""
        return holder_of(self.lock) is not None

    def create(self, *, image: str, device: str) -> None:
        """Write the files, replacing any that are there."""
        self.delete()
        folder = self.home / f"{self.name}.avd"
        folder.mkdir(parents=True)
        write_ini(folder / "config.ini", _config(self.name, image, device))
        about = {"path": str(folder), "path.rel": f"avd/{self.name}.avd"}
        write_ini(self.ini, {**about, "target": image.split(";")[1]})

    def delete(self) -> None:
        """Remove the files, if there are any."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.ini.unlink(missing_ok=True)


def read_ini(path: Path) -> dict[str, str]:
    """Read ``key=value`` lines; a missing file has none."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def write_ini(path: Path, values: Mapping[str, str]) -> None:
    """Write ``key=value`` lines atomically."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text("".join(f"{key}={value}\n" for key, value in values.items()), "utf-8")
    unfinished.replace(path)


def _config(name: str, image: str, device: str) -> dict[str, str]:
    tag, abi = image.split(";")[2:]
    width, height, density = DEVICE_PROFILES[device]
    return {
        "AvdId": name,
        "PlayStore.enabled": "true" if tag == "google_apis_playstore" else "false",
        "abi.type": abi,
        "hw.cpu.arch": _CPUS.get(abi, abi),
        "hw.device.name": device,
        "hw.lcd.density": str(density),
        "hw.lcd.height": str(height),
        "hw.lcd.width": str(width),
        "image.sysdir.1": f"{image.replace(';', '/')}/",
        "tag.id": tag,
    }


# -- Packages ----------------------------------------------------------------------------------


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


def available(patterns: tuple[str, ...]) -> list[SdkPackage]:
    """Return the system images whose names match one of the patterns."""
    images = [
        SdkPackage(f"system-images;android-{api};{tag};{abi}", "9", f"{text} {abi}, API {api}")
        for api in range(21, 37)
        for tag, text in _TAGS.items()
        for abi in ("arm64-v8a", "x86", "x86_64")
    ]
    return [one for one in images if any(fnmatchcase(one.name, each) for each in patterns)]


def installed(sdk: Path) -> list[SdkPackage]:
    """Return what is installed: the tools, and the system images that were downloaded."""
    found = [SdkPackage(name, *about) for name, about in _TOOLS.items()]
    for marker in sorted(sdk.glob(f"system-images/*/*/*/{_PROPERTIES}")):
        values = read_ini(marker)
        name = ";".join(marker.parent.relative_to(sdk).parts)
        found.append(SdkPackage(name, values["Pkg.Revision"], values["Pkg.Desc"]))
    return found


def install(sdk: Path, package: SdkPackage) -> None:
    """Put a package into its folder atomically: other processes may be reading."""
    folder, made = sdk / package.place, sdk / ".temp" / package.place.replace("/", "_")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    values = {"Pkg.Revision": package.version, "Pkg.Desc": package.description}
    write_ini(made / _PROPERTIES, values)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    made.replace(folder)


def uninstall(sdk: Path, name: str) -> None:
    """Remove a system image, if it is installed."""
    if name.startswith("system-images;"):
        shutil.rmtree(sdk / name.replace(";", "/"), ignore_errors=True)


# -- The record of calls -----------------------------------------------------------------------


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, or a download that one began."""

    tool: str
    arguments: tuple[str, ...]
    pid: int


def note_call(sdk: Path, tool: str, arguments: list[str]) -> None:
    """Add a call to the record."""
    line = json.dumps({"tool": tool, "arguments": arguments, "pid": os.getpid()}) + "\n"
    with (sdk / _CALLS).open("ab", buffering=0) as record:
        record.write(line.encode())  # in one piece, beside other tools that write theirs


def read_calls(sdk: Path) -> list[ToolCall]:
    """Return the calls so far, in order."""
    try:
        lines = (sdk / _CALLS).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    entries = [json.loads(line) for line in lines]
    return [ToolCall(one["tool"], tuple(one["arguments"]), one["pid"]) for one in entries]


# -- Running processes -------------------------------------------------------------------------

# flock has no wait with a deadline.
_POLL_SECONDS = 0.02


class HeldFile:
    """A file of values that a running process locks; a killed process leaves it unlocked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def hold(self, values: Mapping[str, Any]) -> bool:
        """Lock the file and write the values; return False if another process holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _lock(descriptor, fcntl.LOCK_EX):
                os.close(descriptor)
                return False
            if _is_at(descriptor, self.path):
                self._descriptor = descriptor
                self.write(values)
                return True
            os.close(descriptor)  # released, and so removed, in the meantime

    def write(self, values: Mapping[str, Any]) -> None:
        """Replace the values of the file, which must be held."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{json.dumps(values)}\n".encode(), 0)

    def release(self) -> None:
        """Remove the file if it is held."""
        if self._descriptor is not None:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = None


def holder_of(path: Path) -> dict[str, Any] | None:
    """Return the values of a file that a running process holds, else None."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if _lock(descriptor, fcntl.LOCK_SH):
            return None
        values: dict[str, Any] = json.loads(path.read_text("utf-8") or "{}")
    except (OSError, ValueError):
        return {}
    finally:
        os.close(descriptor)
    return values


def wait_for_end(path: Path) -> None:
    """Return when the process that holds the file has ended."""
    with suppress(OSError), path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def is_free_before(path: Path, deadline: float) -> bool:
    """Wait until no process holds the file; return False if one still does at the deadline."""
    while holder_of(path) is not None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether the open file is still the one at that path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
