"""The steps for apps and addresses: open_app, close_app and open_uri."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.envelope import (
    StepResult,
    failed,
    succeeded,
)
from pytest_clawperator.simulator.operator.payload.command import (
    CloseApp,
    OpenApp,
    OpenUri,
)
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.stage import run_stage

_CLOSE_MESSAGE = (
    "Android runtime cannot reliably close apps. Use the Clawperator Node API or "
    "'adb shell am force-stop' directly for this action."
)


async def open_uri(run: Run, action: OpenUri) -> StepResult:
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


async def open_app(run: Run, action: OpenApp) -> StepResult:
    """Bring an app to the front."""
    package = action.application_id

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


async def close_app(run: Run, action: CloseApp) -> StepResult:
    """Fail with the code that asks the host to close the app."""
    return failed(
        action,
        application_id=action.application_id,
        error="UNSUPPORTED_RUNTIME_CLOSE",
        message=_CLOSE_MESSAGE,
    )
