"""``expect(envelope)``: the expectations about a result envelope; nothing waits."""

from __future__ import annotations

from types import EllipsisType

from pytest_clawperator.assertions.checks import envelope_checks
from pytest_clawperator.assertions.checks.envelope_checks import EnvelopeCheck
from pytest_clawperator.assertions.checks.text_match import Text
from pytest_clawperator.assertions.expectation import Expectation
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.unstated import Stating
from pytest_clawperator.assertions.wait_loop import Outcome
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult
from pytest_clawperator.contracts.envelope import failure as failure_of
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.wording import quote
from pytest_clawperator.errors import ErrorCode, ExpectationError
from pytest_clawperator.remedies import Hint

__tracebackhide__ = True  # a failure is shown at the test's own line

_SHOWN_STEPS = 10


class EnvelopeAssertions(Stating, HintsAtNames):
    """What can be expected of an envelope."""

    _own_word = "expect(...)"
    _their_names = foreign_names.EXPECT_ENVELOPE

    def __init__(self, envelope: ResultEnvelope, expectation: Expectation) -> None:
        self._envelope = envelope
        self._expectation = expectation

    def to_have_succeeded(self) -> None:
        """Expect the execution and all its steps to have succeeded."""
        self._verify(envelope_checks.SUCCEEDED)

    def not_to_have_succeeded(self) -> None:
        """Expect the execution or one of its steps to have failed."""
        self._verify(envelope_checks.SUCCEEDED.negated())

    def to_have_failed(self, *, code: ErrorCode | str | None = None) -> None:
        """Expect the execution or one of its steps to have failed; with this code, if given."""
        self._verify(envelope_checks.failed(code))

    def not_to_have_failed(self, *, code: ErrorCode | str | None = None) -> None:
        """Expect success; if a code is given, anything but a failure with that code."""
        self._verify(envelope_checks.failed(code).negated())

    def to_have_step(
        self,
        id: str,
        /,
        *,
        action_type: str | None = None,
        success: bool | None = None,
        code: ErrorCode | str | None = None,
    ) -> None:
        """Expect a result for the action with this id, of this type and outcome."""
        self._verify(envelope_checks.has_step(id, action_type, success, code))

    def not_to_have_step(
        self,
        id: str,
        /,
        *,
        action_type: str | None = None,
        success: bool | None = None,
        code: ErrorCode | str | None = None,
    ) -> None:
        """Expect no result for the action with this id, or none of this type and outcome."""
        self._verify(envelope_checks.has_step(id, action_type, success, code).negated())

    def to_have_data(self, step: str, /, **data: Text | EllipsisType) -> None:
        """Expect a step to have these data: a text, a pattern, or ``...`` for any value.

        expect(envelope).to_have_data("snap", foreground_package="com.android.settings")
        """
        self._verify(envelope_checks.has_data(step, data))

    def not_to_have_data(self, step: str, /, **data: Text | EllipsisType) -> None:
        """Expect the step to exist with other data, or without them."""
        self._verify(envelope_checks.has_data(step, data).negated())

    def _verify(self, check: EnvelopeCheck) -> None:
        self._expectation.verify(check, lambda: self._envelope, self._explain, about=self._failure)

    @property
    def _failure(self) -> Failure:
        subject = f"the envelope of {quote(self._envelope.command_id)}"
        serial = getattr(self._envelope, "serial", None)
        return Failure(subject, self._expectation.message, serial)

    def _explain(self, check: EnvelopeCheck, outcome: Outcome[ResultEnvelope]) -> ExpectationError:
        envelope = self._envelope
        return self._failure.error(
            check,
            outcome,
            evidence=_steps(envelope),
            hint=outcome.verdict.hint or _hint(envelope),
            details={"envelope": envelope.to_wire()},
        )


def _hint(envelope: ResultEnvelope) -> Hint | None:
    """Return what can be done about a failure of this code."""
    code = envelope.code
    if code is None:
        return None
    return failure_of(code, envelope=envelope, step=next(iter(envelope.failed_steps), None)).advice


def _steps(envelope: ResultEnvelope) -> list[str]:
    """List the result of each step, also of those recovered from the log."""
    steps = [*getattr(envelope, "recovered", ()), *envelope.steps]
    if not steps:
        return ["steps: none"]
    lines = [f"  {n}. {step}{_said(step)}" for n, step in enumerate(steps[:_SHOWN_STEPS], 1)]
    rest = len(steps) - len(lines)
    return ["steps:", *lines, *([f"  ... and {rest} more"] if rest else [])]


def _said(step: StepResult) -> str:
    message = "" if step.success else step.data.get("message", "")
    return f": {message}".replace("\n", " ")[:200] if message else ""
