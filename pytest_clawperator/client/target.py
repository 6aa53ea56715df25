"""Targets: which node an action is for, what it does with it, and how it gets there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pytest_clawperator.contracts.matchers import (
    KEYWORDS,
    MatcherKeywords,
    NodeMatcher,
    check_matcher_keywords,
    is_short_id,
)
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.query import (
    UNSHOWN_ROLES,
    Query,
    identifying_matcher,
    recognising_matcher,
)
from pytest_clawperator.snapshot.tree import Node, Scope, Snapshot, is_inside

__tracebackhide__ = True  # a failure is shown at the test's own line

_EXAMPLE = "Write for example text='OK', or give a NodeMatcher, a node or a locator."


class Route(Enum):
    """How an action gets to its node: decided in one place, :meth:`Target.route`."""

    SENT = "the device finds the node by the matcher that it is sent"
    PROVED = "as SENT, with a snapshot that shows whether it reached that node and no other"
    COMPLETED = "as SENT, after a snapshot has shown the whole id"
    LOOKED_UP = "the node is looked up on a snapshot; a matcher for it, or a point, is sent"
    KNOWN = "the node is on the caller's own snapshot; a matcher for it, or a point, is sent"

    @property
    def needs_snapshot(self) -> bool:
        """Whether a snapshot must be taken before the action is sent."""
        return self in (Route.COMPLETED, Route.LOOKED_UP)


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


class LastCount:
    """How many nodes the last snapshot had: the one thing about a target that changes."""

    total: int | None = None


@dataclass(frozen=True)
class Target:
    """A node on the screen, described by a matcher and by what is around it or in it.

    It is inside any of the nodes that ``within`` matches, and a node for each of ``has`` is
    inside it; no node is inside itself. Where an action is about one node only one may match,
    unless ``index`` chooses one. ``node`` is a node of a snapshot.
    """

    query: Query | None = None
    node: Node | None = None
    within: Target | None = None
    has: tuple[Target, ...] = ()
    index: int | None = None
    last: LastCount = field(default_factory=LastCount, compare=False, repr=False)

    def route(self, *, is_proved: bool = False) -> Route:
        """Decide how an action gets to the node.

        ``is_proved`` means that a snapshot must show that it reached this node and no other.
        """
        query = self.query
        if self.origin is not None:
            return Route.KNOWN
        # The device finds the first match, and what is inside the first container.
        if query is None or self.is_narrowed or self.index not in (None, 0):
            return Route.LOOKED_UP
        if query.matcher.has_pattern:
            return Route.LOOKED_UP
        if query.takes_short_id:
            return Route.COMPLETED
        if _has_percent(query.matcher) and self.is_matchable_on_snapshot:
            return Route.LOOKED_UP
        return Route.PROVED if is_proved and self.is_matchable_on_snapshot else Route.SENT

    @property
    def is_narrowed(self) -> bool:
        """Whether it is described by what is around it or in it, too."""
        return self.within is not None or bool(self.has)

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but a matcher that the Operator understands."""
        query = self.query
        return (
            not self.is_narrowed
            and self.index is None
            and query is not None
            and not query.takes_short_id
            and not query.matcher.has_pattern
        )

    @property
    def parts(self) -> Iterator[Target]:
        """The target itself, what is around it, and what is in it."""
        yield self
        for part in (self.within, *self.has):
            if part is not None:
                yield from part.parts

    @property
    def is_matchable_on_snapshot(self) -> bool:
        """Whether a snapshot shows everything that the target and its parts are matched by."""
        queries = (part.query for part in self.parts if part.query is not None)
        return all((query.matcher.role or "").lower() not in UNSHOWN_ROLES for query in queries)

    @property
    def matcher(self) -> NodeMatcher | None:
        """The matcher as it was given; for a node of a snapshot, a matcher that finds it."""
        if self.node is not None:
            return identifying_matcher(self.node)
        return None if self.query is None else self.query.matcher

    @property
    def origin(self) -> Snapshot | None:
        """The snapshot of the outermost part, if that is a node of one."""
        if self.within is not None:
            return self.within.origin
        return None if self.node is None else self.node.snapshot

    def resolve(self, scope: Snapshot | Node, *, on_screen: bool = True) -> list[Node]:
        """Return the matching nodes on a snapshot, or in a node; the first is the one to use.

        Without ``on_screen``, they, what is around them and what is in them may be off the
        screen; an index counts them all only if it means no node on the screen.
        """
        containers = None if isinstance(scope, Snapshot) else [scope]
        snapshot = scope if isinstance(scope, Snapshot) else scope.snapshot
        if not on_screen and any(part.index is not None for part in self.parts):
            found = self._resolved(snapshot, containers, True)
            return found or self._resolved(snapshot, containers, False)
        return self._resolved(snapshot, containers, on_screen)

    def _resolved(
        self, snapshot: Snapshot, containers: Sequence[Node] | None, on_screen: bool
    ) -> list[Node]:
        if self.within is not None:
            containers = self.within._resolved(snapshot, containers, on_screen)
        found = [
            node
            for node in self._all_in(snapshot, containers, on_screen)
            if all(part._resolved(snapshot, [node], on_screen) for part in self.has)
        ]
        if self.index is None:
            return found
        return [found[self.index]] if -len(found) <= self.index < len(found) else []

    def _all_in(
        self, snapshot: Snapshot, containers: Sequence[Node] | None, on_screen: bool
    ) -> list[Node]:
        """Return the nodes that fit the matcher, or the node, inside any of the containers."""
        query, known = self.query, self.node
        if known is not None and known.snapshot is snapshot:
            is_there = containers is None or is_inside(known, containers)
            return [known] if is_there and (known.is_on_screen or not on_screen) else []
        if known is not None:
            query = Query(_matcher_to_find_again(known))
        part = snapshot if containers is None else Scope(containers)
        return part.find_all(query, on_screen=on_screen)

    def missing_part(self, snapshot: Snapshot) -> Target:
        """Return the part that the snapshot lacks: the outermost container that is missing."""
        part = self
        while part.within is not None and not part.within.resolve(snapshot):
            part = part.within
        return part

    def nth(self, index: int) -> Target:
        """Return the target with an index; -1 is the last match."""
        return replace(self, index=index, last=LastCount())

    @property
    def ordinal(self) -> str:
        """``1st of 3`` if the last snapshot had several matches, else empty."""
        total = self.last.total
        return f"1st of {total}" if total is not None and total > 1 else ""

    def __str__(self) -> str:
        if self.query is None:
            return repr(self.node)
        words = [f"{name}={value!r}" for name, value in keywords_of(self.query.matcher).items()]
        words += [f"has={part}" for part in self.has]
        before = f"{self.within}." if self.within is not None else ""
        after = f".nth({self.index})" if self.index is not None else ""
        return f"{before}node({', '.join(words)}){after}"


