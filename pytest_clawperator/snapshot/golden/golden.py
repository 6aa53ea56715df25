"""Golden screens: what must be on a screen, as text that people read and edit.

Only text and snapshots: files are read and written elsewhere. For the form of the lines see
:mod:`pytest_clawperator.snapshot.golden.grammar`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.redaction import hide
from pytest_clawperator.snapshot.golden import grammar as golden_grammar
from pytest_clawperator.snapshot.golden.grammar import MAX_DEPTH, Item, Line

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node
    from pytest_clawperator.snapshot.tree import Snapshot

Matcher = NodeMatcher | Mapping[str, Any]

# Layout without a label says nothing about the screen; what is in it moves up.
_LAYOUT_ROLES = frozenset({"container", "unknown"})


@dataclass(frozen=True, eq=False)
class Golden:
    """What must be on a screen. Equal to every snapshot that it fits."""

    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return golden_grammar.write(self.lines)

    def __eq__(self, other: object) -> bool:
        # A snapshot compares itself with a golden.
        return self.lines == other.lines if isinstance(other, Golden) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.lines)


def parse(text: str) -> Golden:
    """Parse a golden; a mistake in it raises ``ConfigurationError`` with line and column."""
    __tracebackhide__ = True
    return Golden(golden_grammar.read(text))


def render(snapshot: Snapshot, *, ignore: Iterable[Matcher] = ()) -> str:
    """Return a screen as the text of a golden that it fits exactly; "" where it shows nothing.

    Left out are nodes off the screen, layout without a label, and whatever fits one of the
    matchers in ``ignore``, with all that is in it. A mark stands in the place of secrets.
    """
    items = items_of(snapshot, ignore, is_hiding=True)
    return golden_grammar.write([item.line for item in items])


def items_of(snapshot: Snapshot, ignore: Iterable[Matcher], *, is_hiding: bool) -> list[Item]:
    """Return the nodes that count, parents before children."""
    ignored = {node for matcher in ignore for node in snapshot.find_all(matcher)}
    items: list[Item] = []
    left = [(root, 0) for root in reversed(snapshot.roots)]
    while left:
        node, depth = left.pop()
        if node in ignored or not node.is_on_screen:
            continue
        role, label = node.role, hide(node.label) if is_hiding else node.label
        if label or role not in _LAYOUT_ROLES:
            items.append(_item(node, role, label, min(depth, MAX_DEPTH - 1)))
            depth += 1
        left += ((child, depth) for child in reversed(node.children))
    return items


def _item(node: Node, role: str, label: str, depth: int) -> Item:
    states = {
        "checked": node.checked,
        "disabled": not node.enabled,
        "selected": node.selected,
        "focused": node.focused,
    }
    # Focus moves with the keyboard and the cursor, so it counts only where a golden asks.
    shown: dict[str, bool] = {
        state: on for state, on in states.items() if on and state != "focused"
    }
    if node.checkable:
        shown = {"checked": node.checked, **shown}
    line = Line(role, label or None, tuple(shown.items()), depth)
    return Item(line, frozenset(state for state, on in states.items() if on))
