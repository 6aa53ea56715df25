"""Which devices a run may use, as people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.errors import ConfigurationError

ALLOWED = (
    "auto (any connected device), a serial as `adb devices` prints it, sim (simulated phones, one"
    " for each worker), sim:4 (four of them), or http://host:3000/serial (a host that runs"
    " `clawperator serve`)"
)
_COUNT = re.compile(r"[1-9][0-9]{0,3}")
_URL = re.compile(r"(?P<url>https?://[^/\s]+)(?:/(?P<serial>\S*))?")


@dataclass(frozen=True)
class DeviceSpec:
    """One wish for devices; ``text`` is how it was written.

    ``serial`` is of a ``serial`` or a ``url`` wish, ``count`` of a ``sim`` wish, and None
    there means as many as there are workers.
    """

    text: str
    kind: Literal["auto", "serial", "sim", "url"]
    serial: str | None = None
    count: int | None = None
    url: str | None = None

    def __str__(self) -> str:
        return self.text


def parse_device_spec(text: str) -> DeviceSpec:
    """Read a wish for devices, such as ``auto``, ``emulator-5554`` or ``sim:4``."""
    kind, colon, count = text.partition(":")
    if text == "auto":
        return DeviceSpec(text, "auto")
    if text == "sim":
        return DeviceSpec(text, "sim")
    if kind == "sim" and colon and _COUNT.fullmatch(count):
        return DeviceSpec(text, "sim", count=int(count))
    if kind in ("http", "https") and (found := _URL.fullmatch(text)):
        return DeviceSpec(text, "url", serial=found["serial"] or None, url=found["url"])
    if kind not in ("", "sim", "auto", "http", "https") and not re.search(r"\s", text):
        return DeviceSpec(text, "serial", serial=text)
    raise ConfigurationError(f"{text!r} names no device", hint=f"Allowed: {ALLOWED}.")
