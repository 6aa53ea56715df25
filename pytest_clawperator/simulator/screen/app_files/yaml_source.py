"""Reading an app's YAML file together with the line of each part.

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

from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ConfigurationError,
    file_problem,
)

MAX_BYTES = 1_000_000
MAX_DEPTH = 60
MAX_NODES = 200_000

_INTEGER = re.compile(r"[-+]?[0-9]{1,15}$")
_FLOAT = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}$")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    _lines: dict[int, dict[Any, int]] = field(default_factory=dict)
    _first_line: int = 1

    def line(self, place: Sequence[str | int]) -> int:
        """Return the line of the deepest part of ``place`` that the file has."""
        value, line = self.data, self._first_line
        for step in place:
            lines = self._lines.get(id(value), {})
            if step in lines:
                value, line = value[step], lines[step]
            elif isinstance(value, dict):
                # A step that the schema added: a short form was written here.
                value, line = _behind_short_form(value, lines, step, line)
        return line

    def error(self, place: Sequence[str | int], message: str, *, hint: str) -> ConfigurationError:
        """Return the error for a mistake at a place."""
        line = self.line(place)
        return ConfigurationError(
            f"{self.path}:{line}: {message}",
            hint=hint,
            details={"file": str(self.path), "line": line},
        )


def _behind_short_form(
    value: dict[Any, Any], lines: dict[Any, int], step: str | int, line: int
) -> tuple[Any, int]:
    if step in ("text", "items", "id", "kind") and value:
        key = next(iter(value))
        inner = value[key]
        return (inner if isinstance(inner, list) else value), lines.get(key, line)
    return value, line


def read_source(path: Path, *, text: str | None = None) -> Source:
    """Read a YAML file; every mistake in its form is a ConfigurationError with its line."""
    if text is None:
        text = _file_text(path)
    source = Source(path)
    try:
        _build(source, yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(
            f"{path}:{line}: this is not YAML: {error.problem or error.context}",
            hint="Check indentation, quotes and colons near that line.",
            details={"file": str(path), "line": line},
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


def _build(source: Source, events: Iterator[Any]) -> None:
    opened: list[_Open] = []
    anchors: dict[str, tuple[Any, int]] = {}
    documents = 0
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event, lambda message, at=line: _refuse(source, at, message))
            if event.anchor:
                anchors[event.anchor] = (value, 1)
            _put(source, opened, value, line, 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            container: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            if len(opened) >= MAX_DEPTH:
                _refuse(source, line, f"nested more than {MAX_DEPTH} deep")
            _put(source, opened, container, line, 1)
            source._lines[id(container)] = {}
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
                _refuse(source, line, f"there is no finished anchor `&{event.anchor}`")
            _put(source, opened, value, line, size)
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                _refuse(source, line, "a second document begins; one file describes one app")


def _put(source: Source, opened: list[_Open], value: Any, line: int, size: int) -> None:
    if not opened:
        source.data, source._first_line = value, line
        return
    top = opened[-1]
    top.size += size
    if top.size > MAX_NODES:
        _refuse(source, line, f"more than {MAX_NODES} values, repeated anchors counted")
    lines = source._lines[id(top.value)]
    if isinstance(top.value, list):
        lines[len(top.value)] = line
        top.value.append(value)
    elif not top.has_key:
        if isinstance(value, (dict, list)):
            _refuse(source, line, "a key must be a plain word")
        if value in top.value:
            _refuse(source, line, f"the key `{value}` is there twice")
        top.key, top.has_key = value, True
        lines[value] = line
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


def _refuse(source: Source, line: int, message: str) -> None:
    raise ConfigurationError(
        f"{source.path}:{line}: {message}",
        hint="See the description of app files in the documentation of the simulator.",
        details={"file": str(source.path), "line": line},
    )
