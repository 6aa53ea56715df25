"""Judge a screen: whether one node matches, whether an action reaches it, and if not, why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_clawperator.client.plans import Plan
from pytest_clawperator.client.target import Target, Use, keywords_of, target_of
from pytest_clawperator.contracts.matchers import KEYWORDS, NodeMatcher
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import (
    ConfigurationError,
    ContainerNotFoundError,
    ErrorCode,
    ExecutionValidationError,
    NodeNotFoundError,
    StepFailedError,
)
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind
from pytest_clawperator.snapshot import near_miss
from pytest_clawperator.snapshot import query as roles
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Node, Snapshot, covering_node, visible_bounds

# How many levels up the Operator looks for a node that takes the action.
_LEVELS = 7
_FIELDS = ("EditText", "AutoCompleteTextView")
# Words in the packages of keyboards, which do not cover an app: it makes room for them.
_KEYBOARDS = ("inputmethod", "keyboard", "honeyboard", "swiftkey")
_SHOWN_NODES = 5
_NARROWING = ".first, .last, .nth(i), within= or has="
_MISSING = (ErrorCode.NODE_NOT_FOUND, ErrorCode.TARGET_NOT_FOUND)
_TOO_LATE = "It is on the screen now, so it came too late: set a longer timeout=."
_NOTHING_SCROLLS = "The node is on the screen, and nothing there scrolls: click() will do."
_WAYS_OUT = {
    "not a text field": "Type into the field itself: a label beside it takes no input.",
    "disabled": "It was waited for, up to timeout=: check what enables it, or allow more time.",
    "screen": "Scroll it into view first: node(...).scroll_into_view().",
    "": "Wait until that is gone, or close it first; timeout= is how long to wait.",
}
# The same for an action that did not wait.
_WAYS_OUT_AT_ONCE = {
    "disabled": "Check what enables it; expect(node).to_be_enabled() waits for that.",
    "": "Wait until that is gone, or close it first.",
}
_SCROLL_HINT = (
    "The list ended, or max_scrolls or max_duration was reached, before the node appeared: check "
    "the matcher, the direction, and with within= the list that is scrolled."
)
_OFF_SCREEN = "It is in the tree, and off the screen: scroll_into_view() brings it there."
_NO_AREA = (
    "It is in the tree, but has no visible area: an empty node is like that, and one that is"
    " scrolled out of its list. Check a node that is shown."
)
_SCROLL_FIRST = "nodes that are not on the screen need a scroll first."
_OLD_HINT = (
    "It is a node of an earlier snapshot, and the screen has changed since: take a new snapshot, "
    "or describe it with claw.node(...), which is looked up at each use."
)
_PATTERN_HINT = f"Case counts in a pattern, unless it has re.IGNORECASE; {_SCROLL_FIRST}"
_TOAST_HINT = "A toast is not a node: claw.device.toasts() lists those on the screen."
_NO_ID_HINT = "No node on the screen has that id; what is further down needs a scroll first."
_PARTIAL = (
    "The snapshot is damaged, so the node may be there: the device's log cuts an entry at about "
    "4,000 bytes, and a long text ends in the middle. A whole id=, or a text=, is looked for by "
    "the device itself."
)


# Whether one node matches


@dataclass(frozen=True)
class Crowd:
    """A target that several nodes match where one is meant, and these nodes."""

    target: Target
    nodes: Sequence[Node]

    def lines(self, remark: Callable[[Node], str] = lambda node: "") -> list[str]:
        """Return a line for each of the first nodes, with a remark on it."""
        listed = self.nodes[:_SHOWN_NODES]
        lines = [
            f"{n}. {near_miss.describe(node)}{remark(node)}" for n, node in enumerate(listed, 1)
        ]
        rest = len(self.nodes) - len(listed)
        return [*lines, f"... and {rest} more"] if rest > 0 else lines


def find_crowd(target: Target, snapshot: Snapshot, use: Use) -> Crowd | None:
    """Return the nodes that a target matches, if these are several."""
    nodes = distinct(target.resolve(snapshot), use)
    return Crowd(target, nodes) if len(nodes) > 1 else None


def ambiguous(
    verb: str, crowd: Crowd, use: Use, *, serial: str, done: bool = False
) -> StepFailedError:
    """Return the error for a crowd; ``done`` means that the action was already sent."""
    nodes = crowd.nodes
    after = f", and the first was {use.done}" if done and not use.is_harmless else ""
    first = near_miss.crash_prefix(nodes[0].snapshot)
    return StepFailedError(
        f"{first}{verb}: {len(nodes)} nodes match {crowd.target}{after}"
        + "".join(f"\n  {line}" for line in crowd.lines()),
        code=ErrorCode.NODE_AMBIGUOUS,
        serial=serial,
        hint=telling_apart(crowd, use),
        details={"nodes": [near_miss.describe(node) for node in nodes]},
        matcher=crowd.target.matcher,
        snapshot=nodes[0].snapshot,
    )


def telling_apart(crowd: Crowd, use: Use) -> Hint:
    """Return what to write instead: what matches only one of the nodes, if anything does."""
    way = next(_ways(crowd, use), None)
    advice = f"{way} Otherwise choose one with " if way else "Choose one with another keyword, "
    return (f"{advice}{_NARROWING}; or ", Remedy(RemedyKind.TAKE_FIRST))


def _ways(crowd: Crowd, use: Use) -> Iterator[str]:
    """Yield what matches only one of the nodes, the likeliest of them first."""
    nodes = list(crowd.nodes[:_SHOWN_NODES])
    if len(nodes) < len(crowd.nodes):
        return
    places = sorted(range(len(nodes)), key=lambda place: not recipient(nodes[place], use).clickable)
    for place in places:
        for word, value in _distinguishing(nodes[place]):
            if _is_only(nodes[place], _with_keyword(crowd.target, word, value)):
                yield f"{word}={value!r} matches only number {place + 1} of these."
    for place in places:
        for name, label in _rows(nodes[place], nodes):
            if _is_only(nodes[place], _in_row(crowd.target, name, label)):
                within = f"within=claw.node(id={name!r}, has=claw.node(text={label!r}))"
                yield f"{within} is around only number {place + 1} of these."


def _is_only(node: Node, target: Target | None) -> bool:
    return target is not None and target.resolve(node.snapshot) == [node]


def _distinguishing(node: Node) -> list[tuple[str, str]]:
    role = node.role if roles.is_certain(node) else ""
    pairs = [("role", role), ("id", node.short_id), ("text", node.text)]
    pairs.append(("desc", node.content_desc))
    return [(word, value) for word, value in pairs if value.strip()]


def _with_keyword(target: Target, word: str, value: str) -> Target | None:
    """Return the target with another keyword; None if it has that one, or cannot have it."""
    query, field = target.query, KEYWORDS[word]
    if query is None or field in query.fields:
        return None
    try:
        matcher = replace(query.matcher, **{field: value})
    except ExecutionValidationError:  # too long to be sent
        return None
    return replace(target, query=Query(matcher, query.takes_short_id or word == "id"))


def _in_row(target: Target, name: str, label: str) -> Target | None:
    """Return the target within a row with this id and text; None if there can be none."""
    try:
        row = target_of(None, {"id": name}, has=NodeMatcher.of(text=label), verb="node")
    except ExecutionValidationError:  # too long to be sent
        return None
    return replace(target, within=row)


def _rows(node: Node, nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Yield what may tell the row apart that only this node is in: its id, and a text in it."""
    others = [one for one in nodes if one is not node]
    shared = {above for one in others for above in (one, *one.ancestors)}
    branch = [above for above in node.ancestors if above not in shared]
    row = next((above for above in reversed(branch) if above.short_id), None)
    if row is None:
        return
    rivals = [one for one in row.snapshot.find_all(id=row.short_id) if one is not row]
    elsewhere = {one.label for rival in rivals for one in rival.descendants}
    for below in row.descendants:
        if below.label and below is not node and below.label not in elsewhere:
            yield row.short_id, below.label


