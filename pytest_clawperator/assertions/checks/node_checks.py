"""The checks of a node."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pytest_clawperator.assertions.checks import text_match
from pytest_clawperator.assertions.checks.check import Check, Verdict
from pytest_clawperator.assertions.checks.label_value import value_of
from pytest_clawperator.assertions.checks.node_view import NodeView
from pytest_clawperator.assertions.checks.role_check import no_such_role
from pytest_clawperator.assertions.checks.text_match import Text
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.golden import ROLES
from pytest_clawperator.snapshot.near_miss import quoted
from pytest_clawperator.snapshot.tree import Bounds, Node

APPEARED, DISAPPEARED = "appeared", "disappeared"

NodeCheck = Check[NodeView]


def _visible(view: NodeView) -> Verdict:
    # A node of a snapshot may have been found off the screen.
    is_visible = any(node.is_on_screen for node in view.nodes)
    return Verdict(is_visible, "visible" if is_visible else view.absence)


def _hidden(view: NodeView) -> Verdict:
    verdict = _visible(view)
    return Verdict(not verdict.holds, verdict.found)


def _exists(view: NodeView) -> Verdict:
    return Verdict(bool(view.anywhere), _visible(view).found)


VISIBLE = NodeCheck("to be visible", _visible, APPEARED)
HIDDEN = NodeCheck("to be hidden", _hidden, DISAPPEARED)
EXISTS = NodeCheck("to exist", _exists, APPEARED)


def _of_first(wanted: str, judge: Callable[[Node], Verdict]) -> NodeCheck:
    """Return a check of one node, which fails, negated or not, if there is none or several."""

    def judge_view(view: NodeView) -> Verdict:
        node = view.first
        return Verdict(None, view.absence) if node is None else judge(node)

    return NodeCheck(wanted, judge_view, judge_one=judge)


def _state(state: str, opposite: str, is_so: Callable[[Node], bool]) -> NodeCheck:
    def judge(node: Node) -> Verdict:
        holds = is_so(node)
        return Verdict(holds, state if holds else opposite)

    return _of_first(f"to be {state}", judge)


def _checked(node: Node) -> Verdict:
    if node.checked or node.checkable:
        return Verdict(node.checked, "checked" if node.checked else "unchecked")
    hint = "It cannot be checked itself: match the switch or checkbox beside or inside it."
    return Verdict(None, f"a {node.role} that cannot be checked", hint)


ENABLED = _state("enabled", "disabled", lambda node: node.enabled)
DISABLED = _state("disabled", "enabled", lambda node: not node.enabled)
FOCUSED = _state("focused", "not focused", lambda node: node.focused)
SELECTED = _state("selected", "not selected", lambda node: node.selected)
CHECKED = _of_first("to be checked", _checked)


def in_viewport(ratio: float | None) -> NodeCheck:
    """Return the check that a node, or this part of it, is in the viewport."""
    if ratio is not None and not (_is_number(ratio) and 0 < ratio <= 1):
        raise ConfigurationError(
            f"ratio= must be more than 0 and at most 1, found {describe(ratio)}",
            hint="Write ratio=0.5 for half of it; without ratio= a single pixel is enough.",
        )

    def judge_one(node: Node) -> Verdict:
        part = _visible_part(node)
        enough = part > 0 if ratio is None else part >= ratio
        return Verdict(enough, f"{part:.0%} of it in the viewport")

    def judge(view: NodeView) -> Verdict:
        node = view.first
        if node is None:
            return Verdict(None if view.crowd else False, view.absence)
        return judge_one(node)

    wanted = "" if ratio is None else f" by {ratio:.0%}"
    return NodeCheck(f"to be in the viewport{wanted}", judge, "came into view", judge_one=judge_one)


def _visible_part(node: Node) -> float:
    """Return the part of a node, 0 to 1, inside the window and all scrollables around it."""
    bounds = node.bounds
    shown: Bounds | None = bounds.intersection(Bounds(0, 0, *node.snapshot.size))
    for container in node.ancestors:
        if shown is not None and container.scrollable:
            shown = shown.intersection(container.bounds)
    return shown.area / bounds.area if shown is not None else 0.0


def has_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Return the check that a node has this text, or all matching nodes these texts."""
    return _texts(expected, "to have text", _same_text, text_match.all_match)


def contains_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Return the check that a node contains this text, or matching nodes these, in this order."""
    return _texts(expected, "to contain text", _text_within, text_match.all_contained)


def _texts(
    expected: Text | Sequence[Text],
    wanted: str,
    one: Callable[[Text, str], Verdict],
    many: Callable[[Sequence[Text], Sequence[str]], bool],
) -> NodeCheck:
    given = text_match.check_texts(expected)
    if isinstance(given, (str, re.Pattern)):
        text: Text = given
        shown = f"{wanted} {text_match.shown(text)}"
        return _of_first(shown, lambda node: one(text, node.label))
    every = given

    def judge(view: NodeView) -> Verdict:
        found = [node.label for node in view.nodes]
        hint = text_match.list_difference(every, found) if many is text_match.all_match else None
        return Verdict(many(every, found), text_match.shown_all(found), hint)

    return NodeCheck(f"{wanted}s {text_match.shown_all(every)}", judge, about_all=True)


def _same_text(expected: Text, found: str) -> Verdict:
    hint = text_match.difference(expected, found)
    return Verdict(text_match.matches(expected, found), quoted(found), hint)


def _text_within(expected: Text, found: str) -> Verdict:
    return Verdict(text_match.is_contained(expected, found), quoted(found))


def has_desc(expected: Text) -> NodeCheck:
    """Return the check that a node has this description."""
    text = text_match.check_text(expected)
    return _of_first(
        f"to have description {text_match.shown(text)}",
        lambda node: _same_text(text, node.content_desc),
    )


def has_value(expected: Text) -> NodeCheck:
    """Return the check that this value stands beside a label."""
    text = text_match.check_text(expected)

    def judge(node: Node) -> Verdict:
        value = value_of(node)
        if value is None:
            hint = "Nothing with a text follows it: give the locator of the label itself."
            return Verdict(None, "no value beside it", hint)
        return _same_text(text, value)

    return _of_first(f"to have value {text_match.shown(text)}", judge)


def has_role(role: Any) -> NodeCheck:
    """Return the check that a node has this role."""
    name = str(role).lower()
    if name not in ROLES:
        raise no_such_role(role)
    return _of_first(f"to have role {name}", lambda node: Verdict(node.role == name, node.role))


def has_count(count: Any) -> NodeCheck:
    """Return the check that this many nodes match."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ConfigurationError(
            f"a count is a whole number, 0 or more, found {describe(count)}",
            hint="Write to_have_count(3).",
        )

    def judge(view: NodeView) -> Verdict:
        found = len(view.nodes)
        return Verdict(found == count, f"{found} node{'' if found == 1 else 's'}")

    return NodeCheck(f"to have count {count}", judge, about_all=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
