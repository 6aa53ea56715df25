"""Android's system properties: what ``getprop`` prints."""

from __future__ import annotations

import random
from collections.abc import Callable

from pytest_clawperator.simulator.android.state.build import Build, read_only_properties

# What becomes "1" once Android runs; nobody but init may set these.
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

    def changeable(self) -> dict[str, str]:
        """Return the properties that can be set."""
        return {key: value for key, value in self._values.items() if not key.startswith("ro.")}

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
