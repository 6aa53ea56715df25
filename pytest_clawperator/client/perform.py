"""Carry out a plan: find its node, send its action, prove it by a snapshot, and wait.

The execution of an action on a node also carries a snapshot of the very screen that it acts
on: the device waits for the node, the screen is captured, and the action follows immediately.
What the snapshot shows is judged afterwards: the action cannot be stopped, but the test can.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from pytest_clawperator import errors
from pytest_clawperator.client import judge, plans
from pytest_clawperator.client.judge import Hindered
from pytest_clawperator.client.plans import Aim, PageSearch, Plan, ScrollOutcome
from pytest_clawperator.client.target import Route, Target, Use, unshown
from pytest_clawperator.client.timing import POLL, Countdown, Wait
from pytest_clawperator.contracts.actions import (
    Click,
    Direction,
    Retry,
    Sleep,
    SnapshotUi,
    TypedAction,
    WaitForNode,
)
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import complete_actions, override_timeout
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.execution.crashes import AppWatch
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.postprocess import JUDGEMENTS, NO_PROOFS, TARGET_FOUND
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.snapshot.query import Query, identifying_matcher, recognising_matcher
from pytest_clawperator.snapshot.tree import Node, Snapshot, outermost, visible_bounds

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")
Matchers = Literal["strict", "first"]
#: What happens when several nodes match: an error, or the first of them is taken.
MATCHERS: tuple[Matchers, ...] = ("strict", "first")
# How long a target may be ambiguous before anything is done with it: two screens of an app
# are there together while one replaces the other.
_GRACE = 1.0
# How many seconds a snapshot for an error message may take.
_BRIEF = 5.0
_ONCE = Retry(max_attempts=1)


def matchers_of(given: Any) -> Matchers:
    """Return the value of ``matchers=``, checked."""
    for word in MATCHERS:
        if given == word:
            return word
    raise errors.ConfigurationError(
        f"matchers= is 'strict' or 'first', found {shown(given)}",
        hint="'strict' refuses a matcher that several nodes match; with 'first' the first wins.",
    )


@dataclass(frozen=True)
class SeenValue:
    """The value of a plan that a snapshot showed, so that the device need not be asked."""

    value: Any
    step: RunStep


@dataclass(frozen=True)
class Sending:
    """The actions that are sent for a plan; ``proofs`` maps those that prove another to it."""

    actions: Sequence[TypedAction]
    proofs: Mapping[str, str] = field(default_factory=dict)


class Performer:
    """Carries out plans on one device: finds their nodes, and acts on them.

    If ``matchers`` is strict, an action on one node must reach it and no other.
    """

    def __init__(self, runner: Runner, *, matchers: Matchers = "strict") -> None:
        self._runner = runner
        self.matchers: Matchers = matchers_of(matchers)

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._runner.serial

    @property
    def apps(self) -> AppWatch:
        """Whether the app under test crashed."""
        return self._runner.observers.apps

    @property
    def strict(self) -> bool:
        """Whether only one node may match where an action is about one."""
        return self.matchers == "strict"

    def perform(self, plan: Plan[T], seconds: float) -> T:
        """Send the plan's action until it succeeds or the time is over; return its value."""
        if plan.search is not None:
            outcome: T = self._search(plan, plan.search, seconds)
            return outcome
        countdown = Countdown(seconds)
        grace = Countdown(min(seconds, _GRACE))
        pause = 0.0
        while True:
            aim = self.aim(plan, countdown, pause=pause)
            if isinstance(aim, SeenValue):
                value: T = aim.value
                return value
            is_polled = aim.seen or not plan.takes_retry
            wait = Wait(0.0) if is_polled else countdown.segment(plan.longest_wait)
            # The snapshot that it was found on was taken after the pause.
            result = self._send(plan, aim, wait, 0.0 if aim.seen else pause)
            if result.ok and self._has_worked(plan, aim, result, countdown, grace):
                return plan.value(last_step(result), result)
            was_there = result.ok or _proof_of(result) is not None
            countdown.spend(pause if was_there else wait.seconds + pause)
            if not result.ok:
                self._check_failure(plan, aim, result, countdown)
            pause = min(POLL, countdown.left) if is_polled or was_there else 0.0

    def run(
        self,
        actions: Sequence[TypedAction],
        *,
        timeout: float | None = None,
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run actions as one execution, judged as the client's own; return a failure, too."""
        execution = complete_actions(actions)
        if timeout is not None:
            execution = override_timeout(execution, timeout)
        return self._runner.run(execution, processors=JUDGEMENTS, proofs=proofs)

    # Finding the node

    def aim(self, plan: Plan[Any], countdown: Countdown, *, pause: float = 0.0) -> Aim | SeenValue:
        """Find out where the action goes, with a snapshot if one is needed."""
        target = plan.target
        if target is None or not plan.is_aimed:
            matcher = None if target is None else target.matcher
            around = self._container(plan, countdown)
            return Aim(matcher, container=around.matcher, container_seen=around.seen)
        route = plan.route(strict=self.strict)
        if route in (Route.SENT, Route.PROVED):
            return Aim(target.matcher)
        if route is Route.KNOWN:
            node = self._known(plan, target)
            # What is its alone leads to no other node if the screen has changed.
            matcher = recognising_matcher(node)
            known = None if matcher is None else Aim(matcher, judged=Target(query=Query(matcher)))
            return known or self._aim_at(plan, target, node)
        found = self._await_node(plan, target, route, countdown, pause)
        if isinstance(found, SeenValue):
            return found
        if route is Route.COMPLETED:
            assert target.matcher is not None
            matcher = replace(target.matcher, resource_id=found.resource_id)
            return Aim(matcher, seen=self.strict and plan.use is not None)
        return replace(self._aim_at(plan, target, found), seen=True)

    def find(self, target: Target, seconds: float, *, verb: str, use: Use = Use.PLACE) -> Node:
        """Return the node, from a fresh snapshot, as soon as it is there and can be used."""
        plan = plans.finding(verb, target, use)
        route = plan.route(strict=self.strict)
        if route is Route.KNOWN:
            return self._known(plan, target)
        found = self._await_node(plan, target, route, Countdown(seconds), 0.0)
        assert isinstance(found, Node)
        return found

    def _known(self, plan: Plan[Any], target: Target) -> Node:
        """Return the node of the caller's own snapshot, on which nothing more will appear."""
        snapshot = target.origin
        assert snapshot is not None
        nodes = self._only(plan.verb, target, snapshot, plan.use)
        if not nodes:
            raise judge.not_found(plan.verb, target, snapshot=snapshot, serial=self.serial)
        return nodes[0]

    def _await_node(
        self, plan: Plan[Any], target: Target, route: Route, countdown: Countdown, pause: float
    ) -> Node | SeenValue:
        """Take snapshots until the target is there, alone, and nothing is in its way."""
        grace = Countdown(min(countdown.seconds, _GRACE))
        if plan.takes_several and not target.is_matchable_on_snapshot:
            raise unshown(target)
        while True:
            step = self._snapshot_in_time(countdown, pause)
            snapshot = step.snapshot if plan.takes_several else partial_snapshot(step)
            in_the_way = None
            try:
                nodes = self._only(plan.verb, target, snapshot, plan.use)
            except errors.StepFailedError:
                if grace.is_over or countdown.is_over:
                    raise
                grace.spend(POLL)
            else:
                found = _found(plan, target, route, nodes, step)
                in_the_way = self._hindered(plan, target, found)
                if found is not None and in_the_way is None:
                    return found
            countdown.spend(pause)
            if countdown.is_over:
                raise self._not_in_time(plan, target, snapshot, in_the_way, countdown.seconds)
            pause = min(POLL, countdown.left)

    def _hindered(
        self, plan: Plan[Any], target: Target, found: Node | SeenValue | None
    ) -> Hindered | None:
        if not self.strict or plan.use is None or not isinstance(found, Node):
            return None
        now = judge.obstacle(found, plan.use)
        return Hindered(target, plan.use, found, now) if now is not None and now.certain else None

    def _not_in_time(
        self,
        plan: Plan[Any],
        target: Target,
        snapshot: Snapshot,
        in_the_way: Hindered | None,
        seconds: float,
    ) -> errors.StepFailedError:
        if in_the_way is not None:
            return judge.hindered(plan, in_the_way, seconds=seconds, serial=self.serial)
        after = judge.within_time(seconds)
        return judge.not_found(
            plan.verb, target, snapshot=snapshot, serial=self.serial, after=after
        )

    def _only(
        self, verb: str, target: Target, snapshot: Snapshot, use: Use | None, *, done: bool = False
    ) -> list[Node]:
        """Return the matching nodes; if strict, raise if several match where one is meant.

        ``done`` means that the action was already sent.
        """
        nodes = target.resolve(snapshot)
        target.last.total = len(nodes)
        if self.strict and use is not None:
            crowd = judge.find_crowd(target, snapshot, use)
            if crowd is not None:
                raise judge.ambiguous(verb, crowd, use, serial=self.serial, done=done)
        return nodes

    def _aim_at(self, plan: Plan[Any], target: Target, node: Node) -> Aim:
        matcher = identifying_matcher(node)
        if matcher is not None:
            return Aim(matcher, judged=Target(query=Query(matcher), index=0))
        visible = visible_bounds(node)
        if visible is None or not plan.takes_point:
            raise judge.unreachable(plan.verb, target, node, serial=self.serial)
        return Aim(point=visible.center)

    def _container(self, plan: Plan[Any], countdown: Countdown) -> Aim:
        """Return where to find what is scrolled; an empty aim lets the device choose."""
        if plan.container is None:
            return Aim()
        try:
            aim = self.aim(plans.finding(plan.verb, plan.container, Use.READ), countdown)
        except errors.NodeNotFoundError as error:
            raise judge.as_container(error) from None
        assert isinstance(aim, Aim)
        return aim

    # Sending the action, with its proof

    def sending(self, plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
        """Return what is sent for a plan: its action, with a proof where one is possible."""
        is_proved = self.strict and not aim.seen and judged_by(plan, aim) is not None
        if is_proved:
            return _with_proof(plan, aim, wait, id=id)
        return Sending([replace(plan.action(aim, wait), id=id)])

    def _send(self, plan: Plan[Any], aim: Aim, wait: Wait, pause: float) -> RunResult:
        place = 2 if pause else 1
        kind = plan.action(aim, wait).type
        sending = self.sending(plan, aim, wait, id=f"{kind}-{place}")
        before = [Sleep(pause)] if pause else []
        return self.run([*before, *sending.actions], proofs=sending.proofs)

    # Judging what came back

    def judge(self, plan: Plan[Any], aim: Aim, proof: RunStep) -> Hindered | None:
        """Judge an action by its snapshot; raise if several nodes match."""
        judged = judged_by(plan, aim)
        if judged is None:
            return None
        target, use = judged
        snapshot = partial_snapshot(proof)
        nodes = self._only(plan.verb, target, snapshot, use, done=True)
        if plan.container is not None:
            self._only(plan.verb, plan.container, snapshot, Use.READ)
        # The device may find what a snapshot just before did not show.
        found = judge.obstacle(nodes[0], use) if nodes else None
        return None if found is None else Hindered(target, use, nodes[0], found)

    def explain(
        self, plan: Plan[Any], result: RunResult, seconds: float
    ) -> errors.ClawperatorError:
        """Return the error of a failed run, with its own snapshot or a fresh one."""
        error = error_of(result)
        if not isinstance(error, errors.StepFailedError):
            return error
        proof = _proof_of(result)
        snapshot = None if proof is None else partial_snapshot(proof)
        if snapshot is None and (plan.target is not None or not plan.is_aimed):
            snapshot = self._brief_snapshot()
        if snapshot is not None and plan.target is not None:
            plan.target.last.total = len(judge.matching(plan.target, snapshot))
        return judge.explain_failure(plan, error, seconds=seconds, snapshot=snapshot)

    def _has_worked(
        self,
        plan: Plan[Any],
        aim: Aim,
        result: RunResult,
        countdown: Countdown,
        grace: Countdown,
    ) -> bool:
        """Whether the action reached its node; raise if it reached one of several."""
        proof = _proof_of(result)
        if proof is None:
            return True
        try:
            found = self.judge(plan, aim, proof)
        except errors.StepFailedError:
            if plan.use is None or not plan.use.is_harmless or grace.is_over:
                raise
            grace.spend(POLL)
            return False
        return found is None or self._await_effect(plan, found, countdown)

    def _await_effect(self, plan: Plan[Any], before: Hindered, countdown: Countdown) -> bool:
        """Whether an action worked although something was in its way, judged by snapshots alone.

        If it did not, wait until nothing is in its way any longer. A tap is not repeated
        if the first one may have changed the screen.
        """
        may_have_worked = True  # what was in its way may have gone just before it arrived
        pause = 0.0
        while True:
            snapshot = partial_snapshot(self._snapshot_in_time(countdown, pause))
            nodes = self._only(plan.verb, before.target, snapshot, before.use, done=True)
            if not nodes:
                return may_have_worked
            now = judge.obstacle(nodes[0], before.use)
            has_changed = may_have_worked and judge.differs(
                before.node, nodes[0], apart=before.obstacle.cover
            )
            if now is None or (has_changed and not now.certain):
                return has_changed
            may_have_worked = before.obstacle.lets_through
            countdown.spend(pause)
            if countdown.is_over:
                left = replace(before, node=nodes[0], obstacle=now)
                raise judge.hindered(plan, left, seconds=countdown.seconds, serial=self.serial)
            pause = min(POLL, countdown.left)

    def _check_failure(
        self, plan: Plan[Any], aim: Aim, result: RunResult, countdown: Countdown
    ) -> None:
        """Raise the error of a failed run, unless what failed may succeed in the time left."""
        proof = _proof_of(result)
        is_refused = result.code == errors.ErrorCode.NODE_NOT_CLICKABLE
        found = self.judge(plan, aim, proof) if is_refused and proof is not None else None
        if found is not None and countdown.is_over:
            raise judge.hindered(plan, found, seconds=countdown.seconds, serial=self.serial)
        if found is not None:
            self._await_node(plan, found.target, Route.LOOKED_UP, countdown, POLL)
        elif countdown.is_over or result.code not in plan.worth_waiting:
            raise self.explain(plan, result, countdown.seconds)

    def _snapshot_in_time(self, countdown: Countdown, pause: float) -> RunStep:
        """Take a snapshot after a pause, trying again as long as there is time."""
        snapshot = SnapshotUi(retry=countdown.segment().retry)
        result = self.run([Sleep(pause), snapshot] if pause else [snapshot])
        if not result.ok:
            raise error_of(result)
        return last_step(result)

    def _brief_snapshot(self) -> Snapshot | None:
        """Return a quick snapshot for an error message, or None if that fails."""
        try:
            result = self.run([SnapshotUi(retry=_ONCE)], timeout=_BRIEF)
            return partial_snapshot(last_step(result)) if result.ok else None
        except errors.ClawperatorError:
            return None

    # Going through a list page by page

    def more_pages(
        self,
        verb: str,
        container: Target | None,
        direction: Direction,
        *,
        first: Snapshot,
        max_scrolls: int,
        seconds: float,
        gesture: Mapping[str, float | None],
    ) -> Iterator[Snapshot]:
        """Yield the pages after the first, with one scroll and one snapshot in each execution.

        ``seconds`` is how long to wait for the list.
        """
        plan = replace(plans.scroll(direction, container, **gesture), verb=verb)
        if container is not None:
            self._only(verb, container, first, Use.READ)
        for scrolls in range(max_scrolls):
            left = seconds if scrolls == 0 else 0.0
            aim = self.aim(plan, Countdown(left))
            assert isinstance(aim, Aim)
            result = self.run([plan.action(aim, Wait(left)), SnapshotUi()])
            if not result.ok:
                raise self.explain(plan, result, left)
            if not plan.value(result.steps[0], result).moved:
                return
            yield last_step(result).snapshot

    def _search(self, plan: Plan[Any], how: PageSearch, seconds: float) -> Any:
        """Look page by page for the plan's target, and tap it if wanted; return the outcome."""
        target = plan.target
        assert target is not None
        # What the device would refuse is refused here, too.
        complete_actions([plan.action(Aim(NodeMatcher(text_equals="?")), Wait(0.0))])
        countdown = Countdown(math.inf if how.max_duration is None else how.max_duration)
        page, scrolls = self.perform(plans.snapshot(), seconds), 0
        if how.needs_list and shows_everything(page, plan.container) and target.resolve(page):
            raise judge.nothing_scrolls(plan, snapshot=page, serial=self.serial)
        container = plan.container
        if container is not None and container is target.within:
            container = _list_around(container, page)
        pages = self.more_pages(
            plan.verb,
            container,
            how.direction,
            first=page,
            max_scrolls=how.max_scrolls,
            seconds=seconds,
            gesture=how.gesture,
        )
        while not (nodes := self._only(plan.verb, target, page, plan.use)):
            following = None if countdown.is_over else next(pages, None)
            if following is None:
                late = ": MAX_DURATION_REACHED" if countdown.is_over else ""
                raise judge.not_found(
                    plan.verb,
                    target,
                    snapshot=page,
                    serial=self.serial,
                    after=f" after {scrolls} scrolls{late}",
                    code=errors.ErrorCode.TARGET_NOT_FOUND,
                )
            page, scrolls = following, scrolls + 1
        tap = plans.click("click", nodes[0], {}) if how.click else None
        return ScrollOutcome(
            direction=how.direction,
            moved=scrolls > 0,
            found=True,
            scrolls_executed=scrolls,
            termination_reason=TARGET_FOUND,
            step=None if tap is None else self.perform(tap, seconds),
        )


def _with_proof(plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
    """Return the plan's action with what proves it."""
    proof = SnapshotUi(retry=_ONCE, id=f"{id}-proof")
    actions: list[TypedAction]
    if plan.untapped is not None:
        tap = Click(aim.node, retry=_ONCE, id=f"{id}-tap")
        actions = [replace(plan.untapped(aim, wait), id=id), proof, tap]
    elif plan.is_aimed:
        waiting = WaitForNode(aim.node, retry=wait.retry, id=f"{id}-wait")
        actions = [waiting, proof, replace(plan.action(aim, Wait(0.0)), id=id)]
    else:
        actions = [proof, replace(plan.action(aim, wait), id=id)]
    names = [action.id for action in actions]
    return Sending(actions, {name: id for name in names if name is not None and name != id})


def judged_by(plan: Plan[Any], aim: Aim) -> tuple[Target, Use] | None:
    """Return the target to check on the snapshot, and how the action uses it.

    None if there is no target, or a snapshot cannot show it.
    """
    target, use = aim.judged or plan.target, plan.use
    if use is None:
        target, use = None if aim.container_seen else plan.container, Use.READ
    is_found_by_device = aim.matcher is not None or aim.container is not None
    if target is None or not is_found_by_device or not target.is_matchable_on_snapshot:
        return None
    return target, use


def _found(
    plan: Plan[Any], target: Target, route: Route, nodes: list[Node], step: RunStep
) -> Node | SeenValue | None:
    """Return the node or the value on a snapshot; None if another snapshot is needed."""
    if plan.from_nodes is None or route is Route.COMPLETED:
        return nodes[0] if nodes else None
    if target.within is not None and not target.within.resolve(partial_snapshot(step)):
        return None
    value = plan.from_nodes(nodes, step)
    return None if value is None else SeenValue(value, step)


def shows_everything(page: Snapshot, container: Target | None) -> bool:
    """Whether nothing scrolls in the container, so that the page shows all of it."""
    around = page.roots if container is None else container.resolve(page)
    if not around:
        return False
    inside = (node for top in around for node in (top, *top.descendants))
    return not any(node.scrollable and node.is_on_screen for node in inside)


def _list_around(container: Target, page: Snapshot) -> Target | None:
    """Return what to scroll for a node in a container; None is the first thing that scrolls.

    That is the container, or the list around it, for example if the container is every row.
    """
    nodes = container.resolve(page)
    if len(outermost(nodes)) == 1 and not shows_everything(page, container):
        return container
    lists = {next((above for above in node.ancestors if above.scrollable), None) for node in nodes}
    around = lists.pop() if len(lists) == 1 else None
    if around is None:
        return container
    scrolling = (node for node in page.nodes if node.scrollable and node.is_on_screen)
    return None if around is next(scrolling, None) else Target(node=around)


def last_step(result: RunResult) -> RunStep:
    """Return the result of the last action of a run that succeeded."""
    return result.steps[-1]


def _proof_of(result: RunResult) -> RunStep | None:
    """Return the snapshot that proves the last action of a run, or the one that failed."""
    failed = next(iter(result.failed_steps), None)
    return result.last_proof if failed is None else failed.proof


def partial_snapshot(step: RunStep) -> Snapshot:
    """Return what can be read of a screen; a damaged snapshot may lack nodes."""
    text = step.data.get("text")
    return step.snapshot if text is None else Snapshot.from_step(text, step.data, partial=True)
