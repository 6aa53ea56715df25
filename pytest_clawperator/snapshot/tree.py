"""A screen as a tree of nodes, with their bounds, and which of them cover others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, overload
from weakref import ref

from lxml import etree  # type: ignore[import-untyped]  # lxml has no types
from typing_extensions import Unpack, override

from pytest_clawperator import errors
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords, NodeMatcher
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot import golden, near_miss, query
from pytest_clawperator.snapshot.golden_diff import compare
from pytest_clawperator.snapshot.parse import Parsed, decoded, original, parse, stand_in
from pytest_clawperator.snapshot.query import Query, Wanted

# A bounded number of digits: Python refuses to convert absurdly long ones.
_PRINTED = re.compile(r"\[(-?[0-9]{1,9}),(-?[0-9]{1,9})\]\[(-?[0-9]{1,9}),(-?[0-9]{1,9})\]")


class Bounds(NamedTuple):
    """A rectangle: left and top are inside, right and bottom just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def parse(cls, text: str) -> Bounds | None:
        """Parse ``[left,top][right,bottom]``; None for anything else.

        Phones print nodes that are scrolled away inside out; like the Operator, this turns
        them the right way round.
        """
        found = _PRINTED.fullmatch(text)
        if found is None:
            return None
        left, top, right, bottom = map(int, found.groups())
        return cls(min(left, right), min(top, bottom), max(left, right), max(top, bottom))

    @property
    def width(self) -> int:
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """How high it is."""
        return self.bottom - self.top

    @property
    def center(self) -> tuple[int, int]:
        """The point in the middle."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    @property
    def area(self) -> int:
        """How many pixels it covers."""
        return self.width * self.height

    def contains(self, other: tuple[int, int] | Bounds) -> bool:
        """Whether a point, or all of another rectangle, lies inside."""
        if isinstance(other, Bounds):
            return (
                self.left <= other.left
                and self.top <= other.top
                and other.right <= self.right
                and other.bottom <= self.bottom
            )
        x, y = other
        return self.left <= x < self.right and self.top <= y < self.bottom

    def intersects(self, other: Bounds) -> bool:
        """Whether the two share at least one pixel."""
        return self.intersection(other) is not None

    def intersection(self, other: Bounds) -> Bounds | None:
        """Return what the two share, or None."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Bounds(left, top, right, bottom) if left < right and top < bottom else None

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


Element = Any  # an lxml element; lxml has no types

_NOWHERE = Bounds(0, 0, 0, 0)


