"""How much a matcher that goes back and tries again could have to try."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_clawperator.simulator.shell.regex_syntax import (
    Backreference,
    Choice,
    Group,
    Node,
    Place,
    Repeat,
    Sequence,
    Single,
)


class _After(NamedTuple):
    """What follows a place in an expression."""

    can_fail: bool
    literal: str | None  # the character that must come next, if it is just one


class Risks:
    """Counts what can be tried in more than one way.

    ``loops`` are those whose length is tried again when what follows fails; ``explodes`` tells
    of such loops inside of loops, ``chooses`` of alternatives that can begin alike, ``refers``
    of back references.
    """

    def __init__(self, node: Node, flags: int) -> None:
        self.loops = 0
        self.explodes = False
        self.chooses = False
        self.refers = False
        self._flags = flags
        self._before(node, _After(False, None))

    def _before(self, node: Node, after: _After) -> _After:
        """Look at a node, knowing what follows; give what follows the place before it."""
        if isinstance(node, Single):
            return _After(True, _literal(node))
        if isinstance(node, Place):
            return _After(True, after.literal)
        if isinstance(node, Group):
            return self._before(node.item, after)
        if isinstance(node, Sequence):
            for item in reversed(node.items):
                after = self._before(item, after)
            return after
        if isinstance(node, Choice):
            return self._before_choice(node, after)
        if isinstance(node, Backreference):
            self.refers = True
            return _After(True, None)
        return self._before_repeat(node, after)

    def _before_choice(self, node: Choice, after: _After) -> _After:
        ways = [self._before(item, after) for item in node.items]
        literals = {way.literal for way in ways}
        if None in literals or len(literals) < len(ways) or self._flags & re.IGNORECASE:
            self.chooses = True
        return _After(all(way.can_fail for way in ways), None)

    def _before_repeat(self, node: Repeat, after: _After) -> _After:
        loops, chooses = self.loops, self.chooses
        self.chooses = False
        inner = self._before(node.item, _After(True, None))
        if (node.most is None or node.most > 1) and (self.loops > loops or self.chooses):
            self.explodes = True
        self.chooses = self.chooses or chooses
        if node.most != node.least and after.can_fail and not self._ends_alone(node, after):
            self.loops += 1
        if node.least:
            return _After(inner.can_fail or after.can_fail, inner.literal)
        return _After(after.can_fail, None)

    def _ends_alone(self, node: Repeat, after: _After) -> bool:
        """Tell whether a loop can end in one place only, where the next character begins."""
        item = node.item.item if isinstance(node.item, Group) else node.item
        if after.literal is None or not isinstance(item, Single):
            return False
        return re.match(item.expression, after.literal, self._flags) is None


def _literal(node: Single) -> str | None:
    text = node.expression
    if len(text) == 1 and text != ".":
        return text
    return text[1] if len(text) == 2 and text[0] == "\\" and not text[1].isalnum() else None
