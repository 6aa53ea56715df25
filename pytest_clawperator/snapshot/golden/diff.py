"""How a screen differs from a golden, as a diff of two trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from pytest_clawperator.redaction import MARK
from pytest_clawperator.snapshot.golden.align import Alignment, Span
from pytest_clawperator.snapshot.golden.golden import Golden, Matcher, items_of
from pytest_clawperator.snapshot.golden.grammar import ANYTHING, Item, Line

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot

_CONTEXT = 2
_SHOWN_LINES = 200
_SHOWN_OTHERS = 10
_COMPARED = 300
_LONGEST_LINE = 300


@dataclass(frozen=True)
class Difference:
    """How a screen differs from a golden; its text is a diff of the two trees.

    ``missing`` lines of the golden found no node, or one in another state. ``unexpected``
    nodes are not in the golden, which counts only in an exact comparison.
    """

    missing: int
    unexpected: int
    golden_lines: int
    diff: str

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
    """Return how a screen differs from a golden; None where it fits.

    Every line must be found, in this order, somewhere inside the node that it lies below.
    With ``exact`` nothing else may be there, except where the golden says ``...``.
    """
    # A golden that was written without its secrets fits a screen without them.
    is_hiding = any(MARK in str(line) for line in golden.lines)
    return difference(golden.lines, items_of(snapshot, ignore, is_hiding=is_hiding), exact=exact)


def difference(golden: Sequence[Line], screen: Sequence[Item], *, exact: bool) -> Difference | None:
    """Return how the screen differs from the golden; None where it fits."""
    alignment = Alignment(golden, screen, exact=exact)
    if not alignment.cost:
        return None
    lines = list(_diff(alignment, alignment.whole, depth=0))
    return Difference(
        missing=sum(line.mark == "-" for line in lines),
        unexpected=sum(line.mark == "+" for line in lines) if exact else 0,
        golden_lines=sum(line.role != ANYTHING for line in golden),
        diff="\n".join(_shortened(lines)),
    )


class _Marked(NamedTuple):
    """A line of the diff: on both sides, only in the golden, or only on the screen."""

    mark: str
    depth: int
    text: str

    def __str__(self) -> str:
        text = f"{self.mark} {'  ' * self.depth}{self.text}"
        return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}..."


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
        yield _Marked("+", depth, f"- {alignment.screen[node].line}")
    else:
        yield _Marked(" ", depth, text)
    yield from _diff(alignment, alignment.inside(line, node), depth + 1)


def _gap(
    alignment: Alignment, missing: Sequence[int], others: Sequence[int], depth: int
) -> Iterator[_Marked]:
    """Yield what stands between two lines that were found.

    Nodes that a partial golden does not speak of are shown only where a line is missing,
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
