"""Several nodes fit where one is meant: which they are, and what tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_clawperator.client.plan.actionability import Use, distinct, outermost, recipient
from pytest_clawperator.client.plan.target import Target, keywords_of
from pytest_clawperator.errors import ErrorCode, StepFailedError
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind
from pytest_clawperator.snapshot import query
from pytest_clawperator.snapshot.near_miss import describe, told_first
from pytest_clawperator.snapshot.tree import Node, Snapshot

_SHOWN_NODES = 5
_NARROWING = ".first, .last, .nth(i), within= or has="


@dataclass(frozen=True)
class Crowd:
    """The part of a target that several nodes fit, and these nodes."""

    part: Target
    nodes: Sequence[Node]

    def lines(self, remark: Callable[[Node], str] = lambda node: "") -> list[str]:
        """Return a line for each of the first nodes, with what there is to say of it."""
        listed = self.nodes[:_SHOWN_NODES]
        lines = [f"{n}. {describe(node)}{remark(node)}" for n, node in enumerate(listed, 1)]
        rest = len(self.nodes) - len(listed)
        return [*lines, f"... and {rest} more"] if rest > 0 else lines


def find_crowd(target: Target, snapshot: Snapshot, use: Use) -> Crowd | None:
    """Return what is ambiguous about a target: the node itself, or what it is inside of."""
    nodes = distinct(target.resolve(snapshot), use)
    if len(nodes) > 1:
        return Crowd(target, nodes)
    part = target.within
    while part is not None:
        around = outermost(part.resolve(snapshot))
        if len(around) > 1:
            return Crowd(part, around)
        part = part.within
    return None


def ambiguous(
    verb: str, crowd: Crowd, use: Use, *, serial: str, done: bool = False
) -> StepFailedError:
    """Return the error for a crowd; ``done`` says that the action was sent all the same."""
    nodes = crowd.nodes
    after = f", and the first was {use.done}" if done and not use.is_harmless else ""
    return StepFailedError(
        f"{told_first(nodes[0].snapshot)}{verb}: {len(nodes)} nodes fit {crowd.part}{after}"
        + "".join(f"\n  {line}" for line in crowd.lines()),
        code=ErrorCode.NODE_AMBIGUOUS,
        serial=serial,
        hint=telling_apart(crowd, use),
        details={"nodes": [describe(node) for node in nodes]},
        matcher=crowd.part.matcher,
        snapshot=nodes[0].snapshot,
    )


def telling_apart(crowd: Crowd, use: Use) -> Hint:
    """Return what to write instead: what fits only one of the nodes, if there is such a thing."""
    way = next(_ways(crowd, use), None)
    told = f"{way} Otherwise say which with " if way else "Say which with another keyword, "
    return (f"{told}{_NARROWING}; or ", Remedy(RemedyKind.TAKE_FIRST))


def _ways(crowd: Crowd, use: Use) -> Iterator[str]:
    """Yield what fits only one of the nodes, the likeliest of them first."""
    nodes = list(crowd.nodes[:_SHOWN_NODES])
    is_whole = len(nodes) == len(crowd.nodes)
    places = sorted(range(len(nodes)), key=lambda place: not recipient(nodes[place], use).clickable)
    given = {} if crowd.part.query is None else keywords_of(crowd.part.query.matcher)
    for place in places if is_whole else ():
        node, others = nodes[place], [*nodes[:place], *nodes[place + 1 :]]
        for word, value in _telling(node):
            if word not in given and all((word, value) not in _telling(one) for one in others):
                yield f"{word}={value!r} fits only {place + 1}."
    for place in places if is_whole else ():
        if row := _row(nodes[place], nodes):
            yield f"{row} is around {place + 1} alone."


def _telling(node: Node) -> list[tuple[str, str]]:
    role = node.role if query.is_certain(node) else ""
    pairs = [("role", role), ("id", node.short_id), ("text", node.text)]
    pairs.append(("desc", node.content_desc))
    return [(word, value) for word, value in pairs if value.strip()]


def _row(node: Node, nodes: Sequence[Node]) -> str | None:
    """Return the ``within=`` that only one of the nodes is in: a row with a text of its own."""
    others = [one for one in nodes if one is not node]
    shared = {above for one in others for above in (one, *one.ancestors)}
    branch = [above for above in node.ancestors if above not in shared]
    row = next((above for above in reversed(branch) if above.short_id), None)
    if row is None:
        return None
    elsewhere = {one.label for one in row.snapshot.find_all(id=row.short_id) if one is not row}
    rivals = [one for one in row.snapshot.find_all(id=row.short_id) if one is not row]
    elsewhere |= {below.label for rival in rivals for below in rival.descendants}
    own = (below.label for below in row.descendants if below.label and below is not node)
    label = next((each for each in own if each not in elsewhere), None)
    if label is None:
        return None
    return f"within=claw.node(id={row.short_id!r}, has=claw.node(text={label!r}))"
