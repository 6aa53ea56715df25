"""The Operator's engine: each step to the function that performs it, and the smallest of those."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pytest_clawperator.simulator.operator.answer.envelope import (
    SERVICE_UNAVAILABLE,
    StepResult,
    failed,
    succeeded,
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
from pytest_clawperator.simulator.operator.steps.read import read_key_value_pair, read_text
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure, in_stage
from pytest_clawperator.simulator.operator.steps.scroll import (
    scroll,
    scroll_and_click,
    scroll_until,
)
from pytest_clawperator.simulator.operator.steps.snapshot import snapshot_ui
from pytest_clawperator.simulator.operator.steps.touch import click, enter_text
from pytest_clawperator.simulator.operator.steps.wait import (
    sleep,
    wait_for_navigation,
    wait_for_node,
)

_CLOSE_MESSAGE = (
    "Android runtime cannot reliably close apps. Use the Clawperator Node API or "
    "'adb shell am force-stop' directly for this action."
)
_SCREENSHOT_MESSAGE = (
    "Android runtime cannot reliably capture screenshots. Use the Clawperator Node API or "
    "'adb exec-out screencap -p' directly for this action."
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


async def _open_uri(run: Run, action: OpenUri) -> StepResult:
    uri = action.uri

    async def attempt() -> None:
        run.say(f"Opening URI: {uri}")
        if not run.ui.open_uri(uri):
            text = f"URI_NOT_HANDLED: No application found to handle uri={uri}"
            raise StepFailure(text, code="URI_NOT_HANDLED")

    await in_stage(
        run,
        f"openUri:{uri}",
        attempt,
        retry=action.retry,
        label=f"Opening URI: {uri}",
        on_screen=False,
        success=lambda _: {"stage_id": f"openUri:{uri}", "uri": uri},
        failure=lambda _: {"uri": uri, "reason_code": "uri_not_handled"},
    )
    return succeeded(action, uri=uri)


async def _open_app(run: Run, action: OpenApp) -> StepResult:
    package = action.application_id

    async def attempt() -> None:
        if package not in run.ui.apps:
            text = f"No app found with applicationId={package}"
            raise StepFailure(text, code="APP_NOT_FOUND")
        run.say(f"Opening app: {package}")
        run.ui.start_app(package)

    await in_stage(
        run,
        f"openApp:{package}",
        attempt,
        retry=action.retry,
        label=f"Opening {package}",
        on_screen=False,
        success=lambda _: {
            "stage_id": f"openApp:{package}",
            "application_id": package,
            "launch_method": "shortcut",
            "cold_start": "unknown",
        },
        failure=lambda _: {"application_id": package, "reason_code": "app_not_found"},
    )
    return succeeded(action, application_id=package)


async def _close_app(run: Run, action: CloseApp) -> StepResult:
    return failed(
        action,
        application_id=action.application_id,
        error="UNSUPPORTED_RUNTIME_CLOSE",
        message=_CLOSE_MESSAGE,
    )


async def _take_screenshot(run: Run, action: TakeScreenshot) -> StepResult:
    return failed(action, error="UNSUPPORTED_RUNTIME_SCREENSHOT", message=_SCREENSHOT_MESSAGE)


async def _press_key(run: Run, action: PressKey) -> StepResult:
    if not run.is_connected():
        text = "OperatorAccessibilityService is not running - cannot execute press_key"
        raise StepFailure(text, code=SERVICE_UNAVAILABLE)
    # Android takes a global action even where it changes nothing, as back does at home.
    {"back": run.ui.back, "home": run.ui.home, "recents": run.ui.recents}[action.key]()
    return succeeded(action, key=action.key)


async def _doctor_ping(run: Run, action: DoctorPing) -> StepResult:
    def is_on(key: str) -> str:
        return str(run.settings.get("global", key) == "1").lower()

    return succeeded(
        action,
        developer_options_enabled=is_on("development_settings_enabled"),
        usb_debugging_enabled=is_on("adb_enabled"),
    )


async def _start_recording(run: Run, action: StartRecording) -> StepResult:
    outcome = run.recorder.start(action.session_id)
    make = succeeded if outcome.error is None else failed
    return make(
        action,
        error=outcome.error,
        message=outcome.message,
        sessionId=outcome.session_id,
        filePath=outcome.file_path,
    )


async def _stop_recording(run: Run, action: StopRecording) -> StepResult:
    outcome = run.recorder.stop(action.session_id)
    make = succeeded if outcome.error is None else failed
    return make(
        action,
        error=outcome.error,
        message=outcome.message,
        sessionId=outcome.session_id,
        filePath=outcome.file_path,
        eventCount=None if outcome.event_count is None else str(outcome.event_count),
    )


_PERFORMERS: Mapping[type[Action], Callable[[Run, Any], Awaitable[StepResult]]] = {
    OpenUri: _open_uri,
    OpenApp: _open_app,
    CloseApp: _close_app,
    WaitForNode: wait_for_node,
    Click: click,
    ScrollAndClick: scroll_and_click,
    Scroll: scroll,
    ScrollUntil: scroll_until,
    ReadText: read_text,
    SnapshotUi: snapshot_ui,
    StartRecording: _start_recording,
    StopRecording: _stop_recording,
    TakeScreenshot: _take_screenshot,
    EnterText: enter_text,
    Sleep: sleep,
    DoctorPing: _doctor_ping,
    PressKey: _press_key,
    WaitForNavigation: wait_for_navigation,
    ReadKeyValuePair: read_key_value_pair,
}
