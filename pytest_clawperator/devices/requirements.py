"""What a test requires of a device, and what a device lacks of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Literal

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ConfigurationError

Form = Literal["phone", "tablet"]

# From this width on, in units of 1/160 inch, Android itself lays screens out for tablets.
TABLET_WIDTH = 600

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_LEVEL = re.compile(r"\s*(>=|<=|==|!=|>|<|)\s*([0-9]{1,3})\s*")
_LEVELS = range(1, 1001)
_ALLOWED = {
    "api": "a level or comparisons, as in 34, '>=33' or '>=33,<36'",
    "abi": "a text such as 'arm64-v8a'",
    "form": "'phone' or 'tablet'",
    "emulator": "True or False",
    "model": "a text, in which * stands for anything, such as 'Pixel *'",
    "manufacturer": "a text, in which * stands for anything, such as 'Google'",
}
ALLOWED = "; ".join(f"{name}={text}" for name, text in _ALLOWED.items())


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """What a device must be like; None where it does not matter.

    ``api`` compares, as in ``">=33"`` or ``">=33,<36"``; ``model`` and ``manufacturer`` may
    hold ``*`` and do not mind case.
    """

    api: str | int | None = None
    abi: str | None = None
    form: Form | None = None
    emulator: bool | None = None
    model: str | None = None
    manufacturer: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not _makes_sense(field.name, value):
                raise ConfigurationError(
                    f"{field.name}={value!r} is no requirement that a device can meet",
                    hint=f"Allowed: {_ALLOWED[field.name]}.",
                )

    def unmet(self, info: DeviceInfo) -> list[str]:
        """Return what the device lacks, a sentence each; nothing if it meets them all."""
        found = {
            "api": info.api_level,
            "abi": info.abi,
            "form": form_of(info),
            "emulator": info.emulator,
            "model": info.model,
            "manufacturer": info.manufacturer,
        }
        return [
            f"{name}={wanted!r} is required, the device "
            + ("does not tell" if found[name] is None else f"has {found[name]!r}")
            for name, wanted in vars(self).items()
            if wanted is not None and not _meets(name, wanted, found[name])
        ]


def requirements_of(given: Mapping[str, Any]) -> Requirements:
    """Return the requirements of these keywords; raise which are allowed if one is unknown."""
    unknown = [name for name in given if name not in _ALLOWED]
    if unknown:
        raise ConfigurationError(
            f"there is no requirement {', '.join(unknown)}",
            hint=f"Allowed: {ALLOWED}.",
        )
    return Requirements(**given)


def meets_api(wanted: str | int, level: int) -> bool:
    """Whether an API level meets comparisons such as ``">=33,<36"``."""
    return all(compare(level, other) for compare, other in _levels(str(wanted)))


def form_of(info: DeviceInfo) -> Form | None:
    """Return whether it is a phone or a tablet, by the shorter side, as Android decides it."""
    if info.size is None or not info.density:
        return None
    return "tablet" if min(info.size) * 160 / info.density >= TABLET_WIDTH else "phone"


def _makes_sense(name: str, value: Any) -> bool:
    if name == "api":
        return type(value) in (int, str) and _is_possible(_levels(str(value)))
    if name == "emulator":
        return isinstance(value, bool)
    if name == "form":
        return value in ("phone", "tablet")
    return isinstance(value, str) and bool(value.strip())


def _meets(name: str, wanted: Any, found: Any) -> bool:
    if found is None:
        return False
    if name == "api":
        return meets_api(wanted, found)
    if name in ("model", "manufacturer"):
        return fnmatchcase(found.lower(), wanted.lower())
    return bool(wanted == found)


def _is_possible(levels: Sequence[tuple[Callable[[int, int], bool], int]]) -> bool:
    """Whether there are comparisons, and a level that meets them all."""
    return bool(levels) and any(
        all(compare(found, level) for compare, level in levels) for found in _LEVELS
    )


def _levels(text: str) -> list[tuple[Callable[[int, int], bool], int]]:
    """Parse comparisons joined by commas; nothing if one of them is invalid."""
    found = [_LEVEL.fullmatch(piece) for piece in text.split(",")]
    return [
        (_COMPARISONS[match[1] or "=="], int(match[2]))
        for match in found
        if match is not None and None not in found
    ]
