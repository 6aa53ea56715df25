"""The UI tree as an accessibility service sees it: nodes, roles, search, events, and its XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary


class Bounds(NamedTuple):
    """A rectangle in pixels: left and top are inside, right and bottom just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """The width; never negative."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """The height; never negative."""
        return max(0, self.bottom - self.top)

    @property
    def centre(self) -> tuple[int, int]:
        """The point in the middle."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        """Return whether a point lies inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clipped(self, to: Bounds) -> Bounds:
        """Return the part that lies inside ``to``; empty if nothing does."""
        left, top = max(self.left, to.left), max(self.top, to.top)
        return Bounds(
            left, top, max(left, min(self.right, to.right)), max(top, min(self.bottom, to.bottom))
        )


@dataclass(eq=False)
class UiNode:
    """One node. Each change of the screen builds a new tree; nodes are never reused."""

    cls: str
    package: str
    bounds: Bounds
    text: str = ""
    content_desc: str = ""
    resource_id: str = ""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    # Known to the service, but not printed in the hierarchy:
    visible_to_user: bool = True
    heading: bool = False
    editable: bool = False
    screen_reader_focusable: bool = False
    orientation: Literal["horizontal", "vertical"] | None = None
    columns: int | None = None  # of a collection
    collection_item: bool = False
    # For drawing and for acting: which widget of which app this is.
    kind: str = ""
    widget: str = ""
    hint: str = ""
    children: list[UiNode] = field(default_factory=list)
    parent: UiNode | None = None

    @property
    def label(self) -> str:
        """The text, or the content description if that is blank."""
        return (
            self.text
            if self.text.strip()
            else self.content_desc
            if self.content_desc.strip()
            else ""
        )

    def walk(self) -> Iterator[UiNode]:
        """Yield the node and everything below it, parents before children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def add(self, child: UiNode) -> UiNode:
        """Append a child and return it."""
        child.parent = self
        self.children.append(child)
        return child


@dataclass(eq=False)
class Window:
    """One window of the screen; the last in a list of windows is on top."""

    type: Literal["application", "input_method", "system"]
    package: str
    root: UiNode
    active: bool = False


# -- Events --------------------------------------------------------------------------------------

EventType = Literal[
    "TYPE_VIEW_CLICKED",
    "TYPE_VIEW_LONG_CLICKED",
    "TYPE_VIEW_FOCUSED",
    "TYPE_VIEW_TEXT_CHANGED",
    "TYPE_VIEW_SCROLLED",
    "TYPE_WINDOW_STATE_CHANGED",
    "TYPE_WINDOW_CONTENT_CHANGED",
    "TYPE_NOTIFICATION_STATE_CHANGED",
]


@dataclass(frozen=True, eq=False)
class AccessibilityEvent:
    """An event; ``scroll`` is x and y and the limit of each."""

    type: EventType
    _: KW_ONLY
    time: float
    package: str
    class_name: str
    texts: tuple[str, ...] = ()
    content_desc: str = ""
    source: UiNode | None = None
    scroll: tuple[int, int, int, int] = (0, 0, 0, 0)

    def __str__(self) -> str:
        """Return it as Android prints it."""
        node = self.source
        x, y, most_x, most_y = self.scroll
        return (
            f"EventType: {self.type}; EventTime: {int(self.time * 1000)};"
            f" PackageName: {self.package};"
            " MovementGranularity: 0; Action: 0; ContentChangeTypes: []; WindowChangeTypes: []"
            f" [ ClassName: {self.class_name}; Text: [{', '.join(self.texts)}];"
            f" ContentDescription: {self.content_desc or 'null'};"
            " ItemCount: -1; CurrentItemIndex: -1;"
            f" Enabled: {_word(node is None or node.enabled)};"
            f" Password: {_word(node is not None and node.password)};"
            f" Checked: {_word(node is not None and node.checked)};"
            f" FullScreen: {_word(self.type == 'TYPE_WINDOW_STATE_CHANGED')};"
            f" Scrollable: {_word(node is not None and node.scrollable)}; BeforeText: null;"
            f" FromIndex: -1; ToIndex: -1; ScrollX: {x}; ScrollY: {y};"
            f" MaxScrollX: {most_x}; MaxScrollY: {most_y}; ScrollDeltaX: -1;"
            " ScrollDeltaY: -1; AddedCount: -1; RemovedCount: -1; ParcelableData: null;"
            " DisplayId: 0 ]; recordCount: 0"
        )


def _word(value: bool) -> str:
    return "true" if value else "false"


def texts_of(node: UiNode) -> tuple[str, ...]:
    """Return the texts of an event about a node: those in it, in order."""
    return tuple(text for part in node.walk() if (text := part.label))


# The first class name part that fits decides; the order is part of the behaviour, so that
# a RadioButton is a button.
_ROLE_OF_CLASS = (
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

_LAYOUTS = ("linearlayout", "framelayout", "constraintlayout", "coordinatorlayout")
_CLICKABLE_ANCESTORS = 3
_LONG_TEXT = 20


def role_of(node: UiNode) -> str:
    """Return the role of a node; the first rule that fits wins."""
    has_text = bool(node.label)
    if has_text and _is_in_tabs(node.parent):
        return "tab"
    cls = folded(node.cls)
    clickable = is_effectively_clickable(node)
    by_class = _class_role(node, cls, clickable=clickable)
    if by_class is not None:
        return by_class
    if node.collection_item:
        return "listitem"
    if node.heading and has_text:
        return "title"
    if any(layout in cls for layout in _LAYOUTS):
        return {"horizontal": "row", "vertical": "column"}.get(node.orientation or "", "container")
    if not has_text:
        return "unknown"
    return _text_role(node, clickable=clickable)


def _is_in_tabs(parent: UiNode | None) -> bool:
    if parent is None:
        return False
    cls, resource = folded(parent.cls), folded(parent.resource_id)
    return (
        "tablayout" in cls
        or "bottomnavigationview" in cls
        or any(word in resource for word in ("tab", "navigation", "bottom"))
    )


def nearest(node: UiNode, flag: str, levels: int = 7) -> UiNode | None:
    """Return the node itself or the closest ancestor that has a flag, so many levels up."""
    current: UiNode | None = node
    for _ in range(levels + 1):
        if current is None or getattr(current, flag):
            return current
        current = current.parent
    return None


def is_effectively_clickable(node: UiNode) -> bool:
    """Return whether the node or one of its closest ancestors is clickable."""
    return nearest(node, "clickable", _CLICKABLE_ANCESTORS) is not None


def _class_role(node: UiNode, cls: str, *, clickable: bool) -> str | None:
    role = next((role for part, role in _ROLE_OF_CLASS if part in cls), None)
    if role == "list" and "recyclerview" in cls and (node.columns or 0) > 1:
        return "grid"
    if role == "image" and clickable:
        return "icon"
    return role


def _text_role(node: UiNode, *, clickable: bool) -> str:
    if clickable:
        return "text" if " " in node.text and _length(node.text) > _LONG_TEXT else "button"
    if node.parent is not None and "toolbar" in folded(node.parent.cls):
        return "title"
    return "label" if node.screen_reader_focusable else "text"


def _length(text: str) -> int:
    # Java counts UTF-16 units: an emoji is two.
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _is_on_screen(node: UiNode, size: tuple[int, int]) -> bool:
    """Return whether the Operator sees this node, its ancestors aside; touching an edge counts."""
    left, top, right, bottom = node.bounds
    left, right = min(left, right), max(left, right)
    top, bottom = min(top, bottom), max(top, bottom)
    return (
        node.visible_to_user
        and right > left
        and bottom > top
        and right >= 0
        and bottom >= 0
        and left <= size[0]
        and top <= size[1]
    )


def children_on_screen(node: UiNode, size: tuple[int, int]) -> list[UiNode]:
    """List the children that the Operator sees."""
    return [child for child in node.children if _is_on_screen(child, size)]


def on_screen(root: UiNode, size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield what the Operator sees, parents first; the root always, a hidden node's subtree never.

    The nodes are the tree's own, so that they can be acted upon.
    """
    yield root
    if _is_on_screen(root, size):
        for child in root.children:
            if _is_on_screen(child, size):
                yield from on_screen(child, size)


