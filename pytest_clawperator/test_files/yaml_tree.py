"""YAML with the line and column of every value, and the mistakes that are reported there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from pytest_clawperator.contracts.wording import quote
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem
from pytest_clawperator.text import shown_path

_SHOWN = 10

_HINT = "docs/test-files.md describes every key and step; the schema for editors has them, too."


class Mark(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Mistake(Exception):
    """A mistake in a test file; callers outside of this folder get a ``ConfigurationError``."""

    def __init__(self, mark: Mark, message: str, *, hint: str = _HINT) -> None:
        super().__init__(message)
        self.mark = mark
        self.message = message
        self.hint = hint


@dataclass
class Mistakes:
    """The mistakes of one file, collected to be reported together."""

    path: Path
    found: list[Mistake] = field(default_factory=list)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect a mistake that is raised in the block, and continue after it."""
        try:
            yield
        except Mistake as mistake:
            self.found.append(mistake)

    def raise_if_any(self) -> None:
        """Raise one error with all mistakes, in the order of the file."""
        if self.found:
            raise error_of(self.path, sorted(self.found, key=lambda one: one.mark))


def error_of(path: Path, mistakes: Sequence[Mistake]) -> ConfigurationError:
    """Return one error with the mistakes of a file."""
    first = mistakes[0]
    lines = [f"{shown_path(path)}:{one.mark.line}:{one.mark.column}: {one.message}"
             for one in mistakes[:_SHOWN]]  # fmt: skip
    rest = len(mistakes) - len(lines)
    lines += [f"... and {rest} more"] if rest else []
    return ConfigurationError(
        "\n  ".join(lines),
        code=ErrorCode.TEST_FILE_INVALID,
        hint=first.hint,
        details={"file": str(path), "line": first.mark.line, "column": first.mark.column},
    )


MAX_BYTES = 1_000_000

MAX_DEPTH = 40

MAX_NODES = 20_000

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

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Scalar:
    """A single value: a text, a number, a truth value, or nothing."""

    mark: Mark
    value: Value


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


@dataclass
class _Open:
    """A list or mapping that is still being read."""

    node: Items | Mapping
    anchor: str | None
    size: int = 1
    key: Scalar | None = None


def read_yaml(path: Path) -> YamlNode:
    """Read a file; raise a mistake for YAML that is not supported here."""
    text = _text_of(path)
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Mistake(
            Mark(1, 1) if mark is None else _mark_of(mark),
            f"this is not YAML: {error.problem or error.context}",
            hint="Check indentation, quotes and colons near that line. Inside { }, a text with"
            " ${...} needs quotes.",
        ) from error
    except yaml.YAMLError as error:
        raise Mistake(
            Mark(1, 1),
            f"this is not YAML: {str(error).splitlines()[0]}",
            hint="A test file is plain text in UTF-8.",
        ) from error


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Mistake(
                Mark(1, 1), f"longer than {MAX_BYTES} bytes", hint="Split it into several files."
            )
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
                _refuse(mark, "a second document begins, and a file has one; name several `tests:`")

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
            _refuse(mark, f"no anchor {quote('&' + anchor)} ends above this line")
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
        _refuse(mark, "`<<` is not understood; repeat the keys, or `use:` a file of steps")
    if node.value in mapping.entries:
        _refuse(mark, f"the key {quote(node.value)} is there twice")
    return Scalar(mark, node.value)


def _value_of(event: Any, mark: Mark) -> Value:
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
    _refuse(mark, f"the tag {quote(tag)} is not allowed; write plain values")


def _refuse(mark: Mark, message: str) -> NoReturn:
    raise Mistake(mark, message)
