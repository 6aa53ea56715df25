"""Finding nodes on a snapshot as the Operator would find them on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import Unpack

from pytest_clawperator.contracts.selectors import MatcherKeywords, NodeMatcher
from pytest_clawperator.errors import ExecutionValidationError, NodeNotFoundError
from pytest_clawperator.snapshot import near_miss, roles
from pytest_clawperator.snapshot.matching import Query, Wanted, check_role
from pytest_clawperator.snapshot.near_miss import Miss, describe, plain

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node
    from pytest_clawperator.snapshot.tree import Snapshot

# pytest shows no more of a repr.
_BRIEF = 240


class NoMatch:
    """The result where no node fits: false in a condition; its text says what came nearest."""

    def __init__(
        self, snapshot: Snapshot, query: Query, container: Node | NoMatch | None = None
    ) -> None:
        self.snapshot = snapshot
        self.query = query
        self.container = container

    @property
    def matcher(self) -> NodeMatcher:
        """What was looked for."""
        return self.query.matcher

    @cached_property
    def nearest(self) -> list[Miss]:
        """The nodes that came nearest, the nearest first."""
        if isinstance(self.container, NoMatch):
            return self.container.nearest
        return near_miss.nearest(self.snapshot, self.query, container=self.container)

    def __bool__(self) -> Literal[False]:
        return False

    def __getattr__(self, name: str) -> Any:
        """Raise ``NodeNotFoundError`` where this is used as if it were a node."""
        __tracebackhide__ = True
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if not hasattr(type(self.snapshot.root), name):
            getattr(self.snapshot.root, name)  # raises, and says what it is called here
        raise NodeNotFoundError(
            f"there is no node whose .{name} could be given: none fits {self._wanted(longest=300)}",
            hint="Ask `if found:` first where it may be missing, or wait with claw.node(...).",
            matcher=self.matcher,
            nearest=self.nearest,
            outline=near_miss.outline(self.snapshot),
            snapshot=self.snapshot,
        )

    def __repr__(self) -> str:
        text = f"<NoMatch {self._wanted(longest=80)}"
        facts = self._facts()
        for fact in facts:
            longer = f"{text}; {fact}"
            if len(longer) > _BRIEF - len("...>"):
                return f"{longer[: _BRIEF - 4] if fact is facts[0] else text}...>"
            text = longer
        return f"{text}>"

    def __str__(self) -> str:
        lines = [f"No node on the screen fits {self._wanted(longest=300)}", *self._facts()]
        return "\n  ".join(lines)

    def _wanted(self, *, longest: int) -> str:
        wanted = plain(str(self.matcher), longest=longest)
        if self.container is None:
            return wanted
        if isinstance(self.container, NoMatch):
            return f"{wanted} in {self.container._wanted(longest=longest)}"
        return f"{wanted} in {describe(self.container)}"

    def _facts(self) -> list[str]:
        near = [f"near: {miss}" for miss in self.nearest] or ["nothing comes near"]
        if isinstance(self.container, NoMatch):
            near.insert(0, "the container is not there either")
        if cover := near_miss.covering(self.snapshot):
            near.insert(0, f"covered by {plain(cover)}")
        if (role := self.matcher.role) and role.lower() in roles.UNTELLABLE:
            near.insert(0, f"a snapshot does not tell the role {role.lower()}")
        return near

    def __reduce__(self) -> tuple[Any, ...]:
        return NoMatch, (self.snapshot, self.query, self.container)


class Searchable:
    """Has nodes to search: on the screen unless asked otherwise, parents before children."""

    __slots__ = ()

    def find(
        self,
        matcher: Wanted = None,
        /,
        *,
        on_screen: bool = True,
        **keywords: Unpack[MatcherKeywords],
    ) -> Node | NoMatch:
        """Return the first node that fits, or a :class:`NoMatch` that says what came nearest."""
        query = Query.of(matcher, keywords)
        found = next(self._matches(query, on_screen=on_screen), None)
        return self._no_match(query) if found is None else found

    def find_all(
        self,
        matcher: Wanted = None,
        /,
        *,
        on_screen: bool = True,
        **keywords: Unpack[MatcherKeywords],
    ) -> list[Node]:
        """Return every node that fits, in the order of the tree."""
        return list(self._matches(Query.of(matcher, keywords), on_screen=on_screen))

    def count(
        self,
        matcher: Wanted = None,
        /,
        *,
        on_screen: bool = True,
        **keywords: Unpack[MatcherKeywords],
    ) -> int:
        """Count the nodes that fit."""
        return len(self.find_all(matcher, on_screen=on_screen, **keywords))

    def _candidates(self, query: Query) -> Iterable[Node]:
        """Return nodes that include all that fit, in the order of the tree."""
        raise NotImplementedError

    def _no_match(self, query: Query) -> NoMatch:
        raise NotImplementedError

    def _matches(self, query: Query, *, on_screen: bool) -> Iterator[Node]:
        if query.matcher.role is not None:
            check_role(query.matcher.role)
        return (
            node
            for node in self._candidates(query)
            if query.fits(node) and (not on_screen or node.is_on_screen)
        )


class Scope(Searchable):
    """A part of a snapshot: a container and what is in it."""

    def __init__(self, container: Node | NoMatch) -> None:
        self.container = container

    def _candidates(self, query: Query) -> Iterable[Node]:
        if isinstance(self.container, NoMatch):
            return ()
        container = self.container
        wanted = query.matcher.text_equals
        if not wanted or not isinstance(wanted, str):
            return chain((container,), container.descendants)
        return (
            node
            for node in container.snapshot._candidates(query)
            if node is container or container in node.ancestors
        )

    def _no_match(self, query: Query) -> NoMatch:
        return NoMatch(self.container.snapshot, query, self.container)

    def __repr__(self) -> str:
        return f"<Scope {self.container!r}>"


def identifying_matcher(node: Node) -> NodeMatcher | None:
    """Return the shortest matcher by which the Operator finds this very node first, or None."""
    fields = {
        "resource_id": node.resource_id,
        "text_equals": node.label,
        "content_desc_equals": node.content_desc,
        "role": node.role if roles.is_certain(node) else "",
    }
    given = [(name, value) for name, value in fields.items() if value.strip()]
    choices = [chosen for size in range(len(given)) for chosen in combinations(given, size + 1)]
    # A role alone soon means another node when the screen changes, so it comes last.
    choices.sort(key=lambda chosen: chosen[0][0] == "role")
    for chosen in choices:
        try:
            matcher = NodeMatcher(**dict(chosen))
        except ExecutionValidationError:  # too long for the wire
            continue
        if node.snapshot.find(matcher) is node:
            return matcher
    return None
