"""Carrying out a plan: find its node, send it, wait as long as was asked, explain a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.plan import Aim, Plan, the_step
from pytest_clawperator.client.plan.target import Route, Target
from pytest_clawperator.client.plan.timing import POLL, Countdown, Wait
from pytest_clawperator.contracts.actions import Retry, Sleep, SnapshotUi, TypedAction
from pytest_clawperator.contracts.completion import complete_actions, override_timeout
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import (
    ClawperatorError,
    EnvelopeMalformedError,
    NodeNotFoundError,
    StepFailedError,
)
from pytest_clawperator.execution.judging import JUDGEMENTS
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.execution.runner import Runner
from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.query import identifying_matcher
from pytest_clawperator.snapshot.tree import Node, Snapshot

T = TypeVar("T")

_ONE_LOOK = SnapshotUi(retry=Retry(max_attempts=1))
# For a look whose failure is nobody's concern, in seconds.
_BRIEF = 5.0


@dataclass(frozen=True)
class SeenValue:
    """The value of a plan that a snapshot showed, so that the device need not be asked."""

    value: Any
    step: RunStep


class Performer:
    """Carries out plans on one device; where ``strict``, only one node may fit."""

    def __init__(self, runner: Runner, *, strict: bool = False) -> None:
        self._runner = runner
        self.strict = strict

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._runner.serial

    def perform(self, plan: Plan[T], seconds: float) -> T:
        """Send the plan's action until it succeeds or the time is over."""
        __tracebackhide__ = True
        countdown = Countdown(seconds)
        pause = 0.0
        while True:
            aim = self.aim(plan, countdown, pause=pause)
            if isinstance(aim, SeenValue):
                value: T = aim.value
                return value
            is_polled = aim.seen or not plan.takes_retry
            wait = Wait(0.0) if is_polled else countdown.segment(plan.longest_wait)
            # What was just looked up has been paused for already.
            before = [Sleep(pause)] if pause and not aim.seen else []
            result = self.run([*before, plan.action(aim, wait)])
            if result.ok:
                self._check_after(plan)
                return plan.value(last_step(result), result)
            countdown.spend(wait.seconds + pause)
            if countdown.is_over or result.code not in plan.worth_waiting:
                raise self.explain(plan, result, seconds)
            pause = min(POLL, countdown.left) if is_polled else 0.0

    def aim(self, plan: Plan[Any], countdown: Countdown, *, pause: float = 0.0) -> Aim | SeenValue:
        """Find out where the action goes, with a look at the screen where one is needed."""
        __tracebackhide__ = True
        target = plan.target
        if target is None or not plan.is_aimed:
            matcher = None if target is None else target.matcher
            return Aim(matcher, container=self._container(plan, countdown))
        route = plan.route(strict=self.strict)
        if route is Route.SENT:
            return _as_sent(target)
        if route is Route.KNOWN:
            return self._aim_at(plan, target, self._known(plan, target))
        found = self._wait_for(plan, target, route, countdown, pause)
        if isinstance(found, SeenValue):
            return found
        if route is Route.CHECKED:
            return _as_sent(target)
        if route is Route.COMPLETED:
            assert target.matcher is not None
            return Aim(replace(target.matcher, resource_id=found.resource_id))
        return replace(self._aim_at(plan, target, found), seen=True)

    def find(self, target: Target, seconds: float, *, verb: str) -> Node:
        """Return the node itself, from a fresh snapshot, as soon as it is there."""
        __tracebackhide__ = True
        plan: Plan[Any] = Plan(verb=verb, action=_no_action, value=the_step, target=target)
        route = plan.route(strict=self.strict)
        if route is Route.KNOWN:
            return self._known(plan, target)
        found = self._wait_for(plan, target, route, Countdown(seconds), 0.0)
        assert isinstance(found, Node)
        return found

    def _known(self, plan: Plan[Any], target: Target) -> Node:
        """Return the node on a snapshot of the caller's, where nothing more will come up."""
        __tracebackhide__ = True
        snapshot = target.origin
        assert snapshot is not None
        nodes = self.resolved(plan, target, snapshot)
        if not nodes:
            raise explain.not_found(plan.verb, target, snapshot=snapshot, serial=self.serial)
        return nodes[0]

    def _wait_for(
        self, plan: Plan[Any], target: Target, route: Route, countdown: Countdown, pause: float
    ) -> Node | SeenValue:
        """Look until the target is there, as long as there is time."""
        __tracebackhide__ = True
        while True:
            step = self._look(countdown, pause)
            snapshot = step.snapshot if plan.takes_several else partial_snapshot(step)
            nodes = self.resolved(plan, target, snapshot)
            found = _found(plan, target, route, nodes, step)
            if found is not None:
                return found
            countdown.spend(pause)
            if countdown.is_over:
                after = explain.within(countdown.seconds)
                raise explain.not_found(
                    plan.verb, target, snapshot=snapshot, serial=self.serial, after=after
                )
            pause = min(POLL, countdown.left)

    def resolved(self, plan: Plan[Any], target: Target, snapshot: Snapshot) -> list[Node]:
        """Return the nodes that are meant on a snapshot; where strict, only one may be."""
        __tracebackhide__ = True
        nodes = target.resolve(snapshot)
        target.last.total = len(nodes)
        if self.strict:
            self._check_unique(plan, target, snapshot)
        return nodes

    def _check_after(self, plan: Plan[Any]) -> None:
        """Check that no other node fits what the device found by itself."""
        __tracebackhide__ = True
        target = plan.target
        if (
            not self.strict
            or plan.is_aimed
            or target is None
            or not target.is_matchable_on_snapshot
        ):
            return
        snapshot = self.look()
        if snapshot is not None:
            self._check_unique(plan, target, snapshot)

    def _check_unique(self, plan: Plan[Any], target: Target, snapshot: Snapshot) -> None:
        __tracebackhide__ = True
        part: Target | None = None if plan.takes_several else target
        while part is not None:
            nodes = part.resolve(snapshot)
            if len(nodes) > 1:
                raise explain.ambiguous(plan.verb, part, nodes, serial=self.serial)
            part = part.within

    def _aim_at(self, plan: Plan[Any], target: Target, node: Node) -> Aim:
        __tracebackhide__ = True
        matcher = identifying_matcher(node)
        if matcher is not None:
            return Aim(matcher)
        point = visible_center(node) if plan.takes_point else None
        if point is None:
            raise explain.unreachable(plan.verb, target, node, serial=self.serial)
        return Aim(point=point)

    def _container(self, plan: Plan[Any], countdown: Countdown) -> NodeMatcher | None:
        """Return the matcher of what is scrolled."""
        __tracebackhide__ = True
        if plan.container is None:
            return None
        try:
            aim = self.aim(replace(plan, target=plan.container, is_aimed=True), countdown)
        except NodeNotFoundError as error:
            raise explain.as_container(error) from None
        assert isinstance(aim, Aim)
        return aim.matcher

    def _look(self, countdown: Countdown, pause: float) -> RunStep:
        __tracebackhide__ = True
        look = SnapshotUi(retry=countdown.segment().retry)
        result = self.run([Sleep(pause), look] if pause else [look])
        if not result.ok:
            raise error_of(result)
        return last_step(result)

    def look(self) -> Snapshot | None:
        """Return a quick snapshot for an error message, or None if that fails."""
        try:
            result = self.run([_ONE_LOOK], timeout=_BRIEF)
            return partial_snapshot(last_step(result)) if result.ok else None
        except ClawperatorError:
            return None

    def run(self, actions: Sequence[TypedAction], *, timeout: float | None = None) -> RunResult:
        """Run actions as one execution, judged as the client's own; a failure is returned."""
        __tracebackhide__ = True
        execution = complete_actions(actions)
        if timeout is not None:
            execution = override_timeout(execution, timeout)
        return self._runner.run(execution, processors=JUDGEMENTS)

    def explain(self, plan: Plan[Any], result: RunResult, seconds: float) -> ClawperatorError:
        """Return the error of a failed run, with a fresh look at the screen."""
        error = error_of(result)
        if not isinstance(error, StepFailedError):
            return error
        snapshot = self.look() if plan.target is not None or not plan.is_aimed else None
        if snapshot is not None and plan.target is not None:
            plan.target.last.total = len(plan.target.resolve(snapshot))
        return explain.explain_failure(plan, error, seconds=seconds, snapshot=snapshot)


