"""Run the actions of one command after the other, and answer with one envelope."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator import read_steps, scroll_steps, touch_steps
from pytest_clawperator.simulator.operator.command import Action, Command
from pytest_clawperator.simulator.operator.envelope import (
    SERVICE_UNAVAILABLE,
    Envelope,
    StepResult,
    failed,
    forge,
    write_envelope,
)
from pytest_clawperator.simulator.operator.operator_log import (
    COMMAND,
    ENGINE,
    MANAGER,
    RUNNER,
    FormatFailure,
    JavaError,
    OperatorLog,
    Source,
    formatted,
    formatted_or_dead,
    map_text,
)
from pytest_clawperator.simulator.operator.run import Run, RunTime, StepFailure, TimeLimitReached
from pytest_clawperator.simulator.phone_clock import PhoneClock

SERVICE_OFF = "Accessibility service is not available"


class Executor:
    """Runs commands in the order of their arrival and logs their envelopes."""

    def __init__(
        self,
        make_run: Callable[[Command, RunTime], Run],
        *,
        clock: PhoneClock,
        log: OperatorLog,
        faults: Faults,
    ) -> None:
        self._make_run = make_run
        self._clock = clock
        self._log = log
        self._faults = faults
        self._mutex = asyncio.Lock()

    async def execute(self, command: Command) -> str | None:
        """Run a command and log its envelope; return the reason if it failed."""
        run = self._make_run(command, RunTime(self._clock))
        deadline = self._clock.now() + command.timeout_ms
        if self._mutex.locked():
            self._log.info(
                Source.EXECUTOR,
                f"{COMMAND} queued {command.ids} waiting_for_active_command=true",
            )
        if not await self._acquire(deadline):
            return await self._time_is_over(run)
        try:
            reason = await self._perform(run, deadline)
        finally:
            self._mutex.release()
        if not run.documented and self._clock.now() >= deadline:
            # The published app's timeout does not end the work; it only shows afterwards.
            late = _timed_out(command)
            self._log.info(Source.EXECUTOR, late.line())
            return late.error
        return reason

    async def _acquire(self, deadline: float) -> bool:
        if not self._mutex.locked():
            return await self._mutex.acquire()
        waiting = asyncio.create_task(self._mutex.acquire())
        try:
            if await self._clock.is_done_before(deadline, waiting):
                return True
        except asyncio.CancelledError:
            self._give_up(waiting)
            raise
        self._give_up(waiting)
        return False

    def _give_up(self, waiting: asyncio.Task[Literal[True]]) -> None:
        if not waiting.cancel():
            self._mutex.release()

    async def _perform(self, run: Run, deadline: float) -> str | None:
        command = run.command
        forge(self._log, self._faults, command)
        self._log.info(
            Source.EXECUTOR_WORK,
            f"{COMMAND} start {command.ids} source={command.source} "
            f"timeoutMs={command.timeout_ms} actionCount={len(command.actions)}",
        )
        forge(self._log, self._faults, command)
        self._log.debug(Source.MANAGER, f"{MANAGER} Task execution started")
        began = run.time.now()
        try:
            with _limit(run, deadline):
                steps = await execute(run)
        except TimeLimitReached:
            self._log.debug(Source.MANAGER, f"{MANAGER} Task execution cancelled")
            return await self._time_is_over(run)
        except StepFailure as problem:
            return await self._fail(run, problem, run.time.elapsed(began))
        self._log.debug(
            Source.MANAGER,
            f"{MANAGER} Task completed successfully in {run.time.elapsed(began)}ms with value: "
            f"{_result_text(command, steps)}",
        )
        return await self._finish(run, steps)

    async def _finish(self, run: Run, steps: list[StepResult]) -> str | None:
        command = run.command
        broken = next((step for step in steps if step.ends_the_run), None)
        if broken is None or not run.documented:
            self._log.info(
                Source.EXECUTOR_WORK,
                f"{COMMAND} success {command.ids} stepCount={len(steps)}",
            )
            return await self._answer(Source.EXECUTOR_WORK, Envelope(command, steps=steps))
        reason = f"Step {broken.id} ({broken.action_type}) failed: {broken.data.get('error', '')}"
        self._log.error(Source.EXECUTOR_WORK, f"{COMMAND} failure {command.ids} reason={reason}")
        answer = Envelope(command, steps=steps, error=reason)
        return await self._answer(Source.EXECUTOR_WORK, answer)

    async def _fail(self, run: Run, problem: StepFailure, elapsed: int) -> str | None:
        cause = JavaError(problem.message)
        # The app passes its tag where the message belongs, so nothing else is logged.
        self._log.error(Source.RUNNER, RUNNER)
        reason, code = f"Task execution failed: {problem.message}", None
        if run.documented:
            reason, code = SERVICE_OFF, SERVICE_UNAVAILABLE
            self._log.error(Source.MANAGER, f"{MANAGER} Task failed after {elapsed}ms: {reason}")
        else:
            reason, cause = self._log_with_format(elapsed, reason, cause)
        self._log.error(
            Source.EXECUTOR_WORK, f"{COMMAND} failure {run.command.ids} reason={reason}", cause
        )
        answer = Envelope(run.command, error=reason, error_code=code)
        return await self._answer(Source.EXECUTOR_WORK, answer)

    def _log_with_format(
        self, elapsed: int, reason: str, cause: JavaError
    ) -> tuple[str, JavaError]:
        message = f"{MANAGER} Task failed after {elapsed}ms: {reason}"
        try:
            self._log.error(Source.MANAGER, formatted(message, cause.text))
        except FormatFailure as problem:
            thrown = JavaError(str(problem), "java.util.IllegalFormatException")
        else:
            return reason, cause
        message = f"{MANAGER} Task execution error: {thrown.message}"
        self._log.error(Source.MANAGER, formatted_or_dead(message, thrown))
        return thrown.message, thrown

    async def _time_is_over(self, run: Run) -> str | None:
        """End a command whose time is over; to the specification, the host alone notices."""
        late = _timed_out(run.command)
        return late.error if run.documented else await self._answer(Source.EXECUTOR, late)

    async def _answer(self, source: Source, envelope: Envelope) -> str | None:
        """Log the envelope and return its error."""
        await write_envelope(self._log, self._faults, source, envelope)
        return envelope.error


def _limit(run: Run, deadline: float) -> AbstractContextManager[object]:
    return run.time.limit(deadline - run.time.now()) if run.documented else nullcontext()


def _timed_out(command: Command) -> Envelope:
    return Envelope(command, error=f"Agent command timed out after {command.timeout_ms}ms")


def _result_text(command: Command, steps: list[StepResult]) -> str:
    return (
        f"UiActionExecutionResult(commandId={command.command_id}, taskId={command.task_id}, "
        f"stepResults=[{', '.join(str(step) for step in steps)}])"
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
    name = run.log.class_name(action.class_name)
    run.log.debug(Source.ENGINE, f"{ENGINE} step_start id={action.id} type={name}")
    result = _provoked(run, action)
    if result is None:
        try:
            result = await _PERFORMERS[action.type](run, action)
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
    if fault is None or fault.options["type"] not in ("", action.type):
        return None
    run.faults.take("step_error")
    return failed(
        action,
        application_id=action.package if action.type == "close_app" else None,
        key=action.key if action.type == "press_key" else None,
        error=fault.options["code"],
    )


_STEPS: Sequence[Callable[[Run, Action], Awaitable[StepResult]]] = (
    touch_steps.open_uri,
    touch_steps.open_app,
    touch_steps.close_app,
    touch_steps.click,
    touch_steps.enter_text,
    touch_steps.press_key,
    touch_steps.take_screenshot,
    touch_steps.doctor_ping,
    touch_steps.start_recording,
    touch_steps.stop_recording,
    scroll_steps.scroll,
    scroll_steps.scroll_until,
    scroll_steps.scroll_and_click,
    read_steps.wait_for_node,
    read_steps.wait_for_navigation,
    read_steps.read_text,
    read_steps.read_key_value_pair,
    read_steps.snapshot_ui,
    read_steps.sleep,
)
# Each step is named as its action is on the wire.
_PERFORMERS = {step.__name__: step for step in _STEPS}
