"""The Operator app of a simulated phone: its process, and the parts that live in it."""

from __future__ import annotations

import asyncio
import random

from pytest_clawperator.simulator.operator.accessibility_service import AccessibilityService
from pytest_clawperator.simulator.operator.answer.java_error import JavaError
from pytest_clawperator.simulator.operator.answer.operator_log import OperatorLog
from pytest_clawperator.simulator.operator.executor import Executor
from pytest_clawperator.simulator.operator.payload.command import Command
from pytest_clawperator.simulator.operator.profile import Profile
from pytest_clawperator.simulator.operator.receiver import CommandReceiver
from pytest_clawperator.simulator.operator.recorder import Recorder
from pytest_clawperator.simulator.operator.run_time import RunTime
from pytest_clawperator.simulator.operator.steps.run import Run
from pytest_clawperator.simulator.operator.surroundings import Surroundings
from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent


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