@dataclass(frozen=True, repr=False)
class LocatorBase:
    """The part of a locator that this module knows: its target."""

    target: Target


#: A node in all the forms that methods accept.
TargetLike = NodeMatcher | Mapping[str, Any] | Node | LocatorBase


def keywords_of(matcher: NodeMatcher) -> MatcherKeywords:
    """Return a matcher as the keywords of the client's methods."""
    pairs = ((word, getattr(matcher, name)) for word, name in KEYWORDS.items())
    # The words are those of KEYWORDS, which a type checker cannot see in a loop.
    return {word: value for word, value in pairs if value is not None}  # type: ignore[return-value]


def _matcher_to_find_again(node: Node) -> NodeMatcher:
    """Return what finds a node of one snapshot on another; raise if nothing is its own."""
    matcher = recognising_matcher(node)
    if matcher is not None:
        return matcher
    raise ConfigurationError(
        f"{node!r} cannot be found again: on its snapshot other nodes have the same id, text and "
        "description, or it has none",
        hint="Describe it with claw.node(...), for example by what is around it and .nth(i), "
        "which is looked up at each use; or check the snapshot that it is from.",
    )


def _has_percent(matcher: NodeMatcher) -> bool:
    """Whether the published Operator may break if it does not find the node.

    It puts the matcher into a format string, where one percent sign garbles its answer and two
    crash it. Such a matcher is sent only for a node that is on the screen.
    """
    return any("%" in value for value in vars(matcher).values() if isinstance(value, str))


