"""Setting and clearing faults on a running phone, with what has to happen at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_clawperator.simulator.faults import Fault, Faults
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.phone.cable import Cable
from pytest_clawperator.simulator.phone.fault_request import LASTING_FAULTS, FaultRequest
from pytest_clawperator.simulator.phone.options import Variant

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
