"""A device and its properties, as inventory and hooks pass it around."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.text import visible_line

OPERATOR_PACKAGE = "com.clawperator.operator"

OPERATOR_DEV_PACKAGE = "com.clawperator.operator.dev"


@dataclass(frozen=True, kw_only=True)
class DeviceInfo:
    """A device and its properties; None if the device does not report one.

    ``serial`` is what adb calls it, ``key`` what it is: one phone seen twice has one key.
    """

    serial: str
    key: str
    model: str | None = None
    manufacturer: str | None = None
    api_level: int | None = None
    release: str | None = None
    abi: str | None = None
    density: int | None = None
    size: tuple[int, int] | None = None
    locale: str | None = None
    emulator: bool = False
    operator_package: str | None = None
    operator_version: str | None = None

    def __str__(self) -> str:
        name = " ".join(filter(None, (self.manufacturer, self.model)))
        level = f"API {self.api_level}" if self.api_level is not None else ""
        about = ", ".join(filter(None, (name, level)))
        return visible_line(f"{self.serial} ({about})" if about else self.serial)
