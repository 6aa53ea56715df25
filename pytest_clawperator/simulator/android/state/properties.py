"""Android's system properties: what ``getprop`` prints."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

# What becomes "1" once Android runs; nobody but init may set these.
_BOOT_KEYS = ("dev.bootcomplete", "sys.boot_completed")

MAX_VALUE = 91
"""Bytes a changeable property's value may have."""

_RELEASES = {
    21: "5.0",
    22: "5.1",
    23: "6.0",
    24: "7.0",
    25: "7.1",
    26: "8.0.0",
    27: "8.1.0",
    28: "9",
    29: "10",
    30: "11",
    31: "12",
    32: "12",
    33: "13",
    34: "14",
    35: "15",
    36: "16",
}

_CODE_NAMES = {
    "Pixel 6": "oriole",
    "Pixel 7": "panther",
    "Pixel 7a": "lynx",
    "Pixel 8": "shiba",
    "Pixel 8 Pro": "husky",
    "Pixel 9": "tokay",
    "Pixel 9 Pro": "caiman",
    "Pixel 10": "frankel",
}


@dataclass(frozen=True)
class Build:
    """What kind of phone it is, as its maker wrote it into the read-only properties."""

    serial: str
    model: str
    api: int
    density: int
    locale: str
    avd_name: str | None = None

    @property
    def release(self) -> str:
        """Android's version as people say it."""
        return release_of(self.api)

    @property
    def code_name(self) -> str:
        """The maker's word for the model, in one lower-case word."""
        if self.avd_name is not None:
            return "emu64xa" if self.abi == "x86_64" else "emu64a"
        return _CODE_NAMES.get(self.model, self.model.lower().replace(" ", "_"))

    @property
    def product(self) -> str:
        """The product's name; emulators are a product of their own."""
        if self.avd_name is None:
            return self.code_name
        return self.model if self.model.startswith("sdk_") else "sdk_gphone64_arm64"

    @property
    def abi(self) -> str:
        """What its processor runs."""
        return "x86_64" if self.avd_name is not None and "x86_64" in self.model else "arm64-v8a"


def release_of(api: int) -> str:
    """Give the version of Android that has this API level."""
    return _RELEASES.get(api, str(max(api - 20, 1)))


class Properties:
    """The properties of one phone."""

    def __init__(
        self,
        build: Build,
        *,
        rng: random.Random,
        clock: Callable[[], float],
        booting: Callable[[], bool] = lambda: False,
    ) -> None:
        self._booting = booting
        self._values = {
            **_build_values(build, rng),
            **_runtime_values(build),
            "ro.runtime.firstboot": str(int(clock() * 1000) - rng.randrange(10**7)),
        }

    def get(self, key: str) -> str:
        """Give a value; one that is not there is empty."""
        if key in _BOOT_KEYS:
            return "" if self._booting() else "1"
        return self._values.get(key, "")

    def set(self, key: str, value: str) -> str | None:
        """Set a value, or say why it was refused."""
        if not key or key.startswith(".") or key.endswith(".") or ".." in key:
            return f"failed to set property '{key}' to '{value}'"
        if key in _BOOT_KEYS or key.startswith("ro."):
            return f"failed to set property '{key}' to '{value}'"
        if len(value.encode("utf-8", "surrogateescape")) > MAX_VALUE:
            return f"value '{value}' too long; try '{value[:MAX_VALUE]}'"
        self._values[key] = value
        return None

    def items(self) -> list[tuple[str, str]]:
        """List everything that has a value, by key."""
        booted = [] if self._booting() else [(key, "1") for key in _BOOT_KEYS]
        return sorted([*self._values.items(), *booted])

    def banner(self) -> str:
        """Give what adbd tells every host about the phone."""
        keys = ("ro.product.name", "ro.product.model", "ro.product.device")
        return "".join(f"{key}={self.get(key)};" for key in keys)


def _build_values(build: Build, rng: random.Random) -> dict[str, str]:
    build_id = f"BP2A.{rng.randrange(250600, 251200)}.{rng.randrange(1, 30):03d}"
    incremental = str(rng.randrange(13000000, 14000000))
    fingerprint = (
        f"google/{build.product}/{build.code_name}:{build.release}/{build_id}/{incremental}"
        ":user/release-keys"
    )
    emulator = build.avd_name is not None
    values = {
        "ro.board.platform": "ranchu" if emulator else "zuma",
        "ro.boot.hardware": "ranchu" if emulator else build.code_name,
        "ro.boot.serialno": build.serial,
        "ro.bootmode": "unknown",
        "ro.build.characteristics": "emulator" if emulator else "nosdcard",
        "ro.build.date.utc": "1749600000",
        "ro.build.display.id": f"{build_id} release-keys",
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": build_id,
        "ro.build.tags": "release-keys",
        "ro.build.type": "user",
        "ro.build.user": "android-build",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": incremental,
        "ro.build.version.min_supported_target_sdk": "28",
        "ro.build.version.preview_sdk": "0",
        "ro.build.version.release": build.release,
        "ro.build.version.release_or_codename": build.release,
        "ro.build.version.sdk": str(build.api),
        "ro.build.version.security_patch": "2025-06-05",
        "ro.crypto.state": "encrypted",
        "ro.debuggable": "0",
        "ro.hardware": "ranchu" if emulator else build.code_name,
        "ro.product.board": build.code_name,
        "ro.product.brand": "google",
        "ro.product.build.version.sdk": str(build.api),
        "ro.product.cpu.abi": build.abi,
        "ro.product.cpu.abilist": build.abi,
        "ro.product.cpu.abilist64": build.abi,
        "ro.product.device": build.code_name,
        "ro.product.first_api_level": str(min(build.api, 34)),
        "ro.product.locale": build.locale,
        "ro.product.manufacturer": "Google",
        "ro.product.model": build.model,
        "ro.product.name": build.product,
        "ro.secure": "1",
        "ro.serialno": build.serial,
        "ro.sf.lcd_density": str(build.density),
        "ro.treble.enabled": "true",
        "ro.zygote": "zygote64",
    }
    if build.avd_name is not None:
        values |= {"ro.boot.qemu": "1", "ro.boot.qemu.avd_name": build.avd_name}
        values |= {"ro.kernel.qemu": "1", "ro.kernel.qemu.avd_name": build.avd_name}
    return values


def _runtime_values(build: Build) -> dict[str, str]:
    return {
        "bluetooth.device.class_of_device": "90,2,12",
        "dalvik.vm.heapgrowthlimit": "256m",
        "dalvik.vm.heapsize": "512m",
        "debug.force_rtl": "false",
        "gsm.network.type": "LTE",
        "gsm.operator.alpha": "Simulated",
        "gsm.sim.state": "LOADED",
        "init.svc.adbd": "running",
        "init.svc.bootanim": "stopped",
        "init.svc.surfaceflinger": "running",
        "init.svc.zygote": "running",
        "persist.sys.locale": build.locale,
        "persist.sys.timezone": "GMT",
        "persist.sys.usb.config": "adb",
        "service.bootanim.exit": "1",
        "sys.usb.config": "adb",
        "sys.usb.state": "adb",
        "vold.has_adoptable": "0",
    }
