"""Finding the node of a plan: with looks at the screen, in the time that was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.actionability import Use, obstacle
from pytest_clawperator.client.plan.ambiguity import ambiguous, find_crowd
from pytest_clawperator.client.plan.explain import Hindered
from pytest_clawperator.client.plan.looks import last_step, partial_snapshot
from pytest_clawperator.client.plan.plan import Aim, Plan, the_step
from pytest_clawperator.client.plan.proving import GRACE, Matchers, matchers_of
from pytest_clawperator.client.plan.target import Route, Target
from pytest_clawperator.client.plan.timing import POLL, Countdown, Wait
from pytest_clawperator.contracts.actions import Retry, Sleep, SnapshotUi, TypedAction
from pytest_clawperator.contracts.payload import complete_actions, override_timeout
from pytest_clawperator.errors import ClawperatorError, NodeNotFoundError, StepFailedError
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.postprocess import JUDGEMENTS, NO_PROOFS
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.snapshot.query import Query, identifying_matcher
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot

_ONE_LOOK = SnapshotUi(retry=Retry(max_attempts=1))
# For a look whose failure is nobody's concern, in seconds.
_BRIEF = 5.0


@dataclass(frozen=True)
class SeenValue:
    """The value of a plan that a snapshot showed, so that the device need not be asked."""

    value: Any
    step: RunStep


class Finder:
    """Finds the nodes that plans are about, on one device.

    Where ``matchers`` are strict, an action on one node must reach it and no other one.
    """

    def __init__(self, runner: Runner, *, matchers: Matchers = "strict") -> None:
        self._runner = runner
        self.matchers: Matchers = matchers_of(matchers)

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._runner.serial

    @property
    def strict(self) -> bool:
        """Whether only one node may fit where an action is about one."""
        return self.matchers == "strict"

    def aim(self, plan: Plan[Any], countdown: Countdown, *, pause: float = 0.0) -> Aim | SeenValue:
        """Find out where the action goes, with a look at the screen where one is needed."""
        __tracebackhide__ = True
        target = plan.target
        if target is None or not plan.is_aimed:
            matcher = None if target is None else target.matcher
            around = self._container(plan, countdown)
            return Aim(matcher, container=around.matcher, container_seen=around.seen)
        route = plan.route(strict=self.strict)
        if route in (Route.SENT, Route.PROVED):
            return _as_sent(target)
        if route is Route.KNOWN:
            return self._aim_at(plan, target, self._known(plan, target))
        found = self.await_node(plan, target, route, countdown, pause)
        if isinstance(found, SeenValue):
            return found
        if route is Route.COMPLETED:
            assert target.matcher is not None
            matcher = replace(target.matcher, resource_id=found.resource_id)
            return Aim(matcher, seen=self.strict and plan.use is not None)
        return replace(self._aim_at(plan, target, found), seen=True)

    def find(self, target: Target, seconds: float, *, verb: str, use: Use = Use.PLACE) -> Node:
        """Return the node itself, from a fresh snapshot, as soon as it is there for this use."""
        __tracebackhide__ = True
        plan: Plan[Any] = Plan(verb=verb, action=_no_action, value=the_step, target=target, use=use)
        route = plan.route(strict=self.strict)
        if route is Route.KNOWN:
            return self._known(plan, target)
        found = self.await_node(plan, target, route, Countdown(seconds), 0.0)
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

    def await_node(
        self, plan: Plan[Any], target: Target, route: Route, countdown: Countdown, pause: float
    ) -> Node | SeenValue:
        """Look until the target is there, alone, and nothing is in its way."""
        __tracebackhide__ = True
        grace = Countdown(min(countdown.seconds, GRACE))
        while True:
            step = self.look_in_time(countdown, pause)
            snapshot = step.snapshot if plan.takes_several else partial_snapshot(step)
            hindered = None
            try:
                nodes = self.resolved(plan, target, snapshot)
            except StepFailedError:
                if grace.is_over or countdown.is_over:
                    raise
                grace.spend(POLL)
            else:
                found = _found(plan, target, route, nodes, step)
                hindered = self._hindered(plan, target, found)
                if found is not None and hindered is None:
                    return found
            countdown.spend(pause)
            if countdown.is_over:
                raise self._not_in_time(plan, target, snapshot, hindered, countdown.seconds)
            pause = min(POLL, countdown.left)

    def _hindered(
        self, plan: Plan[Any], target: Target, found: Node | SeenValue | None
    ) -> Hindered | None:
        if not self.strict or plan.use is None or not isinstance(found, Node):
            return None
        now = obstacle(found, plan.use)
        return Hindered(target, plan.use, found, now) if now is not None and now.certain else None

    def _not_in_time(
        self,
        plan: Plan[Any],
        target: Target,
        snapshot: Snapshot,
        hindered: Hindered | None,
        seconds: float,
    ) -> StepFailedError:
        if hindered is not None:
            return explain.hindered(plan, hindered, seconds=seconds, serial=self.serial)
        return explain.not_found(
            plan.verb,
            target,
            snapshot=snapshot,
            serial=self.serial,
            after=explain.within(seconds),
        )

    def resolved(self, plan: Plan[Any], target: Target, snapshot: Snapshot) -> list[Node]:
        """Return the nodes that are meant on a snapshot; where strict, only one may be."""
        __tracebackhide__ = True
        return self.only(plan.verb, target, snapshot, plan.use)

    def only(
        self, verb: str, target: Target, snapshot: Snapshot, use: Use | None, *, done: bool = False
    ) -> list[Node]:
        """Return the nodes that are meant; ``done`` says that the action was already sent."""
        __tracebackhide__ = True
        nodes = target.resolve(snapshot)
        target.last.total = len(nodes)
        crowd = find_crowd(target, snapshot, use) if self.strict and use is not None else None
        if crowd is not None:
            assert use is not None
            raise ambiguous(verb, crowd, use, serial=self.serial, done=done)
        return nodes

    def _aim_at(self, plan: Plan[Any], target: Target, node: Node) -> Aim:
        __tracebackhide__ = True
        matcher = identifying_matcher(node)
        if matcher is not None:
            return Aim(matcher, judged=Target(query=Query(matcher), index=0))
        point = visible_center(node) if plan.takes_point else None
        if point is None:
            raise explain.unreachable(plan.verb, target, node, serial=self.serial)
        return Aim(point=point)

    def _container(self, plan: Plan[Any], countdown: Countdown) -> Aim:
        """Return where what is scrolled is found; nowhere if the device is to choose."""
        __tracebackhide__ = True
        if plan.container is None:
            return Aim()
        try:
            aim = self.aim(
                Plan(
                    verb=plan.verb,
                    action=_no_action,
                    value=the_step,
                    target=plan.container,
                    use=Use.READ,
                ),
                countdown,
            )
        except NodeNotFoundError as error:
            raise explain.as_container(error) from None
        assert isinstance(aim, Aim)
        return aim

    def look_in_time(self, countdown: Countdown, pause: float) -> RunStep:
        """Look at the screen after a pause, tried again as long as there is time."""
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

    def run(
        self,
        actions: Sequence[TypedAction],
        *,
        timeout: float | None = None,
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run actions as one execution, judged as the client's own; a failure is returned."""
        __tracebackhide__ = True
        execution = complete_actions(actions)
        if timeout is not None:
            execution = override_timeout(execution, timeout)
        return self._runner.run(execution, processors=JUDGEMENTS, proofs=proofs)


def _found(
    plan: Plan[Any], target: Target, route: Route, nodes: list[Node], step: RunStep
) -> Node | SeenValue | None:
    """Return the node, or the value, that a look found; None if another look is needed."""
    if plan.from_nodes is None or route is Route.COMPLETED:
        return nodes[0] if nodes else None
    if target.within is not None and not target.within.resolve(partial_snapshot(step)):
        return None
    value = plan.from_nodes(nodes, step)
    return None if value is None else SeenValue(value, step)


def visible_center(node: Node) -> tuple[int, int] | None:
    """Return the centre of the part of a node that is on the screen."""
    shown = node.bounds.intersection(Bounds(0, 0, *node.snapshot.size))
    return None if shown is None else shown.center


def _no_action(aim: Aim, wait: Wait) -> TypedAction:
    raise AssertionError("a node that is only looked for needs no action")


def _as_sent(target: Target) -> Aim:
    container = target.within.matcher if target.within is not None else None
    return Aim(target.matcher, container=container)
