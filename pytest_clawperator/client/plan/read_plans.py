"""Plans of the actions that read a text from the screen."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.plan import Aim, Keywords, Plan, node_matcher
from pytest_clawperator.client.plan.target import TargetLike, target_of
from pytest_clawperator.client.plan.timing import Wait
from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.errors import ConfigurationError, EnvelopeMalformedError
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Node

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
