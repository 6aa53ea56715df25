"""Ending what a run did with a virtual device: its processes and its files."""

from __future__ import annotations

import shutil
from contextlib import suppress
from functools import partial

from pytest_clawperator.emulators.console import ask_console
from pytest_clawperator.emulators.emulators import Emulators
from pytest_clawperator.emulators.run.claims import AvdClaim, Traces
from pytest_clawperator.emulators.run.processes import end, read_pid
from pytest_clawperator.emulators.running import Host
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.emulators.tool_runs import SdkTools
from pytest_clawperator.errors import ClawperatorError, EmulatorError

_ANSWER_WITHIN = 5.0


class Ending:
    """Ends what was done with virtual devices of an SDK, by this run or by one that was killed."""

    def __init__(self, host: Host, sdk: Sdk) -> None:
        self._sdk = sdk
        # Tools of its own: those of the run may have been interrupted.
        self._emulators = Emulators(sdk=sdk, tools=SdkTools(sdk), host=host)

    def end(self, claim: AvdClaim, traces: Traces) -> None:
        """End the process of a virtual device, and remove the device if a run made it."""
        pid = read_pid(claim.pid_file.path)
        if pid is not None:
            end(pid, claim.name, ask=partial(_ask, traces))
        claim.pid_file.path.unlink(missing_ok=True)
        if traces.created:
            self._remove(claim)
        else:
            self._emulators.log_path(claim.name).unlink(missing_ok=True)

    def _remove(self, claim: AvdClaim) -> None:
        """Delete a virtual device that a run made, or had begun to make."""
        name, home = claim.name, self._sdk.avd_home
        if self._emulators.exists(name):
            with suppress(EmulatorError):
                self._emulators.remove(name, pid_file=claim.pid_file)
        shutil.rmtree(home / f"{name}.avd", ignore_errors=True)
        (home / f"{name}.ini").unlink(missing_ok=True)


def _ask(traces: Traces) -> bool:
    """Ask an emulator to end; return whether it was heard."""
    serial = f"emulator-{traces.port}"
    try:
        # A program that reserves no port may have another one there.
        told = ask_console(serial, "avd name", timeout=_ANSWER_WITHIN).split()
        if traces.avd_name not in told:
            return False
        ask_console(serial, "kill", timeout=_ANSWER_WITHIN)
    except ClawperatorError:
        return False
    return True
