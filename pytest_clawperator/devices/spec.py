"""The text that names the devices a run may use, such as ``auto`` or ``sim:4``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.errors import ConfigurationError

Started = Literal["sim", "emulator"]

ALLOWED = (
    "auto (any connected device), a serial as `adb devices` prints it, emulator (emulators that are"
    " started for the run, one for each worker), emulator:4 (four of them), emulator:NAME (the"
    " virtual device of that name, which must exist), sim (simulated phones, one for each worker),"
    " sim:4 (four of them), sim:phone,tablet;api=30,35 (phones of these kinds), or"
    " http://host:3000/serial (a device of a host that runs"
    " `clawperator-py serve`; without /serial its only one, with /* all of them)"
)
#: What stands for all devices of a host.
EVERY = "*"
_KEYWORDS = ("auto", "sim", "emulator", "http", "https")
#: The words that stand for devices, whatever their serials are.
WORDS = _KEYWORDS[:3]
_STARTED: tuple[Started, ...] = ("sim", "emulator")
_COUNT = re.compile(r"[1-9][0-9]{0,3}")
# A phone whose name was already taken when Wi-Fi announced it:
# `adb-ZY22MGW35T-Z3uXXq (2)._adb-tls-connect._tcp`.
_TWIN = r"(?: \([0-9]+\)[\w.-]*)?"
_URL = re.compile(
    r"(?P<url>https?://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    rf"(?:/(?P<serial>[^\s/?#]*{_TWIN}))?",
    re.ASCII,
)
_SERIAL = re.compile(rf"[^\s:/][^\s/]*{_TWIN}")
# The simulator knows which words these may be.
_PHONES = re.compile(r"(?=.*[A-Za-z])[\w=,;+ -]+", re.ASCII)
_AVD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class DeviceSpec:
    """Which devices a run may use; ``text`` is how it was written.

    The kinds ``serial`` and ``url`` have a ``serial``, which may be ``EVERY`` for a url; ``sim``
    and ``emulator`` have a ``count``, where None means as many as there are workers. A ``sim`` may
    say instead what its ``phones`` are like, an ``emulator`` the name of a virtual device, ``avd``.
    """

    text: str
    kind: Literal["auto", "serial", "sim", "emulator", "url"]
    serial: str | None = None
    count: int | None = None
    url: str | None = None
    avd: str | None = None
    phones: str | None = None

    @property
    def is_counted(self) -> bool:
        """Whether it states how many devices there are, or which."""
        return self.count is not None or self.phones is not None

    def __str__(self) -> str:
        return self.text


def parse_device_spec(text: str) -> DeviceSpec:
    """Parse which devices may be used, such as ``auto``, ``emulator-5554`` or ``sim:4``."""
    spec = _read(text)
    if spec is not None:
        return spec
    keyword, colon, rest = text.partition(":")
    meant = f"{_our_word(keyword)}{colon}{rest}"
    guess = f"Did you mean {meant}? " if meant != text and _read(meant) else ""
    raise ConfigurationError(f"{text!r} is not a device", hint=f"{guess}Allowed: {ALLOWED}.")


def _read(text: str) -> DeviceSpec | None:
    keyword, colon, count = text.partition(":")
    if text == "auto":
        return DeviceSpec(text, "auto")
    for kind in _STARTED:
        if keyword == kind:
            return _read_started(text, kind, count if colon else None)
    if (found := _URL.fullmatch(text)) and 0 < int(found["port"] or 80) < 65536:
        return DeviceSpec(text, "url", serial=found["serial"] or None, url=found["url"])
    # A keyword in capitals, or another tool's, would be a strange serial, and is a common slip.
    if _our_word(keyword, is_host=bool(colon)) not in _KEYWORDS and _SERIAL.fullmatch(text):
        return DeviceSpec(text, "serial", serial=text)
    return None


def _our_word(keyword: str, *, is_host: bool = False) -> str:
    """Return a keyword as it is written here; what may be the name of a host stays what it is."""
    word = keyword.lower()
    ours = foreign_names.DEVICES.get(word, word)
    return word if is_host and ours != "sim" else ours


def _read_started(text: str, kind: Started, rest: str | None) -> DeviceSpec | None:
    """Parse what is started for the run: how many, or which emulator."""
    if rest is None:
        return DeviceSpec(text, kind)
    if _COUNT.fullmatch(rest):
        return DeviceSpec(text, kind, count=int(rest))
    if kind == "sim" and _PHONES.fullmatch(rest):
        return DeviceSpec(text, kind, phones=rest)
    if kind == "emulator" and _AVD.fullmatch(rest) and not rest.isdecimal():
        return DeviceSpec(text, kind, avd=rest)
    return None
