"""Explain why a matcher found nothing: the nearest nodes, and an outline of the screen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import NodeNotFoundError
from pytest_clawperator.redaction import SECRETS, hide
from pytest_clawperator.snapshot.query import FIELDS, UNSHOWN_ROLES, Query, WantedText, folded
from pytest_clawperator.text import visible_line

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Node, Snapshot


_AROUND = 12
_NAMED = 3


def first_difference(wanted: str, found: str) -> int:
    """Return the place of the first character that differs."""
    pairs = enumerate(zip(wanted, found, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(wanted), len(found)))


def surroundings(text: str, at: int) -> str:
    """Return the part of a text around a place, with dots where it was cut.

    A part of a secret might not be recognised, so a text with a secret is returned whole.
    """
    if SECRETS.is_in(text):
        return text
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def lookalikes(wanted: str, found: str) -> str | None:
    """Name the characters that differ but may look alike; return None if others differ."""
    if wanted == found or len(wanted) != len(found) or not (wanted + found).isprintable():
        return None
    if SECRETS.is_in(wanted) or SECRETS.is_in(found):
        return None
    differing = [n for n, (a, b) in enumerate(zip(wanted, found, strict=True)) if a != b]
    if any(not _may_look_alike(wanted[n], found[n]) for n in differing):
        return None
    named = [
        f"character {n + 1} is {_named_character(found[n])}, wanted {_named_character(wanted[n])}"
        for n in differing[:_NAMED]
    ]
    rest = len(differing) - len(named)
    return "; ".join(named) + (f"; and {rest} more" if rest else "")


def _may_look_alike(one: str, other: str) -> bool:
    """Whether two characters come from different alphabets, as Latin and Cyrillic a."""
    if one.isascii() and other.isascii():
        return False
    return _alphabet(one) != _alphabet(other)


def _alphabet(character: str) -> str:
    if character.isascii():
        return "LATIN"
    return unicodedata.name(character, "").partition(" ")[0]


def _named_character(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


_SHOWN_TEXT = 60
_COMPARED_TEXT = 100
_COMPARED_NODES = 5_000
_COMPARED_CLOSELY = 30
_NEAR = 0.5
_SHORT = 4
# Many nodes share a role, so it is a weak clue to the one that is meant.
_ROLE_WEIGHT = 0.15
_WORD = re.compile(r"[^\W_]+")
# The syntax of a pattern, without the text that it is about.
_SYNTAX = re.compile(r"\\[AbBdDsSwWZ]|\(\?[^:)]*[:)]|\{[\d,]*\}|[\\^$.*+?|()\[\]]")
_SHOWN_MATCHER = 300
_STATES = ("checked", "selected", "focused", "scrollable", "password")


class NoMatch:
    """A search without a match, and what came near."""

    def __init__(
        self, snapshot: Snapshot, query: Query, around: Sequence[Node] | NoMatch = ()
    ) -> None:
        self.snapshot = snapshot
        self.query = query
        self.around = around

    @cached_property
    def nearest(self) -> list[Miss]:
        """The nodes that came nearest, the nearest first."""
        if isinstance(self.around, NoMatch):
            return self.around.nearest
        return nearest(self.snapshot, self.query, around=self.around)

    @property
    def error(self) -> NodeNotFoundError:
        """The error that says so."""
        return NodeNotFoundError(
            "; ".join([f"no node fits {self._wanted}", *self._facts()]),
            hint="If it may be missing, use find_all(...), which gives a list, or"
            ' `"Sign in" in snapshot`; claw.node(...) waits for it.',
            matcher=self.query.matcher,
            nearest=self.nearest,
            outline=outline(self.snapshot),
            snapshot=self.snapshot,
        )

    @property
    def _wanted(self) -> str:
        wanted = plain(str(self.query.matcher), longest=_SHOWN_MATCHER)
        if isinstance(self.around, NoMatch):
            return f"{wanted} in {self.around._wanted}"
        if not self.around:
            return wanted
        others = len(self.around) - 1
        return f"{wanted} in {describe(self.around[0])}" + (f" or {others} more" if others else "")

    def _facts(self) -> Iterator[str]:
        if (role := self.query.matcher.role) and role.lower() in UNSHOWN_ROLES:
            yield f"a snapshot does not show the role {role.lower()}"
        if cover := self.snapshot.covering_package:
            yield f"covered by {plain(cover)}"
        if isinstance(self.around, NoMatch):
            yield "the container is not there either"


@dataclass(frozen=True)
class Miss:
    """A node that was nearly the wanted one, and why it was not."""

    node: Node
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{describe(self.node)}: {'; '.join(self.reasons)}"


def nearest(
    snapshot: Snapshot,
    matcher: Query | NodeMatcher | Mapping[str, Any],
    *,
    limit: int = 3,
    around: Sequence[Node] = (),
) -> list[Miss]:
    """Return the nodes that come nearest to a matcher that found nothing, the nearest first."""
    query = Query.of(matcher, {})
    nodes = snapshot.nodes[:_COMPARED_NODES]
    # Comparing texts closely is slow, so only those that share many letters are.
    for closely, keep in ((False, _COMPARED_CLOSELY), (True, limit)):
        points = {node: _closeness(node, query, closely=closely) for node in nodes}
        near = [node for node in nodes if points[node] >= _NEAR]
        nodes = nlargest(keep, near, key=points.__getitem__)
    misses = [Miss(node, _reasons(node, query, around)) for node in nodes]
    return [miss for miss in misses if miss.reasons]


def describe(node: Node) -> str:
    """Describe a node in a few words: role, label, id, bounds."""
    return " ".join([*_named(node, node.resource_id), str(node.bounds)])


def plain(text: str, *, longest: int = _SHOWN_TEXT) -> str:
    """Return a text as one short line, unprintable characters escaped and secrets hidden."""
    text = hide(text)
    shown = visible_line(text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def quoted(text: str) -> str:
    """Return a text in quotes, as one short line."""
    inner = plain(text.replace("\\", "\\\\")).replace('"', '\\"')
    return f'"{inner}"'


def outline(snapshot: Snapshot, *, limit: int = 40) -> str:
    """Outline the screen, a line for each node that is more than layout."""
    shown = list(_outlined_nodes(snapshot))
    lines = [f"{plain(snapshot.foreground_package or 'unknown app')}, {len(snapshot)} nodes"]
    lines += [f"{'  ' * min(depth, 20)}- {_outlined(node)}" for depth, node in shown[:limit]]
    if len(shown) > limit:
        lines.append(f"... and {len(shown) - limit} more")
    return "\n".join(lines)


def _outlined_nodes(snapshot: Snapshot) -> Iterator[tuple[int, Node]]:
    """Yield the nodes on the screen that are more than layout, each with its depth among them."""
    stack = [(0, root) for root in reversed(snapshot.roots)]
    while stack:
        depth, node = stack.pop()
        is_outlined = _is_outlined(node)
        if is_outlined:
            yield depth, node
        below = depth + 1 if is_outlined else depth
        stack += [(below, child) for child in reversed(node.children) if child.is_on_screen]


def _is_outlined(node: Node) -> bool:
    if node.label or node.clickable or node.scrollable or node.checkable:
        return True
    if node.role in ("container", "unknown"):
        return bool(node.resource_id) and not node.children
    return True


def _outlined(node: Node) -> str:
    words = _named(node, f"#{node.short_id}" if node.short_id else "")
    states = [state for state in _STATES if getattr(node, state)]
    if not node.enabled:
        states.append("disabled")
    if states:
        words.append(f"[{', '.join(states)}]")
    return " ".join([*words, str(node.bounds)])


def _named(node: Node, id: str) -> list[str]:
    label = [quoted(node.label)] if node.label else []
    return [node.role, *label, *([plain(id)] if id else [])]


def _reasons(node: Node, query: Query, around: Sequence[Node]) -> tuple[str, ...]:
    reasons = [
        _reason(node, field, wanted)
        for field, wanted in query.fields.items()
        if not query.field_fits(node, field, wanted)
    ]
    cover = node.snapshot.covering_package
    if cover and not reasons:
        reasons.append(f"covered by {plain(cover)}")
    if not node.is_on_screen:
        reasons.append(why_unseen(node))
    if around and not any(above in around for above in node.ancestors):
        reasons.append("outside the container" + ("s" if len(around) > 1 else ""))
    return tuple(reasons)


def why_unseen(node: Node) -> str:
    """Return why a node of the tree is not on the screen."""
    return "off-screen" if node.bounds.area else "no visible area"


def _reason(node: Node, field: str, wanted: WantedText) -> str:
    word, value = FIELDS[field].word, _value(node, field)
    if isinstance(wanted, re.Pattern):
        found = f"{word} is `{plain(value)}`" if value else f"no {word}"
        where = _elsewhere(node, field)[0] if _is_elsewhere(node, field, wanted) else ""
        there = f", which its {where} has" if where else ""
        return f"{found}, wanted one with the pattern `{plain(wanted.pattern)}`{there}"
    if field == "role":
        note = ", which the XML does not show" if wanted.lower() in UNSHOWN_ROLES else ""
        return f"role is {value}, wanted {plain(wanted)}{note}"
    shown, sought = (plain(text.replace("\\", "\\\\")) for text in (value, wanted))
    closer = ""
    if named := lookalikes(wanted, value):
        closer = f" ({named})"
    elif shown == sought:
        at = first_difference(wanted, value)
        shown, sought = (plain(surroundings(text, at)) for text in (value, wanted))
        closer = f" (they differ from character {at + 1} on)"
    found = f"{word} is `{shown}`" if value else f"no {word}"
    some = "one with " if field.endswith("contains") else ""
    reason = f"{found}, wanted {some}`{sought}`{closer}"
    other = _elsewhere(node, field)
    return f"{reason}, which is its {other[0]}" if wanted and wanted == other[1] else reason


def _value(node: Node, field: str) -> str:
    value: str = getattr(node, FIELDS[field].attribute)
    return value


def _elsewhere(node: Node, field: str) -> tuple[str, str]:
    """Return where the wanted text may be instead, and what is there."""
    attribute, word = FIELDS[field].elsewhere or ("", "")
    return word, getattr(node, attribute) if attribute else ""


def _is_elsewhere(node: Node, field: str, wanted: re.Pattern[str]) -> bool:
    there = _elsewhere(node, field)[1]
    return there != "" and wanted.search(there) is not None


def _closeness(node: Node, query: Query, *, closely: bool) -> float:
    points = total = 0.0
    for field, wanted in query.fields.items():
        weight = _ROLE_WEIGHT if field == "role" else 1.0
        is_fit = query.field_fits(node, field, wanted)
        points += weight * (1.0 if is_fit else _likeness(node, field, wanted, closely=closely))
        total += weight
    return points / total


def _likeness(node: Node, field: str, wanted: WantedText, *, closely: bool) -> float:
    if field == "role":
        return 0.0
    if isinstance(wanted, re.Pattern):
        if _is_elsewhere(node, field, wanted):
            return 0.95
        wanted = _SYNTAX.sub("", wanted.pattern)
    value, other = _value(node, field), _elsewhere(node, field)[1]
    if field == "resource_id":  # the package is the same for all
        value, wanted = node.short_id, wanted.rpartition(":id/")[2]
    value, other, wanted = (folded(text[:_COMPARED_TEXT]) for text in (value, other, wanted))
    if not wanted or not (value or other):
        return 0.0
    if wanted in (value, other):
        return 0.95
    bare, bare_wanted = _bare(value), _bare(wanted)
    if bare_wanted and bare_wanted in bare:  # the nearer the more of it
        return 0.7 + 0.25 * len(bare_wanted) / len(bare)
    likeness = _ratio(value, wanted, closely=closely)
    if len(wanted) < _SHORT or likeness >= _NEAR or wanted != bare_wanted:
        return likeness
    # A single word may be like one of several.
    words = (_ratio(word, wanted, closely=closely) for word in _WORD.findall(value))
    return max(likeness, 0.9 * max(words, default=0.0))


def _bare(text: str) -> str:
    return "".join(_WORD.findall(text))


def _ratio(value: str, wanted: str, *, closely: bool) -> float:
    matcher = SequenceMatcher(None, value, wanted, autojunk=False)
    return matcher.ratio() if closely else matcher.quick_ratio()


# The ids of its buttons, which are the same in every language.
_BUTTONS = "android:id/aerr_"
_TITLE = "android:id/alertTitle"


def crash_dialog(snapshot: Snapshot) -> str | None:
    """Return the title of Android's dialog that an app has stopped or does not respond, or None."""
    if _BUTTONS not in snapshot.xml or not any(
        node.resource_id.startswith(_BUTTONS) for node in snapshot.nodes
    ):
        return None
    titles = [node for node in snapshot.find_all(id=_TITLE) if node.label]
    labels = (node.label for node in (*titles, *snapshot.nodes) if node.label)
    return next(labels, "")


