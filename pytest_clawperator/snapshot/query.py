"""Find nodes on a snapshot as the Operator would find them on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import Unpack

from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.matchers import MatcherKeywords, NodeMatcher, is_short_id
from pytest_clawperator.contracts.wording import closest, listed, quote
from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.near_miss import NoMatch
    from pytest_clawperator.snapshot.tree import Node


# Roles are inferred as the Operator infers them. It also asks Android what the XML lacks: whether
# a node is a heading, an item or a grid of a collection, laid out in a row or a column, or read by
# screen readers. All of that counts as absent here, so `listitem`, `label`, `row` and `column`
# never come out, `title` only inside a toolbar, and `grid` only for a `GridView`.

#: Roles that the Operator may see where this module, with only the XML, sees another.
UNSHOWN_ROLES = frozenset({"listitem", "title", "label", "row", "column", "grid"})

# The first part of the class name that fits decides, so that a RadioButton is a button.
# The simulated phone has a separate table, so that one mistake is not on both sides of the wire.
_BY_CLASS = (
    ("viewpager", "pager"),
    ("button", "button"),
    ("edittext", "textfield"),
    ("autocompletetextview", "textfield"),
    ("switch", "switch"),
    ("checkbox", "checkbox"),
    ("recyclerview", "list"),
    ("listview", "list"),
    ("gridview", "grid"),
    ("toolbar", "toolbar"),
    ("tablayout", "tabbar"),
    ("bottomnavigationview", "tabbar"),
    ("imageview", "image"),
    ("chip", "chip"),
)
#: All roles that the Operator or this module may name.
KNOWN_ROLES = UNSHOWN_ROLES | {role for _, role in _BY_CLASS}
KNOWN_ROLES |= {"tab", "icon", "container", "unknown", "text"}
_TAB_CLASSES = ("tablayout", "bottomnavigationview")
_TAB_IDS = ("tab", "navigation", "bottom")
_LAYOUTS = ("linearlayout", "framelayout", "constraintlayout", "coordinatorlayout")
_CLICKABLE_ANCESTORS = 3
_LONG_TEXT = 20


def role_of(node: Node) -> str:
    """Return the role of a node; the first rule that fits wins."""
    if _is_tab(node):
        return "tab"
    class_name = folded(node.class_name)
    by_class = _class_role(class_name)
    if by_class == "image" and _is_effectively_clickable(node):
        return "icon"
    if by_class is not None:
        return by_class
    if any(layout in class_name for layout in _LAYOUTS):
        return "container"
    return _text_role(node) if node.label else "unknown"


def is_certain(node: Node) -> bool:
    """Whether the Operator is sure to infer the same role as the XML gives."""
    class_name = folded(node.class_name)
    role = _class_role(class_name)
    is_collection = "recyclerview" in class_name or role == "grid"
    return _is_tab(node) or (role is not None and not is_collection)


def _is_tab(node: Node) -> bool:
    parent = node.parent
    if parent is None or not node.label:
        return False
    class_name, resource_id = folded(parent.class_name), folded(parent.resource_id)
    return any(part in class_name for part in _TAB_CLASSES) or any(
        part in resource_id for part in _TAB_IDS
    )


def _class_role(class_name: str) -> str | None:
    return next((role for part, role in _BY_CLASS if part in class_name), None)


def _text_role(node: Node) -> str:
    if _is_effectively_clickable(node):
        is_long = " " in node.text and utf16_length(node.text) > _LONG_TEXT
        return "text" if is_long else "button"
    parent = node.parent
    return "title" if parent is not None and "toolbar" in folded(parent.class_name) else "text"


def _is_effectively_clickable(node: Node) -> bool:
    current: Node | None = node
    for _ in range(_CLICKABLE_ANCESTORS + 1):
        if current is None:
            return False
        if current.clickable:
            return True
        current = current.parent
    return False


def folded(text: str) -> str:
    """Return the text without its case, as the device compares: character by character."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


def _folded_character(character: str) -> str:
    upper = character.upper()
    # A whole string might grow, as ß does; a single character stays what it is.
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
    means ``com.example:id/ok``; a matcher object is always taken literally.
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
    """Raise ``ConfigurationError`` for an unknown role: it would silently never be found."""
    __tracebackhide__ = True
    name = role.lower()
    if name not in KNOWN_ROLES:
        near = closest(name, KNOWN_ROLES)
        every = listed(sorted(KNOWN_ROLES), limit=len(KNOWN_ROLES))
        hint = f"Did you mean {near}?" if near else f"There are {every}."
        raise ConfigurationError(f"there is no role {quote(role)}", hint=hint)


#: The forms of a matcher; None if keywords are given instead.
Wanted = Query | NodeMatcher | Mapping[str, Any] | None


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
    ) -> Node:
        """Return the first node that fits; raise ``NodeNotFoundError``, with near misses, if none.

        ``find_all`` gives a list, which may be empty.
        """
        __tracebackhide__ = True
        query = Query.of(matcher, keywords)
        found = next(self._matches(query, on_screen=on_screen), None)
        if found is None:
            raise self._no_match(query).error
        return found

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

    def __contains__(self, text: object) -> bool:
        """Whether a node on the screen has exactly this text or description."""
        __tracebackhide__ = True
        if not isinstance(text, str):
            raise TypeError(
                f"`in` takes the text of a node, found something of type {type(text).__name__};"
                ' find_all(...) takes matchers, as in find_all(role="button")'
            )
        return bool(self.count(text=text) or self.count(desc=text))

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
    for matcher in _matchers_of(node):
        if next(node.snapshot._matches(Query(matcher), on_screen=True), None) is node:
            return matcher
    return None


def recognising_matcher(node: Node) -> NodeMatcher | None:
    """Return the shortest matcher that is this node's alone, on the screen or off it, or None.

    By it the node can be found again on another snapshot. A role alone would do for a node
    of any other screen.
    """
    for matcher in _matchers_of(node):
        is_role_alone = list(Query(matcher).fields) == ["role"]
        if not is_role_alone and node.snapshot.find_all(matcher, on_screen=False) == [node]:
            return matcher
    return None


def _matchers_of(node: Node) -> Iterator[NodeMatcher]:
    """Yield the matchers that fit a node, those with the fewest fields first."""
    fields = {
        "resource_id": node.resource_id,
        "text_equals": node.label,
        "content_desc_equals": node.content_desc,
        "role": node.role if is_certain(node) else "",
    }
    given = [(name, value) for name, value in fields.items() if value.strip()]
    choices = [chosen for size in range(len(given)) for chosen in combinations(given, size + 1)]
    # A role alone soon means another node when the screen changes, so it comes last.
    choices.sort(key=lambda chosen: chosen[0][0] == "role")
    for chosen in choices:
        try:
            yield NodeMatcher(**dict(chosen))
        except ExecutionValidationError:  # too long for the wire
            continue
