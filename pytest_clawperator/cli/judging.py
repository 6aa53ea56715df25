"""Judge a command by the screen: whether it reached one element, and why none was found."""

from __future__ import annotations

from contextlib import suppress

from pytest_clawperator.client import judge, plans
from pytest_clawperator.client.perform import Performer
from pytest_clawperator.client.plans import Aim, Plan
from pytest_clawperator.client.target import Target, Use, inside, target_of
from pytest_clawperator.contracts.actions import SnapshotUi
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import Execution, complete_actions, validate_execution
from pytest_clawperator.errors import ClawperatorError, ErrorCode, StepFailedError
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.snapshot.near_miss import nearest

_ONE_ELEMENT = (
    "Say more about the element that is meant, such as its --id or --role; or let the first win,"
    " as on the device: --matchers first."
)


def run_on_one_node(runner: Runner, execution: Execution, use: str) -> RunResult:
    """Run an execution of one action on a node; raise if it did not reach that node alone.

    As in a test, the same execution takes a snapshot of the screen that the action meets, and
    what that shows is judged afterwards.
    """
    matcher = _matcher(execution)
    assert matcher is not None, "an action on a node has a matcher"
    target = _target(execution, matcher, Use[use])
    if not target.is_matchable_on_snapshot:
        return runner.run(execution)
    proved, proofs = _with_proof(execution, matcher)
    result = runner.run(proved, proofs=proofs)
    if result.ok and result.last_proof is not None:
        plan = plans.finding(execution.actions[0].type, target, Use[use])
        _judge(runner, plan, target, result.last_proof)
    return _as_one_action(result)


def _target(execution: Execution, matcher: NodeMatcher, use: Use) -> Target:
    [action] = execution.actions
    target = target_of(matcher, {}, verb=action.type)
    # The container of a search is what scrolls; its tap goes to a node anywhere.
    params = action.params if use is Use.READ else None
    if params is None or params.container is None:
        return target
    # The device reads in the first container that matches.
    return inside(target_of(params.container, {}, verb=action.type).nth(0), target)


def _judge(runner: Runner, plan: Plan[RunStep], target: Target, proof: RunStep) -> None:
    try:
        found = Performer(runner).judge(plan, Aim(target.matcher), proof)
    except StepFailedError as error:
        error.hint = _ONE_ELEMENT
        raise
    if found is not None and found.obstacle.certain and not found.obstacle.lets_through:
        raise judge.hindered(plan, found, seconds=0.0, serial=runner.serial)


def _with_proof(execution: Execution, matcher: NodeMatcher) -> tuple[Execution, dict[str, str]]:
    """Return an execution whose action is preceded by a snapshot, and what proves the action.

    The device waits for the node first. A tap at the end of a search is sent apart, after the
    snapshot.
    """
    wire = execution.to_wire()
    [action] = wire["actions"]
    name, on = action["id"], {"matcher": matcher.to_wire()}
    once = {"retry": {"maxAttempts": 1}}
    proof = {"id": f"{name}-proof", "type": "snapshot_ui", "params": once}
    if action["type"] == "scroll_and_click":
        search = {**action, "params": {**action["params"], "clickAfter": False}}
        actions = [search, proof, {"id": f"{name}-tap", "type": "click", "params": on}]
    else:
        actions = [{"id": f"{name}-wait", "type": "wait_for_node", "params": on}, proof, action]
    proofs = {each["id"]: name for each in actions if each["id"] != name}
    return validate_execution({**wire, "actions": actions}), proofs


def _as_one_action(result: RunResult) -> RunResult:
    """Return the result as if a search had tapped its node itself."""
    steps = [
        step.model_copy(update={"data": {**step.data, "click_after": "true"}})
        if "click_after" in step.data
        else step
        for step in result.steps
    ]
    return result.model_copy(update={"steps": tuple(steps)})


def explained(runner: Runner, execution: Execution, result: RunResult) -> ClawperatorError:
    """Return the error of a failed run; if a node was not found, with the nearest node."""
    error = error_of(result)
    matcher = _matcher(execution)
    if matcher is not None and result.code is ErrorCode.NODE_NOT_FOUND:
        # If the snapshot fails as well, the error is shown without the nearest node.
        with suppress(ClawperatorError, KeyError):
            screen = runner.run(complete_actions([SnapshotUi(id="snap")])).step("snap").snapshot
            for miss in nearest(screen, matcher, limit=1):
                error.hint = f"Nearest: {miss}. {error.hint or ''}".rstrip()
    return error


def _matcher(execution: Execution) -> NodeMatcher | None:
    """Return the matcher of the last action."""
    params = execution.actions[-1].params
    if params is None:
        return None
    return params.matcher or params.label_matcher or params.expected_node