# Whether an action reaches its node


@dataclass(frozen=True)
class Obstacle:
    """What keeps an action from its node, worded as in ``it is disabled``.

    If it is not ``certain``, it counts only if the action had no effect. If it
    ``lets_through``, an action of the Operator may have reached the node. Waiting helps if it
    ``may_pass``.
    """

    reason: str
    certain: bool = True
    lets_through: bool = False
    may_pass: bool = True
    cover: Node | None = None


def recipient(node: Node, use: Use) -> Node:
    """Return the node that the Operator acts on: this one, or the nearest that takes the action."""
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
    """Return the nodes without those that mean the same thing as an earlier one.

    For a tap, nodes whose taps go to the same clickable node are one. For reading, a node and
    the node around it with the same text are one.
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


def obstacle(node: Node, use: Use) -> Obstacle | None:
    """Return what keeps an action from a node, or None."""
    if use.is_harmless:
        return None
    target = recipient(node, use)
    if not target.enabled:
        no_field = "it is not a text field, and " if refusal(node, use) else ""
        which = "it" if target is node else "the node around it"
        return Obstacle(f"{no_field}{which} is disabled")
    if use is not Use.TAP:
        return None
    if visible_bounds(node) is None:
        return Obstacle("it is off the screen", lets_through=target.clickable)
    cover = covering_node(node, around=target)
    if cover is not None:
        reason = f"it is covered by {near_miss.describe(cover)}"
        return Obstacle(reason, lets_through=target.clickable, cover=cover)
    window = _window_above(node.snapshot)
    if window is not None and not target.clickable:
        # A window does not stop a click that the node itself takes.
        return Obstacle(f"a window of {window} lies over the app", certain=False)
    return None


def refusal(node: Node, use: Use) -> Obstacle | None:
    """Return why a device may refuse an action although nothing is in its way, or None."""
    is_label = use is Use.FILL and not _is_field(recipient(node, use))
    return Obstacle("it is not a text field", may_pass=False) if is_label else None


def differs(before: Node, now: Node, *, apart: Node | None = None) -> bool:
    """Whether the screen shows something else than before, apart from a cover."""
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
        return None  # the prompt itself is in front
    return None if any(word in package for word in _KEYBOARDS) else package


@dataclass(frozen=True)
class Hindered:
    """A node, what was to be done with it, and what keeps an action from it."""

    target: Target
    use: Use
    node: Node
    obstacle: Obstacle


# Why it failed


def matching(target: Target, snapshot: Snapshot) -> list[Node]:
    """Return the matching nodes, for a message: none if an old node cannot be found again."""
    try:
        return target.resolve(snapshot)
    except ConfigurationError:
        return []


def explain_failure(
    plan: Plan[Any], error: StepFailedError, *, seconds: float, snapshot: Snapshot | None
) -> StepFailedError:
    """Return the error of a failed plan with what was wanted, what is there, and a hint."""
    wanted = _wanted(plan, error.code)
    if error.code == ErrorCode.NODE_NOT_CLICKABLE and snapshot is not None:
        found = _hindrance(plan, snapshot)
        if found is not None:
            return hindered(plan, found, seconds=seconds, serial=error.serial or "")
    return type(error)(
        f"{near_miss.crash_prefix(snapshot)}{_message(plan, error, wanted, seconds)}",
        code=error.code,
        serial=error.serial,
        hint=near_miss.crash_hint(snapshot)
        or _hint(plan, error.code, wanted, snapshot)
        or error.hint,
        details=error.details,
        envelope=error.envelope,
        step=error.step,
        **_evidence(wanted, snapshot),
    )


def _message(plan: Plan[Any], error: StepFailedError, wanted: Target | None, seconds: float) -> str:
    """Return one line: what was tried, on which node, and the outcome."""
    data = error.step.data if error.step is not None else {}
    if error.code in _MISSING and wanted is not None:
        after = within_time(seconds) if plan.is_aimed else f" after scrolling{_stopped(data)}"
        return f"{plan.verb}: no {wanted} on the screen{after}"
    if error.code == ErrorCode.CONTAINER_NOT_FOUND:
        missing = "nothing that scrolls is" if wanted is None else f"no {wanted}"
        return f"{plan}: {missing} on the screen{within_time(seconds)}"
    if error.code == ErrorCode.NAVIGATION_TIMEOUT:
        where = data.get("last_package") or "an unknown app"
        return f"{plan}: {where} is in front{within_time(seconds).replace('within', 'after')}"
    if error.code == ErrorCode.VALIDATOR_MISMATCH and plan.wanted and "raw_text" in data:
        return f"{plan}: it reads {data['raw_text']!r}, wanted {plan.wanted}{within_time(seconds)}"
    ordinal = plan.target.ordinal if plan.target is not None else ""
    read = f", it reads {data['raw_text']!r}" if data.get("raw_text") else ""
    return f"{plan}{f' ({ordinal})' if ordinal else ''}: {error.message}{read}"


def _stopped(data: Mapping[str, str]) -> str:
    reason = data.get("termination_reason")
    count = data.get("scrolls_executed", "some")
    return f": {reason} after {count} scroll{'' if count == '1' else 's'}" if reason else ""


def not_found(
    verb: str,
    target: Target,
    *,
    snapshot: Snapshot,
    serial: str,
    after: str = "",
    code: ErrorCode | None = None,
) -> StepFailedError:
    """Return the error for a node, or a container around it, that a snapshot lacks."""
    part = target.missing_part(snapshot)
    is_node = part is target
    has_node = bool(target.resolve(snapshot))
    cls: type[StepFailedError] = NodeNotFoundError if is_node else ContainerNotFoundError
    first = near_miss.crash_prefix(snapshot)
    message = f"{first}{verb}: no {part} on the screen{after}"
    hint = _near_hint(part, snapshot) or _id_hint(part, snapshot) or _compare_hint(part, snapshot)
    hint = near_miss.crash_hint(snapshot) or (_PARTIAL if snapshot.is_partial else hint)
    if has_node:
        cls, message = StepFailedError, f"{first}{verb} {target}: the node has no text"
        hint = "It has neither a text nor a description: read the label inside it instead."
    return cls(
        message,
        code=ErrorCode.NODE_HAS_NO_TEXT if has_node else code,
        serial=serial,
        hint=hint,
        **_evidence(part, snapshot),
    )


def as_container(error: NodeNotFoundError) -> ContainerNotFoundError:
    """Return the same error for a container, which has its own code."""
    return ContainerNotFoundError(
        error.message,
        serial=error.serial,
        hint=error.hint,
        matcher=error.matcher,
        nearest=error.nearest,
        outline=error.outline,
        snapshot=error.snapshot,
    )


def nothing_scrolls(plan: Plan[Any], *, snapshot: Snapshot, serial: str) -> StepFailedError:
    """Return the error for a missing list where the node itself is on the screen."""
    return ContainerNotFoundError(
        f"{plan}: nothing that scrolls is on the screen",
        serial=serial,
        hint=_NOTHING_SCROLLS,
        **_evidence(plan.container, snapshot),
    )


def hindered(plan: Plan[Any], found: Hindered, *, seconds: float, serial: str) -> StepFailedError:
    """Return the error for a node that is there but that an action does not reach."""
    reason = found.obstacle.reason
    target = plan.target or found.target
    after = f" for {seconds:g} s" if seconds > 0 and found.obstacle.may_pass else ""
    ways = _WAYS_OUT if seconds > 0 else {**_WAYS_OUT, **_WAYS_OUT_AT_ONCE}
    return StepFailedError(
        f"{near_miss.crash_prefix(found.node.snapshot)}{plan.verb} {target}: {reason}{after}"
        f"\n  node: {near_miss.describe(found.node)}",
        code=ErrorCode.NODE_NOT_CLICKABLE,
        serial=serial,
        hint=next(way for word, way in ways.items() if word in reason),
        details={"reason": reason},
        **_evidence(target, found.node.snapshot),
    )


def _hindrance(plan: Plan[Any], snapshot: Snapshot) -> Hindered | None:
    """Return what the screen shows in the way of a plan's action."""
    nodes = matching(plan.target, snapshot) if plan.target is not None else []
    if plan.target is None or plan.use is None or not nodes:
        return None
    found = obstacle(nodes[0], plan.use) or refusal(nodes[0], plan.use)
    return None if found is None else Hindered(plan.target, plan.use, nodes[0], found)


