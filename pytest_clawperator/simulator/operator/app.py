"""The Operator app of a simulated phone: its process, its service, and its ear for broadcasts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from pytest_clawperator.simulator.android.state.settings import SettingsStore, remove_from_list
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.operator.answer import envelope as envelopes
from pytest_clawperator.simulator.operator.answer.envelope import SERVICE_UNAVAILABLE
from pytest_clawperator.simulator.operator.answer.java_format import FormatFailure, formatted
from pytest_clawperator.simulator.operator.answer.operator_log import (
    RECEIVER,
    SERVICE,
    JavaError,
    OperatorLog,
    Source,
)
from pytest_clawperator.simulator.operator.executor import SERVICE_OFF, Executor, ProcessDied
from pytest_clawperator.simulator.operator.operator_clock import OperatorClock, RunTime
from pytest_clawperator.simulator.operator.payload.command import Command
from pytest_clawperator.simulator.operator.payload.lenient_json import PayloadRefused
from pytest_clawperator.simulator.operator.payload.parser import parse_command
from pytest_clawperator.simulator.operator.recorder import Recorder
from pytest_clawperator.simulator.operator.steps.run import Profile, Run
from pytest_clawperator.simulator.screen.events import AccessibilityEvent
from pytest_clawperator.simulator.screen.hierarchy import hierarchy_xml
from pytest_clawperator.simulator.screen.ui import Ui
from pytest_clawperator.simulator.stats import Stats

SERVICE_CLASS = "clawperator.operator.accessibilityservice.OperatorAccessibilityService"
_SERVICES = "enabled_accessibility_services"


def _nothing() -> None:
    pass


class OperatorApp:
    """One installed Operator.

    ``operator_clock`` is for a device whose screen goes by the same clock as the Operator's
    pauses; ``time_scale`` is then that clock's. ``dismiss_shade`` closes the notification shade,
    which every command does first; ``on_death`` is told when the process died of a crash.
    """

    def __init__(
        self,
        *,
        ui: Ui,
        log: LogBuffer,
        faults: Faults,
        files: FileSystem,
        settings: SettingsStore,
        package: str,
        clock: Callable[[], float],
        rng: random.Random,
        stats: Stats,
        profile: Profile = "documented",
        release_tags: bool = False,
        time_scale: float = 1.0,
        operator_clock: OperatorClock | None = None,
        dismiss_shade: Callable[[], None] = _nothing,
        on_death: Callable[[], None] = _nothing,
    ) -> None:
        self.package = package
        self.profile: Profile = profile
        self.pid = rng.randrange(4000, 9000)
        self.alive = True
        self._ui, self._faults, self._settings, self._stats = ui, faults, settings, stats
        self._rng = rng
        self._dismiss_shade, self._on_death = dismiss_shade, on_death
        self._log = OperatorLog(log, pid=lambda: self.pid, release_tags=release_tags)
        self._clock = operator_clock or OperatorClock(clock, time_scale=time_scale)
        self._recorder = Recorder(
            files=files,
            package=package,
            clock=clock,
            rng=rng,
            log=self._log,
            snapshot=self._hierarchy,
        )
        self._executor = self._new_executor()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def time_scale(self) -> float:
        """By how much every pause of the Operator is longer than on a phone; settable."""
        return self._clock.time_scale

    @time_scale.setter
    def time_scale(self, value: float) -> None:
        self._clock.time_scale = value

    @property
    def is_service_enabled(self) -> bool:
        """Whether the device's settings have the accessibility service switched on."""
        wanted = f"{self.package}/{SERVICE_CLASS}"
        enabled = self._settings.get("secure", _SERVICES) or ""
        is_on = self._settings.get("secure", "accessibility_enabled") == "1"
        return is_on and wanted in enabled.split(":")

    @property
    def is_connected(self) -> bool:
        """Whether the accessibility service is bound and works."""
        return self._faults.active("service_off") is None and self.is_service_enabled

    def start(self) -> None:
        """Start the process, unless it runs."""
        if not self.alive:
            self.alive = True
            self.pid += self._rng.randrange(20, 400)

    def receive(self, payload: str | None) -> None:
        """Take a broadcast's payload; returns at once, the work goes on in the event loop."""
        self.start()
        if payload is None or not payload.strip():
            self._log.error(
                Source.RECEIVER, f"{RECEIVER} Missing required agent payload extra: payload"
            )
            return
        if self._faults.take("service_off") or not self.is_service_enabled:
            self._decline(payload)
            return
        self._dismiss_shade()
        task = asyncio.get_running_loop().create_task(self._serve(payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def on_accessibility_event(self, event: AccessibilityEvent) -> None:
        """Hear of an event on the screen; a service that is not connected does not."""
        if not self.alive or not self.is_connected:
            return
        self._recorder.on_event(event)
        self._log.debug(Source.SERVICE, f"{SERVICE} onAccessibilityEvent({event})")

    def on_back_key(self) -> None:
        """Hear of the back key; global actions are not keys."""
        if self.alive and self.is_connected:
            self._recorder.on_back_key()

    def crash(self, message: str) -> None:
        """Die of an uncaught exception; Android then takes the accessibility service away."""
        if self.alive:
            self._die(JavaError(message))

    def kill(self) -> None:
        """End the process and whatever it is doing, without a word."""
        self.alive = False
        self._recorder.abandon()
        self._executor = self._new_executor()
        for task in self._tasks - {_current_task()}:
            task.cancel()

    async def idle(self) -> None:
        """Wait until no command is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """End the process and wait until its work has ended."""
        ending = list(self._tasks - {_current_task()})
        self.kill()
        await asyncio.gather(*ending, return_exceptions=True)

    def _new_executor(self) -> Executor:
        return Executor(self._make_run, clock=self._clock, log=self._log, faults=self._faults)

    def _make_run(self, command: Command, time: RunTime) -> Run:
        return Run(
            command=command,
            ui=self._ui,
            log=self._log,
            time=time,
            faults=self._faults,
            settings=self._settings,
            recorder=self._recorder,
            rng=self._rng,
            profile=self.profile,
            is_connected=lambda: self.is_connected,
        )

    def _hierarchy(self) -> str | None:
        root = self._ui.active_root()
        return None if root is None else hierarchy_xml(root, self._ui.rotation)

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
        ids = f"commandId={command.command_id} taskId={command.task_id}"
        self._log.error(Source.RECEIVER, f"{RECEIVER} {SERVICE_OFF} {ids}")
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
            self._die(death.error)
        except Exception as bug:
            # Ours, not the app's; but nobody shall wait for an answer that never comes.
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"the simulated {self.package} failed", "exception": bug}
            )
            self._die(JavaError(f"simulator: {bug!r}"))
        finally:
            self._stats.execution_ended()

    def _conclude(self, command: Command, reason: str | None) -> None:
        ids = f"commandId={command.command_id} taskId={command.task_id}"
        if reason is None:
            self._log.debug(
                Source.RECEIVER_WORK, f"{RECEIVER} Agent command completed successfully {ids}"
            )
            return
        message = f"{RECEIVER} Agent command failed {ids}: {reason}"
        if self.profile == "0.5.3":
            try:
                message = formatted(message, JavaError(reason).text)
            except FormatFailure as problem:
                raise ProcessDied(
                    JavaError(str(problem), "java.lang.IllegalArgumentException")
                ) from None
        self._log.error(Source.RECEIVER_WORK, message)

    def _die(self, error: JavaError) -> None:
        self._log.crash(self.package, error)
        self.kill()
        if not remove_from_list(self._settings, "secure", _SERVICES, package=self.package):
            self._settings.put("secure", "accessibility_enabled", "0")
        self._on_death()


def _current_task() -> asyncio.Task[None] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs here, so none of its tasks does either
        return None
