"""The Operator app: its receiver, its accessibility service, its life on the phone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.packages import OPERATOR_SERVICE
from pytest_clawperator.simulator.operator.command import Command, Profile
from pytest_clawperator.simulator.operator.envelope import SERVICE_UNAVAILABLE, Envelope
from pytest_clawperator.simulator.operator.executor import SERVICE_OFF, Executor
from pytest_clawperator.simulator.operator.operator_log import (
    RECEIVER,
    SERVICE,
    JavaError,
    OperatorLog,
    ProcessDied,
    Source,
    formatted_or_dead,
)
from pytest_clawperator.simulator.operator.parser import PayloadRefused, parse_command
from pytest_clawperator.simulator.operator.run import Recorder, Run, RunTime, Surroundings
from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent


class OperatorHost:
    """Keeps the Operators; one that is not installed takes nothing and does nothing."""

    def __init__(self, make: Callable[[str], OperatorApp], *, profile: Profile) -> None:
        self._make = make
        self._profile: Profile = profile
        self._apps: dict[str, OperatorApp] = {}

    @property
    def profile(self) -> Profile:
        """The profile of all of them; settable while they run."""
        return self._profile

    @profile.setter
    def profile(self, value: Profile) -> None:
        self._profile = value
        for app in self._apps.values():
            app.profile = value

    def start(self, package: str) -> None:
        """Start an Operator, unless it runs."""
        app = self._apps.get(package)
        if app is None:
            app = self._apps[package] = self._make(package)
            app.profile = self._profile
        app.start()

    def pid_of(self, package: str) -> int | None:
        """Return the pid of an Operator that runs."""
        app = self._apps.get(package)
        return app.pid if app is not None and app.alive else None

    def stop(self, package: str) -> None:
        """End an Operator and whatever it is doing."""
        app = self._apps.get(package)
        if app is not None:
            app.kill()

    def crash(self, package: str, message: str) -> None:
        """Crash an Operator with an exception."""
        app = self._apps.get(package)
        if app is not None:
            app.crash(message)

    def receive(self, package: str, payload: str | None) -> None:
        """Deliver a command to an Operator, which is started if need be."""
        self.start(package)
        self._apps[package].receive(payload)

    def on_event(self, event: AccessibilityEvent) -> None:
        """Notify every running Operator of an event on the screen."""
        for app in self._apps.values():
            app.on_accessibility_event(event)

    def on_back_key(self) -> None:
        """Notify every running Operator of the back key."""
        for app in self._apps.values():
            app.on_back_key()

    async def close(self) -> None:
        """End all of them and wait until their work has ended."""
        for app in self._apps.values():
            await app.stop()


class OperatorApp:
    """One installed Operator: its process, its command receiver, its accessibility service.

    It runs while ``alive``, each time under another ``pid``.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        package: str,
        rng: random.Random,
        profile: Profile = "documented",
        is_release: bool = False,
    ) -> None:
        self.profile: Profile = profile
        self.pid = rng.randrange(4000, 9000)
        self.alive = True
        self._package = package
        self._surroundings = surroundings
        self._faults = surroundings.faults
        self._rng = rng
        self._log = OperatorLog(surroundings.log, pid=lambda: self.pid, is_release=is_release)
        self._recorder = Recorder(surroundings, package=package, rng=rng, log=self._log)
        self._tasks: set[asyncio.Task[None]] = set()
        self._executor = self._make_executor()

    def start(self) -> None:
        """Start the process, unless it runs."""
        if not self.alive:
            self.alive = True
            self.pid += self._rng.randrange(20, 400)

    def crash(self, message: str) -> None:
        """Die of an uncaught exception; Android then switches the accessibility service off."""
        if self.alive:
            self._die(JavaError(message))

    def kill(self) -> list[asyncio.Task[None]]:
        """End the process immediately, and return the tasks that are being cancelled."""
        self.alive = False
        self._recorder.abandon()
        self._executor = self._make_executor()
        ending = list(self._tasks - {_current_task()})
        for task in ending:
            task.cancel()
        return ending

    async def stop(self) -> None:
        """End the process and wait until its work has ended."""
        await asyncio.gather(*self.kill(), return_exceptions=True)

    def _die(self, error: JavaError) -> None:
        self._log.crash(self._package, error)
        self.kill()
        settings_store.disable_accessibility_services(self._surroundings.settings, self._package)

    def _make_executor(self) -> Executor:
        clock = self._surroundings.clock
        return Executor(self._make_run, clock=clock, log=self._log, faults=self._faults)

    def _make_run(self, command: Command, time: RunTime) -> Run:
        return Run(
            command=command,
            ui=self._surroundings.ui,
            log=self._log,
            time=time,
            faults=self._faults,
            settings=self._surroundings.settings,
            recorder=self._recorder,
            rng=self._rng,
            profile=self.profile,
            is_connected=self._is_connected,
        )

    # -- The accessibility service -----------------------------------------------------------

    def _is_connected(self) -> bool:
        """Return whether the service is bound and works."""
        return self._faults.active("service_off") is None and self._may_run

    @property
    def _may_run(self) -> bool:
        component = f"{self._package}/{OPERATOR_SERVICE}"
        is_on = settings_store.is_accessibility_service_on(self._surroundings.settings, component)
        return is_on and self._faults.active("ui_automation") is None

    def on_accessibility_event(self, event: AccessibilityEvent) -> None:
        """Record and log an event on the screen."""
        if self.alive and self._is_connected():
            self._recorder.on_event(event)
            self._log.debug(Source.SERVICE, f"{SERVICE} onAccessibilityEvent({event})")

    def on_back_key(self) -> None:
        """Record the back key; global actions are not keys."""
        if self.alive and self._is_connected():
            self._recorder.on_back_key()

    # -- The receiver of commands ------------------------------------------------------------

    def receive(self, payload: str | None) -> None:
        """Take a broadcast's payload, starting the process if need be.

        This returns immediately; the work goes on in a task of the event loop.
        """
        self.start()
        if payload is None or not payload.strip():
            self._log.error(
                Source.RECEIVER, f"{RECEIVER} Missing required agent payload extra: payload"
            )
        elif self._faults.take("service_off") or not self._may_run:
            self._decline(payload)
        else:
            task = asyncio.get_running_loop().create_task(self._serve(payload))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _parse(self, payload: str, source: Source, complaint: str) -> Command | None:
        """Parse a payload; log a complaint and return None if it is refused."""
        try:
            if self._faults.take("payload_refused"):
                raise PayloadRefused("payload was refused by a fault")
            return parse_command(payload)
        except PayloadRefused as refusal:
            cause = JavaError(refusal.reason, refusal.java_class)
            self._log.error(source, f"{RECEIVER} {complaint} agent command payload", cause)
            return None

    def _decline(self, payload: str) -> None:
        command = self._parse(payload, Source.RECEIVER, f"{SERVICE_OFF} and failed to parse")
        if command is not None:
            self._log.error(Source.RECEIVER, f"{RECEIVER} {SERVICE_OFF} {command.ids}")
            answer = Envelope(command, error=SERVICE_OFF, error_code=SERVICE_UNAVAILABLE)
            self._log.info(Source.RECEIVER, answer.line())

    async def _serve(self, payload: str) -> None:
        command = self._parse(payload, Source.RECEIVER_WORK, "Failed to parse")
        if command is None:
            return
        stats = self._surroundings.stats
        stats.execution_started()
        try:
            self._conclude(command, await self._executor.execute(command))
        except ProcessDied as death:
            self._die(death.error)
        except Exception as bug:
            # A fault of the simulator; let the host see a crash instead of waiting for an answer.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the simulated Operator failed", "exception": bug}
            )
            self._die(JavaError(f"simulator: {bug!r}"))
        finally:
            stats.execution_ended()

    def _conclude(self, command: Command, reason: str | None) -> None:
        if reason is None:
            message = f"{RECEIVER} Agent command completed successfully {command.ids}"
            self._log.debug(Source.RECEIVER_WORK, message)
            return
        message = f"{RECEIVER} Agent command failed {command.ids}: {reason}"
        if self.profile == "0.5.3":
            message = formatted_or_dead(message, JavaError(reason))
        self._log.error(Source.RECEIVER_WORK, message)


def _current_task() -> asyncio.Task[None] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs here, so none of its tasks does either
        return None