class Node(query.Searchable, HintsAtNames):
    """One node of a snapshot. Nodes are compared by identity; each exists once."""

    __slots__ = ("__weakref__", "_element", "snapshot")

    _own_word = "node"
    _their_names = foreign_names.NODE
    # Not checked, because many are made; its slots are all that can be set anyhow.
    __setattr__ = object.__setattr__

    def __init__(self, snapshot: Snapshot, element: Element) -> None:
        self.snapshot = snapshot
        self._element = element

    @property
    def attributes(self) -> dict[str, str]:
        """All attributes of the XML, under their names there."""
        return {str(name): self._get(name) for name in self._element.attrib}

    @property
    def text(self) -> str:
        """What the node shows."""
        return self._get("text")

    @property
    def content_desc(self) -> str:
        """The description for screen readers."""
        return self._get("content-desc")

    @property
    def label(self) -> str:
        """The text, or the description if that is blank: what matchers call text."""
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
        """What kind of thing it is, as far as the XML shows."""
        return query.role_of(self)

    @property
    def bounds(self) -> Bounds:
        """Where it is; empty if the XML does not have it."""
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

        If there are several roots, it begins with the position of the root.
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
        """Whether the Operator's matchers see it, as far as the XML shows."""
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
        return Scope([self])._candidates(wanted)

    @override
    def _no_match(self, wanted: Query) -> near_miss.NoMatch:
        return near_miss.NoMatch(self.snapshot, wanted, [self])

    def _get(self, name: str) -> str:
        return self.snapshot._value(self._element, name)

    def _is(self, name: str) -> bool:
        return bool(self._element.get(name) == "true")

    def _position(self) -> int:
        return sum(1 for _ in self._element.itersiblings("*", preceding=True))

    def __bool__(self) -> Literal[True]:
        return True

    def __eq__(self, other: object) -> bool:
        """Whether it is the same node; a text or a number is an error: it equals no node."""
        __tracebackhide__ = True
        if isinstance(other, (str, int, float, bytes)):
            raise errors.ConfigurationError(
                f"{self!r} is a node, which cannot be compared with {shown(other)}",
                hint="Compare what it shows: .text == ..., or .label, which is its description"
                " if it has no text.",
            )
        return self is other if isinstance(other, Node) else NotImplemented

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Node {near_miss.describe(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _node_at, (self.snapshot, self.snapshot._elements.index(self._element))


def _node_at(snapshot: Snapshot, position: int) -> Node:
    return snapshot._node(snapshot._elements[position])


# So many nodes with a text are looked at one by one; otherwise what is in the containers is.
_FEW = 10


class Scope(query.Searchable):
    """A part of a snapshot: what is inside any of some containers, but not these themselves."""

    def __init__(self, around: Sequence[Node] | near_miss.NoMatch) -> None:
        self.around = around

    @override
    def _candidates(self, wanted: Query) -> Iterable[Node]:
        around = self.around
        if isinstance(around, near_miss.NoMatch) or not around:
            return ()
        snapshot, text = around[0].snapshot, wanted.matcher.text_equals
        named = snapshot._by_label.get(text, []) if text and isinstance(text, str) else None
        if named is None or len(named) > _FEW:
            return chain.from_iterable(node.descendants for node in outermost(around))
        containers = set(around)
        return (node for node in map(snapshot._node, named) if is_inside(node, containers))

    @override
    def _no_match(self, wanted: Query) -> near_miss.NoMatch:
        around = self.around
        snapshot = (around if isinstance(around, near_miss.NoMatch) else around[0]).snapshot
        return near_miss.NoMatch(snapshot, wanted, around)

    def __bool__(self) -> bool:
        raise errors.ConfigurationError(
            "a part of a snapshot is neither true nor false",
            hint="Ask what is in it, as in snapshot.within(id='cart').find_all(text='Tea').",
        )

    def __repr__(self) -> str:
        return f"<Scope {self.around!r}>"


def is_inside(node: Node, containers: Collection[Node]) -> bool:
    """Whether any of the containers is around a node; a node is not inside itself."""
    return any(above in containers for above in node.ancestors)


def outermost(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that are inside none of the others."""
    every = dict.fromkeys(nodes)
    return [node for node in every if not is_inside(node, every)]


__all__ = ["Node", "Snapshot"]


# Windows of these lie over an app, and are then what the snapshot shows.
_PROMPTERS = ("permissioncontroller", "packageinstaller", "systemui")


class Snapshot(query.Searchable, HintsAtNames):
    """What was on the screen: the active window's nodes, and facts about the other windows."""

    _own_word = "snapshot"
    _their_names = foreign_names.SNAPSHOT
    __setattr__ = object.__setattr__  # not checked, because many are made

    def __init__(
        self,
        source: str | bytes,
        parsed: Parsed,
        *,
        foreground_package: str | None = None,
        has_overlay: bool | None = None,
        overlay_package: str | None = None,
        window_count: int | None = None,
    ) -> None:
        self._top = parsed.top
        self._roots: tuple[Element, ...] = tuple(self._top.iterchildren("*"))
        self._source = source
        self._has_stand_ins = parsed.has_stand_ins
        # Weak, so that a snapshot goes when its last user does; many are taken while waiting.
        self._nodes: dict[Element, ref[Node]] = {}
        self._shown: dict[Element, bool] = {}
        self.is_partial = parsed.is_partial
        self.foreground_package = foreground_package or self.root.package or None
        self.has_overlay = has_overlay
        self.overlay_package = overlay_package
        self.window_count = window_count

    @classmethod
    def from_xml(
        cls,
        source: str | bytes,
        *,
        partial: bool = False,
        foreground_package: str | None = None,
        has_overlay: bool | None = None,
        overlay_package: str | None = None,
        window_count: int | None = None,
    ) -> Snapshot:
        """Parse a hierarchy.

        One that breaks off is refused; with ``partial`` it is read as far as it goes, with
        a warning.
        """
        snapshot = cls(
            source,
            parse(source, partial=partial),
            foreground_package=foreground_package,
            has_overlay=has_overlay,
            overlay_package=overlay_package,
            window_count=window_count,
        )
        snapshot._warn_if_partial()
        return snapshot

    @classmethod
    def from_step(cls, text: str, data: Mapping[str, str], *, partial: bool = False) -> Snapshot:
        """Build a snapshot from a step's hierarchy and its other data.

        With ``partial`` a damaged one is read as far as it goes, without a warning.
        """
        windows = data.get("window_count", "")
        snapshot = cls(
            text,
            parse(text, partial=partial),
            foreground_package=data.get("foreground_package"),
            has_overlay={"true": True, "false": False}.get(data.get("has_overlay", "")),
            overlay_package=data.get("overlay_package"),
            window_count=int(windows) if windows.isdecimal() and len(windows) < 10 else None,
        )
        if not partial:
            snapshot._warn_if_partial()
        return snapshot

    def _warn_if_partial(self) -> None:
        if self.is_partial:
            warnings.warn(
                f"The hierarchy is damaged or breaks off: {len(self)} nodes could be read, "
                "and what is missing counts as absent.",
                errors.ClawperatorWarning,
                stacklevel=3,
            )

    @cached_property
    def xml(self) -> str:
        """The hierarchy as it was received."""
        return decoded(self._source) if isinstance(self._source, bytes) else self._source

    @property
    def root(self) -> Node:
        """The node that holds all others; of several windows the one of the largest."""
        return self._node(self._root)

    @property
    def roots(self) -> list[Node]:
        """The nodes that are in no other: one for each window that the hierarchy has."""
        return [self._node(root) for root in self._roots]

    @property
    def rotation(self) -> int:
        """Quarter turns of the screen: 0 to 3."""
        printed = self._top.get("rotation", "0")
        return int(printed) if printed in ("0", "1", "2", "3") else 0

    @property
    def size(self) -> tuple[int, int]:
        """The right and bottom edge of all windows, taken for the size of the screen."""
        screen = self._screen
        return (0, 0) if screen is None else (screen.right, screen.bottom)

    @property
    def covering_package(self) -> str | None:
        """The package whose window lies over another app's, or None."""
        if not self.has_overlay:
            return None
        foreground = self.foreground_package or ""
        if foreground == "android" or any(word in foreground for word in _PROMPTERS):
            return foreground
        return self.overlay_package if self.overlay_package != foreground else None

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, parents before children."""
        return _Nodes(self)

    def __len__(self) -> int:
        return len(self._elements)

    def __bool__(self) -> Literal[True]:
        return True

    def __eq__(self, other: object) -> bool:
        """Whether it fits a golden or the text of one, or shows the same as another snapshot.

        A text that is not a golden is an error: it would be unequal to every screen.
        """
        __tracebackhide__ = True
        if isinstance(other, Snapshot):
            shown = golden.render(self)
            is_alike = shown == golden.render(other)
            return is_alike and (bool(shown) or self.xml == other.xml)
        if isinstance(other, golden.Golden):
            return compare(other, self) is None
        if not isinstance(other, str):
            return NotImplemented
        return compare(golden.parse(other), self) is None

    __hash__ = object.__hash__

    def within(
        self,
        container: Node | Wanted = None,
        /,
        **keywords: Unpack[MatcherKeywords],
    ) -> Scope:
        """Return a scope to search in: what is inside a node, or any node that fits a matcher."""
        __tracebackhide__ = True
        if isinstance(container, Node):
            if container.snapshot is not self:
                raise errors.ConfigurationError(
                    f"{container!r} is a node of another snapshot",
                    hint="Search in a node of this one, or give a matcher.",
                )
            return Scope([container])
        found = self.find_all(container, **keywords)
        return Scope(found or self._no_match(Query.of(container, keywords)))

    def xpath(self, expression: str, /, **variables: Any) -> list[Node]:
        """Return the nodes that an XPath 1.0 expression selects, on the screen or not.

        ``$name`` in the expression is the variable of that name.
        """
        values = {k: stand_in(v) if isinstance(v, str) else v for k, v in variables.items()}
        try:
            found = etree.XPath(expression)(self._top, **values)
        except (etree.XPathError, ValueError, TypeError) as error:
            raise errors.SnapshotError(
                f"The XPath expression {expression!r} cannot be used: {error}",
                code=ErrorCode.XPATH_INVALID,
                hint="The elements are called node, and their attributes as in the XML.",
            ) from error
        if not isinstance(found, list) or not all(map(self._is_node, found)):
            raise errors.SnapshotError(
                f"The XPath expression {expression!r} gives {found!r:.80}, not nodes.",
                code=ErrorCode.XPATH_INVALID,
                hint="Select elements, as in //node[@text='OK'], and read their attributes.",
            )
        return [self._node(element) for element in found]

    def _is_node(self, found: Any) -> bool:
        return etree.iselement(found) and found is not self._top

    @cached_property
    def _elements(self) -> list[Element]:
        return list(self._top.iterdescendants("*"))

    @cached_property
    def _root(self) -> Element:
        if len(self._roots) == 1:
            return self._roots[0]

        def extent(root: Element) -> tuple[int, int]:
            bounds = Bounds.parse(root.get("bounds", ""))
            return (0 if bounds is None else bounds.area), sum(1 for _ in root.iterdescendants("*"))

        return max(self._roots, key=extent)  # the first of equal ones

    @cached_property
    def _screen(self) -> Bounds | None:
        parsed = (Bounds.parse(root.get("bounds", "")) for root in self._roots)
        known = [bounds for bounds in parsed if bounds is not None]
        if not known:
            return None
        return Bounds(
            min(bounds.left for bounds in known),
            min(bounds.top for bounds in known),
            max(bounds.right for bounds in known),
            max(bounds.bottom for bounds in known),
        )

    @cached_property
    def _by_label(self) -> dict[str, list[Element]]:
        labels: dict[str, list[Element]] = {}
        # This is most of what a first search costs: no list of all nodes, no calls.
        has_stand_ins = self._has_stand_ins
        for element in self._top.iterdescendants("*"):
            label = element.get("text")
            if label and has_stand_ins:
                label = original(label)
            if not label or label.isspace():
                label = element.get("content-desc")
                if label and has_stand_ins:
                    label = original(label)
            if not label:
                continue
            if label in labels:
                labels[label].append(element)
            else:
                labels[label] = [element]
        return labels

    @override
    def _candidates(self, wanted: Query) -> Iterable[Node]:
        # A list, because a node's role needs its parents: this keeps them from being made again.
        return [self._node(element) for element in self._narrowed(wanted.matcher)]

    def _narrowed(self, matcher: NodeMatcher) -> list[Element]:
        if isinstance(matcher.text_equals, str) and matcher.text_equals:
            return self._by_label.get(matcher.text_equals, [])
        wanted = matcher.resource_id
        if isinstance(wanted, str) and wanted:
            wanted = stand_in(wanted) if self._has_stand_ins else wanted
            return [e for e in self._elements if e.get("resource-id", "").endswith(wanted)]
        return self._elements

    @override
    def _no_match(self, wanted: Query) -> near_miss.NoMatch:
        return near_miss.NoMatch(self, wanted)

    def _node(self, element: Element) -> Node:
        known = self._nodes.get(element)
        node = None if known is None else known()
        if node is None:
            node = Node(self, element)
            self._nodes[element] = ref(node)
        return node

    def _value(self, element: Element, name: str) -> str:
        value: str = element.get(name, "")
        return original(value) if self._has_stand_ins else value

    def _is_on_screen(self, element: Element) -> bool:
        # The Operator always keeps a root, and with a hidden node it drops what is in it.
        return element.getparent() is self._top or self._is_shown(element)

    def _is_shown(self, element: Element) -> bool:
        lineage = []
        while element is not self._top and element not in self._shown:
            lineage.append(element)
            element = element.getparent()
        shown = self._shown.get(element, True)
        for below in reversed(lineage):
            shown = self._shown[below] = shown and self._reaches_in(below)
        return shown

    def _reaches_in(self, element: Element) -> bool:
        bounds = Bounds.parse(element.get("bounds", ""))
        if bounds is None:  # without bounds it counts as visible
            return True
        screen = self._screen
        return (
            bounds.area > 0
            and bounds.right >= 0
            and bounds.bottom >= 0
            and (screen is None or (bounds.left <= screen.right and bounds.top <= screen.bottom))
        )

    def __repr__(self) -> str:
        app = near_miss.plain(self.foreground_package or "an unknown app")
        return f"<Snapshot of {app}, {len(self)} nodes>"

    def __str__(self) -> str:
        """Return the outline of the screen, a line for each node that is more than layout."""
        return near_miss.outline(self, limit=len(self))

    def __reduce__(self) -> tuple[Any, ...]:
        known = (
            self.foreground_package,
            self.has_overlay,
            self.overlay_package,
            self.window_count,
        )
        return _snapshot_again, (self._source, self.is_partial, *known)


class _Nodes(Sequence[Node]):
    """The nodes of a snapshot, each made on access."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __len__(self) -> int:
        return len(self._snapshot)

    @overload
    def __getitem__(self, at: int) -> Node: ...

    @overload
    def __getitem__(self, at: slice) -> list[Node]: ...

    def __getitem__(self, at: int | slice) -> Node | list[Node]:
        elements = self._snapshot._elements
        if isinstance(at, slice):
            return list(map(self._snapshot._node, elements[at]))
        return self._snapshot._node(elements[at])

    def __iter__(self) -> Iterator[Node]:
        return map(self._snapshot._node, self._snapshot._elements)


def _snapshot_again(source: str | bytes, is_partial: bool, *known: Any) -> Snapshot:
    names = ("foreground_package", "has_overlay", "overlay_package", "window_count")
    parsed = parse(source, partial=is_partial)
    return Snapshot(source, parsed, **dict(zip(names, known, strict=True)))


# What is drawn after a node, and takes clicks.
_LATER_TARGETS = etree.XPath("following::*[@clickable='true']")
# What is smaller belongs to the layout: a button on a card, a bar below a list.
_LEAST_PART = 0.5


def visible_bounds(node: Node) -> Bounds | None:
    """Return the part of a node's bounds that is on the screen."""
    return node.bounds.intersection(Bounds(0, 0, *node.snapshot.size))


def covering_node(node: Node, *, around: Node) -> Node | None:
    """Return the node that takes the taps on another one, or None.

    Only a large node counts that takes clicks, is drawn later, and lies over all that is visible
    of the node; ``around`` is the node itself, or what takes its taps. Windows are not compared:
    the XML does not show which of them is in front.
    """
    shown = visible_bounds(node)
    if shown is None:
        return None
    least = _LEAST_PART * Bounds(0, 0, *node.snapshot.size).area
    for element in _LATER_TARGETS(node._element):
        bounds = Bounds.parse(element.get("bounds", ""))
        if bounds is None or bounds.area < least or bounds.intersection(shown) != shown:
            continue
        cover = node.snapshot._node(element)
        if cover.is_on_screen and around not in cover.ancestors and _share_a_window(node, cover):
            return cover
    return None


def _share_a_window(node: Node, other: Node) -> bool:
    return [node, *node.ancestors][-1] is [other, *other.ancestors][-1]


def secret_places(snapshot: Snapshot, *, only_readable: bool = False) -> list[Bounds]:
    """Return the bounds of nodes whose texts hold a secret, and of password fields.

    With ``only_readable`` password fields are left out: they show bullets.
    """
    return [
        node.bounds
        for node in snapshot.nodes
        if (node.password and not only_readable)
        or SECRETS.is_in(node.text)
        or SECRETS.is_in(node.content_desc)
    ]
