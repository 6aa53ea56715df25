"""Compare a screen with a golden, and show the difference as a diff of two trees.

Each line of the golden is paired with a node, at the least cost. Both sides are lists
in the order of the tree, aligned as texts are in a diff, level by level: a line or a node that is
left over costs most, a node whose state differs from its line costs least. At no cost at all,
the screen fits the golden.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from pytest_clawperator.snapshot.golden import (
    ANYTHING,
    STATES,
    Golden,
    Item,
    Line,
    Matcher,
    items_of,
)

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot


_LEFT_OVER = 2
_OTHER_STATE = 1
_EXACT_STATES = frozenset(STATES) - {"focused"}


class Step(NamedTuple):
    """A line and its node, or one without the other; by their places in the two lists.

    A line of dots without a node marks where the dots stand; with one, that they cover it.
    """

    line: int | None
    node: int | None


class Span(NamedTuple):
    """Lines of one level, and where to find them: from node ``start`` on, before ``end``."""

    lines: tuple[int, ...]
    start: int
    end: int


class Alignment:
    """The cheapest way to pair nodes on the screen with lines of the golden.

    Exactly: the nodes of one level for the lines of one level. Else: any nodes in the
    order of the lines, inside the node of the line that they lie below.
    """

    def __init__(self, golden: Sequence[Line], screen: Sequence[Item], *, exact: bool) -> None:
        self.golden = golden
        self.screen = screen
        self.exact = exact
        self.golden_ends = subtree_ends([line.depth for line in golden])
        self.screen_ends = subtree_ends([item.line.depth for item in screen])
        self._by_role: dict[str, list[int]] = defaultdict(list)
        self._by_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, item in enumerate(screen):
            self._by_role[item.line.role].append(place)
            self._by_name[item.line.role, item.name].append(place)
        self._pair_costs: dict[tuple[int, int], int] = {}
        self.whole = Span(self._level(0, len(golden)), 0, len(screen))
        self.cost = self._cost(self.whole)

    def is_dots(self, line: int) -> bool:
        """Whether the line is ``...``, which stands for anything."""
        return self.golden[line].role == ANYTHING

    def inside(self, line: int, node: int) -> Span:
        """Return the lines below a line and the nodes inside its node."""
        lines = self._level(line + 1, self.golden_ends[line])
        return Span(lines, node + 1, self.screen_ends[node])

    def steps(self, span: Span) -> Iterator[Step]:
        """Yield the steps of the cheapest way through one level."""
        first, narrow, last = self._narrowed(span)
        yield from first
        yield from self._cheapest(narrow)
        yield from last

    def _level(self, start: int, end: int) -> tuple[int, ...]:
        lines = []
        while start < end:
            if self.exact or not self.is_dots(start):  # else anything is allowed anyhow
                lines.append(start)
            start = self.golden_ends[start]
        return tuple(lines)

    def _cost(self, span: Span) -> int:
        return self._costs(self._narrowed(span)[1])[0][0]

    def _narrowed(self, span: Span) -> tuple[list[Step], Span, list[Step]]:
        """Pair leaves that fit at either end beforehand, so that the table stays small."""
        lines, start, end = span
        low, high = 0, len(lines)
        while low < high and start < end and self._meet(lines[low], start):
            low, start = low + 1, start + 1
        first = [Step(*pair) for pair in zip(lines[:low], range(span.start, start), strict=True)]
        level = self.screen[start].line.depth if start < end else 0
        # A leaf further down may be needed in the node that holds it.
        while (
            low < high
            and start < end
            and self.screen[end - 1].line.depth == level
            and self._meet(lines[high - 1], end - 1)
        ):
            high, end = high - 1, end - 1
        last = [Step(*pair) for pair in zip(lines[high:], range(end, span.end), strict=True)]
        return first, Span(lines[low:high], start, end), last

    def _meet(self, line: int, node: int) -> bool:
        """Whether both are leaves and fit."""
        leaves = self.golden_ends[line] == line + 1 and self.screen_ends[node] == node + 1
        return leaves and self.own_cost(line, node) == 0

    def _after(self, node: int) -> int:
        """Return the place of the next node when a node is skipped."""
        return self.screen_ends[node] if self.exact else node + 1

    def _costs(self, span: Span) -> list[list[int]]:
        """Return the costs of aligning the lines from the n-th on with the nodes from p on."""
        nodes = [span.start] if span.start < span.end else []
        while nodes and self._after(nodes[-1]) < span.end:
            nodes.append(self._after(nodes[-1]))
        # For each node, the last first: its place in the row, the next one, what it costs.
        ways = [
            (n - span.start, self._after(n) - span.start, self._node_cost(n) if self.exact else 0)
            for n in reversed(nodes)
        ]
        row = [0] * (span.end - span.start + 1)
        for at, after, extra in ways:
            row[at] = row[after] + extra
        table = [row]
        for line in reversed(span.lines):
            table.append(self._row(line, ways, span, table[-1]))
        return table[::-1]

    def _row(
        self, line: int, ways: list[tuple[int, int, int]], span: Span, below: list[int]
    ) -> list[int]:
        missing = self._line_cost(line)
        row = [cost + missing for cost in below]
        for node, cost in self._pairs(line, span):
            taken = below[self.screen_ends[node] - span.start] + cost
            row[node - span.start] = min(row[node - span.start], taken)
        covers = self.is_dots(line)
        for at, after, extra in ways:
            passed = row[after] if covers else row[after] + extra
            if passed < row[at]:
                row[at] = passed
        return row

    def _line_cost(self, line: int) -> int:
        return 0 if self.is_dots(line) else _LEFT_OVER * (self.golden_ends[line] - line)

    def _node_cost(self, node: int) -> int:
        return _LEFT_OVER * (self.screen_ends[node] - node)

    def _pairs(self, line: int, span: Span) -> Iterator[tuple[int, int]]:
        """Yield the nodes that may be paired with a line, each with its cost."""
        role, name = self.golden[line].role, self.golden[line].name
        places = self._by_name[role, name] if isinstance(name, str) else self._by_role[role]
        level = self.screen[span.start].line.depth if span.start < span.end else 0
        for node in places[bisect_left(places, span.start) : bisect_left(places, span.end)]:
            if not self.exact or self.screen[node].line.depth == level:
                cost = self._pair_cost(line, node)
                if cost is not None:
                    yield node, cost

    def _pair_cost(self, line: int, node: int) -> int | None:
        own = self.own_cost(line, node)
        if own is None or (not self.exact and self.golden_ends[line] == line + 1):
            return own
        if (line, node) not in self._pair_costs:
            self._pair_costs[line, node] = self._cost(self.inside(line, node))
        return own + self._pair_costs[line, node]

    def own_cost(self, line: int, node: int) -> int | None:
        """Return the cost of pairing node and line, without what is in them; None: impossible."""
        wanted, item = self.golden[line], self.screen[node]
        if wanted.role != item.line.role or not self._is_name(wanted.name, item.name):
            return None
        as_written = all((state in item.states) == on for state, on in wanted.states)
        if (
            not as_written
            or self.lacks(line, node)
            or (self.exact and item.states & _EXACT_STATES - dict(wanted.states).keys())
        ):
            return _OTHER_STATE
        return 0

    def lacks(self, line: int, node: int) -> list[str]:
        """Return the states that a line asks for and its node can never be in."""
        return [state for state, _ in self.golden[line].states if state in self.screen[node].lacks]

    def _is_name(self, wanted: str | re.Pattern[str] | None, name: str) -> bool:
        if wanted is None:
            return not (self.exact and name)
        return wanted == name if isinstance(wanted, str) else wanted.search(name) is not None

    def _cheapest(self, span: Span) -> Iterator[Step]:
        table = self._costs(span)
        place, node = 0, span.start
        while place < len(span.lines):
            line, at = span.lines[place], node - span.start
            cost, rest = table[place][at], table[place + 1]
            pair = self._pair_cost(line, node) if node < span.end else None
            if pair is not None and cost == rest[self.screen_ends[node] - span.start] + pair:
                yield Step(line, node)
                place, node = place + 1, self.screen_ends[node]
            elif cost == rest[at] + self._line_cost(line):
                yield Step(line, None)
                place += 1
            else:
                yield Step(line if self.is_dots(line) else None, node)
                node = self._after(node)
        while node < span.end:
            yield Step(None, node)
            node = self._after(node)


def subtree_ends(depths: Sequence[int]) -> list[int]:
    """Return for each place in a tree's order where its subtree ends: one past its last place."""
    ends = [len(depths)] * len(depths)
    unended: list[int] = []
    for place, depth in enumerate(depths):
        while unended and depths[unended[-1]] >= depth:
            ends[unended.pop()] = place
        unended.append(place)
    return ends


