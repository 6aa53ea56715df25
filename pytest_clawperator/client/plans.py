"""Plans: what a method of the client asks of the device, and how its result is read.

A plan does not know when or how often it is sent: the client sends it alone, a batch
together with others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from pytest_clawperator.client.target import (
    Route,
    Target,
    TargetLike,
    Use,
    optional_target,
    target_of,
)
from pytest_clawperator.client.timing import SEGMENT, Wait, timeout_of
from pytest_clawperator.contracts import actions, limits
from pytest_clawperator.contracts.actions import ClickType, Direction, TypedAction
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.errors import (
    ConfigurationError,
    EnvelopeMalformedError,
    ErrorCode,
    ExecutionValidationError,
    Problem,
    TransportError,
)
from pytest_clawperator.execution.postprocess import TARGET_FOUND
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")
#: The keywords of a method that name its node.
Keywords = Mapping[str, object]

#: Failures that mean "not yet": what is missing may appear while there is time.
NOT_YET_THERE = frozenset(
    {
        ErrorCode.NODE_NOT_FOUND,
        ErrorCode.NODE_HAS_NO_TEXT,
        ErrorCode.VALUE_NODE_NOT_FOUND,
        ErrorCode.CONTAINER_NOT_FOUND,
        ErrorCode.VALIDATOR_MISMATCH,
        ErrorCode.UI_TREE_UNAVAILABLE,
        ErrorCode.NODE_NOT_CLICKABLE,
    }
)
_NO_LIST = frozenset(
    {
        ErrorCode.CONTAINER_NOT_FOUND,
        ErrorCode.UI_TREE_UNAVAILABLE,
        ErrorCode.NODE_NOT_CLICKABLE,
    }
)
_LONGEST_NAVIGATION = 30.0
# A margin on top of the retries of wait_for_node, for a phone that is slow to read its screen.
_SLOW_SCREEN = 1.0
_LONGEST_SLEEP = limits.MAX_SLEEP_MS / 2000
# The Operator's own limit, and the longest that leaves an execution time for the rest.
_SHORTEST_SEARCH, _LONGEST_SEARCH = 10.0, 100.0
# The Operator makes no more swipes than this, whatever it is sent.
_MOST_SWIPES = 50
_VALIDATORS = ("temperature", "version", "regex")


@dataclass(frozen=True)
class Aim:
    """Where an action goes: a matcher by which the device finds the node, or else a point.

    An aim that was ``seen`` holds for the screen as it is now, so the device need not wait;
    ``container_seen`` means the same for its container. ``judged`` is the target by which the
    snapshot is judged, if that is not the plan's.
    """

    matcher: NodeMatcher | None = None
    point: tuple[int, int] | None = None
    container: NodeMatcher | None = None
    seen: bool = False
    container_seen: bool = False
    judged: Target | None = None

    @property
    def node(self) -> NodeMatcher:
        """The matcher, for an action that cannot go to a point."""
        assert self.matcher is not None, "only a tap goes to a point"
        return self.matcher


@dataclass(frozen=True, kw_only=True)
class PageSearch:
    """How to look for a node page by page, because the device cannot find it by a matcher.

    ``needs_list`` refuses a screen that shows the node but has nothing to scroll.
    """

    direction: Direction
    max_scrolls: int
    click: bool
    max_duration: float | None = None
    needs_list: bool = False
    gesture: Mapping[str, float | None] = field(default_factory=dict)


ActionMaker = Callable[[Aim, Wait], TypedAction]


def _the_step(step: RunStep, result: RunResult) -> RunStep:
    return step


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[T]):
    """One action to be carried out, and the value that its method returns.

    ``target`` is the node it is about. If ``is_aimed``, that node must be on the screen
    before the action can go to it; a scroll's target need not be. ``container`` is what is
    scrolled. ``from_nodes`` reads the value from a snapshot instead of asking the device; it
    returns None while the snapshot has no value. ``takes_several`` means all matching nodes.
    ``use`` is what is done with the one node the plan is about; without it, any match will do.
    ``untapped`` is a scroll's action without the tap at its end, which is then sent separately.
    ``search`` replaces the action where the device cannot find the node itself. ``wanted`` is
    the form that a text must have, for messages.
    """

    verb: str
    action: ActionMaker
    value: Callable[[RunStep, RunResult], T]
    target: Target | None = None
    container: Target | None = None
    is_aimed: bool = True
    takes_point: bool = False
    takes_retry: bool = True
    takes_several: bool = False
    use: Use | None = None
    untapped: ActionMaker | None = None
    search: PageSearch | None = None
    from_nodes: Callable[[Sequence[Node], RunStep], T | None] | None = None
    worth_waiting: frozenset[ErrorCode] = NOT_YET_THERE
    longest_wait: float = SEGMENT
    wanted: str = ""

    def route(self, *, strict: bool) -> Route:
        """Decide how the action gets to its node, or a scroll to its list.

        If ``strict``, an action on one node must be proved.
        """
        sought = self.target if self.is_aimed else self.container
        if sought is None:
            return Route.SENT
        route = sought.route(is_proved=strict and self.use is not None and self.is_aimed)
        # Several nodes may share a short id and have different whole ones.
        is_ambiguous = route is Route.COMPLETED and self.takes_several
        # Whether a node is there is a question about the screen as it is now.
        is_question = route is Route.KNOWN and self.is_aimed and self.use is None
        return Route.LOOKED_UP if is_ambiguous or is_question else route

    def __str__(self) -> str:
        return f"{self.verb} {self.target}" if self.target is not None else self.verb


def simple(verb: str, action: TypedAction) -> Plan[RunStep]:
    """Plan an action that neither looks for a node nor waits."""
    return Plan(
        verb=verb,
        action=lambda aim, wait: action,
        value=_the_step,
        takes_retry=False,
        worth_waiting=frozenset(),
    )


def sleeps(seconds: float) -> list[Plan[RunStep]]:
    """Plan a pause on the device, in parts that leave an execution time for the rest."""
    left = timeout_of(seconds, 0.0, name="sleep()")
    parts = [simple("sleep", actions.Sleep(_LONGEST_SLEEP))] * int(left // _LONGEST_SLEEP)
    rest = left % _LONGEST_SLEEP
    return [*parts, simple("sleep", actions.Sleep(rest))] if rest or not parts else parts


def finding(verb: str, target: Target, use: Use) -> Plan[RunStep]:
    """Plan nothing but finding a node for this use."""

    def no_action(aim: Aim, wait: Wait) -> TypedAction:
        raise AssertionError("a node that is only looked for needs no action")

    return Plan(verb=verb, action=no_action, value=_the_step, target=target, use=use)


# Touching and typing


def click(
    verb: str,
    given: TargetLike | None,
    keywords: Keywords,
    *,
    at: tuple[int, int] | None = None,
    within: TargetLike | None = None,
    click_type: ClickType | None = None,
) -> Plan[RunStep]:
    """Plan a tap, a long press, or focusing."""
    if at is not None:
        return _click_at(verb, at, [given, keywords, within], click_type)

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.Click(
            aim.matcher, coordinate=aim.point, click_type=click_type, retry=wait.retry
        )

    return Plan(
        verb=verb,
        action=action,
        value=_the_step,
        target=target_of(given, keywords, within=within, verb=verb),
        takes_point=click_type != "focus",
        use=Use.FOCUS if click_type == "focus" else Use.TAP,
    )


def _click_at(
    verb: str, point: tuple[int, int], others: Sequence[object], click_type: ClickType | None
) -> Plan[RunStep]:
    if any(other is not None and other != {} for other in others):
        raise ConfigurationError(
            f"{verb}(at={point}) was given a node, too: which is meant?",
            hint="Give either the point or the node.",
        )
    return Plan(
        verb=f"{verb} at {point}",
        action=lambda aim, wait: actions.Click(
            coordinate=point, click_type=click_type, retry=wait.retry
        ),
        value=_the_step,
    )


def enter_text(
    value: str,
    given: TargetLike | None,
    keywords: Keywords,
    *,
    within: TargetLike | None = None,
    submit: bool = False,
    secret: bool = False,
) -> Plan[RunStep]:
    """Plan replacing the text of a field; a secret is sent as it is, and shown nowhere."""
    given_value: object = value
    if secret and isinstance(given_value, str):
        SECRETS.add(value)
    if not isinstance(given_value, str) or "\0" in given_value:
        problem = Problem(
            "value", "enter_text needs a text that a field can hold", repr(value), "text"
        )
        raise ExecutionValidationError([problem], hint="Give a str without NUL characters.")
    if not value.strip():
        problem = Problem("value", "enter_text needs a text that is not blank", repr(value), "text")
        hint = "The Operator refuses blank text. To empty a field: node(...).clear()"
        raise ExecutionValidationError([problem], hint=hint)
    return Plan(
        verb="enter_text",
        action=lambda aim, wait: actions.EnterText(
            aim.node, value, submit=submit or None, retry=wait.retry
        ),
        value=_the_step,
        target=target_of(given, keywords, within=within, verb="enter_text"),
        use=Use.FILL,
    )


# Waiting


def wait_for_node(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[RunStep]:
    """Plan waiting for a node."""
    return Plan(
        verb="wait_for_node",
        action=lambda aim, wait: actions.WaitForNode(
            aim.node, timeout=wait.seconds + _SLOW_SCREEN, retry=wait.retry
        ),
        value=_the_step,
        target=target_of(given, keywords, within=within, verb="wait_for_node"),
        from_nodes=lambda nodes, step: step if nodes else None,
    )


def wait_for_navigation(
    package: str | None, given: TargetLike | None, keywords: Keywords
) -> Plan[RunStep]:
    """Plan waiting for another app or screen."""
    target = optional_target(given, keywords, verb="wait_for_navigation")
    if target is not None and not target.is_plain:
        raise ConfigurationError(
            f"wait_for_navigation() needs a matcher that the device understands, not {target}",
            hint="Its screen is not there yet, so nothing can be looked up: write the "
            "whole id, as in com.example:id/name, and no pattern; or wait with node(...).wait().",
        )
    return Plan(
        verb="wait_for_navigation" if package is None else f"wait_for_navigation to {package}",
        action=lambda aim, wait: actions.WaitForNavigation(
            timeout=max(wait.seconds, 0.001), expected_package=package, expected_node=aim.matcher
        ),
        value=_the_step,
        target=target,
        is_aimed=False,
        worth_waiting=frozenset({ErrorCode.NAVIGATION_TIMEOUT}),
        longest_wait=_LONGEST_NAVIGATION,
    )


# Reading


def read_text(
    given: TargetLike | None,
    keywords: Keywords,
    *,
    within: TargetLike | None = None,
    validator: str | None = None,
    pattern: str | None = None,
) -> Plan[str]:
    """Plan reading a node's text; a ``pattern`` alone implies the regex validator."""
    kind = "regex" if validator is None and pattern is not None else validator
    _check_validator(kind, pattern)
    options: Any = {"validator": kind, "validator_pattern": pattern}
    return Plan(
        verb="read_text",
        action=lambda aim, wait: actions.ReadText(aim.node, retry=wait.retry, **options),
        value=lambda step, _: _step_value(step, "text"),
        target=target_of(given, keywords, within=within, verb="read_text"),
        use=Use.READ,
        from_nodes=_first_label if kind is None else None,
        wanted=f"a text that matches {shown(pattern)}" if pattern is not None else f"a {kind}",
    )


