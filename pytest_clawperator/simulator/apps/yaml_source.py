"""Read an app's YAML file together with the line and column of each part.

The file is read event by event instead of with PyYAML's composer, for three reasons: the
composer crashes the interpreter on a few thousand nested brackets, it forgets lines, and
YAML 1.1 reads ``Off`` as a boolean and ``12:30`` as 750.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, file_problem


class SourceText(str):
    """A text of a YAML file; ``place`` is its file, line and column: ``shop.yaml:7:12``."""

    __slots__ = ("place",)
    place: str

    @classmethod
    def at(cls, place: str, text: str) -> SourceText:
        """Return a text that stands at a place."""
        found = cls(text)
        found.place = place
        return found


def place_of(value: object) -> str:
    """Return where a text stands; empty for one that is from no file."""
    return value.place if isinstance(value, SourceText) else ""


def without_places(value: object) -> object:
    """Return a value with plain texts in it, as apps hold them."""
    if isinstance(value, SourceText):
        return str(value)
    if isinstance(value, list):
        return [without_places(entry) for entry in value]
    if isinstance(value, dict):
        return {without_places(key): without_places(entry) for key, entry in value.items()}
    return value


MAX_BYTES = 1_000_000
MAX_DEPTH = 60
MAX_NODES = 200_000
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}$")
_FLOAT = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}$")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Mark = tuple[int, int]
"""A line and a column, both counted from 1."""


@dataclass
class _Open:
    """A list or mapping whose end has not come yet."""

    value: Any
    size: int = 1
    key: Any = None
    has_key: bool = False
    anchor: str | None = None


@dataclass
class Source:
    """What a file holds, and where each part of it stands."""

    path: Path
    data: Any = None
    _marks: dict[int, dict[Any, Mark]] = field(default_factory=dict)
    _first: Mark = (1, 1)

    def mark(self, place: Sequence[str | int]) -> Mark:
        """Return line and column of the deepest part of ``place`` that the file has."""
        value, mark = self.data, self._first
        for step in place:
            marks = self._marks.get(id(value), {})
            if step in marks:
                value, mark = value[step], marks[step]
            elif isinstance(value, dict):
                # A step that the schema added: a short form was written here.
                value, mark = _behind_short_form(value, marks, step, mark)
        return mark

    def spot(self, mark: Mark) -> str:
        """Return how a place is written in messages: ``shop.yaml:7:12``."""
        return f"{self.path}:{mark[0]}:{mark[1]}"

    def error(self, place: Sequence[str | int], message: str, *, hint: str) -> ConfigurationError:
        """Return the error for a mistake at a place."""
        return self.error_at(self.mark(place), message, hint=hint)

    def error_at(self, mark: Mark, message: str, *, hint: str) -> ConfigurationError:
        """Return the error for a mistake at a line and column."""
        return ConfigurationError(
            f"{self.spot(mark)}: {message}",
            hint=hint,
            details={"file": str(self.path), "line": mark[0], "column": mark[1]},
        )


def _behind_short_form(
    value: dict[Any, Any], marks: dict[Any, Mark], step: str | int, mark: Mark
) -> tuple[Any, Mark]:
    if step in ("text", "items", "id", "kind") and value:
        key = next(iter(value))
        inner = value[key]
        return (inner if isinstance(inner, list) else value), marks.get(key, mark)
    return value, mark


def read_source(path: Path, *, text: str | None = None) -> Source:
    """Read a YAML file; every mistake in its form is a ConfigurationError with its line."""
    if text is None:
        text = _file_text(path)
    source = Source(path)
    try:
        _build(source, yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise source.error_at(
            _mark_of(error.problem_mark) if error.problem_mark else (1, 1),
            f"this is not YAML: {error.problem or error.context}",
            hint="Check indentation, quotes and colons near that line.",
        ) from error
    except yaml.YAMLError as error:
        raise ConfigurationError(
            f"{path}: this is not YAML: {str(error).splitlines()[0]}",
            hint="An app file is plain text in UTF-8.",
        ) from error
    return source


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigurationError(
                f"{path} is longer than {MAX_BYTES} bytes", hint="Use `repeat` for long lists."
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{path} is not text in UTF-8 (byte {error.start})", hint="Save the file as UTF-8."
        ) from error
    except UNUSABLE_FILE as error:
        raise ConfigurationError(
            f"{path} cannot be read: {file_problem(error)}",
            hint="Give the path of an app's YAML file.",
        ) from error


def _mark_of(mark: Any) -> Mark:
    return mark.line + 1, mark.column + 1


def _build(source: Source, events: Iterator[Any]) -> None:
    opened: list[_Open] = []
    anchors: dict[str, tuple[Any, int]] = {}
    documents = 0
    for event in events:
        mark = _mark_of(event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event, lambda message, at=mark: _refuse(source, at, message))
            if isinstance(value, str):
                value = SourceText.at(source.spot(mark), value)
            if event.anchor:
                anchors[event.anchor] = (value, 1)
            _put(source, opened, value, mark, 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            container: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            if len(opened) >= MAX_DEPTH:
                _refuse(source, mark, f"nested more than {MAX_DEPTH} deep")
            _put(source, opened, container, mark, 1)
            source._marks[id(container)] = {}
            opened.append(_Open(container, anchor=event.anchor))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            done = opened.pop()
            if done.anchor:
                anchors[done.anchor] = (done.value, done.size)
            if opened:
                opened[-1].size += done.size
        elif isinstance(event, yaml.AliasEvent):
            value, size = anchors.get(event.anchor or "", (None, 0))
            if not size:
                _refuse(source, mark, f"there is no finished anchor `&{event.anchor}`")
            _put(source, opened, value, mark, size)
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                _refuse(source, mark, "a second document begins; one file describes one app")


def _put(source: Source, opened: list[_Open], value: Any, mark: Mark, size: int) -> None:
    if not opened:
        source.data, source._first = value, mark
        return
    top = opened[-1]
    top.size += size
    if top.size > MAX_NODES:
        _refuse(source, mark, f"more than {MAX_NODES} values, repeated anchors counted")
    marks = source._marks[id(top.value)]
    if isinstance(top.value, list):
        marks[len(top.value)] = mark
        top.value.append(value)
    elif not top.has_key:
        if isinstance(value, (dict, list)):
            _refuse(source, mark, "a key must be a plain word")
        if value in top.value:
            _refuse(source, mark, f"the key `{value}` is there twice")
        top.key, top.has_key = value, True
        marks[value] = mark
    else:
        top.value[top.key] = value
        top.has_key = False


def _scalar(event: Any, refuse: Any) -> bool | int | float | str | None:
    if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
        refuse(f"the tag `{event.tag}` is not allowed; write plain values")
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _refuse(source: Source, mark: Mark, message: str) -> None:
    raise source.error_at(
        mark, message, hint="docs/app-files.md describes every key of an app file."
    )