#: What to do about it; it comes before all other hints.
CRASH_HINT = "The app has crashed or hangs: see log.txt, or `adb logcat -b crash`, for the reason."


def crash_hint(snapshot: Snapshot | None) -> str | None:
    """Return what to do about a crash dialog on the screen, or None."""
    return CRASH_HINT if crash_prefix(snapshot) else None


def crash_prefix(snapshot: Snapshot | None) -> str:
    """Return the beginning of a failure's message: the crash dialog's title, if there is one."""
    title = None if snapshot is None else crash_dialog(snapshot)
    return "" if title is None else f"{quoted(title)} is on the screen; "


# What asks for a permission or an installation; the buttons have these ids in all of them.
_ASKING = ("permissioncontroller", "packageinstaller", "lbe.security.miui")
_QUESTIONS = (":id/permission_allow", ":id/permission_deny", ":id/install_confirm")
_MESSAGE = ":id/permission_message"
# The system's own dialogs: a low battery, a USB connection, an update.
_SYSTEM = ("android", "com.android.systemui")
_HEADING, _FIRST_BUTTON = ":id/alertTitle", "android:id/button1"
_KEYGUARD = "com.android.systemui:id/keyguard"


class SystemWindow(NamedTuple):
    """A window of the system that lies in front, which only an event of the system brings there."""

    package: str
    title: str
    is_crash: bool = False

    def __str__(self) -> str:
        return f"{quoted(self.title)} in front, a window of {self.package}"


