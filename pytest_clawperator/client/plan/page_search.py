"""Going through a list page by page, and looking there for what the device cannot be told of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_clawperator.client.plan import action_plans, explain, scroll_plans
from pytest_clawperator.client.plan.looks import last_step
from pytest_clawperator.client.plan.performer import Performer
from pytest_clawperator.client.plan.plan import Aim, Plan
from pytest_clawperator.client.plan.scroll_outcome import ScrollOutcome
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.client.plan.timing import Countdown, Wait
from pytest_clawperator.contracts.actions import Direction, SnapshotUi
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import complete_actions
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.postprocess import TARGET_FOUND
from pytest_clawperator.snapshot.tree import Snapshot


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
    plan = scroll_plans.scroll(pages.direction, pages.container, **pages.gesture)
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
    page, scrolls = performer.perform(action_plans.snapshot(), look_timeout), 0
    if needs_list and shows_everything(page, pages.container) and target.resolve(page):
        raise explain.nothing_scrolls(plan, snapshot=page, serial=performer.serial)
    more = more_pages(performer, plan.verb, pages)
    while not (nodes := performer.resolved(plan, target, page)):
        following = None if countdown.is_over else next(more, None)
        if following is None:
            raise _missed(performer, plan, target, page, scrolls, is_late=countdown.is_over)
        page, scrolls = following, scrolls + 1
    tap = action_plans.click("click", nodes[0], {}) if click else None
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
    return explain.not_found(
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
