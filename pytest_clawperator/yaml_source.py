"""Read YAML files together with the line and column of every part.

Files are read event by event instead of with PyYAML's composer, for three reasons: the composer
crashes the interpreter on a few thousand nested brackets, it forgets lines, and YAML 1.1 reads
``Off`` as a boolean and ``12:30`` as 750.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, file_problem

MAX_BYTES = 1_000_000
MAX_DEPTH = 60
MAX_NODES = 200_000
_LONGEST_NAME = 60

# As YAML 1.2 has them, which is what editors read.
_INTEGER = re.compile(r"(?:[-+]?[0-9]{1,18}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15})\Z")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,2})?\Z"
)
_WORDS: dict[str, bool | None] = {
    word: value
    for plain, value in {"true": True, "false": False, "null": None}.items()
    for word in (plain, plain.title(), plain.upper())
} | {"~": None, "": None}
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Mark(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Mistake(Exception):
    """A mistake at a place in a file; users get it as a ``ConfigurationError``."""

    def __init__(self, mark: Mark, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.mark = mark
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Scalar:
    """A single value: a text, a number, a truth value, or nothing."""

    mark: Mark
    value: str | int | float | bool | None


@dataclass(frozen=True)
class Items:
    """A list."""

    mark: Mark
    items: list[YamlNode] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A key of a mapping, its position, and its value."""

    key: str
    mark: Mark
    value: YamlNode


