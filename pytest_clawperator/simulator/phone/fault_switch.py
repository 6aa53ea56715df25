"""Parse requests for faults, and switch faults on and off on a running phone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.faults import FAULTS, Fault, Faults
from pytest_clawperator.simulator.phone.factory import Variant
from pytest_clawperator.simulator.phone.network import Cable

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
                f"{word!r} is not an option", hint="Options are written as key=value, e.g. times=1."
            )
        if key == "times" and lasting:
            raise ConfigurationError(
                f"fault {name!r} has no occasions to count",
                hint="Give its duration instead, e.g. ms=2000; without one it lasts to the end.",
            )
        if key == "times":
            times = _times(value)
        else:
            options[key] = _option(name, key, value)
    return FaultRequest(name, times, options)


def _times(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or not 1 <= len(value) <= 9 or int(value) < 1:
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
    is_number = defaults[key].isdigit()
    if is_number and not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise ConfigurationError(
            f"{key}={value} is not a whole number", hint=f"The default is {key}={defaults[key]}."
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


_OPERATOR_FAULTS = ("operator_absent", "operator_variant")


class FaultSwitch:
    """Switches faults; ``install`` puts a variant of the Operator on the phone."""

    def __init__(
        self,
        faults: Faults,
        *,
        variant: Variant,
        log: LogBuffer,
        cable: Cable,
        install: Callable[[Variant], None],
    ) -> None:
        self._faults = faults
        self._variant = variant
        self._log = log
        self._cable = cable
        self._install = install

    def set(self, request: FaultRequest) -> Fault:
        """Switch a fault on."""
        fault = self._faults.set(request.name, times=request.times, **request.options)
        if request.name == "log_cut":
            self._log.cut_streams()
        elif request.name == "time_set_back":
            # It has happened; there is nothing left that could be cleared.
            self._faults.clear("time_set_back")
            self._log.set_back(int(fault.options["s"]))
        elif request.name in _OPERATOR_FAULTS:
            self._install(self._installed_variant())
        elif request.name in LASTING_FAULTS:
            self._cable.pull_soon()
            self._clear_later(fault)
        elif request.name == "disconnect" and fault.options["after"] == "now":
            # It has happened; there is nothing left that could be cleared.
            self._faults.clear("disconnect")
            self._cable.pull_soon()
        return fault

    def clear(self, name: str | None = None) -> None:
        """Switch one fault off, or all of them; hosts that were kept out may connect again."""
        kept_out = self._cable.admission() != "device"
        variant = self._installed_variant()
        self._faults.clear(name)
        if kept_out and self._cable.admission() == "device":
            self._cable.pull_soon()
        if variant != self._installed_variant():
            self._install(self._installed_variant())

    def _clear_later(self, fault: Fault) -> None:
        """Clear a fault after its time: one that keeps hosts out cannot be cleared by a shell."""

        def clear() -> None:
            if self._faults.active(fault.name) is fault:
                self.clear(fault.name)

        milliseconds = int(fault.options["ms"])
        if milliseconds:
            asyncio.get_running_loop().call_later(milliseconds / 1000, clear)

    def _installed_variant(self) -> Variant:
        """Return the variant of the Operator that the faults leave on the phone."""
        if self._faults.active("operator_absent"):
            return "absent"
        if self._faults.active("operator_variant"):
            return "dev" if self._variant == "release" else "release"
        return self._variant
