"""Plans of every scroll."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.plan import Aim, Plan
from pytest_clawperator.client.plan.scroll_outcome import (
    ScrollOutcome,
    outcome_of_scroll,
    outcome_of_scroll_and_click,
    outcome_of_scroll_until,
)
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.client.plan.timing import Wait
from pytest_clawperator.contracts import actions, limits
from pytest_clawperator.contracts.actions import Direction, TypedAction
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ConfigurationError, ErrorCode

_NO_LIST = frozenset(
    {
        ErrorCode.CONTAINER_NOT_FOUND,
        ErrorCode.UI_TREE_UNAVAILABLE,
        ErrorCode.NODE_NOT_CLICKABLE,
    }
)
# The Operator's own limit, and the most that leaves an execution time for the rest.
_SHORTEST_SEARCH, _LONGEST_SEARCH = 10.0, 100.0
# More the Operator makes no swipes, whatever it is told.
MOST_SWIPES = 50


def check_count(verb: str, max_scrolls: int, most: int, *, least: int = 1) -> None:
    """Raise for a ``max_scrolls`` that the device would not take."""
    __tracebackhide__ = True
    if type(max_scrolls) is not int or not least <= max_scrolls <= most:
        raise ConfigurationError(
            f"{verb}() scrolls {least} to {most} times, not {shown(max_scrolls)}",
            hint=f"scroll_until(..., click=True) scrolls up to {limits.MAX_SCROLLS} times.",
        )


def scroll(direction: Direction, container: Target | None, **gesture: Any) -> Plan[ScrollOutcome]:
    """Plan one scroll gesture."""
    return Plan(
        verb="scroll",
        action=lambda aim, wait: actions.Scroll(
            direction, container=aim.container, retry=wait.retry, **gesture
        ),
        value=lambda step, _: outcome_of_scroll(step),
        container=container,
        is_aimed=False,
        worth_waiting=_NO_LIST,
    )


def scroll_until(
    target: Target | None,
    container: Target | None,
    *,
    max_scrolls: int,
    max_duration: float | None = None,
    click: bool = False,
    **options: Any,
) -> Plan[ScrollOutcome]:
    """Plan a loop of scroll gestures; by default it may last a second for each."""
    __tracebackhide__ = True
    check_count("scroll_until", max_scrolls, limits.MAX_SCROLLS)
    if max_duration is None:
        max_duration = min(max(float(max_scrolls), _SHORTEST_SEARCH), _LONGEST_SEARCH)
    options |= {"max_scrolls": max_scrolls, "max_duration": max_duration}

    def action(aim: Aim, wait: Wait, *, click: bool) -> TypedAction:
        return actions.ScrollUntil(
            aim.matcher, container=aim.container, click_after=click or None, **options
        )

    return Plan(
        verb="scroll_until",
        action=partial(action, click=click),
        untapped=partial(action, click=False) if click else None,
        use=Use.TAP if click else None,
        value=lambda step, _: outcome_of_scroll_until(step, has_target=target is not None),
        target=target,
        container=container,
        is_aimed=False,
        takes_retry=False,
        worth_waiting=_NO_LIST,
    )


def scroll_to_top(container: Target | None) -> Plan[ScrollOutcome]:
    """Plan scrolling back to the top."""
    plan = scroll_until(
        None, container, direction="up", max_scrolls=50, no_position_change_threshold=3
    )
    return replace(plan, verb="scroll_to_top")


def scroll_and_click(
    target: Target, container: Target | None, *, max_scrolls: int, **options: Any
) -> Plan[ScrollOutcome]:
    """Plan scrolling to a node and tapping it."""
    __tracebackhide__ = True
    check_count("scroll_and_click", max_scrolls, MOST_SWIPES)

    def action(aim: Aim, wait: Wait, *, click: bool = True) -> TypedAction:
        assert aim.matcher is not None
        return actions.ScrollAndClick(
            aim.matcher,
            container=aim.container,
            max_swipes=max_scrolls,
            click_after=None if click else False,
            scroll_retry=wait.retry,
            click_retry=wait.retry if click else None,
            **options,
        )

    return Plan(
        verb="scroll_and_click",
        action=action,
        untapped=partial(action, click=False),
        use=Use.TAP,
        value=lambda step, _: outcome_of_scroll_and_click(step),
        target=target,
        container=container,
        is_aimed=False,
        worth_waiting=_NO_LIST,
    )
