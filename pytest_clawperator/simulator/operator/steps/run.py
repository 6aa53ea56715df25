"""One command under way: what its steps share, and how each of them is tried again."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from pytest_clawperator.simulator.android.state.settings import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer.operator_log import (
    COMMAND,
    SCOPE,
    UI_SCOPE,
    JavaError,
    OperatorLog,
    Source,
    map_text,
)
from pytest_clawperator.simulator.operator.operator_clock import RunTime
from pytest_clawperator.simulator.operator.payload.command import Command, Retry
from pytest_clawperator.simulator.operator.recorder import Recorder
from pytest_clawperator.simulator.screen.ui import Ui

T = TypeVar("T")
Profile = Literal["documented", "0.5.3"]
Details = Mapping[str, object]


class StepFailure(Exception):
    """A step cannot do what it should; ``code`` is what the specification calls that."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the steps of one command share."""

    command: Command
    ui: Ui
    log: OperatorLog
    time: RunTime
    faults: Faults
    settings: SettingsStore
    recorder: Recorder
    rng: random.Random
    profile: Profile
    is_connected: Callable[[], bool]

    @property
    def documented(self) -> bool:
        """Whether steps behave as the specification says, not as the published app does."""
        return self.profile == "documented"

    def status(self, what: str, text: str) -> None:
        """Log how a stage is getting on."""
        self.log.debug(Source.STATUS_SINK, f"{COMMAND} {what} {self._ids} {text}")

    def status_failure(self, text: str, cause: JavaError) -> None:
        """Log that a stage failed for good."""
        self.log.error(Source.STATUS_SINK, f"{COMMAND} stage-failure {self._ids} {text}", cause)

    def say(self, text: str) -> None:
        """Log a line of the task."""
        self.log.debug(Source.TASK_SCOPE, f"{SCOPE} {text}")

    def ui_say(self, text: str) -> None:
        """Log a line of an operation on the screen."""
        self.log.debug(Source.UI_SCOPE, f"{UI_SCOPE} {text}")

    async def on_screen(self, operation: Awaitable[T]) -> T:
        """Log that operations on the screen begin and that they are done."""
        self.say("Executing UI operations")
        result = await operation
        self.say("UI operations completed")
        return result

    @property
    def _ids(self) -> str:
        return f"commandId={self.command.command_id} taskId={self.command.task_id}"


def nothing(_: object) -> Details:
    """Add no details to a stage's log line."""
    return {}


async def in_stage(
    run: Run,
    stage: str,
    attempt: Callable[[], Awaitable[T]],
    *,
    retry: Retry,
    label: str | None = None,
    on_screen: bool = True,
    success: Callable[[T], Details] = nothing,
    failure: Callable[[str], Details] | None = nothing,
) -> T:
    """Try something as often as the retry says, and log each try.

    ``success`` and ``failure`` add details to the log; without ``failure`` the context line of a
    failed stage is left out.
    """
    run.status("stage-start", f"id={stage} label={label or stage}")
    began = run.time.now()
    delay = retry.initial_delay
    tries = 0
    while True:
        tries += 1
        try:
            result = await attempt()
        except StepFailure as problem:
            if tries >= retry.max_attempts:
                _log_failure(run, stage, problem, tries, on_screen, failure)
                raise
            pause = _jittered(delay, retry.jitter, run.rng)
            _log_retry(run, stage, problem, f"{tries}/{retry.max_attempts}", pause, on_screen)
            await run.time.pause(pause)
            delay = min(delay * retry.multiplier, max(retry.max_delay, retry.initial_delay))
        else:
            details = {**success(result), "elapsed_ms": run.time.elapsed(began), "attempt": tries}
            run.status("stage-success", f"id={stage} data={map_text(_texts(details))}")
            return result


def _jittered(delay: float, ratio: float, rng: random.Random) -> int:
    if ratio <= 0:
        return int(delay)
    return rng.randint(max(0, int(delay - delay * ratio)), int(delay + delay * ratio))


def _log_retry(
    run: Run, stage: str, problem: StepFailure, attempt: str, pause: int, on_screen: bool
) -> None:
    run.status("stage-retry", f"id={stage} attempt={attempt} delayMs={pause}")
    number = attempt.partition("/")[0]
    line = f"attempt {number} failed: {problem.message}; retrying in {pause}ms"
    if on_screen:
        run.ui_say(f"{stage} {line}")
    else:
        run.say(line)


def _log_failure(
    run: Run,
    stage: str,
    problem: StepFailure,
    tries: int,
    on_screen: bool,
    failure: Callable[[str], Details] | None,
) -> None:
    if on_screen:
        # The app passes its tag where the message belongs, so nothing else is logged.
        run.log.error(Source.UI_SCOPE, UI_SCOPE)
    details = {} if failure is None else failure(problem.message)
    code = details.get("reason_code")
    reason = problem.message if code is None else f"{code}: {problem.message}"
    run.status_failure(f"id={stage} reason={reason}", JavaError(problem.message))
    if failure is not None:
        shown = _texts({**details, "attempt": tries})
        context = ", ".join(f"{key}={value}" for key, value in shown.items())
        run.status("stage-log", f"message=StageFailure context: {context}")


def _texts(details: Details) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in details.items()
        if value is not None
    }
