r"""Golden screens: what must be on a screen, as ``- role "name" [state]`` lines, indented.

    - toolbar:
      - title "Settings"
    - list:
      - text "Wi-Fi"
      - switch [checked]
      - text /Version \d+/
      - ...

A name is JSON text or a ``/regular expression/``; a state may be ``[checked=false]``;
``...`` stands for anything. Lines below a ``:`` lie inside it. What :func:`write` gives is
YAML too, so that editors colour it; in a line that YAML would misread, the whole entry
stands in single quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.wording import closest, listed, quote
from pytest_clawperator.errors import ConfigurationError, ErrorCode

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Node, Snapshot


ANYTHING = "..."
# Those that a snapshot shows; the Operator knows more.
ROLES = (
    *("button", "checkbox", "chip", "container", "grid", "icon", "image", "list", "pager"),
    *("switch", "tab", "tabbar", "text", "textfield", "title", "toolbar", "unknown"),
)
STATES = ("checked", "disabled", "selected", "focused")
MAX_DEPTH = 50

_FORM = 'a line like - button "OK" [disabled], indented with spaces'
_INDENT = 2
_WORD = re.compile(r"[^\s\"/\[\]:#]+")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_PATTERN = re.compile(r"/((?:[^/\\]|\\.)+)/(\w*)")
_STATE = re.compile(r"\[ *([^\]=]*?) *(?:= *([^\]]*?) *)?\]")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_END = re.compile(r" *(:?) *(?:#.*)?")
_BOOLEANS = {None: True, "true": True, "false": False}


@dataclass(frozen=True)
class Line:
    """One line of a golden: a node that must be on the screen, or ``...``.

    Without a name any name fits, and states that it does not mention may be either; an exact
    comparison allows neither.
    """

    role: str
    name: str | re.Pattern[str] | None = None
    states: tuple[tuple[str, bool], ...] = ()
    depth: int = 0
    number: int = field(default=0, compare=False)

    def __str__(self) -> str:
        words = [self.role]
        if isinstance(self.name, str):
            words.append(in_quotes(self.name))
        elif self.name is not None:
            flag = "i" if self.name.flags & re.IGNORECASE else ""
            words.append("/" + self.name.pattern.replace("/", r"\/") + f"/{flag}")
        words += (f"[{state}]" if on else f"[{state}=false]" for state, on in self.states)
        return " ".join(words)


@dataclass(frozen=True)
class Item:
    """A node on the screen: the line that it is written as, and the states that it is in.

    Those that it ``lacks`` it can never be in.
    """

    line: Line
    states: frozenset[str]
    lacks: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Its label."""
        name = self.line.name
        assert not isinstance(name, re.Pattern), "labels are texts"
        return name or ""


def in_quotes(text: str) -> str:
    """Return text in quotes, invisible characters escaped."""
    return '"' + "".join(map(_visible, text)) + '"'


def _visible(character: str) -> str:
    plain = character.isprintable() and character not in '"\\'
    return character if plain else json.dumps(character)[1:-1]


def write(lines: Sequence[Line]) -> str:
    """Return the text of a golden."""
    depths = [line.depth for line in lines[1:]] + [0]
    written = []
    for line, next_depth in zip(lines, depths, strict=False):
        entry = str(line)
        if ": " in entry or " #" in entry or entry.endswith(":"):
            entry = "'" + entry.replace("'", "''") + "'"
        opens = ":" if next_depth > line.depth else ""
        written.append(f"{' ' * _INDENT * line.depth}- {entry}{opens}\n")
    return "".join(written)


def read(text: str) -> tuple[Line, ...]:
    """Parse the text of a golden; a mistake in it is raised with its line and column."""
    lines: list[Line] = []
    levels = _Levels()
    for entry in _entries(text):
        depth = levels.enter(entry)
        line, opens = entry.read(depth)
        levels.opener = entry if opens else None
        lines.append(line)
    levels.leave()
    if all(line.role == ANYTHING for line in lines):
        found = "says nothing, so that any screen would match" if lines else "is empty"
        raise _Entry(1, "").error(0, f"the golden {found}", f"{_FORM}, at least one")
    return tuple(lines)


def _entries(text: str) -> Iterator[_Entry]:
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r ")
        if line and not line.lstrip(" ").startswith("#"):
            yield _Entry(number, line)


