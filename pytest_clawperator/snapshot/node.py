"""One node of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import override

from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.snapshot import near_miss, query, roles
from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.matching import Query

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot

Element = Any  # an lxml element; lxml has no types

_NOWHERE = Bounds(0, 0, 0, 0)


class Node(query.Searchable, HintsAtNames):
    """One node of a snapshot. Nodes are compared by identity; each exists once."""

    __slots__ = ("__weakref__", "_element", "snapshot")

    _own_word = "node"
    _their_names = foreign_names.NODE

    def __init__(self, snapshot: Snapshot, element: Element) -> None:
        self.snapshot = snapshot
        self._element = element

    @property
    def attributes(self) -> dict[str, str]:
        """All that the XML says of it, named as there."""
        return {str(name): self._get(name) for name in self._element.attrib}

    @property
    def text(self) -> str:
        """What the node shows."""
        return self._get("text")

    @property
    def content_desc(self) -> str:
        """The description for people who do not see the screen."""
        return self._get("content-desc")

    @property
    def label(self) -> str:
        """The text, or where that is blank the description: what matchers call text."""
        text = self.text
        if text and not text.isspace():
            return text
        description = self.content_desc
        return "" if description.isspace() else description

    @property
    def resource_id(self) -> str:
        """The whole id, as ``com.example:id/ok``."""
        return self._get("resource-id")

    @property
    def short_id(self) -> str:
        """The id without its package, as ``ok``."""
        return self.resource_id.rpartition(":id/")[2]

    @property
    def class_name(self) -> str:
        """The class of the view, as ``android.widget.Button``."""
        return self._get("class")

    @property
    def package(self) -> str:
        """The package of the app that shows the node."""
        return self._get("package")

    @property
    def role(self) -> str:
        """What kind of thing it is, as far as the XML tells."""
        return roles.role_of(self)

    @property
    def bounds(self) -> Bounds:
        """Where it is; empty where the XML does not say."""
        return Bounds.parse(self._get("bounds")) or _NOWHERE

    @property
    def index(self) -> int:
        """Its number among its siblings on the device, which may count more than the XML has."""
        printed = self._get("index")
        is_number = printed.isascii() and printed.isdigit() and len(printed) < 10
        return int(printed) if is_number else self._position()

    @property
    def index_path(self) -> tuple[int, ...]:
        """Its way down from the root: positions in ``children``; empty for the root.

        Where there are several roots, it begins with the position of the root.
        """
        lineage = [self, *self.ancestors]
        if len(self.snapshot.roots) == 1:
            del lineage[-1]
        return tuple(node._position() for node in reversed(lineage))

    @property
    def checkable(self) -> bool:
        """Whether it can be checked."""
        return self._is("checkable")

    @property
    def checked(self) -> bool:
        """Whether it is checked."""
        return self._is("checked")

    @property
    def clickable(self) -> bool:
        """Whether it takes clicks itself."""
        return self._is("clickable")

    @property
    def enabled(self) -> bool:
        """Whether it is enabled."""
        return bool(self._element.get("enabled") != "false")

    @property
    def focusable(self) -> bool:
        """Whether it can take the focus."""
        return self._is("focusable")

    @property
    def focused(self) -> bool:
        """Whether it has the focus."""
        return self._is("focused")

    @property
    def scrollable(self) -> bool:
        """Whether it scrolls."""
        return self._is("scrollable")

    @property
    def long_clickable(self) -> bool:
        """Whether it takes long presses itself."""
        return self._is("long-clickable")

    @property
    def password(self) -> bool:
        """Whether it hides what is typed."""
        return self._is("password")

    @property
    def selected(self) -> bool:
        """Whether it is selected."""
        return self._is("selected")

    @property
    def is_on_screen(self) -> bool:
        """Whether the Operator's matchers see it, as far as the XML tells."""
        return self.snapshot._is_on_screen(self._element)

    @property
    def parent(self) -> Node | None:
        """The node around it; None for the root."""
        above = self._element.getparent()
        return None if above is self.snapshot._top else self.snapshot._node(above)

    @property
    def children(self) -> list[Node]:
        """The nodes directly in it."""
        return [self.snapshot._node(child) for child in self._element.iterchildren("*")]

    @property
    def ancestors(self) -> Iterator[Node]:
        """The nodes around it, the nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    @property
    def descendants(self) -> Iterator[Node]:
        """All nodes in it, parents before children."""
        return (self.snapshot._node(below) for below in self._element.iterdescendants("*"))

    def matcher(self) -> NodeMatcher | None:
        """Return the shortest matcher by which the Operator finds this very node, or None."""
        return query.identifying_matcher(self)

    @override
    def _candidates(self, wanted: Query) -> Iterable[Node]:
        return Scope(self)._candidates(wanted)

    @override
    def _no_match(self, wanted: Query) -> near_miss.NoMatch:
        return near_miss.NoMatch(self.snapshot, wanted, self)

    def _get(self, name: str) -> str:
        return self.snapshot._value(self._element, name)

    def _is(self, name: str) -> bool:
        return bool(self._element.get(name) == "true")

    def _position(self) -> int:
        return sum(1 for _ in self._element.itersiblings("*", preceding=True))

    def __bool__(self) -> Literal[True]:
        return True

    def __repr__(self) -> str:
        return f"<Node {near_miss.describe(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _node_at, (self.snapshot, self.snapshot._elements.index(self._element))


def _node_at(snapshot: Snapshot, position: int) -> Node:
    return snapshot._node(snapshot._elements[position])


class Scope(query.Searchable):
    """A part of a snapshot: a container and what is in it."""

    def __init__(self, container: Node | near_miss.NoMatch) -> None:
        self.container = container

    @override
    def _candidates(self, wanted: Query) -> Iterable[Node]:
        if isinstance(self.container, near_miss.NoMatch):
            return ()
        container = self.container
        text = wanted.matcher.text_equals
        if not text or not isinstance(text, str):
            return chain((container,), container.descendants)
        return (
            node
            for node in container.snapshot._candidates(wanted)
            if node is container or container in node.ancestors
        )

    @override
    def _no_match(self, wanted: Query) -> near_miss.NoMatch:
        return near_miss.NoMatch(self.container.snapshot, wanted, self.container)

    def __repr__(self) -> str:
        return f"<Scope {self.container!r}>"
