"""Finding nodes on a snapshot as the Operator would find them on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from pytest_clawperator.contracts.matchers import MatcherKeywords, NodeMatcher
from pytest_clawperator.errors import ExecutionValidationError
from pytest_clawperator.snapshot import roles
from pytest_clawperator.snapshot.matching import Query, Wanted, check_role

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.near_miss import NoMatch
    from pytest_clawperator.snapshot.node import Node


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
