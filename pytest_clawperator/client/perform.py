"""Carry out a plan: find its node, send its action, prove it by a snapshot, and wait."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from pytest_clawperator.client import judge, plans
from pytest_clawperator.client import judge as explain
from pytest_clawperator.client.judge import Hindered, ambiguous, differs, find_crowd, obstacle
from pytest_clawperator.client.plans import Aim, Plan, ScrollOutcome, node_matcher, the_step
from pytest_clawperator.client.target import Route, Target, Use
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
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    EnvelopeMalformedError,
    ErrorCode,
    NodeNotFoundError,
    StepFailedError,
)
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.postprocess import JUDGEMENTS, NO_PROOFS, TARGET_FOUND
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.snapshot.query import Query, identifying_matcher
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot


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


def look_of(result: RunResult) -> RunStep | None:
    """Return the look that proves the last action of a run, or the one that failed."""
    failed = next(iter(result.failed_steps), None)
    return result.last_look if failed is None else failed.look


def partial_snapshot(step: RunStep) -> Snapshot:
    """Return what can be read of a screen; a damaged one may lack nodes that are there."""
    text = step.data.get("text")
    return step.snapshot if text is None else Snapshot.from_step(text, step.data, partial=True)


Matchers = Literal["strict", "first"]

#: What a matcher that fits several nodes means: an error, or the first of them.
MATCHERS: tuple[Matchers, ...] = ("strict", "first")

# How long a target may be ambiguous before anything is done with it: two screens of an app
# are there at once while one takes the other's place.
GRACE = 1.0


_ONCE = Retry(max_attempts=1)

_AT_ONCE = Wait(0.0)


def matchers_of(given: Any) -> Matchers:
    """Return what ``matchers=`` says, checked."""
    for word in MATCHERS:
        if given == word:
            return word
    raise ConfigurationError(
        f"matchers= is 'strict' or 'first', found {shown(given)}",
        hint="'strict' refuses a matcher that several nodes fit; with 'first' the first wins.",
    )


@dataclass(frozen=True)
class Sending:
    """The actions that are sent for a plan; ``proofs`` are those of them that prove another."""

    actions: Sequence[TypedAction]
    proofs: Mapping[str, str] = field(default_factory=dict)


def bare(plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
    """Return the plan's action alone."""
    return Sending([replace(plan.action(aim, wait), id=id)])


