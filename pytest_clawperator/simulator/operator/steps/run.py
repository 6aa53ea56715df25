"""One command while it runs: what its steps share."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer.java_error import JavaError
from pytest_clawperator.simulator.operator.answer.operator_log import (
    COMMAND,
    SCOPE,
    UI_SCOPE,
    OperatorLog,
    Source,
)
from pytest_clawperator.simulator.operator.payload.command import Command
from pytest_clawperator.simulator.operator.profile import Profile
from pytest_clawperator.simulator.operator.recorder import Recorder
from pytest_clawperator.simulator.operator.run_time import RunTime
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi

T = TypeVar("T")

Details = Mapping[str, object]


class StepFailure(Exception):
    """A step failed; ``code`` is the specification's code for it."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the steps of one command share."""

    command: Command
    ui: PhoneUi
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
        """Log the progress of a stage."""
        self.log.debug(Source.STATUS_SINK, f"{COMMAND} {what} {self.command.ids} {text}")

    def status_failure(self, text: str, cause: JavaError) -> None:
        """Log that a stage failed for good."""
        self.log.error(
            Source.STATUS_SINK, f"{COMMAND} stage-failure {self.command.ids} {text}", cause
        )

    def log_task(self, text: str) -> None:
        """Log a line of the task."""
        self.log.debug(Source.TASK_SCOPE, f"{SCOPE} {text}")

    def log_ui(self, text: str) -> None:
        """Log a line of an operation on the screen."""
        self.log.debug(Source.UI_SCOPE, f"{UI_SCOPE} {text}")

    async def on_screen(self, operation: Awaitable[T]) -> T:
        """Log that operations on the screen begin and that they are done."""
        self.log_task("Executing UI operations")
        result = await operation
        self.log_task("UI operations completed")
        return result
