"""Matching in a time that grows only with the length of the line.

All ways to match are followed at once, one character after the other. What a character leads to
is computed once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_MAX_NODES = 3000
_MAX_REMEMBERED = 20_000


class Context(NamedTuple):
    """What stands around a place in a line."""

    is_start: bool
    is_end: bool
    after_word: bool
    before_word: bool


class TooManyNodes(Exception):
    """The expression is too big."""


@dataclass(eq=False)
class _Node:
    """A place in the expression; what leads on is a character, a condition, or nothing."""

    after: Sequence[_Node]
    accepts: Callable[[str], object] | None = None
    holds: Callable[[Context], bool] | None = None


class _State(dict[str, "_State"]):
    """The places reached so far, and the states that each next character leads to."""

    def __init__(self, nodes: frozenset[_Node], *, is_start: bool, after_word: bool) -> None:
        super().__init__()
        self.nodes = nodes
        self.is_start = is_start
        self.after_word = after_word


Part = Callable[[_Node], _Node]
"""Builds a part of an expression in front of a node, and returns the first node of the part."""


class Builder:
    """Makes the parts of one expression, and counts their nodes."""

    def __init__(self) -> None:
        self._count = 0

    def _counted(self, node: _Node) -> _Node:
        self._count += 1
        if self._count > _MAX_NODES:
            raise TooManyNodes
        return node

    def character(self, accepts: Callable[[str], object]) -> Part:
        """Return a part that matches one character."""
        return lambda after: self._counted(_Node((after,), accepts=accepts))

    def condition(self, holds: Callable[[Context], bool]) -> Part:
        """Return a part that matches no character, only a place."""
        return lambda after: self._counted(_Node((after,), holds=holds))

    def sequence(self, parts: Sequence[Part]) -> Part:
        """Return a part that matches several one after the other."""

        def build(after: _Node) -> _Node:
            for part in reversed(parts):
                after = part(after)
            return after

        return build

    def choice(self, parts: Sequence[Part]) -> Part:
        """Return a part that matches one of several."""
        return lambda after: self._counted(_Node([part(after) for part in parts]))

    def repetition(self, part: Part, low: int, high: int | None) -> Part:
        """Return a part that matches another from ``low`` to ``high`` times."""

        def build(after: _Node) -> _Node:
            if high is None:
                loop = self._counted(_Node(()))
                loop.after = (part(loop), after)
                after = loop
            else:
                end = after
                for _ in range(high - low):
                    after = self._counted(_Node((part(after), end)))
            for _ in range(low):
                after = part(after)
            return after

        return build


class Automaton:
    """Searches lines for one expression."""

    def __init__(self, whole: Part) -> None:
        self._end = _Node(())
        self._first = whole(self._end)
        self._start = _State(frozenset((self._first,)), is_start=True, after_word=False)
        self._found = _State(frozenset(), is_start=False, after_word=False)
        self._states: dict[tuple[frozenset[_Node], bool], _State] = {}
        self._remembered = 0

    def matches(self, line: str) -> bool:
        """Whether the expression matches anywhere in a line."""
        state = self._start
        for character in line:
            following = state.get(character)
            state = self._step(state, character) if following is None else following
            if state is self._found:
                return True
        return self._step(state, "") is self._found

    def _step(self, state: _State, character: str) -> _State:
        """Return the state behind a character, which is empty at the end of the line."""
        is_word = character == "_" or (character.isascii() and character.isalnum())
        context = Context(state.is_start, not character, state.after_word, is_word)
        reached = _closure(state.nodes, context)
        if self._end in reached:
            following = self._found
        else:
            nodes = {
                node.after[0]
                for node in reached
                if character and node.accepts is not None and node.accepts(character)
            }
            nodes.add(self._first)
            key = (frozenset(nodes), is_word)
            if key not in self._states:
                self._states[key] = _State(key[0], is_start=False, after_word=is_word)
            following = self._states[key]
        self._remembered += 1
        if self._remembered > _MAX_REMEMBERED:
            self._remembered = 0
            self._states.clear()
            self._start.clear()
        else:
            state[character] = following
        return following


def _closure(nodes: Iterable[_Node], context: Context) -> set[_Node]:
    """Return all places that can be reached without a character."""
    waiting = list(nodes)
    reached = set(waiting)
    while waiting:
        node = waiting.pop()
        if node.accepts is None and (node.holds is None or node.holds(context)):
            added = set(node.after) - reached
            reached |= added
            waiting += added
    return reached