@dataclass(frozen=True)
class Mapping:
    """Keys with their values, in the order of the file."""

    mark: Mark
    entries: dict[str, Entry] = field(default_factory=dict)

    def get(self, key: str) -> YamlNode | None:
        """Return the value of a key, or None."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value


YamlNode = Scalar | Items | Mapping


def read_yaml(path: Path, *, text: str | None = None) -> YamlNode:
    """Read a file, or ``text`` in its place; raise a mistake for unsupported YAML."""
    if text is None:
        text = _text_of(path)
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Mistake(
            Mark(1, 1) if mark is None else _mark_of(mark),
            f"this is not YAML: {error.problem or error.context}",
            hint="Check indentation, quotes and colons near that line. Inside { }, a text with"
            " braces needs quotes.",
        ) from error
    except yaml.YAMLError as error:
        raise Mistake(
            Mark(1, 1),
            f"this is not YAML: {str(error).splitlines()[0]}",
            hint="Save it as plain text in UTF-8.",
        ) from error


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            _refuse(Mark(1, 1), f"longer than {MAX_BYTES} bytes")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Mistake(
            Mark(line, 1), "this is not text in UTF-8", hint="Save it as UTF-8."
        ) from error
    except UNUSABLE_FILE as error:
        raise Mistake(
            Mark(1, 1), f"it cannot be read: {file_problem(error)}", hint="Check path and rights."
        ) from error


def _mark_of(mark: Any) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


@dataclass
class _Open:
    """A list or mapping that is still being read."""

    node: Items | Mapping
    anchor: str | None
    size: int = 1
    key: Scalar | None = None


class _Builder:
    """Build the tree from the events of one file."""

    def __init__(self) -> None:
        self._opened: list[_Open] = []
        self._anchors: dict[str, tuple[YamlNode, int]] = {}
        self._root: YamlNode | None = None
        self._documents = 0

    def build(self, events: Iterator[Any]) -> YamlNode:
        """Return the tree."""
        for event in events:
            self._take(event, _mark_of(event.start_mark))
        return self._root or Scalar(Mark(1, 1), None)

    def _take(self, event: Any, mark: Mark) -> None:
        if isinstance(event, yaml.ScalarEvent):
            scalar = Scalar(mark, _value_of(event, mark))
            if event.anchor:
                self._anchors[event.anchor] = (scalar, 1)
            self._put(scalar, mark, 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._begin(event, mark)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._repeat(str(event.anchor), mark)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                _refuse(mark, "a second document begins, and a file has one")

    def _begin(self, event: Any, mark: Mark) -> None:
        if event.tag is not None:
            _refuse_tag(event.tag, mark)
        if len(self._opened) >= MAX_DEPTH:
            _refuse(mark, f"nested more than {MAX_DEPTH} deep")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node: Items | Mapping = Mapping(mark) if is_mapping else Items(mark)
        self._put(node, mark, 1)
        self._opened.append(_Open(node, event.anchor))

    def _end(self) -> None:
        done = self._opened.pop()
        if done.anchor:
            self._anchors[done.anchor] = (done.node, done.size)
        if self._opened:
            self._opened[-1].size += done.size - 1

    def _repeat(self, anchor: str, mark: Mark) -> None:
        if anchor not in self._anchors:
            _refuse(mark, f"no anchor {_named('&' + anchor)} ends above this line")
        node, size = self._anchors[anchor]
        self._put(node, mark, size)

    def _put(self, node: YamlNode, mark: Mark, size: int) -> None:
        if not self._opened:
            self._root = node
            return
        top = self._opened[-1]
        top.size += size
        if sum(each.size for each in self._opened) > MAX_NODES:
            _refuse(mark, f"more than {MAX_NODES} values, with what anchors repeat")
        if isinstance(top.node, Items):
            top.node.items.append(node)
        elif top.key is None:
            top.key = _key_of(node, top.node, mark)
        else:
            key = str(top.key.value)
            top.node.entries[key] = Entry(key, top.key.mark, node)
            top.key = None


def _key_of(node: YamlNode, mapping: Mapping, mark: Mark) -> Scalar:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        _refuse(mark, "a key must be a text; write numbers and `true` in quotes")
    if node.value == "<<":
        _refuse(mark, "`<<` is not supported; repeat the keys")
    if node.value in mapping.entries:
        _refuse(mark, f"the key {_named(node.value)} is there twice")
    return Scalar(mark, node.value)


def _value_of(event: Any, mark: Mark) -> str | int | float | bool | None:
    if event.tag is not None and event.tag not in _TEXT_TAGS:
        _refuse_tag(event.tag, mark)
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    return float(text) if _FLOAT.match(text) else text


def _refuse_tag(tag: str, mark: Mark) -> NoReturn:
    _refuse(mark, f"the tag {_named(tag)} is not allowed; write plain values")


def _refuse(mark: Mark, message: str) -> NoReturn:
    raise Mistake(mark, message)


def _named(text: str) -> str:
    return f"`{text[:_LONGEST_NAME]}`"


# Files that become plain values, whose texts know where they stand


class SourceText(str):
    """A text of a YAML file; ``place`` is its file, line and column: ``shop.yaml:7:12``."""

    __slots__ = ("place",)
    place: str


def place_of(value: object) -> str:
    """Return where a text stands; empty for one that is from no file."""
    return value.place if isinstance(value, SourceText) else ""


def without_places(value: object) -> object:
    """Return a value with plain texts in it."""
    if isinstance(value, SourceText):
        return str(value)
    if isinstance(value, list):
        return [without_places(entry) for entry in value]
    if isinstance(value, dict):
        return {without_places(key): without_places(entry) for key, entry in value.items()}
    return value


class Source:
    """A file as plain ``data``, and the place of each part of it.

    A step in ``short_forms`` is one that a schema adds when a mapping's first key stands for
    another one; ``hint`` is that of every mistake without its own.
    """

    def __init__(
        self,
        path: Path,
        *,
        text: str | None = None,
        short_forms: Sequence[str] = (),
        hint: str,
    ) -> None:
        self.path = path
        self._short_forms = short_forms
        self._hint = hint
        try:
            self._root = read_yaml(path, text=text)
        except Mistake as mistake:
            raise self._error_at(mistake.mark, mistake.message, mistake.hint) from mistake
        self.data = self._plain(self._root)

    def _plain(self, node: YamlNode) -> Any:
        if isinstance(node, Items):
            return [self._plain(item) for item in node.items]
        if isinstance(node, Mapping):
            entries = node.entries.values()
            return {self._text(one.key, one.mark): self._plain(one.value) for one in entries}
        return self._text(node.value, node.mark) if isinstance(node.value, str) else node.value

    def _text(self, text: str, mark: Mark) -> SourceText:
        placed = SourceText(text)
        placed.place = self._spot(mark)
        return placed

    def spot(self, place: Sequence[str | int]) -> str:
        """Return a place as messages show it, ``shop.yaml:7:12``: its deepest part in the file."""
        return self._spot(self._mark(place))

    def error(
        self, place: Sequence[str | int], message: str, *, hint: str | None = None
    ) -> ConfigurationError:
        """Return the error for a mistake at a place."""
        return self._error_at(self._mark(place), message, hint)

    def _spot(self, mark: Mark) -> str:
        return f"{self.path}:{mark.line}:{mark.column}"

    def _error_at(self, mark: Mark, message: str, hint: str | None) -> ConfigurationError:
        return ConfigurationError(
            f"{self._spot(mark)}: {message}",
            hint=hint or self._hint,
            details={"file": str(self.path), "line": mark.line, "column": mark.column},
        )

    def _mark(self, place: Sequence[str | int]) -> Mark:
        node, mark = self._root, self._root.mark
        for step in place:
            if isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                mark = node.mark
            elif isinstance(node, Mapping) and step in node.entries:
                entry = node.entries[str(step)]
                node, mark = entry.value, entry.mark
            elif isinstance(node, Mapping) and step in self._short_forms and node.entries:
                entry = next(iter(node.entries.values()))
                node, mark = (entry.value if isinstance(entry.value, Items) else node), entry.mark
        return mark
