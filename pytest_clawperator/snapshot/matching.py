"""Whether a node fits a matcher, by the Operator's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_clawperator.contracts.keywords import MatcherKeywords, check_keywords, is_short_id
from pytest_clawperator.contracts.schema import wire_names
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.roles import KNOWN_ROLES

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node


@dataclass(frozen=True)
class Query:
    """A matcher, and whether its id may be the short one.

    The Operator knows only whole ids. On a snapshot, ``id="ok"`` given as a keyword also
    means ``com.example:id/ok``; a matcher object always means what it says.
    """

    matcher: NodeMatcher
    takes_short_id: bool = False

    @classmethod
    def of(cls, matcher: Wanted, keywords: MatcherKeywords) -> Query:
        """Read a matcher in any of the forms in which one may be given."""
        if matcher is None:
            check_keywords(keywords)
            found = NodeMatcher.of(**keywords)
            return cls(found, takes_short_id=is_short_id(found.resource_id))
        if keywords:
            raise TypeError(f"give a matcher or keywords, not both: {sorted(keywords)}")
        if isinstance(matcher, Query):
            return matcher
        return cls(matcher if isinstance(matcher, NodeMatcher) else NodeMatcher.from_wire(matcher))

    @cached_property
    def fields(self) -> dict[str, str]:
        """The fields that must fit, named as on a ``NodeMatcher``."""
        values = {name: getattr(self.matcher, name) for name in wire_names(NodeMatcher)}
        return {name: value for name, value in values.items() if value is not None}

    def fits(self, node: Node) -> bool:
        """Tell whether every field fits."""
        return all(self.field_fits(node, name, wanted) for name, wanted in self.fields.items())

    def field_fits(self, node: Node, name: str, wanted: str) -> bool:
        """Tell whether one field fits; what a node does not have fits nothing."""
        if name == "resource_id":
            return self._id_fits(node.resource_id, wanted)
        if name == "role":
            return node.role == wanted.lower()
        if name == "text_equals":
            return node.label == wanted
        if name == "text_contains":
            return folded(wanted) in folded(node.label)
        description = node.content_desc
        if name == "content_desc_equals":
            return description != "" and description == wanted
        return description != "" and folded(wanted) in folded(description)

    def _id_fits(self, resource_id: str, wanted: str) -> bool:
        if not resource_id:
            return False
        return resource_id == wanted or (
            self.takes_short_id and resource_id.endswith(f":id/{wanted}")
        )


def check_role(role: str) -> None:
    """Refuse a role that is a known one misspelt: it would quietly never be found."""
    __tracebackhide__ = True
    name = role.lower()
    near = None if name in KNOWN_ROLES else closest(name, KNOWN_ROLES)
    if near is not None:
        raise ConfigurationError(f"there is no role {quote(role)}", hint=f"Did you mean {near}?")


#: The forms in which a matcher may be given; None where keywords are given instead.
Wanted = Query | NodeMatcher | Mapping[str, Any] | None


def folded(text: str) -> str:
    """Give the text without its case, as the device compares: character by character."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


def _folded_character(character: str) -> str:
    upper = character.upper()
    # Where a whole string would grow, as ß does, a single character stays what it is.
    return (upper if len(upper) == 1 else character).lower()[0]
