"""Steps that act: clicks, text, keys, apps, recordings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pytest_clawperator.simulator.operator.command import Action, ClickType, NodeMatcher, Retry
from pytest_clawperator.simulator.operator.envelope import (
    SERVICE_UNAVAILABLE,
    StepResult,
    failed,
    succeeded,
)
from pytest_clawperator.simulator.operator.run import Details, Run, StepFailure
from pytest_clawperator.simulator.operator.steps import (
    describe_raw,
    find_or_fail,
    log_touch,
    long_press,
    nearest,
    nearest_clickable,
    node_id,
    run_stage,
    tap,
)
from pytest_clawperator.simulator.screen.accessibility import UiNode

_KOTLIN_NAMES = {"click": "Click", "long_click": "LongClick", "focus": "Focus"}


async def click(run: Run, action: Action) -> StepResult:
    """Click a node or a point."""
    if action.matcher:
        await run.on_screen(click_node(run, action.matcher, action.click_type, action.retry))
        return succeeded(action, click_types=action.click_type)
    assert action.coordinate is not None  # the parser wants exactly one of them
    x, y = action.coordinate
    point = f"({x},{y})"

    async def attempt() -> None:
        run.log_ui(f"Clicking coordinate: {point}")
        if not await _touch_point(run, x, y, action.click_type):
            raise StepFailure(f"Click at coordinate {point} failed", code="GESTURE_FAILED")
        run.log_ui(f"Successfully clicked coordinate {point}")

    stage = _click_stage(run, ("coordinate", point), attempt, action.click_type, action.retry)
    await run.on_screen(stage)
    return succeeded(action, coordinate=point, click_types=action.click_type)


async def click_node(run: Run, matcher: NodeMatcher, click_type: ClickType, retry: Retry) -> None:
    """Click the first node that fits, with the retries of the step."""

    async def attempt() -> None:
        run.log_ui(f"Clicking node matching: {matcher}")
        node = find_or_fail(run, matcher)
        if not await _touch(run, node, click_type):
            raise StepFailure("Click on matching UI node failed", code="NODE_NOT_CLICKABLE")
        run.log_ui("Successfully clicked matching node")

    await _click_stage(run, ("matcher", str(matcher)), attempt, click_type, retry)


async def _click_stage(
    run: Run,
    target: tuple[str, str],
    attempt: Callable[[], Awaitable[None]],
    click_type: ClickType,
    retry: Retry,
) -> None:
    said = dict([target])
    types = f"UiTreeClickTypes(types=[{_KOTLIN_NAMES[click_type]}])"
    await run_stage(
        run,
        f"click({target[1]})",
        attempt,
        retry=retry,
        success=lambda _: {**said, "click_type": types},
        failure=lambda message: {**said, "failure_point": _failure_point(message)},
    )


def _failure_point(message: str) -> str:
    if "not found" in message:
        return "not_found"
    if "Click" in message and "failed" in message:
        return "not_clickable"
    return "stale_node" if "UI tree not available" in message else "timeout"


async def _touch(run: Run, node: UiNode, click_type: ClickType) -> bool:
    if not run.is_connected():
        return False
    if click_type == "focus":
        done = _focus(run, node)
    else:
        done = await _press(run, node, is_long=click_type == "long_click")
    if done:
        name = _KOTLIN_NAMES[click_type]
        log_touch(run, f"Successfully performed {name} on node for id={node_id(node)}")
    else:
        log_touch(run, f"All click types failed for id={node_id(node)}")
    return done


async def _press(run: Run, node: UiNode, *, is_long: bool) -> bool:
    target = nearest_clickable(node)
    if run.documented and not (target or node).enabled:
        return False  # the published app taps on it all the same, and calls that a success
    name, verb = ("ACTION_LONG_CLICK", "Long-clicked") if is_long else ("ACTION_CLICK", "Clicked")
    act = run.ui.nodes.long_click if is_long else run.ui.nodes.click
    if target is not None and target.enabled and act(target):
        log_touch(run, f"{verb} via {name} on {describe_raw(target)} for id={node_id(node)}")
        return True
    if not node.bounds.width or not node.bounds.height:
        return False
    x, y = node.bounds.centre
    done = await (long_press(run, x, y) if is_long else tap(run, x, y))
    at = f"({float(x)},{float(y)})"
    log_touch(run, f"{verb} via gesture at {at} for id={node_id(node)} -> {str(done).lower()}")
    return done


def _focus(run: Run, node: UiNode) -> bool:
    target = nearest(node, lambda candidate: candidate.focusable) or node
    if not run.ui.nodes.focus(target):
        return False
    log_touch(run, f"Focused via ACTION_FOCUS on {describe_raw(target)} for id={node_id(node)}")
    return True


async def _touch_point(run: Run, x: int, y: int, click_type: ClickType) -> bool:
    where = f"({float(x)},{float(y)})"
    if not run.is_connected():
        return False
    if click_type == "focus":
        log_touch(run, f"Focus click type is not supported for raw coordinates at {where}")
        done = False
    else:
        done = await (long_press if click_type == "long_click" else tap)(run, x, y)
    if done:
        log_touch(run, f"Successfully performed {_KOTLIN_NAMES[click_type]} at {where}")
    else:
        log_touch(run, f"All coordinate click types failed at {where}")
    return done


async def enter_text(run: Run, action: Action) -> StepResult:
    """Put text into a field."""
    matcher, text, submit = action.matcher, action.text, str(action.submit).lower()
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2

    async def attempt() -> None:
        run.log_ui(f"Entering text into node matching: {matcher} (len={length}, submit={submit})")
        if not _set_text(run, find_or_fail(run, matcher), action):
            raise StepFailure("Failed to set text on matching UI node", code="NODE_NOT_CLICKABLE")
        run.log_ui("Successfully entered text into matching node")

    said: Details = {"matcher": matcher, "submit": action.submit, "text_length": length}
    stage = run_stage(
        run,
        f"enterText({matcher})",
        attempt,
        retry=action.retry,
        success=lambda _: said,
        failure=lambda message: {**said, "failure_point": _text_failure_point(message)},
    )
    await run.on_screen(stage)
    return succeeded(action, text=text, submit=submit)


def _text_failure_point(message: str) -> str:
    return "set_text_failed" if "set text" in message else _failure_point(message)


def _set_text(run: Run, node: UiNode, action: Action) -> bool:
    target = nearest(node, lambda candidate: candidate.editable) or node
    if not target.focused:
        run.ui.nodes.focus(target)
        run.ui.nodes.click(target)
    if not run.ui.nodes.set_text(target, action.text):
        log_touch(run, f"ACTION_SET_TEXT failed for id={node_id(node)} on {describe_raw(target)}")
        return False
    if action.submit and run.documented:
        run.ui.typing.enter()
    elif action.submit:
        run.ui.nodes.click(target)  # all that the published app does
    return True


_SCREENSHOT_MESSAGE = (
    "Android runtime cannot reliably capture screenshots. Use the Clawperator Node API or "
    "'adb exec-out screencap -p' directly for this action."
)


async def take_screenshot(run: Run, action: Action) -> StepResult:
    """Fail with the code that asks the host to take the picture."""
    return failed(action, error="UNSUPPORTED_RUNTIME_SCREENSHOT", message=_SCREENSHOT_MESSAGE)


async def press_key(run: Run, action: Action) -> StepResult:
    """Press back, home or recents."""
    if not run.is_connected():
        text = "OperatorAccessibilityService is not running - cannot execute press_key"
        raise StepFailure(text, code=SERVICE_UNAVAILABLE)
    # Android takes a global action even where it changes nothing, as back does at home.
    getattr(run.ui.keys, action.key)()
    return succeeded(action, key=action.key)


async def doctor_ping(run: Run, action: Action) -> StepResult:
    """Answer whether developer options and USB debugging are on."""

    def is_on(key: str) -> str:
        return str(run.settings.get("global", key) == "1").lower()

    return succeeded(
        action,
        developer_options_enabled=is_on("development_settings_enabled"),
        usb_debugging_enabled=is_on("adb_enabled"),
    )


_CLOSE_MESSAGE = (
    "Android runtime cannot reliably close apps. Use the Clawperator Node API or "
    "'adb shell am force-stop' directly for this action."
)


async def open_uri(run: Run, action: Action) -> StepResult:
    """Open an address in whichever app handles it."""
    uri = action.uri

    async def attempt() -> None:
        run.log_task(f"Opening URI: {uri}")
        if not run.ui.links.open_uri(uri):
            text = f"URI_NOT_HANDLED: No application found to handle uri={uri}"
            raise StepFailure(text, code="URI_NOT_HANDLED")

    await run_stage(
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


async def open_app(run: Run, action: Action) -> StepResult:
    """Bring an app to the front."""
    package = action.package

    async def attempt() -> None:
        if package not in run.ui.apps:
            text = f"No app found with applicationId={package}"
            raise StepFailure(text, code="APP_NOT_FOUND")
        run.log_task(f"Opening app: {package}")
        run.ui.launching.start_app(package)

    await run_stage(
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


async def close_app(run: Run, action: Action) -> StepResult:
    """Fail with the code that asks the host to close the app."""
    return failed(
        action,
        application_id=action.package,
        error="UNSUPPORTED_RUNTIME_CLOSE",
        message=_CLOSE_MESSAGE,
    )


async def start_recording(run: Run, action: Action) -> StepResult:
    """Start to record what happens on the screen."""
    return _recorded(action, run.recorder.start(action.session_id))


async def stop_recording(run: Run, action: Action) -> StepResult:
    """End the recording and return where it is."""
    return _recorded(action, run.recorder.stop(action.session_id))


def _recorded(action: Action, data: dict[str, str]) -> StepResult:
    make = failed if "error" in data else succeeded
    return make(action, **data)
