"""Classes of devices, on each of which a matrix runs every test once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.errors import ConfigurationError

ALLOWED = (
    "each (every device is a class of its own), or names and their values, as in"
    " 'api=33,35;form=phone,tablet', which makes four classes; with per=2 two devices of each"
)
NAMES = tuple(field.name for field in fields(Requirements))
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
    parts = _parts(text, ALLOWED, (*NAMES, _PER))
    per = _per(parts.pop(_PER, "1"))
    if not parts:
        raise _nonsense(text, "it names no class", f"Allowed: {ALLOWED}")
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
    parts = _parts(text, "names and their values, as in 'api=>=33;form=tablet'", NAMES)
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
    """Return the text without what a shell or a file name cannot hold."""
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
