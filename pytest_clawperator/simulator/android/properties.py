"""The build of a phone, and its system properties."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

# Later versions of Android are their API level without 20.
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
}

_CODE_NAMES = {
    "Pixel 6": "oriole",
    "Pixel 7a": "lynx",
    "Pixel 8": "shiba",
    "Pixel 9": "tokay",
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
        return _RELEASES.get(self.api, str(max(self.api - 20, 1)))

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


def read_only_properties(build: Build, rng: random.Random) -> dict[str, str]:
    """Return the ``ro.`` properties of a phone of this kind."""
    build_id = f"BP2A.{rng.randrange(250600, 251200)}.{rng.randrange(1, 30):03d}"
    incremental = str(rng.randrange(13000000, 14000000))
    model = f"google/{build.product}/{build.code_name}"
    is_emulator = build.avd_name is not None
    hardware = "ranchu" if is_emulator else build.code_name
    characteristics = "tablet,nosdcard" if build.model.endswith("Tablet") else "nosdcard"
    values = {
        "ro.boot.serialno": build.serial,
        "ro.build.characteristics": "emulator" if is_emulator else characteristics,
        "ro.build.fingerprint": f"{model}:{build.release}/{build_id}/{incremental}"
        ":user/release-keys",
        "ro.build.id": build_id,
        "ro.build.type": "user",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": incremental,
        "ro.build.version.release": build.release,
        "ro.build.version.sdk": str(build.api),
        "ro.debuggable": "0",
        "ro.hardware": hardware,
        "ro.product.board": build.code_name,
        "ro.product.brand": "google",
        "ro.product.cpu.abi": build.abi,
        "ro.product.cpu.abilist": build.abi,
        "ro.product.device": build.code_name,
        "ro.product.locale": build.locale,
        "ro.product.manufacturer": "Google",
        "ro.product.model": build.model,
        "ro.product.name": build.product,
        "ro.secure": "1",
        "ro.serialno": build.serial,
        "ro.sf.lcd_density": str(build.density),
    }
    if build.avd_name is not None:
        values["ro.boot.qemu"] = values["ro.kernel.qemu"] = "1"
        for name in ("ro.boot.qemu.avd_name", "ro.kernel.qemu.avd_name"):
            values[name] = build.avd_name
    return values


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
        booting: Callable[[], bool] = lambda: False,
    ) -> None:
        self._booting = booting
        self._values = {
            **read_only_properties(build, rng),
            "persist.sys.locale": build.locale,
            "persist.sys.timezone": "GMT",
            "sys.usb.config": "adb",
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
        is_name = re.fullmatch(r"[^.]+(\.[^.]+)*", key)
        if not is_name or key in _BOOT_KEYS or key.startswith("ro."):
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
