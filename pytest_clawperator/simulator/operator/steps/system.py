"""The steps for the device: press_key, take_screenshot and doctor_ping."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.envelope import (
    SERVICE_UNAVAILABLE,
    StepResult,
    failed,
    succeeded,
)
from pytest_clawperator.simulator.operator.payload.command import (
    DoctorPing,
    PressKey,
    TakeScreenshot,
)
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure

_SCREENSHOT_MESSAGE = (
    "Android runtime cannot reliably capture screenshots. Use the Clawperator Node API or "
    "'adb exec-out screencap -p' directly for this action."
)


async def take_screenshot(run: Run, action: TakeScreenshot) -> StepResult:
    """Fail with the code that asks the host to take the picture."""
    return failed(action, error="UNSUPPORTED_RUNTIME_SCREENSHOT", message=_SCREENSHOT_MESSAGE)


async def press_key(run: Run, action: PressKey) -> StepResult:
    """Press back, home or recents."""
    if not run.is_connected():
        text = "OperatorAccessibilityService is not running - cannot execute press_key"
        raise StepFailure(text, code=SERVICE_UNAVAILABLE)
    # Android takes a global action even where it changes nothing, as back does at home.
    {"back": run.ui.keys.back, "home": run.ui.keys.home, "recents": run.ui.keys.recents}[
        action.key
    ]()
    return succeeded(action, key=action.key)


async def doctor_ping(run: Run, action: DoctorPing) -> StepResult:
    """Answer whether developer options and USB debugging are on."""

    def is_on(key: str) -> str:
        return str(run.settings.get("global", key) == "1").lower()

    return succeeded(
        action,
        developer_options_enabled=is_on("development_settings_enabled"),
        usb_debugging_enabled=is_on("adb_enabled"),
    )
