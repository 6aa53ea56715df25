"""Plans: what a method of the client asks of the device, and how its result is read.

A plan does not know when and how often it is sent: the client sends it at once, a batch
together with others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from pytest_clawperator.client.device_commands import package_name
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

T = TypeVar("T")

#: The keywords of a method that name its node.
Keywords = Mapping[str, object]


#: Failures that mean "not yet": what is missing may come up while there is time.
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


@dataclass(frozen=True)
class Aim:
    """Where an action goes: a matcher that the device finds the node by, or else a point.

    An aim that was ``seen`` holds for the screen as it is now, so the device need not wait.
    So does one whose container was. ``judged`` is what a look at the screen is judged by, where
    that is not the plan's target.
    """

    matcher: NodeMatcher | None = None
    point: tuple[int, int] | None = None
    container: NodeMatcher | None = None
    seen: bool = False
    container_seen: bool = False
    judged: Target | None = None


def node_matcher(aim: Aim) -> NodeMatcher:
    """Return the matcher of an aim for an action that cannot go to a point."""
    assert aim.matcher is not None, "only a tap goes to a point"
    return aim.matcher


def the_step(step: RunStep, result: RunResult) -> RunStep:
    """Return the step itself, for actions that have no other value."""
    return step


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[T]):
    """One action to come, and the value that its method returns.

    ``target`` is the node it is about. Where ``is_aimed``, that node must be on the screen
    before the action can go to it; a scroll's target need not. ``container`` is what is
    scrolled. ``from_nodes`` reads the value from a snapshot instead of asking the device; it
    returns None while the snapshot has no value. ``takes_several`` is about all nodes that
    fit. ``use`` is what is done with the one node that it is about; without it, any that fits
    will do. ``untapped`` is a scroll's action without the tap at its end, which is then sent
    apart. ``wanted`` is the form that a text must have, for messages.
    """

    verb: str
    action: Callable[[Aim, Wait], TypedAction]
    value: Callable[[RunStep, RunResult], T]
    target: Target | None = None
    container: Target | None = None
    is_aimed: bool = True
    takes_point: bool = False
    takes_container: bool = False
    takes_retry: bool = True
    takes_several: bool = False
    use: Use | None = None
    untapped: Callable[[Aim, Wait], TypedAction] | None = None
    from_nodes: Callable[[Sequence[Node], RunStep], T | None] | None = None
    worth_waiting: frozenset[ErrorCode] = NOT_YET_THERE
    longest_wait: float = SEGMENT
    wanted: str = ""

    def route(self, *, strict: bool) -> Route:
        """Decide how the action gets to its node, or a scroll to its list.

        Where ``strict``, an action on one node must be proved.
        """
        sought = self.target if self.is_aimed else self.container
        if sought is None:
            return Route.SENT
        route = sought.route(
            takes_container=self.takes_container and self.is_aimed,
            is_proved=strict and self.use is not None and self.is_aimed,
        )
        # Several nodes may share a short id and have different whole ones.
        is_ambiguous = route is Route.COMPLETED and self.takes_several
        return Route.LOOKED_UP if is_ambiguous else route

    def __str__(self) -> str:
        return f"{self.verb} {self.target}" if self.target is not None else self.verb


LONGEST_NAVIGATION = 30.0

# A net below the retries of wait_for_node, for a phone on which each look takes long.
_SLOW_LOOKS = 1.0

_LONGEST_SLEEP = limits.MAX_SLEEP_MS / 2000


def simple(verb: str, action: TypedAction) -> Plan[RunStep]:
    """Plan an action that neither looks for a node nor waits."""
    return Plan(
        verb=verb,
        action=lambda aim, wait: action,
        value=the_step,
        takes_retry=False,
        worth_waiting=frozenset(),
    )


def sleeps(seconds: float) -> list[Plan[RunStep]]:
    """Plan doing nothing for a while, in parts that leave an execution time for the rest."""
    __tracebackhide__ = True
    left = timeout_of(seconds, 0.0, name="sleep()")
    parts = [simple("sleep", actions.Sleep(_LONGEST_SLEEP))] * int(left // _LONGEST_SLEEP)
    rest = left % _LONGEST_SLEEP
    return [*parts, simple("sleep", actions.Sleep(rest))] if rest or not parts else parts


def open_app(package: str) -> Plan[RunStep]:
    """Plan starting an app."""
    __tracebackhide__ = True
    return simple(f"open_app {shown(package)}", actions.OpenApp(package_name(package)))


def close_app(package: str) -> Plan[RunStep]:
    """Plan stopping an app."""
    __tracebackhide__ = True
    return simple(f"close_app {shown(package)}", actions.CloseApp(package_name(package)))


def open_uri(uri: str) -> Plan[RunStep]:
    """Plan opening an address."""
    return simple(f"open_uri {shown(uri)}", actions.OpenUri(uri))


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
    __tracebackhide__ = True
    if at is not None:
        return _click_at(verb, at, [given, keywords, within], click_type)

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.Click(
            aim.matcher, coordinate=aim.point, click_type=click_type, retry=wait.retry
        )

    return Plan(
        verb=verb,
        action=action,
        value=the_step,
        target=target_of(given, keywords, within=within, verb=verb),
        takes_point=click_type != "focus",
        use=Use.FOCUS if click_type == "focus" else Use.TAP,
    )


def _click_at(
    verb: str, point: tuple[int, int], others: Sequence[object], click_type: ClickType | None
) -> Plan[RunStep]:
    __tracebackhide__ = True
    if any(other is not None and other != {} for other in others):
        raise ConfigurationError(
            f"{verb}(at={point}) was told of a node, too: which is meant?",
            hint="Give either the point or the node.",
        )
    return Plan(
        verb=f"{verb} at {point}",
        action=lambda aim, wait: actions.Click(
            coordinate=point, click_type=click_type, retry=wait.retry
        ),
        value=the_step,
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
    """Plan replacing the text of a field; a secret is sent as it is, and told nobody."""
    __tracebackhide__ = True
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

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.EnterText(node_matcher(aim), value, submit=submit or None, retry=wait.retry)

    target = target_of(given, keywords, within=within, verb="enter_text")
    return Plan(verb="enter_text", action=action, value=the_step, target=target, use=Use.FILL)


def wait_for_node(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[RunStep]:
    """Plan waiting for a node."""
    __tracebackhide__ = True

    def action(aim: Aim, wait: Wait) -> TypedAction:
        timeout = wait.seconds + _SLOW_LOOKS
        return actions.WaitForNode(node_matcher(aim), timeout=timeout, retry=wait.retry)

    return Plan(
        verb="wait_for_node",
        action=action,
        value=the_step,
        target=target_of(given, keywords, within=within, verb="wait_for_node"),
        from_nodes=lambda nodes, step: step if nodes else None,
    )


def wait_for_navigation(
    package: str | None, given: TargetLike | None, keywords: Keywords
) -> Plan[RunStep]:
    """Plan waiting for another app or screen."""
    __tracebackhide__ = True
    target = optional_target(given, keywords, verb="wait_for_navigation")
    if target is not None and not target.is_plain:
        raise ConfigurationError(
            f"wait_for_navigation() needs a matcher that the device understands, not {target}",
            hint="The screen it is on is not there yet, so nothing can be looked up: write the "
            "whole id, as in com.example:id/name, and no pattern; or wait with node(...).wait().",
        )

    def action(aim: Aim, wait: Wait) -> TypedAction:
        timeout = max(wait.seconds, 0.001)
        return actions.WaitForNavigation(
            timeout=timeout, expected_package=package, expected_node=aim.matcher
        )

    return Plan(
        verb="wait_for_navigation" if package is None else f"wait_for_navigation to {package}",
        action=action,
        value=the_step,
        target=target,
        is_aimed=False,
        worth_waiting=frozenset({ErrorCode.NAVIGATION_TIMEOUT}),
        longest_wait=LONGEST_NAVIGATION,
    )


def snapshot() -> Plan[Snapshot]:
    """Plan a snapshot."""
    return Plan(
        verb="snapshot",
        action=lambda aim, wait: actions.SnapshotUi(retry=wait.retry),
        value=lambda step, _: step.snapshot,
        worth_waiting=frozenset({ErrorCode.UI_TREE_UNAVAILABLE}),
    )


def look() -> Plan[RunStep]:
    """Plan a snapshot whose hierarchy is parsed later, whole or damaged."""
    return Plan(
        verb="snapshot",
        action=lambda aim, wait: actions.SnapshotUi(retry=wait.retry),
        value=the_step,
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


_VALIDATORS = ("temperature", "version", "regex")


def read_text(
    given: TargetLike | None,
    keywords: Keywords,
    *,
    within: TargetLike | None = None,
    validator: str | None = None,
    pattern: str | None = None,
) -> Plan[str]:
    """Plan reading a node's text; a ``pattern`` alone implies the regex validator."""
    __tracebackhide__ = True
    kind = "regex" if validator is None and pattern is not None else validator
    _check_validator(kind, pattern)
    options: Any = {"validator": kind, "validator_pattern": pattern}

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.ReadText(
            node_matcher(aim), container=aim.container, retry=wait.retry, **options
        )

    return Plan(
        verb="read_text",
        action=action,
        value=lambda step, _: _step_value(step, "text"),
        target=target_of(given, keywords, within=within, verb="read_text"),
        takes_container=True,
        use=Use.READ,
        from_nodes=_first_label if kind is None else None,
        wanted=f"a text that matches {shown(pattern)}" if pattern is not None else f"a {kind}",
    )


