"""The faults of a simulated phone: what can go wrong, set before or while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_clawperator.errors import ConfigurationError

# Name, options with their defaults, and what it does.
FAULTS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "no_envelope": ({}, "the execution runs, but its envelope is never logged"),
    "half_envelope": ({}, "the envelope's line stops in the middle"),
    "foreign_envelope": ({"command_id": "somebody-else"}, "another command's envelope comes first"),
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
    "time_set_back": ({"s": "3600"}, "the device's clock is set back by so many seconds"),
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


@dataclass
class Fault:
    """A fault that is on; ``left`` counts down to its end, None is until cleared."""

    name: str
    options: dict[str, str]
    left: int | None = None


@dataclass
class Faults:
    """The faults of one device."""

    _active: dict[str, Fault] = field(default_factory=dict)

    def set(self, name: str, *, times: int | None = None, **options: str) -> Fault:
        """Switch a fault on: for so many occasions, or until it is cleared."""
        if name not in FAULTS:
            raise ConfigurationError(
                f"there is no fault {name!r}", hint=f"Known faults: {', '.join(sorted(FAULTS))}."
            )
        defaults, _ = FAULTS[name]
        unknown = sorted(set(options) - set(defaults))
        if unknown:
            allowed = ", ".join(defaults) or "none"
            raise ConfigurationError(
                f"fault {name!r} has no option {unknown[0]!r}", hint=f"Its options: {allowed}."
            )
        fault = Fault(name, {**defaults, **options}, times)
        self._active[name] = fault
        return fault

    def clear(self, name: str | None = None) -> None:
        """Switch one fault off, or all of them."""
        if name is None:
            self._active.clear()
        else:
            self._active.pop(name, None)

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

    def names(self) -> list[str]:
        """List what is on."""
        return sorted(self._active)