def _check_validator(validator: str | None, pattern: str | None) -> None:
    if validator is not None and validator not in _VALIDATORS:
        near = closest(str(validator), _VALIDATORS)
        raise ConfigurationError(
            f"read_text() has no validator {shown(validator)}",
            hint=f"{f'Did you mean {near!r}? ' if near else ''}It is one of "
            f"{', '.join(_VALIDATORS)}; with pattern= it may be left out.",
        )
    if pattern is not None and validator != "regex":
        raise ConfigurationError(
            f"read_text(validator={validator!r}) has its own form, and was given a pattern=, too",
            hint="Give either the validator or the pattern.",
        )


def _step_value(step: RunStep, key: str) -> str:
    """Return a value of a step; of a step recovered from the log only if the log has it."""
    if step.is_recovered and key not in step.data:
        raise EnvelopeMalformedError(
            f"{step}, but what it read cannot be recovered from the log for certain",
            serial=step.serial,
            hint="The execution failed later and its envelope has no results: read it in a "
            "separate execution.",
        )
    return step.data.get(key, "")


def _first_label(nodes: Sequence[Node], step: RunStep) -> str | None:
    return nodes[0].label or None if nodes else None


def read_all_text(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[list[str]]:
    """Plan reading the texts of every matching node."""
    return Plan(
        verb="read_all_text",
        action=lambda aim, wait: actions.ReadText(aim.node, all=True, retry=wait.retry),
        value=_texts,
        target=target_of(given, keywords, within=within, verb="read_all_text"),
        from_nodes=lambda nodes, _: [node.label for node in nodes if node.label],
        takes_several=True,
    )


def _texts(step: RunStep, result: RunResult) -> list[str]:
    printed = _step_value(step, "text")
    try:
        # The Operator escapes quotes and backslashes only; a text may contain raw line breaks.
        return [str(text) for text in json.loads(printed, strict=False)]
    except (ValueError, TypeError) as exc:
        raise EnvelopeMalformedError(
            f"{step}, but its texts cannot be read: {exc}",
            serial=result.serial,
            hint="The raw answer is in .details['text'].",
            details={"text": printed},
        ) from exc


def read_value(
    label: str | re.Pattern[str] | TargetLike | None,
    keywords: Keywords,
    *,
    within: TargetLike | None = None,
) -> Plan[str]:
    """Plan reading the value beside a label."""
    given = NodeMatcher.of(text=label) if isinstance(label, (str, re.Pattern)) else label
    return Plan(
        verb="read_value",
        action=lambda aim, wait: actions.ReadKeyValuePair(aim.node, retry=wait.retry),
        value=lambda step, _: _step_value(step, "value"),
        use=Use.PLACE,
        target=target_of(given, keywords, within=within, verb="read_value"),
    )


# The whole screen


def snapshot() -> Plan[Snapshot]:
    """Plan a snapshot."""
    return _snapshot(lambda step, _: step.snapshot)


def snapshot_step() -> Plan[RunStep]:
    """Plan a snapshot whose hierarchy is parsed later, whole or damaged."""
    return _snapshot(_the_step)


def _snapshot(value: Callable[[RunStep, RunResult], T]) -> Plan[T]:
    return Plan(
        verb="snapshot",
        action=lambda aim, wait: actions.SnapshotUi(retry=wait.retry),
        value=value,
        worth_waiting=frozenset({ErrorCode.UI_TREE_UNAVAILABLE}),
    )


def screenshot() -> Plan[bytes]:
    """Plan a screenshot."""
    return Plan(
        verb="screenshot",
        action=lambda aim, wait: actions.TakeScreenshot(),
        value=_picture,
        takes_retry=False,
        worth_waiting=frozenset(),
    )


def _picture(step: RunStep, result: RunResult) -> bytes:
    if result.screenshot is None:
        raise TransportError(
            "the screenshot was taken, but its bytes did not come back",
            serial=result.serial,
            hint="Over HTTP a screenshot is a file of the other host: see the step's path.",
            details={"path": step.data.get("path")},
        )
    return result.screenshot


# Scrolling


@dataclass(frozen=True, kw_only=True)
class ScrollOutcome:
    """The outcome of a scroll; true if it found its node, or moved where none was wanted.

    ``moved`` is None if the device does not report it, ``found`` if nothing was looked for.
    ``termination_reason`` is the device's word for why it stopped.
    """

    direction: str
    moved: bool | None = None
    edge_reached: bool = False
    found: bool | None = None
    scrolls_executed: int | None = None
    termination_reason: str | None = None
    step: RunStep | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return bool(self.moved) if self.found is None else self.found


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


def outcome_of_scroll(step: RunStep) -> ScrollOutcome:
    """Return the outcome of one gesture."""
    outcome = step.data.get("scroll_outcome", "")
    return ScrollOutcome(
        direction=_direction(step),
        moved=outcome == "moved",
        edge_reached=outcome == "edge_reached",
        scrolls_executed=1,
        step=step,
    )


def scroll_until(
    target: Target | None,
    container: Target | None,
    *,
    direction: Direction = "down",
    max_scrolls: int,
    max_duration: float | None = None,
    click: bool = False,
    no_position_change_threshold: int | None = None,
    **gesture: Any,
) -> Plan[ScrollOutcome]:
    """Plan a series of scroll gestures; by default it may take a second for each."""
    check_count("scroll_until", max_scrolls, limits.MAX_SCROLLS)
    longest = max_duration
    if longest is None:
        longest = min(max(float(max_scrolls), _SHORTEST_SEARCH), _LONGEST_SEARCH)

    def action(aim: Aim, wait: Wait, *, click: bool) -> TypedAction:
        return actions.ScrollUntil(
            aim.matcher,
            container=aim.container,
            click_after=click or None,
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=longest,
            no_position_change_threshold=no_position_change_threshold,
            **gesture,
        )

    is_sent = target is None or target.is_plain
    search = PageSearch(
        direction=direction,
        max_scrolls=max_scrolls,
        click=click,
        max_duration=max_duration,
        gesture=gesture,
    )
    return Plan(
        verb="scroll_until",
        action=partial(action, click=click),
        untapped=partial(action, click=False) if click else None,
        search=None if is_sent else search,
        use=Use.TAP if click else None,
        value=lambda step, _: outcome_of_scroll_until(step, has_target=target is not None),
        target=target,
        container=container,
        is_aimed=False,
        takes_retry=False,
        worth_waiting=_NO_LIST,
    )


def outcome_of_scroll_until(step: RunStep, *, has_target: bool) -> ScrollOutcome:
    """Return the outcome of a series of gestures."""
    reason = step.data.get("termination_reason", "")
    printed = step.data.get("scrolls_executed", "")
    scrolls = int(printed) if printed.isdecimal() and len(printed) < 10 else 0
    is_edge = reason == "EDGE_REACHED"
    return ScrollOutcome(
        direction=_direction(step),
        # The gesture that meets the edge is counted too, and moves nothing.
        moved=scrolls > (1 if is_edge else 0),
        edge_reached=is_edge,
        found=reason == TARGET_FOUND if has_target else None,
        scrolls_executed=scrolls,
        termination_reason=reason or None,
        step=step,
    )


def scroll_to_top(container: Target | None) -> Plan[ScrollOutcome]:
    """Plan scrolling back to the top."""
    plan = scroll_until(
        None, container, direction="up", max_scrolls=50, no_position_change_threshold=3
    )
    return replace(plan, verb="scroll_to_top")


def scroll_and_click(
    target: Target,
    container: Target | None,
    *,
    direction: Direction = "down",
    max_scrolls: int,
    **gesture: Any,
) -> Plan[ScrollOutcome]:
    """Plan scrolling to a node and tapping it."""
    check_count("scroll_and_click", max_scrolls, _MOST_SWIPES)

    def action(aim: Aim, wait: Wait, *, click: bool = True) -> TypedAction:
        return actions.ScrollAndClick(
            aim.node,
            container=aim.container,
            direction=direction,
            max_swipes=max_scrolls,
            click_after=None if click else False,
            scroll_retry=wait.retry,
            click_retry=wait.retry if click else None,
            **gesture,
        )

    search = PageSearch(
        direction=direction, max_scrolls=max_scrolls, click=True, needs_list=True, gesture=gesture
    )
    return Plan(
        verb="scroll_and_click",
        action=action,
        untapped=partial(action, click=False),
        search=None if target.route() is Route.SENT else search,
        use=Use.TAP,
        value=lambda step, _: outcome_of_scroll_and_click(step),
        target=target,
        container=container,
        is_aimed=False,
        worth_waiting=_NO_LIST,
    )


def outcome_of_scroll_and_click(step: RunStep) -> ScrollOutcome:
    """Return the outcome of a search that ended with a tap."""
    return ScrollOutcome(
        direction=_direction(step), found=True, termination_reason=TARGET_FOUND, step=step
    )


def _direction(step: RunStep) -> str:
    return step.data.get("direction", "down").lower()


def check_count(verb: str, max_scrolls: int, most: int, *, least: int = 1) -> None:
    """Raise for a ``max_scrolls`` that the device would not accept."""
    if type(max_scrolls) is not int or not least <= max_scrolls <= most:
        raise ConfigurationError(
            f"{verb}() scrolls {least} to {most} times, not {shown(max_scrolls)}",
            hint=f"scroll_until(..., click=True) scrolls up to {limits.MAX_SCROLLS} times.",
        )
