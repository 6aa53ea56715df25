"""Carrying out a plan: send its action, wait as long as was asked, explain a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.actionability import differs, obstacle
from pytest_clawperator.client.plan.explain import Hindered
from pytest_clawperator.client.plan.finder import Finder, SeenValue
from pytest_clawperator.client.plan.looks import last_step, look_of, partial_snapshot
from pytest_clawperator.client.plan.plan import Aim, Plan
from pytest_clawperator.client.plan.proving import GRACE, Sending, bare, judged_by, with_proof
from pytest_clawperator.client.plan.target import Route, Use
from pytest_clawperator.client.plan.timing import POLL, Countdown, Wait
from pytest_clawperator.contracts.actions import Sleep
from pytest_clawperator.errors import ClawperatorError, ErrorCode, StepFailedError
from pytest_clawperator.execution.result import RunResult, RunStep, error_of

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
