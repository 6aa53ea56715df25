"""Attempts at a step: repeated as its retry says, and logged."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from pytest_clawperator.simulator.operator.answer.java_error import JavaError
from pytest_clawperator.simulator.operator.answer.operator_log import (
    UI_SCOPE,
    Source,
    map_text,
)
from pytest_clawperator.simulator.operator.payload.command import Retry
from pytest_clawperator.simulator.operator.steps.run import Details, Run, StepFailure, T


def no_details(_: object) -> Details:
    """Add no details to a stage's log line."""
    return {}


async def run_stage(
    run: Run,
    stage: str,
    attempt: Callable[[], Awaitable[T]],
    *,
    retry: Retry,
    label: str | None = None,
    on_screen: bool = True,
    success: Callable[[T], Details] = no_details,
    failure: Callable[[str], Details] | None = no_details,
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
        run.log_ui(f"{stage} {line}")
    else:
        run.log_task(line)


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
