"""One expectation: verify a check within its time, and raise or collect the failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_clawperator.assertions import listening, soft
from pytest_clawperator.assertions.checks.check import Check
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.wait_loop import Clock, Outcome, watch
from pytest_clawperator.errors import ClawperatorError, ExpectationError, SnapshotError

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")


@dataclass(frozen=True)
class ExpectSettings:
    """What applies to all expectations.

    Without ``timeout`` the client's applies. ``linger`` is how many seconds to look on after
    a failure, to report whether the check came true late.
    """

    timeout: float | None = None
    linger: float = 1.0
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True)
class Expectation:
    """What an expectation has besides its subject: settings, message, and whether it is soft."""

    settings: ExpectSettings
    message: str | None = None
    is_soft: bool = False

    def verify(
        self,
        check: Check[T],
        look: Callable[[], T],
        explain: Callable[[Check[T], Outcome[T]], ExpectationError],
        *,
        about: Failure,
        timeout: float = 0.0,
    ) -> None:
        """Look until the check holds; fail with the explanation if it does not in time.

        ``about`` names the subject and the device.
        """
        settings = self.settings
        verification = listening.begin(
            f"expect {about.subject} {check.wanted}", serial=about.serial
        )
        try:
            outcome = watch(
                look, check.judge, timeout=timeout, linger=settings.linger, clock=settings.clock
            )
            verification.log = outcome.log
            if not outcome.holds:
                verification.error = _with_cause(explain(check, outcome), outcome)
                self._fail(verification.error)
        except ClawperatorError as error:
            verification.error = error
            raise
        finally:
            listening.end(verification)

    def _fail(self, error: ExpectationError | SnapshotError) -> None:
        if not self.is_soft:
            raise error
        soft.collect(error)


def _with_cause(error: ExpectationError, outcome: Outcome[T]) -> ExpectationError | SnapshotError:
    """Add the reason if no look succeeded; an unreadable screen is no failure of the app."""
    cause = outcome.error
    if outcome.seen is not None or not isinstance(cause, ClawperatorError):
        return error
    kind = SnapshotError if isinstance(cause, SnapshotError) else ExpectationError
    return kind(
        error.message,
        code=cause.code,
        serial=error.serial or cause.serial,
        hint=cause.advice or error.advice,
        details={**error.details, "cause": str(cause)},
    )
