"""Regular expressions as the device's ``grep`` and ``sed`` understand them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import factorial

from pytest_clawperator.simulator.shell.regex_automaton import Automaton
from pytest_clawperator.simulator.shell.regex_risks import Risks
from pytest_clawperator.simulator.shell.regex_syntax import (
    Backreference,
    Choice,
    Group,
    Node,
    Place,
    RegexError,
    Sequence,
    Single,
    parse_regex,
)

__all__ = ["Match", "Regex", "RegexError"]

# Python's matcher is used where it needs at most about this many steps.
_MAX_STEPS = 10_000_000


@dataclass(frozen=True)
class Match:
    """Where an expression matched; ``text`` is what it matched."""

    start: int
    end: int
    text: str
    find_groups: Callable[[], tuple[str, ...]]

    def groups(self) -> tuple[str, ...]:
        """Give what its numbered parts matched; number 0 is all of it."""
        return (self.text, *self.find_groups())


class Regex:
    """One expression; matching is leftmost and, of several choices, longest."""

    def __init__(
        self,
        text: str,
        *,
        extended: bool = False,
        fixed: bool = False,
        ignore_case: bool = False,
        words: bool = False,
        whole_lines: bool = False,
    ) -> None:
        node: Node
        if fixed:
            node, self._groups = Single(re.escape(text)), 0
        else:
            node, self._groups = parse_regex(text, extended=extended)
        if whole_lines:
            node = Sequence((Place(r"\A"), node, Place(r"\Z")))
        elif words:
            node = Sequence((Place(r"\b"), node, Place(r"\b")))
        self._node = node
        self._ignore_case = ignore_case
        self._automaton: Automaton | None = None
        flags = re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0)
        self._risks = Risks(node, flags)
        try:
            self._python = re.compile(_python(node), flags)
        except (re.error, OverflowError, RecursionError):
            raise RegexError("regular expression too big") from None

    def is_in(self, text: str) -> bool:
        """Tell whether it matches anywhere."""
        if self._is_quick(text):
            return self._python.search(text) is not None
        return bool(self._slow().starts(text))

    def matches(self, text: str) -> Iterator[Match]:
        """Find the matches that do not overlap, from left to right."""
        previous = -1
        for start, end in self._spans(text):
            # Nothing is found right behind something.
            if end > start or start != previous:
                yield Match(start, end, text[start:end], partial(self._inner, text, start, end))
            previous = end

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        if self._is_quick(text) and not self._risks.chooses:
            for match in self._python.finditer(text):
                yield match.span()
            return
        automaton = self._slow()
        starts = automaton.starts(text)
        position = 0
        while (index := bisect_left(starts, position)) < len(starts):
            start = starts[index]
            end = automaton.longest(text, start)
            assert end is not None
            yield start, end
            position = end + (end == start)

    def _is_quick(self, text: str) -> bool:
        risks = self._risks
        if not risks.loops and not risks.explodes:
            return True
        # The loops, and where to begin, can be chosen in about so many ways.
        choices = risks.loops + 1
        quick = not risks.explodes and len(text) ** choices < _MAX_STEPS * factorial(choices)
        if risks.refers and not quick:
            raise RegexError("regular expression too big")
        return quick

    def _slow(self) -> Automaton:
        if self._automaton is None:
            self._automaton = Automaton(self._node, ignore_case=self._ignore_case)
        return self._automaton

    def _inner(self, text: str, start: int, end: int) -> tuple[str, ...]:
        if not self._groups:
            return ()
        if self._risks.refers or self._is_quick(text[start:end]):
            match = self._python.fullmatch(text, start, end)
            return tuple(group or "" for group in match.groups()) if match else ()
        spans = self._slow().groups(text, start, end)
        return tuple(
            text[slice(*spans.get(number, (0, 0)))] for number in range(1, self._groups + 1)
        )


def _python(node: Node) -> str:
    """Write an expression as Python has it."""
    if isinstance(node, Single | Place):
        return node.expression
    if isinstance(node, Backreference):
        return f"(?:\\{node.number})"
    if isinstance(node, Group):
        return f"({_python(node.item)})"
    if isinstance(node, Sequence):
        return "".join(map(_python, node.items))
    if isinstance(node, Choice):
        return f"(?:{'|'.join(map(_python, node.items))})"
    most = "" if node.most is None else node.most
    return f"(?:{_python(node.item)}){{{node.least},{most}}}"
