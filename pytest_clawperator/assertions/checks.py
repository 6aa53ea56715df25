"""Checks: what is wanted of a node or a screen, and how one snapshot is judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from pytest_clawperator.assertions import text_match
from pytest_clawperator.assertions.text_match import Text
from pytest_clawperator.client.device_commands import is_package
from pytest_clawperator.client.judge import Crowd, find_crowd
from pytest_clawperator.client.target import Target, Use
from pytest_clawperator.contracts.matchers import is_short_id
from pytest_clawperator.contracts.wording import closest, describe, listed
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.golden import ROLES, lacking
from pytest_clawperator.snapshot.near_miss import describe as describe_node
from pytest_clawperator.snapshot.near_miss import quoted, why_unseen
from pytest_clawperator.snapshot.query import UNSHOWN_ROLES, check_role
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot, visible_bounds

T = TypeVar("T")
CAME_TRUE = "came true"


class Verdict(NamedTuple):
    """The result of judging one snapshot.

    ``holds`` is None if the question does not apply, so that the negated check fails too.
    ``found`` describes briefly what was there, ``hint`` what to do about it.
    """

    holds: bool | None
    found: str
    hint: str | None = None


@dataclass(frozen=True)
class Check(Generic[T]):
    """What is wanted of a subject, worded as in ``to be visible``.

    ``came`` is the wording for a check that came true too late, as in ``appeared``.
    ``about_all`` is True for a check of all matching nodes, not only of the first. ``judge_one``
    judges a single node, if the check is about one. ``is_negative``: it may hold because nothing
    is there.
    """

    wanted: str
    judge: Callable[[T], Verdict]
    came: str = CAME_TRUE
    about_all: bool = False
    judge_one: Callable[[Node], Verdict] | None = None
    is_negative: bool = False

    def negated(self, came: str = CAME_TRUE) -> Check[T]:
        """Return the opposite check; a verdict of None stays None."""
        one = self.judge_one
        return replace(
            self,
            wanted=f"not {self.wanted}",
            judge=lambda seen: _opposite(self.judge(seen)),
            judge_one=None if one is None else lambda node: _opposite(one(node)),
            came=came,
            is_negative=not self.is_negative,
        )


def _opposite(verdict: Verdict) -> Verdict:
    return verdict if verdict.holds is None else Verdict(not verdict.holds, verdict.found)


__tracebackhide__ = True  # a failure is shown at the test's own line


# The nodes of a target on one snapshot

NO_MATCH = "no match"


@dataclass(frozen=True)
class NodeView:
    """The nodes that a target means, on one snapshot.

    With ``is_strict`` several matching nodes are as bad as none if one is meant.
    """

    snapshot: Snapshot
    target: Target
    is_strict: bool = False
    serial: str | None = None

    @cached_property
    def nodes(self) -> list[Node]:
        """All matching nodes on the screen."""
        # A node of a snapshot may have been found off the screen.
        found = [node for node in self.target.resolve(self.snapshot) if node.is_on_screen]
        self.target.last.total = len(found)
        return found

    @cached_property
    def anywhere(self) -> list[Node]:
        """All matching nodes, also those off the screen."""
        return self.target.resolve(self.snapshot, on_screen=False)

    @cached_property
    def crowd(self) -> Crowd | None:
        """What is ambiguous, if matchers are strict."""
        return find_crowd(self.target, self.snapshot, Use.READ) if self.is_strict else None

    @property
    def first(self) -> Node | None:
        """The first matching node on the screen; if matchers are strict, the only one."""
        return self.nodes[0] if self.nodes and self.crowd is None else None

    @cached_property
    def misnamed(self) -> Verdict | None:
        """The verdict if a short id in a matcher object is all that keeps nodes from matching."""
        loose = _with_short_ids(self.target)
        if self.anywhere or loose == self.target:
            return None
        found = next(iter(loose.resolve(self.snapshot, on_screen=False)), None)
        if found is None:
            return None
        hint = "A NodeMatcher or a dict takes whole ids, as in com.example:id/ok; id= takes both."
        return Verdict(None, f"no match by the whole id, but {describe_node(found)}", hint)

    @property
    def absence(self) -> str:
        """Why there is no node: several, off the screen, or which part does not match."""
        if self.crowd is not None:
            return f"{len(self.crowd.nodes)} nodes that match"
        if self.anywhere:
            return next(map(why_unseen, self.anywhere))
        if self.misnamed is not None:
            return self.misnamed.found
        part = self.target.missing_part(self.snapshot)
        return NO_MATCH if part is self.target else f"no {part}"


def _with_short_ids(target: Target) -> Target:
    """Return a target whose ids may lack their package."""
    query, around = target.query, target.within
    if query is not None:
        query = replace(query, takes_short_id=is_short_id(query.matcher.resource_id))
    has = tuple(map(_with_short_ids, target.has))
    within = None if around is None else _with_short_ids(around)
    return replace(target, query=query, within=within, has=has)


# Roles that snapshots have

_IN_TOOLBAR = (
    " What outlines call a title is a text in a toolbar: "
    "claw.node(role='toolbar').node(text='Settings')."
)


def check_roles(target: Target) -> None:
    """Raise if any part of a target has a role that snapshots do not have."""
    for part in target.parts:
        role = None if part.query is None else part.query.matcher.role
        if role is None:
            continue
        check_role(role)
        if role.lower() in UNSHOWN_ROLES:
            in_toolbar = _IN_TOOLBAR if role.lower() == "title" else ""
            raise ConfigurationError(
                f"a snapshot does not show which nodes are {part}",
                hint="Only the device knows that role: match by text, id or description, "
                f"or wait for it with node(...).wait().{in_toolbar}",
            )
        if role.lower() not in ROLES:
            raise no_such_role(role)


def no_such_role(role: object) -> ConfigurationError:
    """Return the error for a role that snapshots do not have."""
    near = closest(str(role).lower(), ROLES)
    meant = f"Did you mean {near!r}? " if near else ""
    return ConfigurationError(
        f"snapshots have no role {describe(role)}",
        hint=f"{meant}They have {listed(ROLES, limit=len(ROLES))}.",
    )


# The value beside a label, as the Operator finds it

_LISTS = ("list", "grid")


def value_of(node: Node) -> str | None:
    """Return the value that belongs to a node; None if there is none.

    The value of a label is the text that follows it, that of a field its own text. A row
    without a text has its value inside it, after its first label. A heading has none: what
    the Operator reads there belongs to the list below it.
    """
    if node.role == "textfield":
        return node.text
    label: Node | None = node
    if not node.label:
        label = next(iter(_labelled([node])), None)
    found = None if label is None else _after(label, node)
    return None if found is None or _lists_around(found) - _lists_around(node) else found.label


def _lists_around(node: Node) -> set[Node]:
    return {each for each in (node, *node.ancestors) if each.role in _LISTS}


def _after(label: Node, given: Node) -> Node | None:
    """Climb until something follows; return its summary, or else its first text."""
    child = label
    while child.parent is not None:
        siblings = [node for node in child.parent.children if node.is_on_screen]
        following = siblings[siblings.index(child) + 1 :]
        if following:
            nodes = _labelled(following)
            summaries = (node for node in nodes if node.resource_id.endswith("/summary"))
            return next(summaries, nodes[0] if nodes else None)
        child = child.parent
        if _is_row(child) or child is given:
            return None  # what follows belongs to another label
    return None


def _is_row(node: Node) -> bool:
    # The device knows the items of a list; a snapshot only shows what lies in one.
    return node.parent is not None and node.parent.role in _LISTS


def _labelled(nodes: list[Node]) -> list[Node]:
    """Return these nodes and those inside them that are on the screen and have a text."""
    every = (each for node in nodes for each in (node, *node.descendants))
    return [node for node in every if node.label and node.is_on_screen]


# Checks of a node

APPEARED, DISAPPEARED = "appeared", "disappeared"
NodeCheck = Check[NodeView]


def _visible(view: NodeView) -> Verdict:
    if view.nodes:
        return Verdict(True, "visible")
    return view.misnamed or Verdict(False, view.absence)


def _hidden(view: NodeView) -> Verdict:
    return _opposite(_visible(view))


def _exists(view: NodeView) -> Verdict:
    verdict = _visible(view)
    return verdict if verdict.holds is None else Verdict(bool(view.anywhere), verdict.found)


VISIBLE = NodeCheck("to be visible", _visible, APPEARED)
HIDDEN = NodeCheck("to be hidden", _hidden, DISAPPEARED, is_negative=True)
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
    if "checked" not in lacking(node):
        return Verdict(node.checked, "checked" if node.checked else "unchecked")
    hint = "It cannot be checked itself: match the switch or checkbox beside or inside it."
    return Verdict(None, f"a {node.role} that cannot be checked", hint)


def _focused(node: Node) -> Verdict:
    if "focused" not in lacking(node):
        return Verdict(node.focused, "focused" if node.focused else "not focused")
    hint = "It cannot take the focus itself: match the field beside or inside it."
    return Verdict(None, f"a {node.role} that cannot be focused", hint)


ENABLED = _state("enabled", "disabled", lambda node: node.enabled)
DISABLED = _state("disabled", "enabled", lambda node: not node.enabled)
FOCUSED = _of_first("to be focused", _focused)
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
        edge = None if ratio is None or not enough else _cutting_edge(node)
        if edge is not None:
            return Verdict(None, f"a {node.role} that ends at {edge}", _CUT_OFF)
        return Verdict(enough, f"{part:.0%} of it in the viewport")

    def judge(view: NodeView) -> Verdict:
        node = view.first
        if node is not None:
            return judge_one(node)
        if view.crowd is None and view.anywhere:
            return Verdict(False, view.absence)
        hint = "If it may also be gone from the tree, write to_be_hidden()."
        return Verdict(None, view.absence, None if view.crowd else hint)

    wanted = "" if ratio is None else f" by {ratio:.0%}"
    return NodeCheck(f"to be in the viewport{wanted}", judge, "came into view", judge_one=judge_one)


_CUT_OFF = (
    "A snapshot gives the bounds of what is seen of a node, so it may be cut off there: scroll it"
    " away from the edge, or leave ratio= out."
)


def _visible_part(node: Node) -> float:
    """Return the part of a node, 0 to 1, inside the window and all scrollables around it.

    It is at most that: phones cut the bounds of a node off where its container ends.
    """
    shown = visible_bounds(node)
    for container in node.ancestors:
        if shown is not None and container.scrollable:
            shown = shown.intersection(container.bounds)
    return shown.area / node.bounds.area if shown is not None else 0.0


def _cutting_edge(node: Node) -> str | None:
    """Name an edge at which a node may be cut off, because its bounds end right there.

    What is as wide as its container is not: rows are.
    """
    frames = [("the window", Bounds(0, 0, *node.snapshot.size))]
    frames += [
        (f"the {each.role} around it", each.bounds) for each in node.ancestors if each.scrollable
    ]
    own = node.bounds
    for name, frame in frames:
        is_as_wide = (own.left, own.right) == (frame.left, frame.right)
        met = {
            "bottom": own.bottom == frame.bottom,
            "top": own.top == frame.top,
            "right": own.right == frame.right and not is_as_wide,
            "left": own.left == frame.left and not is_as_wide,
        }
        for edge in [edge for edge, is_met in met.items() if is_met]:
            return f"the {edge} edge of {name}"
    return None


def has_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Return the check that a node has this text, or all matching nodes these texts."""
    texts = text_match.check_texts(expected)
    return _texts(texts, "to have text", _same_text, text_match.all_match)