_CONTEXT = 2
_SHOWN_LINES = 200
_SHOWN_OTHERS = 10
_COMPARED = 300
_LONGEST_LINE = 300


@dataclass(frozen=True)
class Difference:
    """How a screen differs from a golden; its text is a diff of the two trees.

    ``missing`` lines of the golden found no node, or one in another state. ``unexpected``
    nodes are not in the golden, which counts only in an exact comparison. With
    ``asks_too_much`` a line asks for a state that its node can never be in.
    """

    missing: int
    unexpected: int
    golden_lines: int
    diff: str
    asks_too_much: bool = False

    def __str__(self) -> str:
        parts = []
        if self.missing:
            verb = "is" if self.missing == 1 else "are"
            parts.append(f"{self.missing} of {self.golden_lines} golden lines {verb} not there")
        if self.unexpected:
            verb = "is" if self.unexpected == 1 else "are"
            parts.append(f"{self.unexpected} on the screen {verb} not in the golden")
        return f"{', and '.join(parts)} (- golden, + screen):\n{self.diff}"


def compare(
    golden: Golden, snapshot: Snapshot, *, exact: bool = False, ignore: Iterable[Matcher] = ()
) -> Difference | None:
    """Return how a screen differs from a golden, or None if it fits.

    Every line must be found, in this order, somewhere inside the node that it lies below.
    With ``exact`` nothing else may be there, except where the golden has ``...``.
    """
    return difference(golden.lines, items_of(snapshot, ignore), exact=exact)


