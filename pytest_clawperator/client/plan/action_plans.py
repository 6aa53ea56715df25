"""Plans of every action but the scrolls, made from the arguments of its method."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clawperator.client.device.commands import package_name
from pytest_clawperator.client.plan.plan import Aim, Plan, the_step
from pytest_clawperator.client.plan.target import TargetLike, optional_target, target_of
from pytest_clawperator.client.plan.timing import Wait, seconds_of
from pytest_clawperator.contracts import actions, limits
from pytest_clawperator.contracts.actions import ClickType, TypedAction
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import (
    ConfigurationError,
    EnvelopeMalformedError,
    ErrorCode,
    ExecutionValidationError,
    Problem,
    TransportError,
)
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Node, Snapshot

Keywords = Mapping[str, object]

LONGEST_NAVIGATION = 30.0
# A net below the retries of wait_for_node, for a phone on which each look takes long.
_SLOW_LOOKS = 1.0
_LONGEST_SLEEP = limits.MAX_SLEEP_MS / 2000
_VALIDATORS = ("temperature", "version", "regex")


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
    left = seconds_of(seconds, seconds, name="sleep()")
    parts = [simple("sleep", actions.Sleep(_LONGEST_SLEEP))] * int(left // _LONGEST_SLEEP)
    rest = left % _LONGEST_SLEEP
    return [*parts, simple("sleep", actions.Sleep(rest))] if rest or not parts else parts


def open_app(package: str) -> Plan[RunStep]:
    """Plan starting an app."""
    __tracebackhide__ = True
    return simple(f"open_app {package!r}", actions.OpenApp(package_name(package)))


def close_app(package: str) -> Plan[RunStep]:
    """Plan stopping an app."""
    __tracebackhide__ = True
    return simple(f"close_app {package!r}", actions.CloseApp(package_name(package)))


def open_uri(uri: str) -> Plan[RunStep]:
    """Plan opening an address."""
    return simple(f"open_uri {uri!r}", actions.OpenUri(uri))


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
) -> Plan[RunStep]:
    """Plan replacing the text of a field."""
    __tracebackhide__ = True
    given_value: object = value
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
        return actions.EnterText(_matcher(aim), value, submit=submit or None, retry=wait.retry)

    target = target_of(given, keywords, within=within, verb="enter_text")
    return Plan(verb="enter_text", action=action, value=the_step, target=target)


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
        return actions.ReadText(_matcher(aim), container=aim.container, retry=wait.retry, **options)

    return Plan(
        verb="read_text",
        action=action,
        value=lambda step, _: _told(step, "text"),
        target=target_of(given, keywords, within=within, verb="read_text"),
        takes_container=True,
        from_nodes=_first_label if kind is None else None,
        wanted=f"a text that matches {pattern!r}" if pattern is not None else f"a {kind}",
    )


def _check_validator(validator: str | None, pattern: str | None) -> None:
    __tracebackhide__ = True
    if validator is not None and validator not in _VALIDATORS:
        near = closest(str(validator), _VALIDATORS)
        raise ConfigurationError(
            f"read_text() knows no validator {validator!r}",
            hint=f"{f'Did you mean {near!r}? ' if near else ''}It is one of "
            f"{', '.join(_VALIDATORS)}; with pattern= it may be left out.",
        )
    if pattern is not None and validator != "regex":
        raise ConfigurationError(
            f"read_text(validator={validator!r}) has a form of its own, and a pattern= besides",
            hint="Give either the validator or the pattern.",
        )


def _told(step: RunStep, key: str) -> str:
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
        return actions.ReadText(_matcher(aim), container=aim.container, all=True, retry=wait.retry)

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
    printed = _told(step, "text")
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
    label: str | TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[str]:
    """Plan reading the value beside a label."""
    __tracebackhide__ = True
    given = NodeMatcher.of(text=label) if isinstance(label, str) else label

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.ReadKeyValuePair(_matcher(aim), retry=wait.retry)

    return Plan(
        verb="read_value",
        action=action,
        value=lambda step, _: _told(step, "value"),
        target=target_of(given, keywords, within=within, verb="read_value"),
    )


def wait_for_node(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[RunStep]:
    """Plan waiting for a node."""
    __tracebackhide__ = True

    def action(aim: Aim, wait: Wait) -> TypedAction:
        timeout = wait.seconds + _SLOW_LOOKS
        return actions.WaitForNode(_matcher(aim), timeout=timeout, retry=wait.retry)

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
            "whole id, as in com.example:id/name, or wait with node(...).wait().",
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


def _matcher(aim: Aim) -> NodeMatcher:
    assert aim.matcher is not None, "only a tap goes to a point"
    return aim.matcher