def unreachable(verb: str, target: Target, node: Node, *, serial: str) -> StepFailedError:
    """Return the error for a node that no matcher identifies."""
    return StepFailedError(
        f"{verb}: no matcher finds {target} before other nodes, and {verb} cannot go to a point"
        f"\n  meant: {near_miss.describe(node)}",
        code=ErrorCode.NODE_AMBIGUOUS,
        serial=serial,
        hint="It has no id, text or description that an earlier node does not have, too: give it "
        "one in the app, or act while its text differs. click() and long_click() can still "
        "reach it, and claw.device.shell('input text ...') types into what has the focus.",
        matcher=target.matcher,
        snapshot=node.snapshot,
    )


def _wanted(plan: Plan[Any], code: ErrorCode | str) -> Target | None:
    """Return what was missing: the list if that was not found, else the node."""
    if code in (ErrorCode.CONTAINER_NOT_FOUND, ErrorCode.CONTAINER_NOT_SCROLLABLE):
        return plan.container
    return plan.target


def within_time(seconds: float) -> str:
    """Return `` within 5 s``, or nothing if there was no wait."""
    return f" within {seconds:g} s" if seconds > 0 else ""


def _evidence(target: Target | None, snapshot: Snapshot | None) -> dict[str, Any]:
    """Return the fields of an error that describe the screen and its nearest nodes."""
    evidence: dict[str, Any] = {"matcher": None if target is None else target.matcher}
    if snapshot is None:
        return evidence
    evidence.update(snapshot=snapshot, outline=near_miss.outline(snapshot))
    if target is not None and target.query is not None and not matching(target, snapshot):
        evidence["nearest"] = near_miss.nearest(snapshot, target.query)
    return evidence


