"""The build of a phone, and its system properties."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

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
    "Pixel Tablet": "tangorpro",
}

# What emulators call their processor in the model, the longer names first.
_ABIS = {"x86_64": "x86_64", "x86": "x86", "arm64": "arm64-v8a", "armv7": "armeabi-v7a"}


@dataclass(frozen=True)
class Build:
    """The kind of phone, as the read-only properties describe it."""

    serial: str
    model: str
    api: int
    density: int
    locale: str
    avd_name: str | None = None

    @property
    def release(self) -> str:
        """Android's version, e.g. 16."""
        return release_of(self.api)

    @property
    def code_name(self) -> str:
        """The maker's code name of the model."""
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
        if self.avd_name is None:
            return "arm64-v8a"
        return next((abi for name, abi in _ABIS.items() if name in self.model), "arm64-v8a")


def release_of(api: int) -> str:
    """Return the version of Android that has this API level."""
    return _RELEASES.get(api, str(max(api - 20, 1)))


def read_only_properties(build: Build, rng: random.Random) -> dict[str, str]:
    """Return the ``ro.`` properties of a phone of this kind."""
    return {
        **_FIXED,
        **_version_properties(build, rng),
        **_product_properties(build),
        **_emulator_properties(build),
    }


_FIXED = {
    "ro.bootmode": "unknown",
    "ro.build.date.utc": "1749600000",
    "ro.build.tags": "release-keys",
    "ro.build.type": "user",
    "ro.build.user": "android-build",
    "ro.build.version.codename": "REL",
    "ro.build.version.min_supported_target_sdk": "28",
    "ro.build.version.preview_sdk": "0",
    "ro.build.version.security_patch": "2025-06-05",
    "ro.crypto.state": "encrypted",
    "ro.debuggable": "0",
    "ro.product.brand": "google",
    "ro.product.manufacturer": "Google",
    "ro.secure": "1",
    "ro.treble.enabled": "true",
    "ro.zygote": "zygote64",
}

# Since then an API level has a minor number.
_FULL_SDK_SINCE = 36


def _version_properties(build: Build, rng: random.Random) -> dict[str, str]:
    build_id = f"BP2A.{rng.randrange(250600, 251200)}.{rng.randrange(1, 30):03d}"
    incremental = str(rng.randrange(13000000, 14000000))
    fingerprint = (
        f"google/{build.product}/{build.code_name}:{build.release}/{build_id}/{incremental}"
        ":user/release-keys"
    )
    return {
        "ro.build.display.id": f"{build_id} release-keys",
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": build_id,
        "ro.build.version.incremental": incremental,
        "ro.build.version.release": build.release,
        "ro.build.version.release_or_codename": build.release,
        "ro.build.version.sdk": str(build.api),
        **({"ro.build.version.sdk_full": f"{build.api}.0"} if build.api >= _FULL_SDK_SINCE else {}),
        "ro.product.build.version.sdk": str(build.api),
        "ro.product.first_api_level": str(min(build.api, 34)),
    }


def _product_properties(build: Build) -> dict[str, str]:
    is_emulator = build.avd_name is not None
    hardware = "ranchu" if is_emulator else build.code_name
    return {
        "ro.board.platform": "ranchu" if is_emulator else "zuma",
        "ro.boot.hardware": hardware,
        "ro.boot.serialno": build.serial,
        "ro.build.characteristics": _characteristics(build),
        "ro.build.product": build.code_name,
        "ro.hardware": hardware,
        "ro.product.board": build.code_name,
        "ro.product.cpu.abi": build.abi,
        "ro.product.cpu.abilist": build.abi,
        "ro.product.cpu.abilist64": build.abi,
        "ro.product.device": build.code_name,
        "ro.product.locale": build.locale,
        "ro.product.model": build.model,
        "ro.product.name": build.product,
        "ro.serialno": build.serial,
        "ro.sf.lcd_density": str(build.density),
    }


def _characteristics(build: Build) -> str:
    if build.avd_name is not None:
        return "emulator"
    return "tablet,nosdcard" if build.model.endswith("Tablet") else "nosdcard"


def _emulator_properties(build: Build) -> dict[str, str]:
    if build.avd_name is None:
        return {}
    return {
        "ro.boot.qemu": "1",
        "ro.boot.qemu.avd_name": build.avd_name,
        "ro.kernel.qemu": "1",
        "ro.kernel.qemu.avd_name": build.avd_name,
    }


# Properties that become "1" once Android runs; only init may set them.
_BOOT_KEYS = ("dev.bootcomplete", "sys.boot_completed")
_ANIMATION = "init.svc.bootanim"
MAX_VALUE = 91
"""Bytes a changeable property's value may have."""


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
            **read_only_properties(build, rng),
            **_runtime_values(build),
            "ro.runtime.firstboot": str(int(clock() * 1000) - rng.randrange(10**7)),
        }

    def get(self, key: str) -> str:
        """Return a value; one that is not there is empty."""
        if key in _BOOT_KEYS:
            return "" if self._booting() else "1"
        if key == _ANIMATION:
            return "running" if self._booting() else "stopped"
        return self._values.get(key, "")

    def set(self, key: str, value: str) -> str | None:
        """Set a value; return the message where it was refused."""
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
        animation = (_ANIMATION, self.get(_ANIMATION))
        return sorted([*self._values.items(), animation, *booted])

    def banner(self) -> str:
        """Return the properties that adbd sends to every host."""
        keys = ("ro.product.name", "ro.product.model", "ro.product.device")
        return "".join(f"{key}={self.get(key)};" for key in keys)


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
