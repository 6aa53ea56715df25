"""Taking the steps that findings list, and telling each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_clawperator.client.device.commands import lacks
from pytest_clawperator.devices.doctor.report import (
    ByHand,
    DeviceCommand,
    Finding,
    Reconnect,
    Regrant,
    Step,
)
from pytest_clawperator.devices.health import await_return, check_ready, heal
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.reconnect import reconnect

Tell = Callable[[str], None]
_PING_WITHIN = 5.0


def ask_operator(pipeline: Pipeline) -> None:
    """Raise what keeps the Operator from answering; what is known is not waited for."""
    check_ready(pipeline.transport, pipeline.operator_package)
    pipeline.ping(_PING_WITHIN).raise_for_status()


def steps_of(findings: Iterable[Finding]) -> list[Step]:
    """Return the steps that can be taken without a person, each once."""
    steps = (step for finding in findings if finding.fix for step in finding.fix.steps)
    return list(dict.fromkeys(step for step in steps if not isinstance(step, ByHand)))


def mend(findings: Iterable[Finding], pipeline: Pipeline, *, tell: Tell) -> None:
    """Take the steps of the findings on a device; one that fails is told, and others follow."""
    for step in steps_of(findings):
        try:
            if isinstance(step, DeviceCommand):
                _run(step.command, pipeline, tell)
            elif isinstance(step, Regrant):
                _regrant(pipeline, tell)
        except ClawperatorError as error:
            tell(f"that failed: {error.code}: {error.message}")


def bring_back(findings: Iterable[Finding], transport: AdbTransport, *, tell: Tell) -> None:
    """Have adb connect to a device that is not usable, if a finding lists that."""
    if Reconnect() not in steps_of(findings):
        return
    tell("asked adb to reconnect to the device")
    try:
        reconnect(transport.server, transport.serial, say=tell)
        await_return(transport)
    except ClawperatorError as error:
        tell(f"that failed: {error.code}: {error.message}")


def _run(command: str, pipeline: Pipeline, tell: Tell) -> None:
    result = pipeline.transport.shell(command)
    if result.ok and not lacks(result):
        tell(f"ran `{command}`")
        return
    said = " ".join(f"{result.stdout} {result.stderr}".split()) or "nothing"
    tell(f"`{command}` failed with exit code {result.exit_code}; the device said: {said}")


def _regrant(pipeline: Pipeline, tell: Tell) -> None:
    """Give the Operator what it needs, unless a step before has brought it back."""
    try:
        ask_operator(pipeline)
        return
    except ClawperatorError as error:
        problem = error
    heal(pipeline, problem, tell=tell)