class _Levels:
    """The indentations of the lines that are open; ``opener`` is the last, if it had a colon."""

    def __init__(self) -> None:
        self.opener: _Entry | None = None
        self._indents: list[int] = []

    def enter(self, entry: _Entry) -> int:
        """Return the depth of a line."""
        indent = entry.indent
        if entry.text.startswith("\t", indent):
            raise entry.error(indent, "a tab indents it", "spaces, two for each level")
        if self._indents and self.opener is None and indent > self._indents[-1]:
            raise entry.error(indent, "it is deeper than the line above, which does not end in ':'")
        if not self._indents or indent > self._indents[-1]:
            self._indents.append(indent)
        else:
            self.leave()
        while indent < self._indents[-1] and len(self._indents) > 1:
            self._indents.pop()
        if indent != self._indents[-1]:
            raise entry.error(indent, "it is indented as no line above is")
        if len(self._indents) > MAX_DEPTH:
            raise entry.error(indent, "it is nested too deeply", f"{MAX_DEPTH} levels")
        return len(self._indents) - 1

    def leave(self) -> None:
        """Raise if the last line opened a level that stayed empty."""
        if self.opener is not None:
            opener = self.opener
            raise opener.error(opener.indent, "nothing lies below its ':'", "deeper lines below it")


@dataclass(frozen=True)
class _Entry:
    """A line while it is read; positions in it count from 0."""

    number: int
    text: str

    @property
    def indent(self) -> int:
        return self._after_blanks(0)

    def error(self, position: int, problem: str, allowed: str = _FORM) -> ConfigurationError:
        found = f", found {quote(self.text[position:])}" if self.text[position:] else ""
        return ConfigurationError(
            f"line {self.number}, column {position + 1} of the golden: {problem}{found}",
            code=ErrorCode.GOLDEN_UNREADABLE,
            hint=f"Allowed: {allowed}.",
            details={"line": self.number, "column": position + 1},
        )

    def read(self, depth: int) -> tuple[Line, bool]:
        """Parse the line; return also whether it opens a deeper level."""
        if not f"{self.text} ".startswith("- ", self.indent):
            raise self.error(self.indent, "a line begins with '- '")
        start = self._after_blanks(self.indent + 1)
        if self.text.startswith("'", start):
            return self._read_quoted(start, depth)
        line, position = self._read_node(start, depth)
        return line, self._read_end(position, line)

    def _read_quoted(self, start: int, depth: int) -> tuple[Line, bool]:
        found = _QUOTED.match(self.text, start)
        if found is None:
            raise self.error(start, "the single quote is not closed")
        inner = _Entry(self.number, " " * (start + 1) + found[1].replace("''", "'"))
        line, position = inner._read_node(start + 1, depth)
        if position < len(inner.text):
            raise inner.error(position, "something follows the node")
        return line, self._read_end(found.end(), line)

    def _read_node(self, position: int, depth: int) -> tuple[Line, int]:
        role, position = self._read_role(position)
        if role == ANYTHING:
            return Line(role, depth=depth, number=self.number), position
        name, position = self._read_name(self._after_blanks(position))
        states: dict[str, bool] = {}
        while self.text.startswith("[", self._after_blanks(position)):
            (state, on), position = self._read_state(self._after_blanks(position))
            states[state] = on
        ordered = tuple((state, states[state]) for state in STATES if state in states)
        return Line(role, name, ordered, depth, self.number), position

    def _read_role(self, position: int) -> tuple[str, int]:
        found = _WORD.match(self.text, position)
        word = found[0] if found else ""
        if word in ROLES or word == ANYTHING:
            return word, position + len(word)
        near = closest(word, ROLES) if word else None
        meant = f" (did you mean {near}?)" if near else ""
        allowed = f"{ANYTHING} for anything, or a role: {listed(ROLES, limit=len(ROLES))}"
        raise self.error(position, f"no such role{meant}" if word else "a role is missing", allowed)

    def _read_name(self, position: int) -> tuple[str | re.Pattern[str] | None, int]:
        if self.text.startswith('"', position):
            return self._read_text(position)
        if self.text.startswith("/", position):
            return self._read_pattern(position)
        return None, position

    def _read_text(self, position: int) -> tuple[str, int]:
        found = _TEXT.match(self.text, position)
        if found is None:
            raise self.error(position, "the quote is not closed", 'text in "", with \\" inside it')
        try:
            return str(json.loads(found[0], strict=False)), found.end()
        except ValueError as exc:
            allowed = r"the escapes of JSON: \" \\ \/ \b \f \n \r \t \u0000"
            raise self.error(position, "the text has an invalid escape", allowed) from exc

    def _read_pattern(self, position: int) -> tuple[re.Pattern[str], int]:
        found = _PATTERN.match(self.text, position)
        if found is None or found[2] not in ("", "i"):
            problem = "the expression is not closed" if found is None else "no such flag"
            raise self.error(position, problem, r"/expression/ or /expression/i, with \/ inside it")
        source = re.sub(r"\\(.)", lambda pair: "/" if pair[1] == "/" else pair[0], found[1])
        try:
            return re.compile(source, re.IGNORECASE if found[2] else 0), found.end()
        except (re.error, OverflowError, RecursionError) as exc:
            problem = f"the expression cannot be used: {exc}"
            raise self.error(position, problem, "a Python regular expression") from exc

    def _read_state(self, position: int) -> tuple[tuple[str, bool], int]:
        found = _STATE.match(self.text, position)
        allowed = f"[state] or [state=false] with {listed(STATES)}"
        if found is None:
            raise self.error(position, "the bracket is not closed", allowed)
        state, value = found[1], found[2]
        if state not in STATES:
            near = closest(state, STATES)
            raise self.error(
                position, "no such state" + (f" (did you mean {near}?)" if near else ""), allowed
            )
        if value not in _BOOLEANS:
            raise self.error(position, "a state is true or false", allowed)
        return (state, _BOOLEANS[value]), found.end()

    def _read_end(self, position: int, line: Line) -> bool:
        found = _END.match(self.text, position)
        assert found is not None, "it fits the empty text"
        opens = bool(found[1])
        if found.end() < len(self.text):
            wanted = 'name and states, as in - text "Wi-Fi" [disabled]; then : where lines follow'
            raise self.error(found.end(), "something follows the node", wanted)
        if opens and line.role == ANYTHING:
            raise self.error(position, f"nothing lies inside {ANYTHING}", f"- {ANYTHING}")
        return opens

    def _after_blanks(self, position: int) -> int:
        return len(self.text) - len(self.text[position:].lstrip(" "))