def _check_validator(validator: str | None, pattern: str | None) -> None:
    __tracebackhide__ = True
    if validator is not None and validator not in _VALIDATORS:
        near = closest(str(validator), _VALIDATORS)
        raise ConfigurationError(
            f"read_text() knows no validator {shown(validator)}",
            hint=f"{f'Did you mean {near!r}? ' if near else ''}It is one of "
            f"{', '.join(_VALIDATORS)}; with pattern= it may be left out.",
        )
    if pattern is not None and validator != "regex":
        raise ConfigurationError(
            f"read_text(validator={validator!r}) has a form of its own, and a pattern= besides",
            hint="Give either the validator or the pattern.",
        )


def _step_value(step: RunStep, key: str) -> str:
    """Return a value of a step; of a step recovered from the log only if the log has it."""
    if step.is_recovered and key not in step.data:
        raise EnvelopeMalformedError(
            f"{step}, but the log does not tell for certain what it read",
            serial=step.serial,
            hint="The execution failed later and its envelope has no results: read it in an "
            "execution of its own.",
        )
    return step.data.get(key, "")


def _first_label(nodes: Sequence[Node], step: RunStep) -> str | None:
    return nodes[0].label or None if nodes else None


def read_all_text(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[list[str]]:
    """Plan reading the texts of every node that fits."""
    __tracebackhide__ = True

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.ReadText(
            node_matcher(aim), container=aim.container, all=True, retry=wait.retry
        )

    return Plan(
        verb="read_all_text",
        action=action,
        value=_texts,
        target=target_of(given, keywords, within=within, verb="read_all_text"),
        takes_container=True,
        from_nodes=lambda nodes, _: [node.label for node in nodes if node.label],
        takes_several=True,
    )


def _texts(step: RunStep, result: RunResult) -> list[str]:
    printed = _step_value(step, "text")
    try:
        # The Operator escapes quotes and backslashes only; a text may hold raw line breaks.
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
    __tracebackhide__ = True
    given = NodeMatcher.of(text=label) if isinstance(label, (str, re.Pattern)) else label

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.ReadKeyValuePair(node_matcher(aim), retry=wait.retry)

    return Plan(
        verb="read_value",
        action=action,
        value=lambda step, _: _step_value(step, "value"),
        use=Use.PLACE,
        target=target_of(given, keywords, within=within, verb="read_value"),
    )


EDGE = "EDGE_REACHED"


@dataclass(frozen=True, kw_only=True)
class ScrollOutcome:
    """The outcome of a scroll; true if it found its node, or moved where none was wanted.

    ``moved`` is None where the device does not tell, ``found`` where nothing was looked for.
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


def outcome_of_scroll(step: RunStep) -> ScrollOutcome:
    """Return the outcome of one gesture."""
    said = step.data.get("scroll_outcome", "")
    return ScrollOutcome(
        direction=step.data.get("direction", "down").lower(),
        moved=said == "moved",
        edge_reached=said == "edge_reached",
        scrolls_executed=1,
        step=step,
    )


def outcome_of_scroll_until(step: RunStep, *, has_target: bool) -> ScrollOutcome:
    """Return the outcome of a loop of gestures."""
    reason = step.data.get("termination_reason", "")
    printed = step.data.get("scrolls_executed", "")
    scrolls = int(printed) if printed.isdecimal() and len(printed) < 10 else 0
    is_edge = reason == EDGE
    return ScrollOutcome(
        direction=step.data.get("direction", "down").lower(),
        # The gesture that meets the edge is counted too, and moves nothing.
        moved=scrolls > (1 if is_edge else 0),
        edge_reached=is_edge,
        found=reason == TARGET_FOUND if has_target else None,
        scrolls_executed=scrolls,
        termination_reason=reason or None,
        step=step,
    )


def outcome_of_scroll_and_click(step: RunStep) -> ScrollOutcome:
    """Return the outcome of a search that ended with a tap."""
    direction = step.data.get("direction", "down").lower()
    return ScrollOutcome(
        direction=direction, found=True, termination_reason=TARGET_FOUND, step=step
    )


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