def _found(
    plan: Plan[Any], target: Target, route: Route, nodes: list[Node], step: RunStep
) -> Node | SeenValue | None:
    """Return the node, or the value, that a look found; None if another look is needed."""
    is_asked = route in (Route.CHECKED, Route.COMPLETED)
    if plan.from_nodes is None or is_asked:
        return nodes[0] if nodes else None
    if target.within is not None and not target.within.resolve(partial_snapshot(step)):
        return None
    value = plan.from_nodes(nodes, step)
    return None if value is None else SeenValue(value, step)


def last_step(result: RunResult) -> RunStep:
    """Return the result of the last action of a run that succeeded."""
    if not result.steps:
        raise EnvelopeMalformedError(
            "the envelope says success and has no step results",
            serial=result.serial,
            hint="Check that the Operator app and this package are of the same major.minor "
            "version.",
        )
    return result.steps[-1]


def partial_snapshot(step: RunStep) -> Snapshot:
    """Return what can be read of a screen; a damaged one may lack nodes that are there."""
    text = step.data.get("text")
    return step.snapshot if text is None else Snapshot.from_step(text, step.data, partial=True)


def visible_center(node: Node) -> tuple[int, int] | None:
    """Return the centre of the part of a node that is on the screen."""
    shown = node.bounds.intersection(Bounds(0, 0, *node.snapshot.size))
    return None if shown is None else shown.center


def _no_action(aim: Aim, wait: Wait) -> TypedAction:
    raise AssertionError("a node that is only looked for needs no action")


def _as_sent(target: Target) -> Aim:
    container = target.within.matcher if target.within is not None else None
    return Aim(target.matcher, container=container)