Matcher = NodeMatcher | Mapping[str, Any]

# Layout without a label is left out; what is in it moves up.
_LAYOUT_ROLES = frozenset({"container", "unknown"})


@dataclass(frozen=True, eq=False)
class Golden:
    """What must be on a screen. Equal to every snapshot that it fits."""

    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return write(self.lines)

    def __eq__(self, other: object) -> bool:
        # A snapshot compares itself with a golden.
        return self.lines == other.lines if isinstance(other, Golden) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.lines)


def parse(text: str) -> Golden:
    """Parse a golden; a mistake in it raises ``ConfigurationError`` with line and column."""
    __tracebackhide__ = True
    return Golden(read(text))


def render(snapshot: Snapshot, *, ignore: Iterable[Matcher] = ()) -> str:
    """Return a screen as the text of a golden that it fits exactly; "" if it shows nothing.

    Left out are nodes off the screen, layout without a label, and whatever fits one of the
    matchers in ``ignore``, with all that is in it. What is secret is not hidden here.
    """
    return write([item.line for item in items_of(snapshot, ignore)])


def items_of(snapshot: Snapshot, ignore: Iterable[Matcher]) -> list[Item]:
    """Return the nodes that count, parents before children."""
    ignored = {node for matcher in ignore for node in snapshot.find_all(matcher)}
    items: list[Item] = []
    left = [(root, 0) for root in reversed(snapshot.roots)]
    while left:
        node, depth = left.pop()
        if node in ignored or not node.is_on_screen:
            continue
        role, label = node.role, node.label
        if label or role not in _LAYOUT_ROLES:
            items.append(_item(node, role, label, min(depth, MAX_DEPTH - 1)))
            depth += 1
        left += ((child, depth) for child in reversed(node.children))
    return items


def _item(node: Node, role: str, label: str, depth: int) -> Item:
    states = {
        "checked": node.checked,
        "disabled": not node.enabled,
        "selected": node.selected,
        "focused": node.focused,
    }
    # Focus moves with the keyboard and the cursor, so it counts only if a golden asks.
    shown: dict[str, bool] = {
        state: on for state, on in states.items() if on and state != "focused"
    }
    if node.checkable:
        shown = {"checked": node.checked, **shown}
    line = Line(role, label or None, tuple(shown.items()), depth)
    return Item(line, frozenset(state for state, on in states.items() if on), lacking(node))


def lacking(node: Node) -> frozenset[str]:
    """Return the states that a node can never be in, so that not being in them says nothing."""
    # Any node may be selected or disabled.
    can = {"checked": node.checked or node.checkable, "focused": node.focused or node.focusable}
    return frozenset(state for state, is_possible in can.items() if not is_possible)