def target_of(
    given: TargetLike | None,
    keywords: Mapping[str, Any],
    *,
    within: TargetLike | None = None,
    has: TargetLike | None = None,
    verb: str,
) -> Target:
    """Return the target of a method, given positionally or by keywords."""
    check_matcher_keywords(keywords, caller=verb)
    if given is not None and keywords:
        raise ConfigurationError(
            f"{verb}() got both {_kind(given)} and {', '.join(keywords)}=: which is meant?",
            hint="Give one of them; a locator is narrowed by .node(...), .nth(i) or has=.",
        )
    if given is None and not keywords:
        raise ConfigurationError(f"{verb}() needs a node, and none was given", hint=_EXAMPLE)
    target = Target(query=_query(keywords)) if given is None else _read(given, verb)
    if has is not None:
        target = _having(target, _read(has, f"{verb}(has=...)"))
    if within is not None:
        target = inside(_read(within, f"{verb}(within=...)"), target)
    return target


def _having(target: Target, inner: Target) -> Target:
    """Return the target with one more node in it."""
    if target.index is not None:
        raise ConfigurationError(
            f"{target} is one node already, and has= chooses among several",
            hint="Give has= first, and then .first, .last or .nth(i).",
        )
    return replace(target, has=(*target.has, inner), last=LastCount())


def _query(keywords: Mapping[str, Any]) -> Query:
    matcher = NodeMatcher.of(**keywords)
    return Query(matcher, takes_short_id=is_short_id(matcher.resource_id))


def unshown(target: Target) -> ConfigurationError:
    """Return the error for a target with a role that snapshots do not show."""
    return ConfigurationError(
        f"a snapshot does not show which nodes are {target}",
        hint="Only the device knows that role: match by text, id or description.",
    )


def inside(container: Target, target: Target) -> Target:
    """Return the target inside a container, which encloses any container it already has."""
    around = container if target.within is None else inside(container, target.within)
    return replace(target, within=around, last=LastCount())


def optional_target(
    given: TargetLike | None, keywords: Mapping[str, Any], *, verb: str
) -> Target | None:
    """Return the target of a method that does not need one, or None."""
    if given is None and not keywords:
        return None
    return target_of(given, keywords, verb=verb)


def container_of(within: TargetLike | None, *, verb: str) -> Target | None:
    """Return the target of a ``within=``, or None."""
    return None if within is None else _read(within, f"{verb}(within=...)")


def _read(given: Any, verb: str) -> Target:
    if isinstance(given, Node):
        return Target(node=given)
    if isinstance(given, (NodeMatcher, Mapping)):
        return Target(query=Query.of(_in_wire_words(given), {}))
    if isinstance(given, LocatorBase):
        return given.target
    name = verb if verb.endswith(")") else f"{verb}()"
    hint = _EXAMPLE
    if isinstance(given, (str, re.Pattern)):
        hint = f"Write text={given!r}, or id={given!r} if it is an id."
    raise ConfigurationError(f"{name} cannot aim at {_kind(given)}", hint=hint)


def _in_wire_words(given: NodeMatcher | Mapping[str, Any]) -> NodeMatcher | Mapping[str, Any]:
    """Rename the keywords of a dict that are not aliases on the wire."""
    if isinstance(given, NodeMatcher):
        return given
    return {NodeMatcher.guesses.get(key, key): value for key, value in given.items()}


def _kind(value: object) -> str:
    return "a dict" if isinstance(value, dict) else f"something of type {type(value).__name__}"