def _hint(
    plan: Plan[Any], code: ErrorCode | str, wanted: Target | None, snapshot: Snapshot | None
) -> str | None:
    if snapshot is None:
        return None
    if code == ErrorCode.CONTAINER_NOT_FOUND and plan.target is not None and not plan.is_aimed:
        return _NOTHING_SCROLLS if matching(plan.target, snapshot) else None
    if code not in _MISSING or wanted is None:
        return None
    if matching(wanted, snapshot):
        return _TOO_LATE
    return _id_hint(wanted, snapshot) or (
        _compare_hint(wanted, snapshot) if plan.is_aimed else _SCROLL_HINT
    )


def _compare_hint(target: Target, snapshot: Snapshot) -> str:
    """Return how nodes are compared, and where else a text may be that no node is like."""
    query = target.query
    if query is None:
        return _OLD_HINT
    matcher = query.matcher
    hint = _PATTERN_HINT if matcher.has_pattern else _exact_hint(matcher)
    is_text = matcher.text_equals or matcher.text_contains
    return (
        hint
        if not is_text or near_miss.nearest(snapshot, query, limit=1)
        else f"{hint} {_TOAST_HINT}"
    )


def _exact_hint(matcher: NodeMatcher) -> str:
    """Return which of the keywords are compared letter by letter."""
    exact = [f"{word}=" for word in ("text", "desc") if word in keywords_of(matcher)]
    if not exact:
        return _SCROLL_FIRST.capitalize()
    are = "are" if len(exact) > 1 else "is"
    return f"{' and '.join(exact)} {are} compared letter by letter; {_SCROLL_FIRST}"