def with_proof(plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
    """Return the plan's action with what proves it."""
    look = SnapshotUi(retry=_ONCE, id=f"{id}-look")
    actions: list[TypedAction]
    if plan.untapped is not None:
        tap = Click(node_matcher(aim), retry=_ONCE, id=f"{id}-tap")
        actions = [replace(plan.untapped(aim, wait), id=id), look, tap]
    elif plan.is_aimed:
        waiting = WaitForNode(node_matcher(aim), retry=wait.retry, id=f"{id}-wait")
        actions = [waiting, look, replace(plan.action(aim, _AT_ONCE), id=id)]
    else:
        actions = [look, replace(plan.action(aim, wait), id=id)]
    names = [action.id for action in actions]
    return Sending(actions, {name: id for name in names if name is not None and name != id})


def judged_by(plan: Plan[Any], aim: Aim) -> tuple[Target, Use] | None:
    """Return the target that a look at the screen is judged by, and what is done with it.

    None if there is nothing to judge, or a snapshot does not show it.
    """
    target, use = aim.judged or plan.target, plan.use
    if use is None:
        target, use = None if aim.container_seen else plan.container, Use.READ
    is_found_by_device = aim.matcher is not None or aim.container is not None
    if target is None or not is_found_by_device or not target.is_matchable_on_snapshot:
        return None
    return target, use


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
            raise judge.not_found(plan.verb, target, snapshot=snapshot, serial=self.serial)
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
            return judge.hindered(plan, hindered, seconds=seconds, serial=self.serial)
        return judge.not_found(
            plan.verb,
            target,
            snapshot=snapshot,
            serial=self.serial,
            after=judge.within(seconds),
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
            raise judge.unreachable(plan.verb, target, node, serial=self.serial)
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
            raise judge.as_container(error) from None
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


T = TypeVar("T")


class Performer(Finder):
    """Carries out plans on one device: finds their nodes, and acts on them."""

    def perform(self, plan: Plan[T], seconds: float) -> T:
        """Send the plan's action until it succeeds or the time is over."""
        __tracebackhide__ = True
        countdown = Countdown(seconds)
        grace = Countdown(min(seconds, GRACE))
        pause = 0.0
        while True:
            aim = self.aim(plan, countdown, pause=pause)
            if isinstance(aim, SeenValue):
                value: T = aim.value
                return value
            is_polled = aim.seen or not plan.takes_retry
            wait = Wait(0.0) if is_polled else countdown.segment(plan.longest_wait)
            # What was just looked up has been paused for already.
            result = self._send(plan, aim, wait, 0.0 if aim.seen else pause)
            if result.ok and self._has_worked(plan, aim, result, countdown, grace):
                return plan.value(last_step(result), result)
            was_there = result.ok or look_of(result) is not None
            countdown.spend(pause if was_there else wait.seconds + pause)
            if not result.ok:
                self._check_failure(plan, aim, result, countdown)
            pause = min(POLL, countdown.left) if is_polled or was_there else 0.0

    def sending(self, plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
        """Return what is sent for a plan: its action, with a proof where one is possible."""
        is_proved = self.strict and not aim.seen and judged_by(plan, aim) is not None
        return (with_proof if is_proved else bare)(plan, aim, wait, id=id)

    def _send(self, plan: Plan[Any], aim: Aim, wait: Wait, pause: float) -> RunResult:
        __tracebackhide__ = True
        place = 2 if pause else 1
        kind = plan.action(aim, wait).type
        sending = self.sending(plan, aim, wait, id=f"{kind}-{place}")
        before = [Sleep(pause)] if pause else []
        return self.run([*before, *sending.actions], proofs=sending.proofs)

    def _has_worked(
        self,
        plan: Plan[Any],
        aim: Aim,
        result: RunResult,
        countdown: Countdown,
        grace: Countdown,
    ) -> bool:
        """Whether the action reached its node; raise if it reached one of several."""
        __tracebackhide__ = True
        look = look_of(result)
        if look is None:
            return True
        try:
            found = self.judge(plan, aim, look)
        except StepFailedError:
            if plan.use is None or not plan.use.is_harmless or grace.is_over:
                raise
            grace.spend(POLL)
            return False
        return found is None or self._await_effect(plan, found, countdown)

    def judge(self, plan: Plan[Any], aim: Aim, look: RunStep) -> Hindered | None:
        """Judge an action by its look; raise if several nodes fit."""
        __tracebackhide__ = True
        judged = judged_by(plan, aim)
        if judged is None:
            return None
        target, use = judged
        snapshot = partial_snapshot(look)
        nodes = self.only(plan.verb, target, snapshot, use, done=True)
        if plan.container is not None:
            self.only(plan.verb, plan.container, snapshot, Use.READ)
        # The device may find what a look just before did not show.
        found = obstacle(nodes[0], use) if nodes else None
        return None if found is None else Hindered(target, use, nodes[0], found)

    def _await_effect(self, plan: Plan[Any], before: Hindered, countdown: Countdown) -> bool:
        """Whether an action worked although something was in its way, told by looks alone.

        If it did not, this waits until nothing is in its way any longer. A tap is not repeated
        where the first one may have changed the screen.
        """
        __tracebackhide__ = True
        may_have_worked = True  # what was in its way may have gone just before it arrived
        pause = 0.0
        while True:
            snapshot = partial_snapshot(self.look_in_time(countdown, pause))
            nodes = self.only(plan.verb, before.target, snapshot, before.use, done=True)
            if not nodes:
                return may_have_worked
            now = obstacle(nodes[0], before.use)
            has_changed = may_have_worked and differs(
                before.node, nodes[0], apart=before.obstacle.cover
            )
            if now is None or (has_changed and not now.certain):
                return has_changed
            may_have_worked = before.obstacle.lets_through
            countdown.spend(pause)
            if countdown.is_over:
                left = replace(before, node=nodes[0], obstacle=now)
                raise explain.hindered(plan, left, seconds=countdown.seconds, serial=self.serial)
            pause = min(POLL, countdown.left)

    def _check_failure(
        self, plan: Plan[Any], aim: Aim, result: RunResult, countdown: Countdown
    ) -> None:
        """Raise the error of a failed run, unless what failed may succeed in the time left."""
        __tracebackhide__ = True
        look = look_of(result)
        is_refused = result.code == ErrorCode.NODE_NOT_CLICKABLE
        found = self.judge(plan, aim, look) if is_refused and look is not None else None
        if found is not None and countdown.is_over:
            raise explain.hindered(plan, found, seconds=countdown.seconds, serial=self.serial)
        if found is not None:
            self.await_node(plan, found.target, Route.LOOKED_UP, countdown, POLL)
        elif countdown.is_over or result.code not in plan.worth_waiting:
            raise self.explain(plan, result, countdown.seconds)

    def explain(self, plan: Plan[Any], result: RunResult, seconds: float) -> ClawperatorError:
        """Return the error of a failed run, with its look at the screen, or else a fresh one."""
        error = error_of(result)
        if not isinstance(error, StepFailedError):
            return error
        look = look_of(result)
        snapshot = None if look is None else partial_snapshot(look)
        if snapshot is None and (plan.target is not None or not plan.is_aimed):
            snapshot = self.look()
        if snapshot is not None and plan.target is not None:
            plan.target.last.total = len(plan.target.resolve(snapshot))
        return explain.explain_failure(plan, error, seconds=seconds, snapshot=snapshot)


@dataclass(frozen=True)
class Pages:
    """Which list is scrolled and how far; ``timeout`` is how long the list is waited for."""

    container: Target | None
    direction: Direction
    max_scrolls: int
    timeout: float
    gesture: Mapping[str, float | None] = field(default_factory=dict)


def more_pages(performer: Performer, verb: str, pages: Pages) -> Iterator[Snapshot]:
    """Yield the pages after the first, one scroll and one look in each execution."""
    __tracebackhide__ = True
    plan = plans.scroll(pages.direction, pages.container, **pages.gesture)
    plan = replace(plan, verb=verb)
    for scrolls in range(pages.max_scrolls):
        # Only the first waits for the list.
        seconds = pages.timeout if scrolls == 0 else 0.0
        aim = performer.aim(plan, Countdown(seconds))
        assert isinstance(aim, Aim)
        result = performer.run([plan.action(aim, Wait(seconds)), SnapshotUi()])
        if not result.ok:
            raise performer.explain(plan, result, seconds)
        if not plan.value(result.steps[0], result).moved:
            return
        yield last_step(result).snapshot


def search(
    performer: Performer,
    plan: Plan[ScrollOutcome],
    pages: Pages,
    *,
    click: bool,
    look_timeout: float,
    max_duration: float | None = None,
    needs_list: bool = False,
) -> ScrollOutcome:
    """Look page by page for the plan's target, and with ``click`` tap it.

    ``look_timeout`` is how many seconds the first look at the screen may wait for one.
    """
    __tracebackhide__ = True
    target = plan.target
    assert target is not None
    # What the device would refuse is refused here, too.
    complete_actions([plan.action(Aim(NodeMatcher(text_equals="?")), Wait(0.0))])
    countdown = Countdown(math.inf if max_duration is None else max_duration)
    page, scrolls = performer.perform(plans.snapshot(), look_timeout), 0
    if needs_list and shows_everything(page, pages.container) and target.resolve(page):
        raise judge.nothing_scrolls(plan, snapshot=page, serial=performer.serial)
    more = more_pages(performer, plan.verb, pages)
    while not (nodes := performer.resolved(plan, target, page)):
        following = None if countdown.is_over else next(more, None)
        if following is None:
            raise _missed(performer, plan, target, page, scrolls, is_late=countdown.is_over)
        page, scrolls = following, scrolls + 1
    tap = plans.click("click", nodes[0], {}) if click else None
    return ScrollOutcome(
        direction=pages.direction,
        moved=scrolls > 0,
        found=True,
        scrolls_executed=scrolls,
        termination_reason=TARGET_FOUND,
        step=None if tap is None else performer.perform(tap, pages.timeout),
    )


def _missed(
    performer: Performer,
    plan: Plan[Any],
    target: Target,
    page: Snapshot,
    scrolls: int,
    *,
    is_late: bool,
) -> Exception:
    late = ": MAX_DURATION_REACHED" if is_late else ""
    return judge.not_found(
        plan.verb,
        target,
        snapshot=page,
        serial=performer.serial,
        after=f" after {scrolls} scrolls{late}",
        code=ErrorCode.TARGET_NOT_FOUND,
    )


def shows_everything(page: Snapshot, container: Target | None) -> bool:
    """Whether nothing scrolls in the container, so that the page shows all of it."""
    around = page.roots if container is None else container.resolve(page)[:1]
    if not around:
        return False
    inside = (node for top in around for node in (top, *top.descendants))
    return not any(node.scrollable and node.is_on_screen for node in inside)
