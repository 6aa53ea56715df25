"""The client's methods that scroll."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import Unpack

from pytest_clawperator.client.node_actions import NodeActions
from pytest_clawperator.client.plan import action_plans, explain, scroll_plans
from pytest_clawperator.client.plan.performer import last_step
from pytest_clawperator.client.plan.plan import Aim, Plan
from pytest_clawperator.client.plan.target import (
    Route,
    Target,
    TargetLike,
    container_of,
    optional_target,
    target_of,
)
from pytest_clawperator.client.plan.timing import Countdown, Wait, seconds_of
from pytest_clawperator.client.scroll_outcome import ScrollOutcome
from pytest_clawperator.contracts.actions import Direction, SnapshotUi
from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.contracts.keywords import MatcherKeywords
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.judging import TARGET_FOUND
from pytest_clawperator.snapshot.tree import Snapshot


@dataclass(frozen=True)
class _Pages:
    """What is scrolled, how far, and how long it is waited for."""

    container: Target | None
    direction: Direction
    max_scrolls: int
    timeout: float


class ScrollActions(NodeActions):
    """Scrolling. ``direction`` is where the content goes on: "down" shows what is further down.

    ``within`` is the list to scroll, or a node around it; without it that is the first thing
    on the screen that scrolls. ``timeout`` is how many seconds the list is waited for.
    ``distance_ratio`` is the length of a gesture as a part of the list's, ``settle_delay``
    the seconds of rest after it.
    """

    def scroll(
        self,
        direction: Direction = "down",
        *,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
    ) -> ScrollOutcome:
        """Scroll once; the outcome is true if anything moved, false at the edge.

        ``moved = claw.scroll("down")``
        """
        __tracebackhide__ = True
        plan = scroll_plans.scroll(
            direction,
            container_of(within, verb="scroll"),
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)

    def scroll_until(
        self,
        target: TargetLike | None = None,
        /,
        *,
        click: bool = False,
        direction: Direction = "down",
        max_scrolls: int = 20,
        max_duration: float | None = None,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> ScrollOutcome:
        """Scroll until a node comes up, and with ``click`` tap it; without a node, to the end.

        ``claw.scroll_until(text="About phone", click=True)``

        It ends after ``max_scrolls``, or ``max_duration`` seconds: by default one for each.
        """
        __tracebackhide__ = True
        plan = scroll_plans.scroll_until(
            optional_target(target, matcher, verb="scroll_until"),
            container_of(within, verb="scroll_until"),
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=max_duration,
            click=click,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        wanted = plan.target
        if wanted is None or (wanted.is_plain and not (click and self._must_be_alone(wanted))):
            return self._do(plan, timeout)
        gesture = {"distance_ratio": distance_ratio, "settle_delay": settle_delay}
        pages = _Pages(plan.container, direction, max_scrolls, seconds_of(timeout, self.timeout))
        return self._search(plan, pages, gesture, click=click, max_duration=max_duration)

    def scroll_and_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        direction: Direction = "down",
        max_scrolls: int = 10,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> ScrollOutcome:
        """Scroll to a node and tap it; there must be a list, even if the node is in sight.

        ``claw.scroll_and_click(text="About phone")``
        """
        __tracebackhide__ = True
        wanted = target_of(target, matcher, verb="scroll_and_click")
        plan = scroll_plans.scroll_and_click(
            wanted,
            container_of(within, verb="scroll_and_click"),
            direction=direction,
            max_scrolls=max_scrolls,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        if wanted.route(is_checked=self.performer.strict) is Route.SENT:
            return self._do(plan, timeout)
        gesture = {"distance_ratio": distance_ratio, "settle_delay": settle_delay}
        pages = _Pages(plan.container, direction, max_scrolls, seconds_of(timeout, self.timeout))
        return self._search(plan, pages, gesture, click=True, needs_list=True)

    def scroll_to_top(
        self, *, within: TargetLike | None = None, timeout: float | None = None
    ) -> ScrollOutcome:
        """Scroll back to where the list begins.

        ``claw.scroll_to_top()``
        """
        __tracebackhide__ = True
        return self._do(
            scroll_plans.scroll_to_top(container_of(within, verb="scroll_to_top")), timeout
        )

    def pages(
        self,
        *,
        within: TargetLike | None = None,
        max_scrolls: int = 20,
        direction: Direction = "down",
    ) -> Iterator[Snapshot]:
        """Go through a list: a snapshot, a scroll, the next snapshot, until the list ends.

            for page in claw.pages():
                names += [node.text for node in page.find_all(id="product_name")]

        A screen on which nothing scrolls is one page, so wait for a list that is still to come.
        """
        scroll_plans.check_count("pages", max_scrolls, sys.maxsize, least=0)
        container = container_of(within, verb="pages")
        page = self._do(action_plans.snapshot())
        yield page
        if _is_all(page, container):
            return
        pages = _Pages(container, direction, max_scrolls, self.timeout)
        yield from self._more_pages("pages", pages, {})

    def _must_be_alone(self, target: Target) -> bool:
        """Tell whether several nodes that fit are an error, which a tap must not come before."""
        return self.performer.strict and target.is_tellable

    def _more_pages(
        self, verb: str, pages: _Pages, gesture: Mapping[str, float | None]
    ) -> Iterator[Snapshot]:
        """Scroll and look, in one execution each; only the first waits for the list."""
        __tracebackhide__ = True
        plan = scroll_plans.scroll(pages.direction, pages.container, **gesture)
        plan = replace(plan, verb=verb)
        for scrolls in range(pages.max_scrolls):
            seconds = pages.timeout if scrolls == 0 else 0.0
            aim = self.performer.aim(plan, Countdown(seconds))
            assert isinstance(aim, Aim)
            result = self.performer.run([plan.action(aim, Wait(seconds)), SnapshotUi()])
            if not result.ok:
                raise self.performer.explained(plan, result, seconds)
            if not plan.value(result.steps[0], result).moved:
                return
            yield last_step(result).snapshot

    def _search(
        self,
        plan: Plan[Any],
        pages: _Pages,
        gesture: Mapping[str, float | None],
        *,
        click: bool,
        max_duration: float | None = None,
        needs_list: bool = False,
    ) -> ScrollOutcome:
        """Look page by page for what the device cannot be told of."""
        __tracebackhide__ = True
        target = plan.target
        assert target is not None
        complete_execution([plan.action(Aim(NodeMatcher(text_equals="?")), Wait(0.0))])
        countdown = Countdown(math.inf if max_duration is None else max_duration)
        page, scrolls = self._do(action_plans.snapshot()), 0
        if needs_list and _is_all(page, pages.container) and target.resolve(page):
            raise explain.nothing_scrolls(plan, snapshot=page, serial=self.performer.serial)
        more = self._more_pages(plan.verb, pages, gesture)
        while not (nodes := self.performer.resolved(plan, target, page)):
            following = None if countdown.is_over else next(more, None)
            if following is None:
                late = ": MAX_DURATION_REACHED" if countdown.is_over else ""
                raise explain.not_found(
                    plan.verb,
                    target,
                    snapshot=page,
                    serial=self.performer.serial,
                    after=f" after {scrolls} scrolls{late}",
                    code=ErrorCode.TARGET_NOT_FOUND,
                )
            page, scrolls = following, scrolls + 1
        return ScrollOutcome(
            direction=pages.direction,
            moved=scrolls > 0,
            found=True,
            scrolls_executed=scrolls,
            termination_reason=TARGET_FOUND,
            step=self.click(nodes[0], timeout=pages.timeout) if click else None,
        )


def _is_all(page: Snapshot, container: Target | None) -> bool:
    """Tell whether nothing scrolls there, so that the page shows everything."""
    around = [page.root] if container is None else container.resolve(page)
    if not around:
        return False
    inside = (around[0], *around[0].descendants)
    return not any(node.scrollable and node.is_on_screen for node in inside)