def system_window(snapshot: Snapshot) -> SystemWindow | None:
    """Return the window of the system that a snapshot shows in place of an app, or None.

    What people open themselves is none: the notifications, the recent apps, a choice of apps.
    """
    title = crash_dialog(snapshot)
    if title is not None:
        return SystemWindow(snapshot.foreground_package or "android", title, is_crash=True)
    xml = snapshot.xml
    if not any(sign in xml for sign in (*_QUESTIONS, _HEADING, _FIRST_BUTTON, _KEYGUARD)):
        return None
    shown = [node for node in snapshot.nodes if node.is_on_screen]
    for node in shown:
        package, name = node.package, node.resource_id
        if any(word in package for word in _ASKING) and any(id_ in name for id_ in _QUESTIONS):
            return SystemWindow(package, _label(shown, _MESSAGE))
        if package in _SYSTEM and (name.endswith(_HEADING) or name == _FIRST_BUTTON):
            return SystemWindow(package, _label(shown, _HEADING))
        if name.startswith(_KEYGUARD):
            return SystemWindow(package, "the lock screen")
    return None


def _label(nodes: Sequence[Node], ending: str) -> str:
    """Return the label of the node whose id ends so, or else the first label."""
    named = (node.label for node in nodes if node.resource_id.endswith(ending))
    return next(named, None) or next((node.label for node in nodes if node.label), "")
