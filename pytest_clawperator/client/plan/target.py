"""Which node is meant, as data: what an action aims at, resolved anew at each use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pytest_clawperator.contracts.selectors import (
    KEYWORDS,
    MatcherKeywords,
    NodeMatcher,
    check_matcher_keywords,
)
from pytest_clawperator.errors import ConfigurationError, NodeNotFoundError
from pytest_clawperator.snapshot.matching import Query
from pytest_clawperator.snapshot.query import NoMatch, identifying_matcher
from pytest_clawperator.snapshot.roles import UNTELLABLE
from pytest_clawperator.snapshot.tree import Node, Snapshot

_EXAMPLE = "Write for example text='OK', or give a NodeMatcher, a node or a locator."


class HasTarget(Protocol):
    """A locator."""

    @property
    def target(self) -> Target:
        """Which node is meant."""
        ...


TargetLike = NodeMatcher | Mapping[str, Any] | Node | NoMatch | HasTarget


class LastLook:
    """How many nodes the last look found: the one thing about a target that changes."""

    total: int | None = None


@dataclass(frozen=True)
class Target:
    """A node on the screen, described by a matcher and by what is around it or in it.

    Of several nodes that fit the first is meant, or that with the ``index``. ``node`` is a
    node of a snapshot, which needs no looking for.
    """

    query: Query | None = None
    node: Node | None = None
    within: Target | None = None
    has: Target | None = None
    index: int | None = None
    last: LastLook = field(default_factory=LastLook, compare=False, repr=False)

    @property
    def is_plain(self) -> bool:
        """Whether the Operator understands it as it is."""
        return self.is_matcher and self.within is None

    @property
    def is_matcher(self) -> bool:
        """Whether, its surroundings aside, it is nothing but a matcher with a whole id."""
        is_simple = self.node is None and self.has is None and self.index is None
        return is_simple and self.query is not None and not self.query.takes_short_id

    @property
    def is_fragile(self) -> bool:
        """Whether the published Operator may break over not finding it.

        It puts the matcher into a format string, where a percent sign garbles its answer and
        two of them end its process. So it is sent only what is there.
        """
        return self.is_tellable and self.has_percent

    @property
    def has_percent(self) -> bool:
        """Whether the matcher holds a percent sign."""
        words = {} if self.query is None else self.query.matcher.to_wire()
        return any("%" in word for word in words.values())

    @property
    def is_sendable(self) -> bool:
        """Whether the device can be told of it, there or not."""
        return self.is_plain and not self.is_fragile

    @property
    def is_short(self) -> bool:
        """Whether nothing but its short id keeps the Operator from understanding it."""
        is_simple = self.within is None and self.has is None and self.index is None
        return is_simple and self.query is not None and self.query.takes_short_id

    @property
    def is_tellable(self) -> bool:
        """Whether a snapshot tells all that the matcher, and those around and in it, ask for."""
        role = None if self.query is None else self.query.matcher.role
        parts = [part for part in (self.within, self.has) if part is not None]
        is_told = role is None or role.lower() not in UNTELLABLE
        return is_told and all(part.is_tellable for part in parts)

    @property
    def matcher(self) -> NodeMatcher | None:
        """The matcher, as it was given; for a node of a snapshot one that finds it."""
        if self.node is not None:
            return identifying_matcher(self.node)
        return None if self.query is None else self.query.matcher

    @property
    def origin(self) -> Snapshot | None:
        """The snapshot that it begins at, where it begins at a node of one."""
        if self.within is not None:
            return self.within.origin
        return None if self.node is None else self.node.snapshot

    def resolve(self, snapshot: Snapshot) -> list[Node]:
        """Give the nodes that are meant on a snapshot, the one that is used first."""
        return self._resolve_in(snapshot)

    def _resolve_in(self, scope: Snapshot | Node) -> list[Node]:
        if self.within is not None:
            containers = self.within._resolve_in(scope)
            if not containers:
                return []
            scope = containers[0]
        found = self._all_in(scope)
        has = self.has
        if has is not None:
            found = [node for node in found if any(n is not node for n in has._resolve_in(node))]
        if self.index is None:
            return found
        return [found[self.index]] if -len(found) <= self.index < len(found) else []

    def _all_in(self, scope: Snapshot | Node) -> list[Node]:
        if self.node is not None:
            owner = scope if isinstance(scope, Snapshot) else scope.snapshot
            matcher = None if self.node.snapshot is owner else self.matcher
            return [self.node] if matcher is None else scope.find_all(matcher)[:1]
        assert self.query is not None
        if self.query.takes_short_id:
            return scope.find_all(**keywords_of(self.query.matcher))
        return scope.find_all(self.query.matcher)

    def missing_part(self, snapshot: Snapshot) -> Target:
        """Give the part that is not on the snapshot: the outermost container that is missing."""
        part = self
        while part.within is not None and not part.within.resolve(snapshot):
            part = part.within
        return part

    def nth(self, index: int) -> Target:
        """Mean another than the first of several; -1 is the last."""
        return replace(self, index=index, last=LastLook())

    @property
    def ordinal(self) -> str:
        """Say ``1st of 3`` where the last look found several, else nothing."""
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


def keywords_of(matcher: NodeMatcher) -> MatcherKeywords:
    """Give a matcher in the keywords by which people write it."""
    pairs = ((word, getattr(matcher, name)) for word, name in KEYWORDS.items())
    # The words are those of KEYWORDS, which a type checker cannot see in a loop.
    return {word: value for word, value in pairs if value is not None}  # type: ignore[return-value]


def target_of(
    given: TargetLike | None,
    keywords: Mapping[str, Any],
    *,
    within: TargetLike | None = None,
    has: TargetLike | None = None,
    verb: str,
) -> Target:
    """Read what a method was told to aim at, positionally or by keywords."""
    __tracebackhide__ = True
    check_matcher_keywords(keywords, caller=verb)
    if given is not None and keywords:
        raise ConfigurationError(
            f"{verb}() got both {_kind(given)} and {', '.join(keywords)}=: which is meant?",
            hint="Give one of them; a locator is narrowed by .node(...), .nth(i) or has=.",
        )
    if given is None and not keywords:
        raise ConfigurationError(f"{verb}() was not told which node is meant", hint=_EXAMPLE)
    # `check_matcher_keywords` has seen to it that they are the known ones.
    target = Target(query=Query.of(None, keywords)) if given is None else _read(given, verb)  # type: ignore[arg-type]
    if has is not None:
        target = replace(target, has=_read(has, f"{verb}(has=...)"))
    if within is not None:
        target = inside(_read(within, f"{verb}(within=...)"), target)
    return target


def inside(container: Target, target: Target) -> Target:
    """Put a target into a container; one that has a container already is put in whole."""
    around = container if target.within is None else inside(container, target.within)
    return replace(target, within=around, last=LastLook())


def optional_target(
    given: TargetLike | None, keywords: Mapping[str, Any], *, verb: str
) -> Target | None:
    """Read what a method was told to aim at, if it was told."""
    __tracebackhide__ = True
    if given is None and not keywords:
        return None
    return target_of(given, keywords, verb=verb)


def container_of(within: TargetLike | None, *, verb: str) -> Target | None:
    """Read a ``within=``."""
    __tracebackhide__ = True
    return None if within is None else _read(within, f"{verb}(within=...)")


def _read(given: Any, verb: str) -> Target:
    __tracebackhide__ = True
    if isinstance(given, Node):
        return Target(node=given)
    if isinstance(given, NoMatch):
        raise NodeNotFoundError(
            f"{verb}: the snapshot has no {Target(query=given.query)}",
            hint="Give the matcher itself, and the node is waited for.",
            matcher=given.matcher,
            nearest=given.nearest,
            snapshot=given.snapshot,
        )
    if isinstance(given, (NodeMatcher, Mapping)):
        return Target(query=Query.of(_in_wire_words(given), {}))
    target = getattr(given, "target", None)
    if isinstance(target, Target):
        return target
    name = verb if verb.endswith(")") else f"{verb}()"
    raise ConfigurationError(f"{name} cannot aim at {_kind(given)}", hint=_EXAMPLE)


def _in_wire_words(given: NodeMatcher | Mapping[str, Any]) -> NodeMatcher | Mapping[str, Any]:
    """Let a dict use the keywords that are no aliases on the wire."""
    if isinstance(given, NodeMatcher):
        return given
    return {NodeMatcher.guesses.get(key, key): value for key, value in given.items()}


def _kind(value: object) -> str:
    return "a dict" if isinstance(value, dict) else f"something of type {type(value).__name__}"
