"""``with claw.step("Sign in"):`` names a part of a test, for reports."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from uuid import uuid4

from pytest_clawperator.contracts.events import StepFinished, StepStarted
from pytest_clawperator.execution.pipeline import Observers


@dataclass(eq=False)
class Step:
    """A part of a test; observers are told of its beginning and its end."""

    title: str
    serial: str
    observers: Observers
    _id: str = field(default_factory=lambda: uuid4().hex)
    _begun: float = 0.0

    def __enter__(self) -> None:
        self._begun = time.monotonic()
        self.observers.send(
            StepStarted(serial=self.serial, at=time.time(), id=self._id, title=self.title)
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.observers.send(
            StepFinished(
                serial=self.serial,
                at=time.time(),
                id=self._id,
                elapsed=time.monotonic() - self._begun,
                error=error,
            )
        )