def _id_hint(target: Target, snapshot: Snapshot) -> str | None:
    """Return a hint about an id that is on the screen in another form."""
    query = target.query
    wanted = None if query is None else query.matcher.resource_id
    if query is None or not isinstance(wanted, str):
        return None
    short = wanted.rpartition(":id/")[2]
    if not short:
        return f"The id {wanted!r} has no name: write it as in com.example:id/name."
    nodes = [node for node in snapshot.nodes if node.short_id == short]
    if any(query.field_fits(node, "resource_id", wanted) for node in nodes):
        return None
    if nodes:
        found = " and ".join(sorted({node.resource_id for node in nodes})[:3])
        return f"On the screen that id is {found}: write that, or the short keyword id={short!r}."
    near = closest(short, {node.short_id for node in snapshot.nodes if node.short_id})
    return f"No node has that id; did you mean id={near!r}?" if near else _NO_ID_HINT


def _near_hint(target: Target, snapshot: Snapshot) -> str | None:
    """Return a hint about the one condition that keeps a node from matching."""
    if not target.is_matchable_on_snapshot:
        return "A snapshot does not show that role: match by text, id or description."
    if unseen := target.resolve(snapshot, on_screen=False):
        return _OFF_SCREEN if any(node.bounds.area for node in unseen) else _NO_AREA
    every = replace(target, index=None)
    total = len(every.resolve(snapshot))
    if target.index is not None and total:
        return f"Only {total} match {every}, so there is no .nth({target.index})."
    without = replace(every, has=())
    total = len(without.resolve(snapshot))
    if target.has and total:
        inner = next(filter(None, (_id_hint(part, snapshot) for part in target.has)), "")
        wanted = " and ".join(map(str, target.has))
        return f"{total} match {without}, but none contains {wanted}. {inner}".rstrip()
    around = target.within
    if around is not None and replace(every, within=None).resolve(snapshot):
        return f"Such a node is on the screen, but not inside {around}."
    return None
