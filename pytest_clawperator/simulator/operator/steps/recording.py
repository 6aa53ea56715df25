"""The steps for recordings: start_recording and stop_recording."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.envelope import (
    StepResult,
    failed,
    succeeded,
)
from pytest_clawperator.simulator.operator.payload.command import (
    StartRecording,
    StopRecording,
)
from pytest_clawperator.simulator.operator.steps.run import Run


async def start_recording(run: Run, action: StartRecording) -> StepResult:
    """Start to record what happens on the screen."""
    outcome = run.recorder.start(action.session_id)
    make = succeeded if outcome.error is None else failed
    return make(
        action,
        error=outcome.error,
        message=outcome.message,
        sessionId=outcome.session_id,
        filePath=outcome.file_path,
    )


async def stop_recording(run: Run, action: StopRecording) -> StepResult:
    """End the recording and return where it is."""
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
