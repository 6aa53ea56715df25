"""What locators and checks mean, worked out a second time from the documents alone.

Nothing here is shared with the package: a mistake would have to be made twice to stay hidden.
It is written to be plainly right, not to be fast: docs/matchers.md says what the keywords mean,
docs/snapshots.md what is on the screen, docs/expectations.md when a check holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from xml.etree import ElementTree as ET

Text = str | re.Pattern[str]


@dataclass(frozen=True)
class Description:
    """A node as a locator describes it: keywords, what is around it, what is in it, which one."""

    keywords: dict[str, Text]
    around: Description | None = None
    inside: tuple[Description, ...] = ()
    index: int | None = None

    @property
    def is_flat(self) -> bool:
        """Whether it is nothing but keywords."""
        return self.around is None and not self.inside and self.index is None

    @property
    def has_index(self) -> bool:
        """Whether one of several is chosen anywhere in it."""
        parts = [*self.inside, *([self.around] if self.around else [])]
        return self.index is not None or any(part.has_index for part in parts)


Box = tuple[int, int, int, int]


@dataclass(eq=False)
class Element:
    """A node of a hierarchy."""

    place: int
    attributes: dict[str, str]
    parent: Element | None
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        """Return an attribute, or an empty text."""
        return self.attributes.get(name, "")

    def is_(self, name: str) -> bool:
        """Whether a flag is set."""
        return self.get(name) == "true"

    @cached_property
    def above(self) -> list[Element]:
        """All nodes around it, the nearest first."""
        return [] if self.parent is None else [self.parent, *self.parent.above]

    @cached_property
    def below(self) -> list[Element]:
        """All nodes inside it, in the order of the tree."""
        return [each for child in self.children for each in (child, *child.below)]

    @cached_property
    def label(self) -> str:
        """The text, or the description if the text is blank."""
        spoken = [one for one in (self.get("text"), self.get("content-desc")) if one.strip()]
        return spoken[0] if spoken else ""

    @cached_property
    def role(self) -> str:
        """What kind of thing it is."""
        return _role(self)

    @cached_property
    def box(self) -> Box | None:
        """Its bounds, the right way round."""
        numbers = re.findall(r"-?\d+", self.get("bounds"))
        if len(numbers) != 4:
            return None
        x1, y1, x2, y2 = map(int, numbers)
        return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


@dataclass
class Screen:
    """A hierarchy, and how large its screen is."""

    elements: list[Element]

    @classmethod
    def read(cls, xml: str) -> Screen:
        """Read a hierarchy."""
        elements: list[Element] = []

        def add(source: ET.Element, parent: Element | None) -> None:
            element = Element(len(elements), dict(source.attrib), parent)
            elements.append(element)
            if parent is not None:
                parent.children.append(element)
            for child in source:
                add(child, element)

        for root in ET.fromstring(xml):
            add(root, None)
        return cls(elements)

    @cached_property
    def size(self) -> tuple[int, int] | None:
        """The right and the bottom edge of all windows; None if nothing says where they are."""
        boxes = [one.box for one in self.elements if one.parent is None and one.box]
        return (max(box[2] for box in boxes), max(box[3] for box in boxes)) if boxes else None

    def is_shown(self, element: Element) -> bool:
        """Whether matchers see a node: it and all around it reach into the screen, or it is a root.

        Touching an edge is enough. What has no bounds is taken to be there.
        """
        if element.parent is None:
            return True
        for each in (element, *element.above):
            if each.box is None:
                continue
            left, top, right, bottom = each.box
            if left == right or top == bottom or right < 0 or bottom < 0:
                return False
            if self.size is not None and (left > self.size[0] or top > self.size[1]):
                return False
        return True


# Roles

ROLE_OF_CLASS = {
    "viewpager": "pager",
    "button": "button",
    "edittext|autocompletetextview": "textfield",
    "switch": "switch",
    "checkbox": "checkbox",
    "recyclerview|listview": "list",
    "gridview": "grid",
    "toolbar": "toolbar",
    "tablayout|bottomnavigationview": "tabbar",
    "imageview": "image",
    "chip": "chip",
    "linearlayout|framelayout|constraintlayout|coordinatorlayout": "container",
}


def _role(element: Element) -> str:
    """Return the role that the Operator infers, as far as a hierarchy shows it."""
    parent, name = element.parent, element.get("class")
    takes_clicks = any(each.is_("clickable") for each in [element, *element.above][:4])
    if parent is not None and element.label:
        in_tabs = any(contains(parent.get("class"), one) for one in _TAB_CLASSES)
        if in_tabs or any(contains(parent.get("resource-id"), one) for one in _TAB_IDS):
            return "tab"
    for words, role in ROLE_OF_CLASS.items():
        if any(contains(name, word) for word in words.split("|")):
            return "icon" if role == "image" and takes_clicks else role
    if not element.label:
        return "unknown"
    if takes_clicks:
        text = element.get("text")
        units = sum(2 if ord(one) > 0xFFFF else 1 for one in text)
        return "text" if " " in text and units > 20 else "button"
    return "title" if parent is not None and contains(parent.get("class"), "toolbar") else "text"


_TAB_CLASSES = ("tablayout", "bottomnavigationview")
_TAB_IDS = ("tab", "navigation", "bottom")


# Keywords


def contains(text: str, part: str) -> bool:
    """Whether a text contains another in any case, compared as Java compares characters."""
    starts = range(len(text) - len(part) + 1)
    return any(all(map(_is_same_letter, text[start:], part)) for start in starts)


@cache
def _is_same_letter(one: str, other: str) -> bool:
    if one == other:
        return True
    one, other = (each.upper() if len(each.upper()) == 1 else each for each in (one, other))
    return one == other or one.lower()[0] == other.lower()[0]


def fits(element: Element, keywords: dict[str, Text]) -> bool:
    """Whether all keywords fit a node."""
    return all(_fits(element, word, wanted) for word, wanted in keywords.items())


def _fits(element: Element, word: str, wanted: Text) -> bool:
    whole = element.get("resource-id")
    values = {
        "text": [element.label],
        "desc": [element.get("content-desc")],
        "id": [whole, whole.split(":id/")[-1]],
        "text_contains": [element.label],
        "desc_contains": [element.get("content-desc")],
        "role": [element.role],
    }[word]
    if isinstance(wanted, re.Pattern):
        return any(value != "" and wanted.search(value) for value in values)
    if word.endswith("_contains"):
        return values[0] != "" and contains(values[0], wanted)
    if word == "id":
        is_short = ":id/" not in wanted and whole.endswith(f":id/{wanted}")
        return whole == wanted or is_short
    return values[0] == (wanted.lower() if word == "role" else wanted)


# Locators


def find(screen: Screen, wanted: Description, *, anywhere: bool = False) -> list[Element]:
    """Return the nodes that a description means: on the screen, or anywhere in the tree.

    What is on the screen is also somewhere: where ``.nth(i)`` means one there, it is that one.
    """
    if anywhere and wanted.has_index:
        shown = _find(screen, wanted, screen.elements, anywhere=False)
        if shown:
            return shown
    return _find(screen, wanted, screen.elements, anywhere=anywhere)


def _find(
    screen: Screen, wanted: Description, among: Sequence[Element], *, anywhere: bool
) -> list[Element]:
    if wanted.around is not None:
        parents = _find(screen, wanted.around, among, anywhere=anywhere)
        among = [each for each in among if any(parent in parents for parent in each.above)]
    found = [
        each
        for each in among
        if (anywhere or screen.is_shown(each))
        and fits(each, wanted.keywords)
        and all(_find(screen, part, each.below, anywhere=anywhere) for part in wanted.inside)
    ]
    if wanted.index is None:
        return found
    try:
        return [found[wanted.index]]
    except IndexError:
        return []


# Checks


@dataclass
class View:
    """The nodes that a description means on one screen; unless it is strict, the first counts."""

    screen: Screen
    wanted: Description
    is_strict: bool = True

    @cached_property
    def shown(self) -> list[Element]:
        """Those on the screen."""
        return find(self.screen, self.wanted)

    @cached_property
    def anywhere(self) -> list[Element]:
        """Those in the tree."""
        return find(self.screen, self.wanted, anywhere=True)

    @cached_property
    def one(self) -> Element | None:
        """The only one on the screen; a node and those inside it with its text are one."""
        shown = self.shown
        if not self.is_strict:
            return shown[0] if shown else None
        different = [
            each
            for each in shown
            if not any(above in shown and above.label == each.label for above in each.above)
        ]
        return different[0] if len(different) == 1 else None


def holds(view: View, check: str, *given: object) -> bool:
    """Whether a check holds; one that makes no sense here does not, and neither its opposite."""
    plain = check.removeprefix("not_")
    verdict = CHECKS[plain](view, *given)
    if verdict is None:
        return False
    return verdict is (plain == check)


Judge = Callable[..., bool | None]


def _of_one(judge: Judge) -> Judge:
    def judge_view(view: View, *given: object) -> bool | None:
        one = view.one
        return None if one is None else judge(view, one, *given)

    return judge_view


def _flag(name: str) -> Judge:
    return _of_one(lambda view, one: one.is_(name))


def _is_enabled(view: View, one: Element) -> bool:
    return one.get("enabled") != "false"


def _if_able(flag: str, able: str) -> Judge:
    return _of_one(lambda view, one: one.is_(flag) if one.is_(flag) or one.is_(able) else None)


def _in_viewport(view: View, ratio: float | None = None) -> bool | None:
    one = view.one
    if one is None:
        # Several are as bad as none; one that is off the screen is not in the viewport.
        return False if not view.shown and view.anywhere else None
    box = one.box
    if box is None or view.screen.size is None:
        return False
    frames = [(0, 0, *view.screen.size)]
    frames += [each.box or (0, 0, 0, 0) for each in one.above if each.is_("scrollable")]
    left, top = max(box[0], *(f[0] for f in frames)), max(box[1], *(f[1] for f in frames))
    right, bottom = min(box[2], *(f[2] for f in frames)), min(box[3], *(f[3] for f in frames))
    seen = max(0, right - left) * max(0, bottom - top)
    if ratio is None or seen == 0 or seen < ratio * (box[2] - box[0]) * (box[3] - box[1]):
        return ratio is None and seen > 0
    # The box of a node ends where it is cut off; only a whole width is taken for what it is.
    is_cut = any(
        box[1] == f[1] or box[3] == f[3] or (box[0] == f[0]) != (box[2] == f[2]) for f in frames
    )
    return None if is_cut else True


def _is_text(wanted: Text, found: str) -> bool:
    return wanted == found if isinstance(wanted, str) else wanted.search(found) is not None


def _is_part(wanted: Text, found: str) -> bool:
    return wanted in found if isinstance(wanted, str) else wanted.search(found) is not None


def _have_texts(view: View, wanted: Text | Sequence[Text]) -> bool | None:
    if isinstance(wanted, (str, re.Pattern)):
        return None if view.one is None else _is_text(wanted, view.one.label)
    found = [each.label for each in view.shown]
    if not found:
        return None
    return len(found) == len(wanted) and all(map(_is_text, wanted, found))


def _contain_texts(view: View, wanted: Text | Sequence[Text]) -> bool | None:
    if isinstance(wanted, (str, re.Pattern)):
        return None if view.one is None else _is_part(wanted, view.one.label)
    found = [each.label for each in view.shown]
    if not found:
        return None
    for text in wanted:
        while found and not _is_part(text, found[0]):
            found.pop(0)
        if not found:
            return False
        found.pop(0)
    return True


def _has_value(view: View, one: Element, wanted: Text) -> bool | None:
    value = value_of(view.screen, one)
    return None if value is None else _is_text(wanted, value)


def _is_in_own_list(found: Element, given: Element) -> bool:
    """Whether a text is in a list that the node it follows is not in."""
    lists = [each for each in (found, *found.above) if each.role in ("list", "grid")]
    return any(each is not given and each not in given.above for each in lists)


def value_of(screen: Screen, given: Element) -> str | None:
    """Return what follows a label on the nearest level on which anything follows it."""
    if given.role == "textfield":
        return given.get("text")
    labels = [each for each in (given, *given.below) if each.label and screen.is_shown(each)]
    if not labels:
        return None
    child = given if given.label else labels[0]
    while child.parent is not None:
        siblings = child.parent.children
        later = [e for e in siblings[siblings.index(child) + 1 :] if screen.is_shown(e)]
        if later:
            every = [each for one in later for each in (one, *one.below)]
            texts = [each for each in every if each.label and screen.is_shown(each)]
            summaries = [e for e in texts if e.get("resource-id").endswith("/summary")]
            found = next(iter(summaries + texts), None)
            return None if found is None or _is_in_own_list(found, given) else found.label
        child = child.parent
        is_item = child.parent is not None and child.parent.role in ("list", "grid")
        if is_item or child is given:
            return None
    return None


CHECKS: dict[str, Judge] = {
    "to_be_visible": lambda view: bool(view.shown),
    "to_be_hidden": lambda view: not view.shown,
    "to_exist": lambda view: bool(view.anywhere),
    "to_be_enabled": _of_one(_is_enabled),
    "to_be_disabled": _of_one(lambda view, one: not _is_enabled(view, one)),
    "to_be_checked": _if_able("checked", "checkable"),
    "to_be_focused": _if_able("focused", "focusable"),
    "to_be_selected": _flag("selected"),
    "to_be_in_viewport": _in_viewport,
    "to_have_text": _have_texts,
    "to_contain_text": _contain_texts,
    "to_have_desc": _of_one(lambda view, one, text: _is_text(text, one.get("content-desc"))),
    "to_have_role": _of_one(lambda view, one, role: one.role == role),
    "to_have_count": lambda view, count: len(view.shown) == count,
    "to_have_value": _of_one(_has_value),
}
