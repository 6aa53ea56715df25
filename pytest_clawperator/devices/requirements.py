"""What a test or a matrix requires of a device, and what a device lacks of it."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from itertools import product
from math import prod
from typing import Any, Literal

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.wording import closest, quote
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
                    f"{field.name}={value!r} is not a requirement that a device can meet",
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
            + ("does not report it" if found[name] is None else f"has {found[name]!r}")
            for name, wanted in vars(self).items()
            if wanted is not None and not _meets(name, wanted, found[name])
        ]


def requirements_of(given: Mapping[str, Any]) -> Requirements:
    """Return the requirements of these keywords; raise for an unknown one."""
    unknown = [name for name in given if name not in _ALLOWED]
    if unknown:
        raise ConfigurationError(
            f"unknown requirement {', '.join(unknown)}",
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


MATRIX_ALLOWED = (
    "each (every device is a class of its own), or names and their values, as in"
    " 'api=33,35;form=phone,tablet', which makes four classes; with per=2 two devices of each"
)

REQUIREMENT_NAMES = tuple(field.name for field in fields(Requirements))

MOST_CLASSES = 64

MOST_PER_CLASS = 64


_EACH = "each"

_PER = "per"

_WORDS = {">=": "ge", "<=": "le", "!=": "ne", ">": "gt", "<": "lt"}

_SWITCH = {"true": True, "false": False}


@dataclass(frozen=True)
class DeviceClass:
    """Devices that are alike for a matrix; ``label`` is what ids of tests call them.

    ``key`` is that of the only device, where each is a class of its own.
    """

    label: str
    requires: Requirements
    key: str | None = None

    def holds(self, info: DeviceInfo) -> bool:
        """Whether a device belongs to the class."""
        return not self._unmet(info)

    def to_dict(self) -> dict[str, Any]:
        """Return the class as plain values, for another process."""
        requires = {name: value for name, value in vars(self.requires).items() if value is not None}
        return {"label": self.label, "requires": requires, "key": self.key}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DeviceClass:
        """Make a class of what ``to_dict`` returned."""
        return cls(plain["label"], Requirements(**plain["requires"]), plain["key"])

    def missing(self, devices: Sequence[DeviceInfo]) -> str:
        """Return that none of these devices belongs to the class, and what the nearest lacks."""
        if not devices:
            return f"no device is {self.label}: there is no device at all"
        nearest = min(devices, key=lambda info: len(self._unmet(info)))
        others = {0: "", 1: "; nor is the other one"}.get(
            len(devices) - 1, f"; nor are {len(devices) - 1} others"
        )
        return f"no device is {self.label}: {nearest}: {'; '.join(self._unmet(nearest))}{others}"

    def _unmet(self, info: DeviceInfo) -> list[str]:
        is_other = self.key is not None and info.key != self.key
        return [*(["it is another device"] if is_other else []), *self.requires.unmet(info)]


@dataclass(frozen=True)
class Matrix:
    """What a matrix asks for; ``text`` is how it was written.

    ``wanted`` are its classes, whatever devices there are; None where each is one. ``per`` is
    how many devices of each class are wanted.
    """

    text: str
    wanted: tuple[DeviceClass, ...] | None
    per: int = 1

    def classes(self, devices: Sequence[DeviceInfo]) -> tuple[DeviceClass, ...]:
        """Return the classes, with distinct labels; the devices matter only to ``each``."""
        if self.wanted is not None:
            return self.wanted
        # In an order, and with names, that do not depend on who was plugged in first.
        found = {info.key: info for info in sorted(devices, key=lambda one: (one.serial, one.key))}
        labels = _distinct([_safe(info.serial) or "device" for info in found.values()])
        return tuple(
            DeviceClass(label, Requirements(), key)
            for label, key in zip(labels, found, strict=True)
        )


def parse_matrix(text: str) -> Matrix:
    """Parse a matrix such as ``api=33,35;form=phone,tablet``, or ``each``."""
    if text.strip() == _EACH:
        return Matrix(text, None)
    parts = _parts(text, MATRIX_ALLOWED, (*REQUIREMENT_NAMES, _PER))
    per = _per(parts.pop(_PER, "1"))
    if not parts:
        raise _nonsense(text, "it names no class", f"Allowed: {MATRIX_ALLOWED}")
    axes = {name: _values(name, rest) for name, rest in parts.items()}
    count = prod(map(len, axes.values()))
    if count > MOST_CLASSES:
        raise _nonsense(
            text, f"it makes {count} classes", f"At most {MOST_CLASSES} are sensible: name fewer"
        )
    given = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    labels = _distinct(["-".join(_word(*pair) for pair in one.items()) for one in given])
    return Matrix(
        text,
        tuple(
            DeviceClass(label, Requirements(**one))
            for label, one in zip(labels, given, strict=True)
        ),
        per,
    )


def parse_requirements(text: str) -> Requirements:
    """Parse what one device must be like, such as ``api=>=33,<36;form=tablet``."""
    parts = _parts(text, "names and their values, as in 'api=>=33;form=tablet'", REQUIREMENT_NAMES)
    return Requirements(**{name: _value(name, rest) for name, rest in parts.items()})


def _parts(text: str, allowed: str, names: Sequence[str]) -> dict[str, str]:
    """Split ``name=…;name=…`` into its parts, by name."""
    parts: dict[str, str] = {}
    for part in re.split(r"[;\n]", text.strip()):
        name, equals, rest = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise _nonsense(part, "it has no name=value", f"Allowed: {allowed}")
        if name not in names:
            near = closest(re.sub(r"[<>!]+$", "", name), names)
            meant = f"Did you mean {near}=? " if near else ""
            raise _nonsense(
                part, f"there is no {quote(name)}", f"{meant}Allowed names: {', '.join(names)}"
            )
        if name in parts:
            raise _nonsense(text, f"{name} is given twice", "Name each once")
        parts[name] = rest
    return parts


def _per(written: str) -> int:
    """Parse how many devices of each class are wanted."""
    if not re.fullmatch(r"[0-9]{1,2}", written) or not 1 <= int(written) <= MOST_PER_CLASS:
        raise _nonsense(
            f"{_PER}={written}",
            "it says how many devices of each class",
            f"Allowed: a number from 1 to {MOST_PER_CLASS}",
        )
    return int(written)


def _values(name: str, written: str) -> list[Any]:
    """Parse the values of one name, separated by commas."""
    values = [_value(name, one.strip()) for one in written.split(",")]
    alike = Counter(str(value).lower() for value in values)
    twice = [value for value, times in alike.items() if times > 1]
    if twice:
        found = f"{name}={written}"
        raise _nonsense(found, f"{quote(twice[0])} is given twice", "Name each value once")
    return values


def _value(name: str, written: str) -> Any:
    """Parse one value as ``Requirements`` takes it; two spellings of a value become equal."""
    if not written:
        raise _nonsense(f"{name}=", "a value is empty", "Write it, or leave the name out")
    value: Any = written
    if name == "emulator":
        value = _SWITCH.get(written.lower(), written)
    elif name == "api":
        plain = re.sub(r"\s", "", written)
        level = plain.removeprefix("==")
        value = int(level) if re.fullmatch(r"[0-9]{1,3}", level) else plain
    try:
        Requirements(**{name: value})
    except ConfigurationError as exc:
        hint = "Allowed: true (emulators) or false (real devices)." if name == "emulator" else None
        raise ConfigurationError(exc.message, hint=hint or exc.advice) from exc
    return value


def _word(name: str, value: Any) -> str:
    """Return the word for a value in a label."""
    if name == "emulator":
        return "emulator" if value else "real"
    if name == "api":
        comparison, level = re.split(r"(?=[0-9])", str(value), maxsplit=1)
        return f"api-{_WORDS[comparison]}{level}" if comparison else f"api{level}"
    return _safe(value) or name


def _safe(text: str) -> str:
    """Return the text without characters that are unsafe in a shell or a file name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")


def _distinct(labels: Sequence[str]) -> Iterator[str]:
    """Yield the labels, with a number where the same one came before."""
    seen: set[str] = set()
    for label in labels:
        number, distinct = 1, label
        while distinct in seen:
            number += 1
            distinct = f"{label}-{number}"
        seen.add(distinct)
        yield distinct


def _nonsense(found: str, problem: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{quote(found)}: {problem}", hint=f"{hint}.")
