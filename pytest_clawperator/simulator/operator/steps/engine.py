"""The Operator's engine: performs the steps of a command, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pytest_clawperator.simulator.operator.answer.envelope import (
    SERVICE_UNAVAILABLE,
    StepResult,
    failed,
)
from pytest_clawperator.simulator.operator.answer.operator_log import ENGINE, Source, map_text
from pytest_clawperator.simulator.operator.payload.command import (
    Action,
    Click,
    CloseApp,
    DoctorPing,
    EnterText,
    OpenApp,
    OpenUri,
    PressKey,
    ReadKeyValuePair,
    ReadText,
    Scroll,
    ScrollAndClick,
    ScrollUntil,
    Sleep,
    SnapshotUi,
    StartRecording,
    StopRecording,
    TakeScreenshot,
    WaitForNavigation,
    WaitForNode,
)
from pytest_clawperator.simulator.operator.steps.apps import close_app, open_app, open_uri
from pytest_clawperator.simulator.operator.steps.read import read_key_value_pair, read_text
from pytest_clawperator.simulator.operator.steps.recording import start_recording, stop_recording
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.scrolling.scroll import scroll
from pytest_clawperator.simulator.operator.steps.scrolling.scroll_and_click import scroll_and_click
from pytest_clawperator.simulator.operator.steps.scrolling.scroll_until import scroll_until
from pytest_clawperator.simulator.operator.steps.snapshot import snapshot_ui
from pytest_clawperator.simulator.operator.steps.system import (
    doctor_ping,
    press_key,
    take_screenshot,
)
from pytest_clawperator.simulator.operator.steps.touch import click, enter_text
from pytest_clawperator.simulator.operator.steps.wait import (
    sleep,
    wait_for_navigation,
    wait_for_node,
)


async def execute(run: Run) -> list[StepResult]:
    """Perform the steps of a command one after the other.

    To the specification a failed step is a result and ends the run. The published app goes on
    after the failures that it reports as results; all others are StepFailure to the caller.
    """
    results: list[StepResult] = []
    for action in run.command.actions:
        result = await _step(run, action)
        results.append(result)
        if run.documented and result.ends_the_run:
            break
    return results


async def _step(run: Run, action: Action) -> StepResult:
    name = run.log.class_name(type(action).__name__)
    run.log.debug(Source.ENGINE, f"{ENGINE} step_start id={action.id} type={name}")
    result = _provoked(run, action)
    if result is None:
        try:
            result = await _PERFORMERS[type(action)](run, action)
        except StepFailure as problem:
            if not run.documented or problem.code == SERVICE_UNAVAILABLE:
                raise
            result = failed(action, error=problem.code)
    run.log.debug(
        Source.ENGINE,
        f"{ENGINE} step_success id={action.id} type={name} data={map_text(result.data)}",
    )
    return result


def _provoked(run: Run, action: Action) -> StepResult | None:
    fault = run.faults.active("step_error")
    if fault is None or fault.options["type"] not in ("", action.wire_type):
        return None
    run.faults.take("step_error")
    return failed(
        action,
        application_id=action.application_id if isinstance(action, CloseApp) else None,
        key=action.key if isinstance(action, PressKey) else None,
        error=fault.options["code"],
    )


_PERFORMERS: Mapping[type[Action], Callable[[Run, Any], Awaitable[StepResult]]] = {
    OpenUri: open_uri,
    OpenApp: open_app,
    CloseApp: close_app,
    WaitForNode: wait_for_node,
    Click: click,
    ScrollAndClick: scroll_and_click,
    Scroll: scroll,
    ScrollUntil: scroll_until,
    ReadText: read_text,
    SnapshotUi: snapshot_ui,
    StartRecording: start_recording,
    StopRecording: stop_recording,
    TakeScreenshot: take_screenshot,
    EnterText: enter_text,
    Sleep: sleep,
    DoctorPing: doctor_ping,
    PressKey: press_key,
    WaitForNavigation: wait_for_navigation,
    ReadKeyValuePair: read_key_value_pair,
}
