"""The faults of a simulated phone, set before or while it runs, and its counters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.errors import ConfigurationError

# Name, options with their defaults, and what it does.
FAULTS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "no_envelope": ({}, "the execution runs, but its envelope is never logged"),
    "half_envelope": ({}, "the envelope's line stops in the middle"),
    "foreign_envelope": (
        {"command_id": "another"},
        "another command's envelope comes first",
    ),
    "forged_lines": (
        {"kind": "all"},
        "another app logs what would end the command, before the Operator takes it and after",
    ),
    "late_envelope": ({"ms": "2000"}, "the envelope is logged this much later"),
    "double_envelope": ({}, "the envelope is logged twice"),
    "foreign_lines": ({"count": "3"}, "other processes log lines inside a hierarchy dump"),
    "missing_dump": ({}, "a snapshot step succeeds, but no hierarchy is logged"),
    "truncated_dump": ({}, "a hierarchy dump stops in the middle"),
    "no_ui_tree": ({}, "the active window gives no tree"),
    "service_off": ({}, "the accessibility service is not connected"),
    "operator_absent": ({}, "no variant of the Operator is installed"),
    "operator_variant": ({}, "only the other variant of the Operator is installed"),
    "operator_version": (
        {"version": "0.4.9"},
        "the Operator's package has this version",
    ),
    "operator_crash": ({}, "the Operator crashes instead of answering"),
    "payload_refused": ({}, "the Operator's parser refuses the payload"),
    "gesture_refused": ({}, "the device refuses taps and swipes"),
    "step_error": (
        {"type": "", "code": "NODE_NOT_CLICKABLE"},
        "a step of this type fails with this code",
    ),
    "container_lost": ({}, "the list goes away while it is scrolled"),
    "slow_log": ({"ms": "200"}, "log readers get entries this much later"),
    "log_suppressed": ({}, "the maker keeps lines below E out of the log"),
    "log_cut": ({}, "open log streams end"),
    "time_set_back": ({"s": "3600"}, "the device's clock is set back by this many seconds"),
    "offline": ({"ms": "0"}, "the device is connected, but offline; after ms it comes back"),
    "unauthorized": (
        {"ms": "0"},
        "the device has not accepted this computer's key; after ms it has",
    ),
    "disconnect": (
        {"after": "execution"},
        "the connection drops: now, or in the middle of an execution",
    ),
    "locked": (
        {"code": "0"},
        "the lock screen shows; with code=1 only its code dismisses it",
    ),
    "ui_automation": (
        {},
        "another test tool's UiAutomation holds the device, and accessibility services are off",
    ),
    "booting": ({}, "the device has not finished booting"),
    "storage_full": ({}, "nothing can be written, screencap included"),
}


LASTING_FAULTS = ("offline", "unauthorized")

"""Faults that keep hosts out, and so could not be cleared through a shell: they last a time."""


# The values of options that are neither numbers nor free text.
_CHOICES = {
    ("disconnect", "after"): ("execution", "now"),
    ("forged_lines", "kind"): ("all", "envelope", "command", "refusal", "crash", "death"),
}


@dataclass
class Fault:
    """A fault that is on; ``left`` counts down to its end, None is until cleared."""

    name: str
    options: dict[str, str]
    left: int | None = None


def parse_fault(words: Sequence[str]) -> Fault:
    """Parse ``NAME [times=N] [OPTION=VALUE ...]``; ConfigurationError for a mistake."""
    name = words[0] if words else ""
    if name not in FAULTS:
        raise ConfigurationError(
            f"there is no fault {name!r}", hint=f"Known faults: {', '.join(sorted(FAULTS))}."
        )
    fault = Fault(name, dict(FAULTS[name][0]))
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            raise ConfigurationError(
                f"{word!r} is not an option", hint="Options are written as key=value, e.g. times=1."
            )
        if key == "times":
            fault.left = _times(name, value)
        else:
            fault.options[key] = _option(name, key, value)
    return fault


def _times(name: str, value: str) -> int:
    if name in LASTING_FAULTS:
        raise ConfigurationError(
            f"fault {name!r} has no occasions to count",
            hint="Give its duration instead, e.g. ms=2000; without one it lasts to the end.",
        )
    if not _is_number(value) or int(value) < 1:
        raise ConfigurationError(
            f"times={value} is not a number of occasions",
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
    if defaults[key].isdigit() and not _is_number(value):
        raise ConfigurationError(
            f"{key}={value} is not a whole number", hint=f"The default is {key}={defaults[key]}."
        )
    choices = _CHOICES.get((name, key), (value,))
    if value not in choices:
        raise ConfigurationError(
            f"fault {name!r} has no {key} {value!r}", hint=f"Allowed: {', '.join(choices)}."
        )
    return value


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


class Faults:
    """The faults of one device."""

    def __init__(self) -> None:
        self._active: dict[str, Fault] = {}
        #: Called when a fault was switched on or off.
        self.on_change: Callable[[], object] = lambda: None

    def set(self, name: str, *, times: int | None = None, **options: str) -> None:
        """Switch a fault on: for this many occasions, or until it is cleared."""
        self.add(Fault(name, {**FAULTS[name][0], **options}, times))

    def add(self, fault: Fault) -> None:
        """Switch a fault on."""
        self._active[fault.name] = fault
        self.on_change()

    def clear(self, name: str | None = None) -> None:
        """Switch one fault off, or all of them."""
        if name is None:
            self._active.clear()
        else:
            self._active.pop(name, None)
        self.on_change()

    def active(self, name: str) -> Fault | None:
        """Return the fault if it is on, without using it up."""
        return self._active.get(name)

    def take(self, name: str) -> Fault | None:
        """Return the fault if it is on; one of its occasions is used up."""
        fault = self._active.get(name)
        if fault is not None and fault.left is not None:
            fault.left -= 1
            if fault.left <= 0:
                del self._active[name]
        return fault

    def all(self) -> list[Fault]:
        """List what is on, by name."""
        return [self._active[name] for name in sorted(self._active)]


class Stats:
    """Counters of one phone."""

    def __init__(self, *, on_execution: Callable[[], object] = lambda: None) -> None:
        self._on_execution = on_execution
        self._in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Reset every counter; what is in flight stays in flight."""
        self.executions = 0
        self.overlaps = 0
        self.max_in_flight = self._in_flight
        self.broadcasts = 0
        self.screenshots = 0
        self.commands: Counter[str] = Counter()

    def execution_started(self) -> None:
        """Count an execution that the Operator accepted; one beside another is an overlap."""
        self.executions += 1
        self.overlaps += self._in_flight > 0
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        self._on_execution()

    def execution_ended(self) -> None:
        """Count an execution as done, however it ended."""
        self._in_flight = max(0, self._in_flight - 1)

    def as_json(self) -> str:
        """Return everything as one line of JSON."""
        return json.dumps(
            {
                "executions": self.executions,
                "overlaps": self.overlaps,
                "in_flight": self._in_flight,
                "max_in_flight": self.max_in_flight,
                "commands": dict(sorted(self.commands.items())),
                "broadcasts": self.broadcasts,
                "screenshots": self.screenshots,
            }
        )
