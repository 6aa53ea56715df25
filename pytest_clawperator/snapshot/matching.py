"""Whether a node fits a matcher, by the Operator's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_clawperator.contracts.matchers import MatcherKeywords, NodeMatcher, is_short_id
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.roles import KNOWN_ROLES

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node


def folded(text: str) -> str:
    """Return the text without its case, as the device compares: character by character."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


def _folded_character(character: str) -> str:
    upper = character.upper()
    # Where a whole string would grow, as ß does, a single character stays what it is.
    return (upper if len(upper) == 1 else character).lower()[0]


Comparison = Callable[[str, Any], bool]
#: What a field of a matcher may ask for.
WantedText = str | re.Pattern[str]

# Each compares the value of a node with the wanted one. A label may be empty; another value
# that is empty is one that the node does not have, and fits nothing.


def _is_label(value: str, wanted: str) -> bool:
    return value == wanted


def _is_in_label(value: str, wanted: str) -> bool:
    return folded(wanted) in folded(value)


def _is(value: str, wanted: str) -> bool:
    return value != "" and value == wanted


def _is_in(value: str, wanted: str) -> bool:
    return value != "" and folded(wanted) in folded(value)


def _is_role(value: str, wanted: str) -> bool:
    return value == wanted.lower()


def _is_id_or_short(value: str, wanted: str) -> bool:
    return value != "" and (value == wanted or value.endswith(f":id/{wanted}"))


def _has_pattern(value: str, wanted: re.Pattern[str]) -> bool:
    # What a node does not have fits no pattern, not even one that an empty text fits.
    return value != "" and wanted.search(value) is not None


def _has_id_pattern(value: str, wanted: re.Pattern[str]) -> bool:
    return _has_pattern(value, wanted) or _has_pattern(value.rpartition(":id/")[2], wanted)


class NodeField(NamedTuple):
    """How one key of a matcher is compared with a node.

    ``attribute`` of the node is what is compared, ``word`` what messages call it. ``elsewhere``
    is another attribute, and its word, that people take it for.
    """

    attribute: str
    word: str
    fits: Comparison
    elsewhere: tuple[str, str] | None = None


#: A row for each field of ``NodeMatcher``, in the order in which messages mention them.
FIELDS: Mapping[str, NodeField] = {
    "resource_id": NodeField("resource_id", "id", _is, ("short_id", "short id")),
    "role": NodeField("role", "role", _is_role),
    "text_equals": NodeField("label", "text", _is_label, ("content_desc", "description")),
    "text_contains": NodeField("label", "text", _is_in_label, ("content_desc", "description")),
    "content_desc_equals": NodeField("content_desc", "description", _is, ("text", "text")),
    "content_desc_contains": NodeField("content_desc", "description", _is_in, ("text", "text")),
}


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
        """Build a query from a matcher in any of its forms, or from keywords."""
        __tracebackhide__ = True
        if matcher is None:
            found = NodeMatcher.for_search(**keywords)
            return cls(found, takes_short_id=is_short_id(found.resource_id))
        if keywords:
            raise TypeError(f"give a matcher or keywords, not both: {sorted(keywords)}")
        if isinstance(matcher, Query):
            return matcher
        return cls(matcher if isinstance(matcher, NodeMatcher) else NodeMatcher.from_wire(matcher))

    @cached_property
    def fields(self) -> dict[str, WantedText]:
        """The fields that must fit, named as on a ``NodeMatcher``."""
        values = {name: getattr(self.matcher, name) for name in FIELDS}
        return {name: value for name, value in values.items() if value is not None}

    def fits(self, node: Node) -> bool:
        """Whether every field fits."""
        for attribute, fits, wanted in self._checks:
            if not fits(getattr(node, attribute), wanted):
                return False
        return True

    def field_fits(self, node: Node, name: str, wanted: WantedText) -> bool:
        """Whether one field fits."""
        return self._comparison(name, wanted)(getattr(node, FIELDS[name].attribute), wanted)

    @cached_property
    def _checks(self) -> list[tuple[str, Comparison, WantedText]]:
        # Ready for many nodes.
        return [
            (FIELDS[name].attribute, self._comparison(name, wanted), wanted)
            for name, wanted in self.fields.items()
        ]

    def _comparison(self, name: str, wanted: WantedText) -> Comparison:
        if isinstance(wanted, re.Pattern):
            return _has_id_pattern if name == "resource_id" else _has_pattern
        is_short = self.takes_short_id and name == "resource_id"
        return _is_id_or_short if is_short else FIELDS[name].fits


def check_role(role: str) -> None:
    """Raise ``ConfigurationError`` for a misspelt role: it would silently never be found."""
    __tracebackhide__ = True
    name = role.lower()
    near = None if name in KNOWN_ROLES else closest(name, KNOWN_ROLES)
    if near is not None:
        raise ConfigurationError(f"there is no role {quote(role)}", hint=f"Did you mean {near}?")


#: The forms in which a matcher may be given; None where keywords are given instead.
Wanted = Query | NodeMatcher | Mapping[str, Any] | None
