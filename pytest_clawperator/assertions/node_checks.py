"""What can be wanted of a node; each check is judged on one snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pytest_clawperator.assertions import texts
from pytest_clawperator.assertions.expectation import Check
from pytest_clawperator.assertions.label_value import value_of
from pytest_clawperator.assertions.polling import Verdict
from pytest_clawperator.assertions.texts import Text
from pytest_clawperator.assertions.view import View
from pytest_clawperator.contracts.text.wording import closest, describe, listed
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.golden.grammar import ROLES
from pytest_clawperator.snapshot.near_miss import quoted
from pytest_clawperator.snapshot.tree import Node

APPEARED, DISAPPEARED = "appeared", "disappeared"

NodeCheck = Check[View]


def _visible(view: View) -> Verdict:
    # A node of a snapshot may have been found off the screen.
    is_visible = any(node.is_on_screen for node in view.nodes)
    return Verdict(is_visible, "visible" if is_visible else view.absence)


def _hidden(view: View) -> Verdict:
    verdict = _visible(view)
    return Verdict(not verdict.holds, verdict.found)


def _exists(view: View) -> Verdict:
    return Verdict(bool(view.anywhere), _visible(view).found)


VISIBLE = NodeCheck("to be visible", _visible, APPEARED)
HIDDEN = NodeCheck("to be hidden", _hidden, DISAPPEARED)
EXISTS = NodeCheck("to exist", _exists, APPEARED)


def _of_first(wanted: str, judge: Callable[[Node], Verdict]) -> NodeCheck:
    """Want something of the node that is meant; where it is not there, nothing can be told."""

    def judge_view(view: View) -> Verdict:
        node = view.first
        return Verdict(None, view.absence) if node is None else judge(node)

    return NodeCheck(wanted, judge_view)


def _state(state: str, opposite: str, is_so: Callable[[Node], bool]) -> NodeCheck:
    def judge(node: Node) -> Verdict:
        holds = is_so(node)
        return Verdict(holds, state if holds else opposite)

    return _of_first(f"to be {state}", judge)


def _checked(node: Node) -> Verdict:
    if node.checked or node.checkable:
        return Verdict(node.checked, "checked" if node.checked else "unchecked")
    hint = "It cannot be checked itself: mean the switch or the box beside or inside it."
    return Verdict(None, f"a {node.role} that cannot be checked", hint)


ENABLED = _state("enabled", "disabled", lambda node: node.enabled)
DISABLED = _state("disabled", "enabled", lambda node: not node.enabled)
FOCUSED = _state("focused", "not focused", lambda node: node.focused)
SELECTED = _state("selected", "not selected", lambda node: node.selected)
CHECKED = _of_first("to be checked", _checked)


def in_viewport(ratio: float | None) -> NodeCheck:
    """Want some of it, or so much of it, to be where it can be seen."""
    if ratio is not None and not (_is_number(ratio) and 0 < ratio <= 1):
        raise ConfigurationError(
            f"ratio= must be more than 0 and at most 1, found {describe(ratio)}",
            hint="Write ratio=0.5 for half of it; without ratio= a single pixel will do.",
        )

    def judge(view: View) -> Verdict:
        node = view.first
        if node is None:
            return Verdict(False, view.absence)
        part = _visible_part(node)
        enough = part > 0 if ratio is None else part >= ratio
        return Verdict(enough, f"{part:.0%} of it in the viewport")

    wanted = "" if ratio is None else f" by {ratio:.0%}"
    return NodeCheck(f"to be in the viewport{wanted}", judge, "came into view")


def _visible_part(node: Node) -> float:
    """Say how much of a node lies in the window and in all lists around it."""
    bounds = node.bounds
    shown: Bounds | None = bounds.intersection(Bounds(0, 0, *node.snapshot.size))
    for container in node.ancestors:
        if shown is not None and container.scrollable:
            shown = shown.intersection(container.bounds)
    return shown.area / bounds.area if shown is not None else 0.0


def has_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Want a text; or these texts, one of each node that fits."""
    return _texts(expected, "to have text", _same_text, texts.all_fit)


def contains_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Want a text with this in it; or nodes with these in them, in this order."""
    return _texts(expected, "to contain text", _text_within, texts.all_within)


def _texts(
    expected: Text | Sequence[Text],
    wanted: str,
    one: Callable[[Text, str], Verdict],
    many: Callable[[Sequence[Text], Sequence[str]], bool],
) -> NodeCheck:
    given = texts.checked(expected)
    if isinstance(given, (str, re.Pattern)):
        text: Text = given
        shown = f"{wanted} {texts.shown(text)}"
        return _of_first(shown, lambda node: one(text, node.label))
    every = given

    def judge(view: View) -> Verdict:
        found = [node.label for node in view.nodes]
        hint = texts.list_difference(every, found) if many is texts.all_fit else None
        return Verdict(many(every, found), texts.shown_all(found), hint)

    return NodeCheck(f"{wanted}s {texts.shown_all(every)}", judge, about_all=True)


def _same_text(expected: Text, found: str) -> Verdict:
    hint = texts.difference(expected, found)
    return Verdict(texts.fits(expected, found), quoted(found), hint)


def _text_within(expected: Text, found: str) -> Verdict:
    return Verdict(texts.is_within(expected, found), quoted(found))


def has_desc(expected: Text) -> NodeCheck:
    """Want a description."""
    text = texts.checked_one(expected)
    return _of_first(
        f"to have description {texts.shown(text)}",
        lambda node: _same_text(text, node.content_desc),
    )


def has_value(expected: Text) -> NodeCheck:
    """Want a value beside the label."""
    text = texts.checked_one(expected)

    def judge(node: Node) -> Verdict:
        value = value_of(node)
        if value is None:
            hint = "Nothing with a text follows it: give the locator of the label itself."
            return Verdict(None, "no value beside it", hint)
        return _same_text(text, value)

    return _of_first(f"to have value {texts.shown(text)}", judge)


def has_role(role: Any) -> NodeCheck:
    """Want a role that a snapshot tells."""
    name = str(role).lower()
    if name not in ROLES:
        near = closest(name, ROLES)
        meant = f"Did you mean {near!r}? " if near else ""
        raise ConfigurationError(
            f"a snapshot tells no role {describe(role)}",
            hint=f"{meant}It tells {listed(ROLES, limit=len(ROLES))}.",
        )
    return _of_first(f"to have role {name}", lambda node: Verdict(node.role == name, node.role))


def has_count(count: Any) -> NodeCheck:
    """Want so many nodes that fit."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ConfigurationError(
            f"a count is a whole number from 0 on, found {describe(count)}",
            hint="Write to_have_count(3).",
        )

    def judge(view: View) -> Verdict:
        found = len(view.nodes)
        return Verdict(found == count, f"{found} node{'' if found == 1 else 's'}")

    return NodeCheck(f"to have count {count}", judge, about_all=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
