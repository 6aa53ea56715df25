"""A fault as people ask for it: ``NAME [times=N] [OPTION=VALUE ...]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.faults import FAULTS

LASTING_FAULTS = ("offline", "unauthorized")
"""Faults that keep hosts out, and so could not be cleared through a shell: they last a time."""

_DISCONNECT_AFTER = ("execution", "now")
_FORGED = ("all", "envelope", "command", "refusal", "crash", "death")


@dataclass(frozen=True)
class FaultRequest:
    """A fault, for how many occasions, and its options."""

    name: str
    times: int | None
    options: Mapping[str, str]


def parse_fault(words: Sequence[str]) -> FaultRequest:
    """Parse ``NAME [times=N] [OPTION=VALUE ...]``; ConfigurationError for a mistake."""
    name = words[0] if words else ""
    if name not in FAULTS:
        raise ConfigurationError(
            f"there is no fault {name!r}", hint=f"Known faults: {', '.join(sorted(FAULTS))}."
        )
    times: int | None = None
    options: dict[str, str] = {}
    lasting = name in LASTING_FAULTS
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            raise ConfigurationError(
                f"{word!r} is no option", hint="Options are written as key=value, e.g. times=1."
            )
        if key == "times" and lasting:
            raise ConfigurationError(
                f"fault {name!r} has no occasions to count",
                hint="Say how long it lasts instead: ms=2000; without it, to the end.",
            )
        if key == "times":
            times = _times(value)
        else:
            options[key] = _option(name, key, value)
    return FaultRequest(name, times, options)


def _times(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or not 1 <= len(value) <= 9 or int(value) < 1:
        raise ConfigurationError(
            f"times={value} is no number of occasions",
            hint="times takes a whole number from 1; without it the fault stays until cleared.",
        )
    return int(value)


def _option(name: str, key: str, value: str) -> str:
    defaults, _ = FAULTS[name]
    if key not in defaults:
        allowed = ", ".join(["times", *defaults])
        raise ConfigurationError(
            f"fault {name!r} has no option {key!r}", hint=f"Its options: {allowed}."
        )
    is_number = defaults[key].isdigit()
    if is_number and not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise ConfigurationError(
            f"{key}={value} is no whole number", hint=f"The default is {key}={defaults[key]}."
        )
    if (name, key) == ("disconnect", "after") and value not in _DISCONNECT_AFTER:
        raise ConfigurationError(
            f"a disconnect after {value!r} is not possible",
            hint=f"Allowed: {', '.join(_DISCONNECT_AFTER)}.",
        )
    if (name, key) == ("forged_lines", "kind") and value not in _FORGED:
        raise ConfigurationError(
            f"there are no forged lines of kind {value!r}",
            hint=f"Allowed: {', '.join(_FORGED)}.",
        )
    return value
