"""Matches regular expressions in time that grows with the text alone, never explodes.

Python's own matcher goes back and tries again, which some expressions make take for ever.
This one walks once over the text with the set of all places in the expression it could be at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_clawperator.simulator.shell.regex_syntax import (
    Choice,
    Group,
    Node,
    Place,
    RegexError,
    Repeat,
    Sequence,
    Single,
)

_MAX_STEPS = 4000
_MAX_REMEMBERED = 20000


@dataclass
class _Step:
    """A place in the expression: what may be consumed or must hold there, and what follows."""

    consumes: re.Pattern[str] | None = None
    requires: str = ""
    following: list[int] = field(default_factory=list)  # the preferred one first
    marks: int = 0  # the group that begins here, or with a minus ends


class Automaton:
    """An expression without back references, ready to match."""

    def __init__(self, node: Node, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._forward = _Walk(node, ignore_case=ignore_case, backward=False)
        self._backward: _Walk | None = None
        self._node = node

    def starts(self, text: str) -> list[int]:
        """List every place where a match begins."""
        if self._backward is None:
            self._backward = _Walk(self._node, ignore_case=self._ignore_case, backward=True)
        return self._backward.all_ends(text)[::-1]

    def longest(self, text: str, start: int) -> int | None:
        """Tell where the longest match that begins at ``start`` ends."""
        return self._forward.last_end(text, start)

    def groups(self, text: str, start: int, end: int) -> dict[int, tuple[int, int]]:
        """Tell where the numbered parts are in a match from ``start`` to ``end``."""
        return self._forward.marked(text, start, end)


class _State:
    """A set of steps the walk could be at, and what comes of it, once worked out."""

    __slots__ = ("closures", "steps")

    def __init__(self, steps: frozenset[int]) -> None:
        self.steps = steps
        self.closures: dict[int, _Open] = {}


class _Open:
    """The steps of a state that wait for a character, and whether the match is complete."""

    __slots__ = ("matched", "moves", "steps")

    def __init__(self, steps: frozenset[int], *, matched: bool) -> None:
        self.steps = steps
        self.matched = matched
        self.moves: dict[str, _State] = {}


class _Walk:
    """One direction over a text."""

    def __init__(self, node: Node, *, ignore_case: bool, backward: bool) -> None:
        self._flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        self._backward = backward
        self._steps = [_Step()]  # the first one means: matched
        self._first = self._built(node, 0)
        self._has_places = any(step.requires for step in self._steps)
        self._states: dict[frozenset[int], _State] = {}
        self._remembered = 0

    def last_end(self, text: str, start: int) -> int | None:
        """Walk from ``start`` and tell where a match was last complete."""
        state, found = self._state(frozenset((self._first,))), None
        for position in range(start, len(text) + 1):
            opened = self._opened(state, text, position)
            if opened.matched:
                found = position
            if not opened.steps or position == len(text):
                break
            character = text[position]
            state = opened.moves.get(character) or self._moved(opened, character)
        return found

    def all_ends(self, text: str) -> list[int]:
        """Walk from the end, starting anew everywhere, and list where matches are complete."""
        found = []
        state = self._state(frozenset((self._first,)))
        for position in range(len(text), -1, -1):
            opened = self._opened(state, text, position)
            if opened.matched:
                found.append(position)
            if position:
                character = text[position - 1]
                state = opened.moves.get(character) or self._moved(opened, character)
        return found

    def marked(self, text: str, start: int, end: int) -> dict[int, tuple[int, int]]:
        """Find one way through a match, and where groups begin and end on it."""
        waiting: list[tuple[int, int, _Path | None]] = [(self._first, start, None)]
        seen: set[tuple[int, int]] = set()
        while waiting:
            number, position, path = waiting.pop()
            if (number, position) in seen:
                continue
            seen.add((number, position))
            if number == 0 and position == end:
                return _groups_on(path)
            step = self._steps[number]
            if step.marks:
                path = _Path(step.marks, position, path)
            if step.consumes is not None:
                if position == end or not step.consumes.match(text[position]):
                    continue
                position += 1
            elif not _holds(step.requires, _context(text, position)):
                continue
            waiting += [(following, position, path) for following in reversed(step.following)]
        return {}

    def _state(self, steps: frozenset[int]) -> _State:
        known = self._states.get(steps)
        if known is None:
            self._remembered += 1
            if self._remembered > _MAX_REMEMBERED:
                self._states.clear()
                self._remembered = 1
            known = self._states[steps] = _State(steps)
        return known

    def _opened(self, state: _State, text: str, position: int) -> _Open:
        """Follow everything that consumes nothing."""
        context = _context(text, position) if self._has_places else 0
        known = state.closures.get(context)
        if known is not None:
            return known
        seen = set(state.steps)
        waiting = list(state.steps)
        while waiting:
            step = self._steps[waiting.pop()]
            if step.consumes is None and _holds(step.requires, context):
                new = [number for number in step.following if number not in seen]
                seen.update(new)
                waiting.extend(new)
        steps = frozenset(number for number in seen if self._steps[number].consumes)
        state.closures[context] = opened = _Open(steps, matched=0 in seen)
        return opened

    def _moved(self, opened: _Open, character: str) -> _State:
        reached = {self._first} if self._backward else set()
        for number in opened.steps:
            step = self._steps[number]
            if step.consumes and step.consumes.match(character):
                reached.update(step.following)
        self._remembered += 1
        opened.moves[character] = state = self._state(frozenset(reached))
        return state

    def _add(self, step: _Step) -> int:
        if len(self._steps) >= _MAX_STEPS:
            raise RegexError("regular expression too big")
        self._steps.append(step)
        return len(self._steps) - 1

    def _built(self, node: Node, following: int) -> int:
        """Build the steps of a node in front of those that follow; give the first."""
        if isinstance(node, Single):
            consumes = re.compile(node.expression, self._flags)
            return self._add(_Step(consumes, following=[following]))
        if isinstance(node, Place):
            return self._add(_Step(requires=node.expression, following=[following]))
        if isinstance(node, Group):
            last = self._add(_Step(following=[following], marks=-node.number))
            inner = self._built(node.item, last)
            return self._add(_Step(following=[inner], marks=node.number))
        if isinstance(node, Sequence):
            for item in node.items if self._backward else reversed(node.items):
                following = self._built(item, following)
            return following
        if isinstance(node, Choice):
            return self._add(_Step(following=[self._built(item, following) for item in node.items]))
        assert isinstance(node, Repeat)
        return self._repeated(node, following)

    def _repeated(self, node: Repeat, following: int) -> int:
        if node.most is None:
            loop = self._add(_Step())
            self._steps[loop].following = [self._built(node.item, loop), following]
            following = loop
        else:
            end = following
            for _ in range(node.most - node.least):
                following = self._add(_Step(following=[self._built(node.item, following), end]))
        for _ in range(node.least):
            following = self._built(node.item, following)
        return following


class _Path(NamedTuple):
    """A mark that was passed, and those before it."""

    mark: int
    position: int
    earlier: _Path | None


def _groups_on(path: _Path | None) -> dict[int, tuple[int, int]]:
    """Read the marks on a way; of a group that was passed several times, the last counts."""
    ends: dict[int, int] = {}
    groups: dict[int, tuple[int, int]] = {}
    while path is not None:
        if path.mark < 0:
            ends.setdefault(-path.mark, path.position)
        elif path.mark not in groups:
            groups[path.mark] = (path.position, ends[path.mark])
        path = path.earlier
    return groups


def _context(text: str, position: int) -> int:
    """Say what a place in the text is: its start or end, and whether words are around it."""
    before = text[position - 1] if position else ""
    after = text[position] if position < len(text) else ""
    return (not before) | (not after) << 1 | _is_word(before) << 2 | _is_word(after) << 3


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _holds(requires: str, context: int) -> bool:
    """Tell whether a place in the text is as an expression wants it."""
    at_start, at_end, word_before, word_after = (bool(context & bit) for bit in (1, 2, 4, 8))
    return {
        "": True,
        r"\A": at_start,
        r"\Z": at_end,
        r"\b": word_before != word_after,
        r"\B": word_before == word_after,
        r"\b(?=\w)": word_after and not word_before,
        r"\b(?<=\w)": word_before and not word_after,
    }[requires]
