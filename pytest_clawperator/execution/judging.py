"""Post-processing that is stricter than the published program.

A raw payload keeps the answer that the published program gives. What the client's own methods
send is judged by these rules as well, inside the run, so that observers, hooks and reports
see the same outcome as the test.
"""

from __future__ import annotations

from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult, is_garbled
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.postprocess import (
    Collected,
    Processor,
    changed_step,
    reconcile_status,
    with_steps,
)

TARGET_FOUND = "TARGET_FOUND"


def fail_missed_searches(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Fail a scroll_until that ended without its target, which some Operators call a success."""
    searches = {
        action.id
        for action in collected.actions
        if action.type == "scroll_until" and action.params and action.params.matcher
    }
    if not searches:
        return envelope

    def fail(step: StepResult) -> StepResult:
        reason = step.data.get("termination_reason")
        # Where the tap is sent apart, it misses its node after the scroll did.
        is_missed_twice = reason is not None and step.code == ErrorCode.NODE_NOT_FOUND
        is_judged = step.id in searches and (step.success or is_missed_twice)
        if not is_judged or reason == TARGET_FOUND:
            return step
        data = {**step.data, "error": ErrorCode.TARGET_NOT_FOUND.value}
        return changed_step(step, success=False, data=data)

    judged = with_steps(envelope, map(fail, envelope.steps))
    return envelope if judged is envelope else reconcile_status(judged, collected)


def restore_garbled_failure(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Replace an error that a percent sign garbled by what the Operator meant to say.

    The published Operator formats its failures, matchers and addresses included.
    """
    if envelope.error is None or envelope.failed_steps or not is_garbled(envelope.error):
        return envelope
    meant = next(filter(None, map(_failure_with_percent, collected.actions)), None)
    return envelope if meant is None else envelope.model_copy(update={"error": meant})


def _failure_with_percent(action: Action) -> str | None:
    """Return the failure of an action whose matcher or address holds a percent sign."""
    params = action.params
    if params is None:
        return None
    matchers = (params.matcher, params.expected_node, params.label_matcher)
    if any("%" in word for m in matchers if m is not None for word in m.to_wire().values()):
        return "No UI node found"
    return f"URI_NOT_HANDLED: {params.uri}" if params.uri and "%" in params.uri else None


#: The rules for what the client's own methods send.
JUDGEMENTS: tuple[Processor, ...] = (fail_missed_searches, restore_garbled_failure)