def folded(text: str) -> str:
    """Return a text without its case, as Java compares: each character in upper, then lower case.

    So ``I`` and ``ı`` are the same, and ``S`` and ``ſ``. A character stays one character: ß is
    not SS.
    """
    if text.isascii():
        return text.lower()
    upper = (each.upper() if len(each.upper()) == 1 else each for each in text)
    return "".join(each.lower()[0] for each in upper)


def _fits(node: UiNode, field: str, wanted: str) -> bool:
    if field == "resourceId":
        return node.resource_id != "" and node.resource_id == wanted
    if field == "role":
        return role_of(node) == folded(wanted)
    if field == "textEquals":
        return node.label == wanted
    if field == "textContains":
        return folded(wanted) in folded(node.label)
    if field == "contentDescEquals":
        return node.content_desc != "" and node.content_desc == wanted
    if field == "contentDescContains":
        return node.content_desc != "" and folded(wanted) in folded(node.content_desc)
    # The Operator's parser ignores keys it does not know.
    return True


def find(root: UiNode, matcher: Mapping[str, str], size: tuple[int, int]) -> UiNode | None:
    """Return the first node on the screen that fits, parents before children."""
    return next(find_all(root, matcher, size), None)


def find_all(root: UiNode, matcher: Mapping[str, str], size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield every node on the screen that fits all fields of a matcher, in document order."""
    wanted = matcher.items()
    return (
        node
        for node in on_screen(root, size)
        if all(_fits(node, field, value) for field, value in wanted)
    )


def node_path(node: UiNode) -> str:
    """Return the child indexes from the root to a node, as ``0.3.1``; the root is ``0``."""
    indexes: list[str] = []
    while node.parent is not None:
        indexes.append(str(next(i for i, n in enumerate(node.parent.children) if n is node)))
        node = node.parent
    return ".".join(["0", *reversed(indexes)])


_ESCAPES = str.maketrans(
    {"&": "&amp;", '"': "&quot;", "'": "&apos;", "<": "&lt;", ">": "&gt;"},
)
_SPECIAL = re.compile("[&\"'<>]")
_BOOLEAN = {True: "true", False: "false"}


# -- The tree as XML -----------------------------------------------------------------------------


class Hierarchy(NamedTuple):
    """A printed tree."""

    rotation: int
    xml: str
    node_count: int


def hierarchy_xml(roots: Sequence[UiNode], rotation: int) -> str:
    """Return the trees of windows as XML."""
    return print_hierarchy(roots, rotation).xml


def print_hierarchy(roots: Sequence[UiNode], rotation: int) -> Hierarchy:
    """Print the trees of windows; those of a screen that was printed are not printed again."""
    printed = _PRINTED.get(roots[0])
    if printed is None or printed.rotation != rotation:
        printed = _PRINTED[roots[0]] = _print(roots, rotation)
    return printed


# A screen that has not changed is the same tree, and hosts that wait for something ask often.
_PRINTED: WeakKeyDictionary[UiNode, Hierarchy] = WeakKeyDictionary()


def _print(roots: Sequence[UiNode], rotation: int) -> Hierarchy:
    lines = [
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>",
        f'<hierarchy rotation="{rotation}">',
    ]
    for position, root in enumerate(roots):
        _print_node(root, position, "  ", lines)
    lines.append("</hierarchy>\n")
    xml = "\n".join(lines)
    return Hierarchy(rotation, xml, xml.count("<node "))


def _print_node(node: UiNode, index: int, indent: str, lines: list[str]) -> None:
    head = f"{indent}<node {_attributes(node, index)}"
    if not node.children:
        lines.append(f"{head} />")
        return
    lines.append(f"{head}>")
    for position, child in enumerate(node.children):
        _print_node(child, position, indent + "  ", lines)
    lines.append(f"{indent}</node>")


def _attributes(node: UiNode, index: int) -> str:
    bounds = node.bounds
    return (
        f'index="{index}" text="{_escaped(node.text)}" resource-id="{_escaped(node.resource_id)}"'
        f' class="{_escaped(node.cls)}" package="{_escaped(node.package)}"'
        f' content-desc="{_escaped(node.content_desc)}" checkable="{_BOOLEAN[node.checkable]}"'
        f' checked="{_BOOLEAN[node.checked]}" clickable="{_BOOLEAN[node.clickable]}"'
        f' enabled="{_BOOLEAN[node.enabled]}" focusable="{_BOOLEAN[node.focusable]}"'
        f' focused="{_BOOLEAN[node.focused]}" scrollable="{_BOOLEAN[node.scrollable]}"'
        f' long-clickable="{_BOOLEAN[node.long_clickable]}" password="{_BOOLEAN[node.password]}"'
        f' selected="{_BOOLEAN[node.selected]}"'
        f' bounds="[{bounds.left},{bounds.top}][{bounds.right},{bounds.bottom}]"'
    )


def _escaped(text: str) -> str:
    # Looking first is ten times quicker, and hardly any text needs it.
    return text.translate(_ESCAPES) if _SPECIAL.search(text) else text
