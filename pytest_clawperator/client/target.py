"""Targets: which node an action is for, what it does with it, and how it gets there."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from pytest_clawperator.snapshot.query import UNSHOWN_ROLES, Query, identifying_matcher
from pytest_clawperator.snapshot.tree import Node, Snapshot

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

    Where an action is about one node only one may match, unless ``index`` chooses one.
    ``node`` is a node of a snapshot.
    """

    query: Query | None = None
    node: Node | None = None
    within: Target | None = None
    has: Target | None = None
    index: int | None = None
    last: LastCount = field(default_factory=LastCount, compare=False, repr=False)

    def route(self, *, takes_container: bool = False, is_proved: bool = False) -> Route:
        """Decide how an action gets to the node.

        ``takes_container`` means that the action can be sent a container besides the matcher,
        ``is_proved`` that a snapshot must show that it reached this node and no other.
        """
        query, within = self.query, self.within
        if self.origin is not None:
            return Route.KNOWN
        # The device finds the first match.
        if query is None or self.has is not None or self.index not in (None, 0):
            return Route.LOOKED_UP
        if query.matcher.has_pattern:
            return Route.LOOKED_UP
        if query.takes_short_id:
            return Route.COMPLETED if within is None else Route.LOOKED_UP
        is_sent_whole = within is None or (takes_container and within.route() is Route.SENT)
        if not is_sent_whole or (_has_percent(query.matcher) and self.is_matchable_on_snapshot):
            return Route.LOOKED_UP
        return Route.PROVED if is_proved and self.is_matchable_on_snapshot else Route.SENT

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but a matcher that the Operator understands."""
        is_simple = self.within is None and self.has is None and self.index is None
        query = self.query
        return (
            is_simple
            and query is not None
            and not query.takes_short_id
            and not query.matcher.has_pattern
        )

    @property
    def is_matchable_on_snapshot(self) -> bool:
        """Whether a snapshot shows everything that the target and its parts are matched by."""
        role = None if self.query is None else self.query.matcher.role
        parts = [part for part in (self.within, self.has) if part is not None]
        is_shown = role is None or role.lower() not in UNSHOWN_ROLES
        return is_shown and all(part.is_matchable_on_snapshot for part in parts)

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

        Without ``on_screen``, they may be off the screen; what is around them may not.
        """
        if self.within is not None:
            containers = self.within.resolve(scope)
            if not containers:
                return []
            scope = containers[0]
        found = self._all_in(scope, on_screen)
        has = self.has
        if has is not None:
            found = [node for node in found if any(n is not node for n in has.resolve(node))]
        if self.index is None:
            return found
        return [found[self.index]] if -len(found) <= self.index < len(found) else []

    def _all_in(self, scope: Snapshot | Node, on_screen: bool) -> list[Node]:
        if self.node is not None:
            owner = scope if isinstance(scope, Snapshot) else scope.snapshot
            matcher = None if self.node.snapshot is owner else self.matcher
            return [self.node] if matcher is None else scope.find_all(matcher)[:1]
        assert self.query is not None
        return scope.find_all(self.query, on_screen=on_screen)

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
        words += [f"has={self.has}"] if self.has is not None else []
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
        target = replace(target, has=_read(has, f"{verb}(has=...)"))
    if within is not None:
        target = inside(_read(within, f"{verb}(within=...)"), target)
    return target


def _query(keywords: Mapping[str, Any]) -> Query:
    matcher = NodeMatcher.of(**keywords)
    return Query(matcher, takes_short_id=is_short_id(matcher.resource_id))


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
