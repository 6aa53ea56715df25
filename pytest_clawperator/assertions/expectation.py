"""One expectation: what is wanted, how long it is waited for, and what becomes of a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from pytest_clawperator.assertions import soft
from pytest_clawperator.assertions.polling import Clock, Outcome, Verdict, watch
from pytest_clawperator.errors import ClawperatorError, ExpectationError, SnapshotError

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")

CAME_TRUE = "came true"


@dataclass(frozen=True)
class Check(Generic[T]):
    """What is wanted of what is looked at, as in ``to be visible``.

    ``came`` is how people say that it came true. ``about_all`` is what it is about: all that
    fits, or the first.
    """

    wanted: str
    judge: Callable[[T], Verdict]
    came: str = CAME_TRUE
    about_all: bool = False

    def negated(self, came: str = CAME_TRUE) -> Check[T]:
        """Want the opposite; what cannot be told stays so."""

        def judge(seen: T) -> Verdict:
            verdict = self.judge(seen)
            return verdict if verdict.holds is None else Verdict(not verdict.holds, verdict.found)

        return replace(self, wanted=f"not {self.wanted}", judge=judge, came=came)


@dataclass(frozen=True)
class Settings:
    """What holds for all expectations; without a timeout, that of the client holds."""

    timeout: float | None = None
    linger: float = 1.0
    clock: Clock = field(default_factory=Clock)


def _with_cause(error: ExpectationError, outcome: Outcome[T]) -> ExpectationError | SnapshotError:
    """Where nothing was ever seen, say why not; a screen that is not read is the lab's fault."""
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


@dataclass(frozen=True)
class Manner:
    """How the expectations about one subject are held."""

    settings: Settings
    message: str | None = None
    is_soft: bool = False

    def hold(
        self,
        check: Check[T],
        look: Callable[[], T],
        explain: Callable[[Check[T], Outcome[T]], ExpectationError],
        *,
        timeout: float = 0.0,
    ) -> None:
        """Watch until the check holds; fail with the explanation where it does not."""
        settings = self.settings
        outcome = watch(
            look, check.judge, timeout=timeout, linger=settings.linger, clock=settings.clock
        )
        if not outcome.holds:
            self.fail(_with_cause(explain(check, outcome), outcome))

    def fail(self, error: ExpectationError | SnapshotError) -> None:
        """Raise the failure, or keep it until the test ends."""
        if not self.is_soft:
            raise error
        soft.collect(error)
