"""One command at a time: the Operator's mutex, its timeout, and how it answers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer import envelope as envelopes
from pytest_clawperator.simulator.operator.answer.envelope import (
    SERVICE_UNAVAILABLE,
    Envelope,
    StepResult,
)
from pytest_clawperator.simulator.operator.answer.java_format import FormatFailure, formatted
from pytest_clawperator.simulator.operator.answer.operator_log import (
    COMMAND,
    MANAGER,
    RUNNER,
    JavaError,
    OperatorLog,
    Source,
)
from pytest_clawperator.simulator.operator.operator_clock import (
    OperatorClock,
    RunTime,
    TimeLimitReached,
)
from pytest_clawperator.simulator.operator.payload.command import Command
from pytest_clawperator.simulator.operator.steps.engine import execute
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure

SERVICE_OFF = "Accessibility service is not available"


class ProcessDied(Exception):
    """The Operator's process has to die; ``error`` is what kills it."""

    def __init__(self, error: JavaError) -> None:
        super().__init__(error.message)
        self.error = error


class Executor:
    """Runs commands in the order of their arrival and logs their envelopes."""

    def __init__(
        self,
        make_run: Callable[[Command, RunTime], Run],
        *,
        clock: OperatorClock,
        log: OperatorLog,
        faults: Faults,
    ) -> None:
        self._make_run = make_run
        self._clock = clock
        self._log = log
        self._faults = faults
        self._mutex = asyncio.Lock()

    async def execute(self, command: Command) -> str | None:
        """Run a command and log its envelope; give the reason if it failed."""
        run = self._make_run(command, RunTime(self._clock))
        deadline = self._clock.now() + command.timeout_ms
        if self._mutex.locked():
            self._log.info(
                Source.EXECUTOR,
                f"{COMMAND} queued {_ids(command)} waiting_for_active_command=true",
            )
        if not await self._acquire(deadline):
            return await self._answer(run, Source.EXECUTOR, _timed_out(command))
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
        self._log.info(
            Source.EXECUTOR_WORK,
            f"{COMMAND} start {_ids(command)} source={command.source} "
            f"timeoutMs={command.timeout_ms} actionCount={len(command.actions)}",
        )
        self._log.debug(Source.MANAGER, f"{MANAGER} Task execution started")
        began = run.time.now()
        try:
            with _limit(run, deadline):
                steps = await execute(run)
        except TimeLimitReached:
            self._log.debug(Source.MANAGER, f"{MANAGER} Task execution cancelled")
            return await self._answer(run, Source.EXECUTOR, _timed_out(command))
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
                f"{COMMAND} success {_ids(command)} stepCount={len(steps)}",
            )
            return await self._answer(run, Source.EXECUTOR_WORK, envelopes.success(command, steps))
        reason = f"Step {broken.id} ({broken.action_type}) failed: {broken.data.get('error', '')}"
        self._log.error(Source.EXECUTOR_WORK, f"{COMMAND} failure {_ids(command)} reason={reason}")
        answer = envelopes.failure(command, reason, steps=steps)
        return await self._answer(run, Source.EXECUTOR_WORK, answer)

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
            Source.EXECUTOR_WORK, f"{COMMAND} failure {_ids(run.command)} reason={reason}", cause
        )
        answer = envelopes.failure(run.command, reason, code=code)
        return await self._answer(run, Source.EXECUTOR_WORK, answer)

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
        try:
            self._log.error(Source.MANAGER, formatted(message, thrown.text))
        except FormatFailure as problem:
            raise ProcessDied(
                JavaError(str(problem), "java.lang.IllegalArgumentException")
            ) from None
        return thrown.message, thrown

    async def _answer(self, run: Run, source: Source, envelope: Envelope) -> str | None:
        """Log the envelope, unless a fault has other plans; give its error."""
        faults = self._faults
        if faults.take("operator_crash"):
            raise ProcessDied(JavaError("the Operator was told to crash"))
        if faults.take("no_envelope"):
            return envelope.error
        late = faults.take("late_envelope")
        if late is not None:
            await asyncio.sleep(_number(late.options["ms"]) / 1000)
        other = faults.take("foreign_envelope")
        if other is not None:
            foreign = Envelope(command_id=other.options["command_id"], task_id="another-task")
            self._log.info(source, foreign.line())
        line = envelope.line()
        if faults.take("half_envelope"):
            line = line[: len(line) // 2]
        self._log.info(source, line)
        if faults.take("double_envelope"):
            self._log.info(source, line)
        return envelope.error


def _limit(run: Run, deadline: float) -> AbstractContextManager[object]:
    return run.time.limit(deadline - run.time.now()) if run.documented else nullcontext()


def _timed_out(command: Command) -> Envelope:
    return envelopes.failure(command, f"Agent command timed out after {command.timeout_ms}ms")


def _ids(command: Command) -> str:
    return f"commandId={command.command_id} taskId={command.task_id}"


def _result_text(command: Command, steps: list[StepResult]) -> str:
    return (
        f"UiActionExecutionResult(commandId={command.command_id}, taskId={command.task_id}, "
        f"stepResults=[{', '.join(str(step) for step in steps)}])"
    )


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return min(max(number, 0.0), 600_000.0) if math.isfinite(number) else 0.0
