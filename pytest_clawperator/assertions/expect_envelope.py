"""``expect(envelope)``: the expectations about a result envelope; nothing waits."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from types import EllipsisType
from typing import Any

from pytest_clawperator.assertions import text_match
from pytest_clawperator.assertions.checks import Check, Verdict
from pytest_clawperator.assertions.expectation import Expectation, Stating
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.text_match import Text
from pytest_clawperator.assertions.wait import Outcome
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.actions import ACTION_TYPES, LIKELY_TYPES
from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult
from pytest_clawperator.contracts.envelope import failure as failure_of
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.contracts.wording import closest, describe, listed, quote
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ExpectationError
from pytest_clawperator.remedies import Hint

EnvelopeCheck = Check[ResultEnvelope]
_CODE = re.compile("[A-Z][A-Z0-9_]*")


def _outcome(envelope: ResultEnvelope) -> str:
    if envelope.ok:
        return "success"
    error = f": {envelope.reason}" if envelope.reason else ""
    return f"{envelope.code}{error}".replace("\n", " ")


SUCCEEDED = EnvelopeCheck(
    "to have succeeded", lambda envelope: Verdict(envelope.ok, _outcome(envelope))
)


def failed(code: ErrorCode | str | None) -> EnvelopeCheck:
    """Return the check that the execution or a step failed, with this code if given."""
    code = _checked_code(code)

    def judge(envelope: ResultEnvelope) -> Verdict:
        codes = _codes(envelope)
        is_so = bool(codes) if code is None else code in codes
        others = "".join(f", and {one or 'a failure without a code'}" for one in codes[1:])
        # What failed without a code may have failed with this one.
        holds = None if not is_so and None in codes else is_so
        return Verdict(holds, f"{_outcome(envelope)}{others}")

    return EnvelopeCheck("to have failed" + (f" with {code}" if code else ""), judge)


def _codes(envelope: ResultEnvelope) -> list[ErrorCode | str | None]:
    """Return the codes of all that failed, each once; None for a failure that has none."""
    if envelope.ok:
        return []
    codes = [envelope.code, *(step.code for step in envelope.failed_steps)]
    if codes == [ErrorCode.EXECUTION_FAILED] and not envelope.error_code:
        codes.append(None)
    return list(dict.fromkeys(codes))


def _on_step(
    envelope: ResultEnvelope, id: str, judge: Callable[[StepResult], Verdict]
) -> Verdict | None:
    """Judge a step; if several have its id, all of them; None if there is none.

    If some are as expected and some are not, neither the check nor its opposite holds.
    """
    verdicts = [judge(step) for step in _steps_of(envelope, id)]
    if len({verdict.holds for verdict in verdicts}) < 2:
        return next(iter(verdicts), None)
    every = "; ".join(verdict.found for verdict in verdicts)
    return Verdict(None, f"{len(verdicts)} steps {quote(id)} that differ: {every}")


def _steps_of(envelope: ResultEnvelope, id: str) -> list[StepResult]:
    """Return the results with an id, also those that are not in the envelope itself."""
    steps = [step for step in _all_steps(envelope) if step.id == id]
    stopped = getattr(envelope, "stopped_at", None)
    if not steps and stopped is not None and stopped.id == id:
        return [_stopped(stopped, envelope)]
    return steps


def _all_steps(envelope: ResultEnvelope) -> list[StepResult]:
    return [*getattr(envelope, "recovered", ()), *envelope.steps]


def _no_step(envelope: ResultEnvelope, id: str) -> Verdict:
    """Return the verdict if there is no such step."""
    steps = _all_steps(envelope)
    near = closest(id, [step.id for step in steps])
    hint = f"Did you mean {quote(near)}?" if near else None
    if hint is None and not envelope.ok and not steps:
        hint = "Published Operators drop the results of all steps when one fails hard."
    # Where all results are lost, this one may be among them.
    is_lost = not (envelope.ok or steps or getattr(envelope, "stopped_at", None))
    return Verdict(None if is_lost else False, f"no step {quote(id)}", hint)


def _stopped(action: Action, envelope: ResultEnvelope) -> StepResult:
    """Return the result that the Operator dropped, as far as it is known."""
    data = {"error": str(envelope.code), "message": envelope.error or ""}
    return StepResult.model_validate(
        {"id": action.id, "actionType": action.type, "success": False, "data": data}
    )


def _checked_code(code: Any) -> ErrorCode | str | None:
    """Return a code; refuse a misspelt known one. New codes are allowed."""
    if code is None or (isinstance(code, str) and code in list(ErrorCode)):
        return code
    known = [str(each) for each in ErrorCode]
    near = get_close_matches(code.upper(), known, 1, 0.9) if isinstance(code, str) else []
    if near:
        raise ConfigurationError(f"there is no code {quote(code)}", hint=f"Did you mean {near[0]}?")
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        raise ConfigurationError(
            f"code= must be an error code, found {describe(code)}",
            hint='Write code="NODE_NOT_FOUND", or an ErrorCode.',
        )
    return code


def _check_step(id: Any) -> None:
    if not isinstance(id, str) or not id.strip():
        raise ConfigurationError(
            f"a step is named by the id of its action, found {describe(id)}",
            hint='Write to_have_step("tap").',
        )


def _check_outcome(success: Any, code: ErrorCode | str | None) -> None:
    if success is not None and not isinstance(success, bool):
        raise ConfigurationError(
            f"success= must be True or False, found {describe(success)}",
            hint="Leave it out if the outcome does not matter.",
        )
    if success and code is not None:
        raise ConfigurationError(
            f"a step that succeeded has no code, and code={code} is given",
            hint="Write success=False, or leave one of them out.",
        )


def _check_type(action_type: Any) -> None:
    """Refuse a misspelt type of action; new types are allowed."""
    if action_type is None or (isinstance(action_type, str) and action_type in ACTION_TYPES):
        return
    if not isinstance(action_type, str) or not action_type:
        raise ConfigurationError(
            f"action_type= must be the type of an action, found {describe(action_type)}",
            hint='Write action_type="click".',
        )
    near = closest(action_type, ACTION_TYPES, LIKELY_TYPES)
    if near:
        raise ConfigurationError(
            f"there is no type of action {quote(action_type)}", hint=f"Did you mean {near}?"
        )


def has_step(
    id: str, action_type: str | None, success: bool | None, code: ErrorCode | str | None
) -> EnvelopeCheck:
    """Return the check that there is a result for this step, of this type and outcome."""
    _check_step(id)
    _check_type(action_type)
    code = _checked_code(code)
    _check_outcome(success, code)

    def judge_step(step: StepResult) -> Verdict:
        holds = (
            action_type in (None, step.action_type)
            and success in (None, step.success)
            and code in (None, step.code)
        )
        return Verdict(holds, str(step))

    is_about_outcome = (action_type, success, code) != (None, None, None)

    def judge(envelope: ResultEnvelope) -> Verdict:
        verdict = _on_step(envelope, id, judge_step)
        if verdict is not None:
            return verdict
        absent = _no_step(envelope, id)
        return absent._replace(holds=None) if is_about_outcome else absent

    outcome = {None: "", True: " that succeeded", False: " that failed"}[success]
    kind = f" ({action_type})" if action_type else ""
    with_code = f" with {code}" if code else ""
    return EnvelopeCheck(f"to have step {quote(id)}{kind}{outcome}{with_code}", judge)


def has_data(step_id: str, wanted: dict[str, Text | EllipsisType]) -> EnvelopeCheck:
    """Return the check that a step has these data."""
    _check_step(step_id)
    _check_data(step_id, wanted)

    def judge_step(step: StepResult) -> Verdict:
        missing = [key for key in wanted if key not in step.data]
        if missing:
            there = listed(step.data) or "none"
            # Without a value the question is whether there are such data; with one, which.
            holds = False if all(wanted[key] is ... for key in missing) else None
            return Verdict(holds, f"no {listed(missing)}", f"The step has these data: {there}.")
        found = {key: step.data[key] for key in wanted}
        holds = all(value is ... or _fits(value, found[key]) for key, value in wanted.items())
        return Verdict(holds, _data(found))

    def judge(envelope: ResultEnvelope) -> Verdict:
        verdict = _on_step(envelope, step_id, judge_step)
        return verdict or _no_step(envelope, step_id)._replace(holds=None)

    return EnvelopeCheck(f"to have in step {quote(step_id)} the data {_data(wanted)}", judge)


def _check_data(step_id: str, wanted: dict[str, Text | EllipsisType]) -> None:
    if not wanted:
        raise ConfigurationError(
            f"no data are expected in step {quote(step_id)}",
            hint=f'Name them: to_have_data("{step_id}", text="Total", window_count=...).',
        )
    for key, value in wanted.items():
        if isinstance(value, (int, float)):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            raise ConfigurationError(
                f"data are texts, found {key}={value!r}", hint=f'Write {key}="{text}".'
            )
        if value is not ...:
            text_match.check_text(value)


def _fits(wanted: Text | EllipsisType, found: str) -> bool:
    return isinstance(wanted, (str, re.Pattern)) and text_match.matches(wanted, found)


def _data(values: dict[str, Text | EllipsisType] | dict[str, str]) -> str:
    return ", ".join(
        f"{key}={text_match.shown(value) if isinstance(value, (str, re.Pattern)) else '...'}"
        for key, value in values.items()
    )


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
        self._verify(SUCCEEDED)

    def not_to_have_succeeded(self) -> None:
        """Expect the execution or one of its steps to have failed."""
        self._verify(SUCCEEDED.negated())

    def to_have_failed(self, *, code: ErrorCode | str | None = None) -> None:
        """Expect the execution or one of its steps to have failed; with this code, if given."""
        self._verify(failed(code))

    def not_to_have_failed(self, *, code: ErrorCode | str | None = None) -> None:
        """Expect success; if a code is given, anything but a failure with that code."""
        self._verify(failed(code).negated())

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
        self._verify(has_step(id, action_type, success, code))

    def not_to_have_step(
        self,
        id: str,
        /,
        *,
        action_type: str | None = None,
        success: bool | None = None,
        code: ErrorCode | str | None = None,
    ) -> None:
        """Expect no result for the action with this id.

        With a type or an outcome: expect a result, but another one.
        """
        self._verify(has_step(id, action_type, success, code).negated())

    def to_have_data(self, step: str, /, **data: Text | EllipsisType) -> None:
        """Expect a step to have these data: a text, a pattern, or ``...`` for any value.

        expect(envelope).to_have_data("snap", foreground_package="com.android.settings")
        """
        self._verify(has_data(step, data))

    def not_to_have_data(self, step: str, /, **data: Text | EllipsisType) -> None:
        """Expect the step to have other values; ``key=...`` expects it not to have that key."""
        self._verify(has_data(step, data).negated())

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
    steps = _all_steps(envelope)
    if not steps:
        return ["steps: none"]
    lines = [f"  {n}. {step}{_said(step)}" for n, step in enumerate(steps[:_SHOWN_STEPS], 1)]
    rest = len(steps) - len(lines)
    return ["steps:", *lines, *([f"  ... and {rest} more"] if rest else [])]


def _said(step: StepResult) -> str:
    message = "" if step.success else step.data.get("message", "")
    return f": {message}".replace("\n", " ")[:200] if message else ""
