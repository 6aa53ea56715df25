"""The Operator app: its receiver, its accessibility service, its life on the phone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.packages import OPERATOR_SERVICE
from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.command import Command, Profile
from pytest_clawperator.simulator.operator.envelope import SERVICE_UNAVAILABLE, Envelope
from pytest_clawperator.simulator.operator.executor import SERVICE_OFF, Executor
from pytest_clawperator.simulator.operator.operator_log import (
    RECEIVER,
    SERVICE,
    FormatFailure,
    JavaError,
    OperatorLog,
    ProcessDied,
    Source,
    formatted,
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

    def on_event(self, event: str) -> None:
        """Notify every running Operator of an event on the screen."""
        assert isinstance(event, AccessibilityEvent)
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
    """One installed Operator; it runs while ``alive``, each time under another ``pid``."""

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
        self._rng = rng
        self._log = OperatorLog(surroundings.log, pid=lambda: self.pid, is_release=is_release)
        self._recorder = Recorder(surroundings, package=package, rng=rng, log=self._log)
        self._service = AccessibilityService(
            package,
            settings=surroundings.settings,
            faults=surroundings.faults,
            log=self._log,
            recorder=self._recorder,
        )
        self._receiver = CommandReceiver(
            surroundings,
            log=self._log,
            service=self._service,
            make_executor=self._make_executor,
            profile=lambda: self.profile,
            on_death=self._die,
        )

    def start(self) -> None:
        """Start the process, unless it runs."""
        if not self.alive:
            self.alive = True
            self.pid += self._rng.randrange(20, 400)

    def receive(self, payload: str | None) -> None:
        """Take a broadcast's payload; the process is started for it if need be."""
        self.start()
        self._receiver.receive(payload)

    def on_accessibility_event(self, event: AccessibilityEvent) -> None:
        """Take note of an event on the screen."""
        if self.alive:
            self._service.on_event(event)

    def on_back_key(self) -> None:
        """Take note of the back key; global actions are not keys."""
        if self.alive:
            self._service.on_back_key()

    def crash(self, message: str) -> None:
        """Die of an uncaught exception; Android then switches the accessibility service off."""
        if self.alive:
            self._die(JavaError(message))

    def kill(self) -> list[asyncio.Task[None]]:
        """End the process at once, and return the tasks that are being cancelled."""
        self.alive = False
        self._recorder.abandon()
        return self._receiver.abandon()

    async def stop(self) -> None:
        """End the process and wait until its work has ended."""
        await asyncio.gather(*self.kill(), return_exceptions=True)

    def _die(self, error: JavaError) -> None:
        self._log.crash(self._package, error)
        self.kill()
        self._service.disable()

    def _make_executor(self) -> Executor:
        parts = self._surroundings
        return Executor(self._make_run, clock=parts.clock, log=self._log, faults=parts.faults)

    def _make_run(self, command: Command, time: RunTime) -> Run:
        return Run(
            command=command,
            ui=self._surroundings.ui,
            log=self._log,
            time=time,
            faults=self._surroundings.faults,
            settings=self._surroundings.settings,
            recorder=self._recorder,
            rng=self._rng,
            profile=self.profile,
            is_connected=lambda: self._service.is_connected,
        )


class CommandReceiver:
    """Runs each command in its own task; ``on_death`` is called when one kills the app."""

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
        answer = Envelope(command, error=SERVICE_OFF, error_code=SERVICE_UNAVAILABLE)
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
            # A fault of the simulator; let the host see a crash instead of waiting for an answer.
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


class AccessibilityService:
    """The service of one installed Operator."""

    def __init__(
        self,
        package: str,
        *,
        settings: SettingsStore,
        faults: Faults,
        log: OperatorLog,
        recorder: Recorder,
    ) -> None:
        self._package = package
        self._component = f"{package}/{OPERATOR_SERVICE}"
        self._settings = settings
        self._faults = faults
        self._log = log
        self._recorder = recorder

    @property
    def is_enabled(self) -> bool:
        """Whether the device's settings have the service switched on."""
        return settings_store.is_accessibility_service_on(self._settings, self._component)

    @property
    def is_connected(self) -> bool:
        """Whether the service is bound and works."""
        return self._faults.active("service_off") is None and self._may_run

    def is_available_for_command(self) -> bool:
        """Return whether a command can be taken; this uses up one occasion of the fault."""
        return not self._faults.take("service_off") and self._may_run

    @property
    def _may_run(self) -> bool:
        return self.is_enabled and self._faults.active("ui_automation") is None

    def on_event(self, event: AccessibilityEvent) -> None:
        """Record and log an event on the screen, unless the service is not connected."""
        if self.is_connected:
            self._recorder.on_event(event)
            self._log.debug(Source.SERVICE, f"{SERVICE} onAccessibilityEvent({event})")

    def on_back_key(self) -> None:
        """Record the back key, unless the service is not connected."""
        if self.is_connected:
            self._recorder.on_back_key()

    def disable(self) -> None:
        """Switch the service off in the settings, as Android does after a crash."""
        settings_store.disable_accessibility_services(self._settings, self._package)
