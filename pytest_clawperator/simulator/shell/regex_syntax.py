"""POSIX regular expressions, basic and extended, read into a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_clawperator.simulator.shell.character_classes import CLASSES

_MAX_NESTING = 40
_MAX_REPEAT = 255
_ESCAPED_SETS = {
    "w": "[A-Za-z0-9_]",
    "W": "[^A-Za-z0-9_]",
    "s": r"[ \t\n\r\f\v]",
    "S": r"[^ \t\n\r\f\v]",
    "d": "[0-9]",
    "D": "[^0-9]",
    "n": r"\n",
    "t": r"\t",
}
_ESCAPED_PLACES = {"b": r"\b", "B": r"\B", "<": r"\b(?=\w)", ">": r"\b(?<=\w)"}


class RegexError(Exception):
    """The expression makes no sense; the text says why."""


@dataclass(frozen=True)
class Single:
    """One character out of a set, written as a Python expression."""

    expression: str


@dataclass(frozen=True)
class Place:
    """A place between characters, such as the start, written as a Python expression."""

    expression: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of several."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """So many times; ``most`` is None for any number."""

    item: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Group:
    """A numbered part."""

    item: Node
    number: int


@dataclass(frozen=True)
class Backreference:
    """What a numbered part matched, once more."""

    number: int


Node = Single | Place | Sequence | Choice | Repeat | Group | Backreference


def parse_regex(text: str, *, extended: bool) -> tuple[Node, int]:
    """Read an expression; also give the number of its groups."""
    reader = _Reader(text, extended=extended)
    node = reader.choice(0)
    if reader.position < len(text):
        raise RegexError("Unmatched ( or )")
    return node, reader.groups


class _Reader:
    """Recursive descent over the text of an expression."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self.position = 0
        self.groups = 0
        self._text = text
        self._extended = extended

    def _take(self, token: str) -> bool:
        """Read an operator; in a basic expression it has a backslash."""
        token = token if self._extended else "\\" + token
        if not self._text.startswith(token, self.position):
            return False
        self.position += len(token)
        return True

    def choice(self, depth: int) -> Node:
        if depth > _MAX_NESTING:
            raise RegexError("regular expression too big")
        items = [self._sequence(depth)]
        while self._take("|"):
            items.append(self._sequence(depth))
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def _sequence(self, depth: int) -> Node:
        items: list[Node] = []
        while self.position < len(self._text):
            if self._ends(depth):
                break
            item = self._item(depth, first=not items)
            items.append(self._repeated(item))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _ends(self, depth: int) -> bool:
        """Tell whether a choice or a group ends here; outside of groups, ``)`` is plain."""
        if not self._extended:
            return self._text.startswith(("\\|", "\\)"), self.position)
        return self._text.startswith(("|", ")") if depth else "|", self.position)

    def _item(self, depth: int, *, first: bool) -> Node:
        if self._take("("):
            self.groups += 1
            number = self.groups
            inner = self.choice(depth + 1)
            if not self._take(")"):
                raise RegexError("Unmatched ( or )")
            return Group(inner, number)
        character = self._text[self.position]
        self.position += 1
        if character == "\\":
            return self._escaped()
        if character == ".":
            return Single(".")
        if character == "[":
            return self._bracket()
        if character == "^" and (self._extended or first):
            return Place(r"\A")
        if character == "$" and self._ends_here():
            return Place(r"\Z")
        if self._extended and character in "*+?" and first:
            raise RegexError("Invalid preceding regular expression")
        return Single(re.escape(character))

    def _ends_here(self) -> bool:
        if self._extended or self.position == len(self._text):
            return True
        return self._text.startswith(("\\)", "\\|"), self.position)

    def _escaped(self) -> Node:
        if self.position >= len(self._text):
            raise RegexError("Trailing backslash")
        character = self._text[self.position]
        self.position += 1
        if character in _ESCAPED_SETS:
            return Single(_ESCAPED_SETS[character])
        if character in _ESCAPED_PLACES:
            return Place(_ESCAPED_PLACES[character])
        if character in "123456789":
            if int(character) > self.groups:
                raise RegexError("Invalid back reference")
            return Backreference(int(character))
        return Single(re.escape(character))

    def _bracket(self) -> Node:
        text, start = self._text, self.position
        negated = text.startswith("^", self.position)
        self.position += negated
        members: list[str] = []
        first = self.position
        while self.position < len(text):
            character = text[self.position]
            if character == "]" and self.position > first:
                self.position += 1
                return Single(f"[{'^' if negated else ''}{''.join(members)}]")
            named = re.compile(r"\[:([a-z]+):\]").match(text, self.position)
            if named:
                if named[1] not in CLASSES:
                    raise RegexError("Invalid character class name")
                members.append(CLASSES[named[1]])
                self.position = named.end()
                continue
            members.append(self._range())
        self.position = start
        raise RegexError("Unmatched [, [^, [:, [., or [=")

    def _range(self) -> str:
        """Read one character or a range inside brackets."""
        text, low = self._text, self._text[self.position]
        following = text[self.position + 1 : self.position + 3]
        if len(following) == 2 and following[0] == "-" and following[1] != "]":
            high = following[1]
            if low > high:
                raise RegexError("Invalid range end")
            self.position += 3
            return f"{re.escape(low)}-{re.escape(high)}"
        self.position += 1
        return re.escape(low)

    def _repeated(self, item: Node) -> Node:
        while self.position < len(self._text):
            if self._text.startswith("*", self.position):
                self.position += 1
                least, most = 0, None
            elif self._take("+"):
                least, most = 1, None
            elif self._take("?"):
                item = Repeat(item, 0, 1)
                continue
            elif bounds := self._bounds():
                least, most = bounds
            else:
                break
            if isinstance(item, Place):
                raise RegexError("Invalid preceding regular expression")
            item = Repeat(item, least, most)
        return item

    def _bounds(self) -> tuple[int, int | None] | None:
        pattern = r"\{(\d*)(,?)(\d*)\}" if self._extended else r"\\\{(\d*)(,?)(\d*)\\\}"
        match = re.compile(pattern).match(self._text, self.position)
        if match is None or not (match[1] or match[3]):
            return None
        least = int(match[1] or "0") if len(match[1]) < 5 else _MAX_REPEAT + 1
        most = int(match[3]) if match[3] and len(match[3]) < 5 else None
        if not match[2]:
            most = least
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and least > most):
            raise RegexError("Invalid content of \\{\\}")
        self.position = match.end()
        return least, most
