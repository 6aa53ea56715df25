"""The files of virtual devices: ``NAME.ini``, ``NAME.avd/config.ini``, locks and snapshots."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_clawperator.simulator.sdk.device_profiles import DeviceProfile
from pytest_clawperator.simulator.sdk.held_file import holder_of

LOCK = "hardware-qemu.ini.lock"
USER_DATA = "userdata-qemu.img"
PLAY_STORE = "google_apis_playstore"

_CPUS = {"x86_64": "x86_64", "x86": "x86", "arm64-v8a": "arm64", "armeabi-v7a": "arm"}


def avd_home(sdk: Path) -> Path:
    """Return the folder of the virtual devices: that of the environment, else one in the SDK.

    The real tools would use ``~/.android/avd``, whose files are not to be touched.
    """
    avds, user = (os.environ.get(f"ANDROID_{name}_HOME") for name in ("AVD", "USER"))
    if avds:
        return Path(avds)
    return Path(user) / "avd" if user else sdk / "avd"


@dataclass(frozen=True)
class AvdFiles:
    """The files of one virtual device."""

    home: Path
    name: str

    @property
    def ini(self) -> Path:
        """The file that says where the folder is."""
        return self.home / f"{self.name}.ini"

    @property
    def folder(self) -> Path:
        """The folder with everything else."""
        return Path(read_ini(self.ini).get("path") or self.home / f"{self.name}.avd")

    @property
    def config(self) -> Mapping[str, str]:
        """What is configured; nothing for a device that does not exist."""
        return read_ini(self.folder / "config.ini")

    @property
    def exists(self) -> bool:
        """Whether there is such a device."""
        return self.ini.is_file()

    @property
    def lock(self) -> Path:
        """The file that a running emulator holds."""
        return self.folder / LOCK

    @property
    def is_running(self) -> bool:
        """Whether an emulator runs with it; the lock of one that was killed does not count."""
        return holder_of(self.lock) is not None

    def create(self, *, image: str, device: str, profile: DeviceProfile) -> None:
        """Make the files, in place of those that are there."""
        self.delete()
        folder = self.home / f"{self.name}.avd"
        folder.mkdir(parents=True)
        write_ini(folder / "config.ini", _config(self.name, image, device, profile))
        (folder / "userdata.img").touch()
        write_ini(
            self.ini,
            {
                "avd.ini.encoding": "UTF-8",
                "path": str(folder),
                "path.rel": f"avd/{self.name}.avd",
                "target": image.split(";")[1],
            },
        )

    def delete(self) -> None:
        """Remove the files; those that are not there are no problem."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.ini.unlink(missing_ok=True)


def list_names(home: Path) -> list[str]:
    """Return the names of the virtual devices in a folder."""
    return sorted(path.stem for path in home.glob("*.ini"))


def read_ini(path: Path) -> dict[str, str]:
    """Read ``key=value`` lines; a file that is missing has none."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def write_ini(path: Path, values: Mapping[str, str]) -> None:
    """Write ``key=value`` lines, at once or not at all."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text("".join(f"{key}={value}\n" for key, value in values.items()), "utf-8")
    unfinished.replace(path)


def _config(name: str, image: str, device: str, profile: DeviceProfile) -> dict[str, str]:
    tag, abi = image.split(";")[2:]
    return {
        "AvdId": name,
        "PlayStore.enabled": "true" if tag == PLAY_STORE else "false",
        "abi.type": abi,
        "avd.ini.encoding": "UTF-8",
        "disk.dataPartition.size": "6442450944",
        "fastboot.forceColdBoot": "no",
        "fastboot.forceFastBoot": "yes",
        "hw.cpu.arch": _CPUS.get(abi, abi),
        "hw.cpu.ncore": "4",
        "hw.device.manufacturer": profile.maker,
        "hw.device.name": device,
        "hw.gpu.enabled": "yes",
        "hw.gpu.mode": "auto",
        "hw.keyboard": "yes",
        "hw.lcd.density": str(profile.density),
        "hw.lcd.height": str(profile.height),
        "hw.lcd.width": str(profile.width),
        "hw.ramSize": "2048M",
        "image.sysdir.1": f"{image.replace(';', '/')}/",
        "tag.display": "Google Play" if tag == PLAY_STORE else tag,
        "tag.id": tag,
        "vm.heapSize": "256M",
    }
