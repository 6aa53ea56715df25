"""The Operator's broadcast receiver: takes payloads, and logs what became of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_clawperator.simulator.operator.accessibility_service import AccessibilityService
from pytest_clawperator.simulator.operator.answer import envelope as envelopes
from pytest_clawperator.simulator.operator.answer.envelope import SERVICE_UNAVAILABLE
from pytest_clawperator.simulator.operator.answer.java_error import JavaError, ProcessDied
from pytest_clawperator.simulator.operator.answer.java_format import FormatFailure, formatted
from pytest_clawperator.simulator.operator.answer.operator_log import RECEIVER, OperatorLog, Source
from pytest_clawperator.simulator.operator.executor import SERVICE_OFF, Executor
from pytest_clawperator.simulator.operator.payload.command import Command
from pytest_clawperator.simulator.operator.payload.lenient_json import PayloadRefused
from pytest_clawperator.simulator.operator.payload.parser import parse_command
from pytest_clawperator.simulator.operator.profile import Profile
from pytest_clawperator.simulator.operator.surroundings import Surroundings


class CommandReceiver:
    """Runs each command in a task of its own; ``on_death`` is called when one kills the app."""

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        log: OperatorLog,
        service: AccessibilityService,
        make_executor: Callable[[], Executor],
        profile: Callable[[], Profile],
        on_death: Callable[[JavaError], None],
    ) -> None:
        self._faults, self._stats = surroundings.faults, surroundings.stats
        self._dismiss_shade = surroundings.dismiss_shade
        self._log = log
        self._service = service
        self._make_executor = make_executor
        self._executor = make_executor()
        self._profile = profile
        self._on_death = on_death
        self._tasks: set[asyncio.Task[None]] = set()

    def receive(self, payload: str | None) -> None:
        """Take a payload; returns at once, the work goes on in the event loop."""
        if payload is None or not payload.strip():
            self._log.error(
                Source.RECEIVER, f"{RECEIVER} Missing required agent payload extra: payload"
            )
        elif not self._service.is_available_for_command():
            self._decline(payload)
        else:
            self._dismiss_shade()
            task = asyncio.get_running_loop().create_task(self._serve(payload))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def abandon(self) -> list[asyncio.Task[None]]:
        """Cancel the commands under way, and return their tasks."""
        self._executor = self._make_executor()
        ending = list(self._tasks - {_current_task()})
        for task in ending:
            task.cancel()
        return ending

    def _parse(self, payload: str) -> Command:
        if self._faults.take("payload_refused"):
            raise PayloadRefused("payload was refused by a fault")
        return parse_command(payload)

    def _decline(self, payload: str) -> None:
        try:
            command = self._parse(payload)
        except PayloadRefused as refusal:
            self._log.error(
                Source.RECEIVER,
                f"{RECEIVER} {SERVICE_OFF} and failed to parse agent command payload",
                JavaError(refusal.reason, refusal.java_class),
            )
            return
        self._log.error(Source.RECEIVER, f"{RECEIVER} {SERVICE_OFF} {command.ids}")
        answer = envelopes.failure(command, SERVICE_OFF, code=SERVICE_UNAVAILABLE)
        self._log.info(Source.RECEIVER, answer.line())

    async def _serve(self, payload: str) -> None:
        try:
            command = self._parse(payload)
        except PayloadRefused as refusal:
            self._log.error(
                Source.RECEIVER_WORK,
                f"{RECEIVER} Failed to parse agent command payload",
                JavaError(refusal.reason, refusal.java_class),
            )
            return
        self._stats.execution_started()
        try:
            self._conclude(command, await self._executor.execute(command))
        except ProcessDied as death:
            self._on_death(death.error)
        except Exception as bug:
            # Ours, not the app's; but nobody shall wait for an answer that never comes.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the simulated Operator failed", "exception": bug}
            )
            self._on_death(JavaError(f"simulator: {bug!r}"))
        finally:
            self._stats.execution_ended()

    def _conclude(self, command: Command, reason: str | None) -> None:
        if reason is None:
            self._log.debug(
                Source.RECEIVER_WORK,
                f"{RECEIVER} Agent command completed successfully {command.ids}",
            )
            return
        message = f"{RECEIVER} Agent command failed {command.ids}: {reason}"
        if self._profile() == "0.5.3":
            try:
                message = formatted(message, JavaError(reason).text)
            except FormatFailure as problem:
                raise ProcessDied(
                    JavaError(str(problem), "java.lang.IllegalArgumentException")
                ) from None
        self._log.error(Source.RECEIVER_WORK, message)


def _current_task() -> asyncio.Task[None] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs here, so none of its tasks does either
        return None
