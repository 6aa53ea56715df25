"""Whether an action can reach its node: which node it turns to, and what is in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from pytest_clawperator.snapshot.near_miss import describe
from pytest_clawperator.snapshot.tree import Node, Snapshot, covering_node, visible_bounds

# So many levels up the Operator looks for a node that takes the action.
_LEVELS = 7
_FIELDS = ("EditText", "AutoCompleteTextView")
# Words in the packages of keyboards, which lie over no app: it makes room for them.
_KEYBOARDS = ("inputmethod", "keyboard", "honeyboard", "swiftkey")


class Use(Enum):
    """What an action does with the one node it is about."""

    TAP = "it is tapped"
    FOCUS = "it gets the focus"
    FILL = "a text is put into it"
    READ = "its text or its state is read"
    PLACE = "its place counts: the value beside it, or its bounds"

    @property
    def is_harmless(self) -> bool:
        """Whether it leaves the screen as it is."""
        return self in (Use.READ, Use.PLACE)

    @property
    def done(self) -> str:
        """What has been done, in words."""
        return {Use.TAP: "tapped", Use.FOCUS: "focused", Use.FILL: "filled"}.get(self, "used")


@dataclass(frozen=True)
class Obstacle:
    """What keeps an action from its node, worded as in ``it is disabled``.

    One that is not ``certain`` counts only if the action had no effect. One that
    ``lets_through`` may not have kept an action of the Operator from its node. Waiting helps
    if it ``may_pass``.
    """

    reason: str
    certain: bool = True
    lets_through: bool = False
    may_pass: bool = True
    cover: Node | None = None


def recipient(node: Node, use: Use) -> Node:
    """Return the node that the Operator turns to for an action on this one."""
    wanted: dict[Use, Callable[[Node], bool]] = {
        Use.TAP: lambda each: each.clickable,
        Use.FOCUS: lambda each: each.focusable,
        Use.FILL: _is_field,
    }
    takes = wanted.get(use)
    if takes is None:
        return node
    lineage = [node, *node.ancestors][: _LEVELS + 1]
    return next(filter(takes, lineage), node)


def _is_field(node: Node) -> bool:
    return any(word in node.class_name for word in _FIELDS)


def distinct(nodes: Iterable[Node], use: Use) -> list[Node]:
    """Return the nodes that are not the same thing as one before.

    Nodes whose taps go to one clickable node are one to a tap. To a reader, a node is one with
    the node around it that has the same text.
    """
    found = list(nodes)
    if len(found) < 2 or use is Use.PLACE:
        return found
    if use is Use.READ:
        return [node for node in found if not _repeats(node, found)]
    kept: dict[Node, Node] = {}
    for node in found:
        kept.setdefault(recipient(node, use), node)
    return list(kept.values())


def outermost(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that are inside none of the others."""
    return [node for node in nodes if not any(above in nodes for above in node.ancestors)]


def obstacle(node: Node, use: Use) -> Obstacle | None:
    """Return what keeps an action from a node, or None."""
    if use.is_harmless:
        return None
    target = recipient(node, use)
    if not target.enabled:
        return Obstacle("it is disabled" if target is node else "the node around it is disabled")
    if use is not Use.TAP:
        return None
    if visible_bounds(node) is None:
        return Obstacle("it is off the screen", lets_through=target.clickable)
    cover = covering_node(node, around=target)
    if cover is not None:
        reason = f"it is covered by {describe(cover)}"
        return Obstacle(reason, lets_through=target.clickable, cover=cover)
    window = _window_above(node.snapshot)
    if window is not None and not target.clickable:
        # A click that a node takes itself is not stopped by a window.
        return Obstacle(f"a window of {window} lies over the app", certain=False)
    return None


def refusal(node: Node, use: Use) -> Obstacle | None:
    """Return why a device may refuse an action that nothing is in the way of, or None."""
    is_label = use is Use.FILL and not _is_field(recipient(node, use))
    return Obstacle("it is no text field", may_pass=False) if is_label else None


def differs(before: Node, now: Node, *, apart: Node | None = None) -> bool:
    """Whether the screen of a node shows something else than it did, apart from a cover."""
    return _shown(before.snapshot, apart) != _shown(now.snapshot, None)


def _shown(snapshot: Snapshot, apart: Node | None) -> list[tuple[object, ...]]:
    hidden = set() if apart is None else {apart, *apart.descendants}
    return [
        (node.class_name, node.resource_id, node.text, node.content_desc, node.checked)
        for node in snapshot.nodes
        if node not in hidden and node.is_on_screen
    ]


def _repeats(node: Node, others: Sequence[Node]) -> bool:
    return any(above in others and above.label == node.label for above in node.ancestors)


def _window_above(snapshot: Snapshot) -> str | None:
    """Return the package of a window that may lie over the app, keyboards aside."""
    package = snapshot.covering_package
    if package is None or package == snapshot.foreground_package:
        return None  # what is in front is itself what asks
    return None if any(word in package for word in _KEYBOARDS) else package