def contains_text(expected: Text | Sequence[Text]) -> NodeCheck:
    """Return the check that a node contains this text, or matching nodes these, in this order."""

    def within(text: Text, found: str) -> Verdict:
        return Verdict(text_match.is_contained(text, found), quoted(found))

    texts = text_match.check_texts(expected, is_part=True)
    return _texts(texts, "to contain text", within, text_match.all_contained)


def _texts(
    expected: Text | tuple[Text, ...],
    wanted: str,
    one: Callable[[Text, str], Verdict],
    many: Callable[[Sequence[Text], Sequence[str]], bool],
) -> NodeCheck:
    if isinstance(expected, (str, re.Pattern)):
        text: Text = expected
        shown = f"{wanted} {text_match.shown(text)}"
        return _of_first(shown, lambda node: one(text, node.label))
    every = expected

    def judge(view: NodeView) -> Verdict:
        found = [node.label for node in view.nodes]
        if not found:
            return Verdict(None, view.absence)
        hint = text_match.list_difference(every, found) if many is text_match.all_match else None
        return Verdict(many(every, found), text_match.shown_all(found), hint)

    shown = f"{wanted}s {text_match.shown_all(every)}"
    return NodeCheck(shown, judge, about_all=True)


def _same_text(expected: Text, found: str) -> Verdict:
    hint = text_match.difference(expected, found)
    return Verdict(text_match.matches(expected, found), quoted(found), hint)


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
        unsure = None if found else view.misnamed
        return unsure or Verdict(found == count, f"{found} node{'' if found == 1 else 's'}")

    wanted = f"to have count {count}"
    return NodeCheck(wanted, judge, about_all=True, is_negative=count == 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Checks of a screen

ScreenCheck = Check[Snapshot]


def in_app(package: Any) -> ScreenCheck:
    """Return the check that this app is in front."""
    if not is_package(package):
        raise ConfigurationError(
            f"an app is named by its package, found {describe(package)}",
            hint='Write to_be_in_app("com.android.settings").',
        )

    def judge(snapshot: Snapshot) -> Verdict:
        found = snapshot.foreground_package
        return Verdict(found == package if found else None, found or "an unknown app")

    return ScreenCheck(f"to be in app {package}", judge, "came to the front")


def _no_overlay(snapshot: Snapshot) -> Verdict:
    if snapshot.has_overlay is None:
        hint = "This Operator does not report whether windows cover the app."
        return Verdict(None, "no information about overlays", hint)
    package = snapshot.covering_package or snapshot.overlay_package or "another app"
    return Verdict(
        not snapshot.has_overlay, f"a window of {package}" if snapshot.has_overlay else "none"
    )


NO_OVERLAY = ScreenCheck("to have no overlay", _no_overlay, "went away", is_negative=True)