def difference(golden: Sequence[Line], screen: Sequence[Item], *, exact: bool) -> Difference | None:
    """Return how the screen differs from the golden, or None if it fits."""
    alignment = Alignment(golden, screen, exact=exact)
    if not alignment.cost:
        return None
    lines = list(_diff(alignment, alignment.whole, depth=0))
    return Difference(
        missing=sum(line.mark == "-" for line in lines),
        unexpected=sum(line.mark == "+" for line in lines) if exact else 0,
        golden_lines=sum(line.role != ANYTHING for line in golden),
        diff="\n".join(_shortened(lines)),
        asks_too_much=any(line.lacks for line in lines),
    )


class _Marked(NamedTuple):
    """A line of the diff: on both sides, only in the golden, or only on the screen."""

    mark: str
    depth: int
    text: str
    lacks: Sequence[str] = ()

    def __str__(self) -> str:
        text = f"{self.mark} {'  ' * self.depth}{self.text}"
        shown = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}..."
        return f"{shown}  # cannot be {' or '.join(self.lacks)}" if self.lacks else shown


def _diff(alignment: Alignment, span: Span, depth: int) -> Iterator[_Marked]:
    missing: list[int] = []
    others: list[int] = []
    for line, node in alignment.steps(span):
        if line is None:
            assert node is not None, "a step is about something"
            others.append(node)
        elif node is None and not alignment.is_dots(line):
            missing.append(line)
        elif node is None or not alignment.is_dots(line):
            yield from _gap(alignment, missing, others, depth)
            missing, others = [], []
            yield from _met(alignment, line, node, depth)
    yield from _gap(alignment, missing, others, depth)


def _met(alignment: Alignment, line: int, node: int | None, depth: int) -> Iterator[_Marked]:
    """Yield a line with its node and what is in them, or the dots."""
    text = f"- {alignment.golden[line]}"
    if node is None:
        yield _Marked(" ", depth, text)
        return
    if alignment.own_cost(line, node):
        yield _Marked("-", depth, text)
        found = alignment.screen[node].line
        yield _Marked("+", depth, f"- {found}", alignment.lacks(line, node))
    else:
        yield _Marked(" ", depth, text)
    yield from _diff(alignment, alignment.inside(line, node), depth + 1)


def _gap(
    alignment: Alignment, missing: Sequence[int], others: Sequence[int], depth: int
) -> Iterator[_Marked]:
    """Yield what stands between two lines that were found.

    Nodes that a partial golden does not speak of are shown only if a line is missing,
    because one of them is probably what became of it.
    """
    lost = [
        alignment.golden[place]
        for line in missing
        for place in range(line, alignment.golden_ends[line])
        if not alignment.is_dots(place)
    ]
    yield from (_Marked("-", line.depth, f"- {line}") for line in lost)
    if alignment.exact:
        others = [n for node in others for n in range(node, alignment.screen_ends[node])]
    found = [alignment.screen[node].line for node in others]
    shown = found if alignment.exact else _likely(lost, found)
    top = min((line.depth for line in shown), default=0)
    yield from (_Marked("+", depth + line.depth - top, f"- {line}") for line in shown)
    if lost and len(shown) < len(found):
        yield _Marked("+", depth, f"({len(found) - len(shown)} others)")


def _likely(lost: Sequence[Line], found: Sequence[Line]) -> Sequence[Line]:
    """Return the nodes that the missing lines may have become: all of them, if they are few."""
    if len(found) <= _SHOWN_OTHERS:
        return found if lost else ()
    texts = [str(line)[:_LONGEST_LINE] for line in found[:_COMPARED]] if lost else []
    near = {
        text
        for line in lost[:_SHOWN_OTHERS]
        for text in get_close_matches(str(line)[:_LONGEST_LINE], texts, n=3, cutoff=0.6)
    }
    return [found[place] for place, text in enumerate(texts) if text in near][:_SHOWN_OTHERS]


def _shortened(lines: Sequence[_Marked]) -> Iterator[str]:
    """Yield the lines without what is as expected, except next to a difference or around it."""
    kept: set[int] = set()
    around: list[int] = []
    for place, line in enumerate(lines):
        while around and lines[around[-1]].depth >= line.depth:
            around.pop()
        if line.mark != " ":
            kept.update(around, range(place - _CONTEXT, place + _CONTEXT + 1))
        around.append(place)
    shown = sorted(place for place in kept if 0 <= place < len(lines))
    before = -1
    for place in shown[:_SHOWN_LINES]:
        if place > before + 1:
            yield f"    ({place - before - 1} as expected)"
        yield str(lines[place])
        before = place
    if len(shown) > _SHOWN_LINES:
        yield f"    (and {len(shown) - _SHOWN_LINES} more lines)"
    elif before + 1 < len(lines):
        yield f"    ({len(lines) - before - 1} as expected)"
