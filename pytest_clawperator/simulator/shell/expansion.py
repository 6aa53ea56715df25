"""Expansion of words into the arguments of a command, and of wildcards into file names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from pytest_clawperator.simulator.files import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, TextTooLong
from pytest_clawperator.simulator.shell.syntax import Parameter, Program, Substitution, Text, Word

_WHITESPACE = re.compile(r"[ \t\n]+")
_MAX_NAMES = 4096
_MAX_PATTERN = 1024  # a file name has 255 bytes; a longer pattern would take long to try

# Some characters, and whether they were quoted.
_Piece = tuple[str, bool]


class Expander:
    """Expands words in the state of a shell; ``substitute`` runs ``$(…)``."""

    def __init__(self, shell: Shell, substitute: Callable[[Program], Awaitable[str]]) -> None:
        self._shell = shell
        self._substitute = substitute

    async def arguments(self, words: Sequence[Word]) -> list[str]:
        """Expand the words of a command, each to any number of arguments."""
        arguments: list[str] = []
        for word in words:
            if word.static is not None:
                arguments.append(word.static)
                continue
            for field in await self._expand(word, splits=True):
                names: list[str] = []
                if _is_wild(field):
                    names = _matching_paths(field, self._shell.files, self._shell.cwd)
                arguments.extend(names or ["".join(text for text, _ in field)])
        return arguments

    async def text(self, word: Word) -> str:
        """Expand a word to one text, without splitting and without file names."""
        if word.static is not None:
            return word.static
        fields = await self._expand(word, splits=False)
        return "".join(text for field in fields for text, _ in field)

    async def _expand(self, word: Word, *, splits: bool) -> list[list[_Piece]]:
        """Return the fields of a word, which are one or none if it is not split."""
        fields: list[list[_Piece]] = []
        is_open = False  # whether the next piece belongs to the last field
        size = 0
        for part in word.parts:
            if isinstance(part, Text):
                texts = [part.text]
            else:
                value = await self._value(part)
                texts = [value] if part.quoted or not splits else _WHITESPACE.split(value)
            for number, text in enumerate(texts):
                is_open = is_open and number == 0
                size += len(text)
                if size > MAX_TEXT:
                    raise TextTooLong
                if not text and not part.quoted:
                    continue
                if not is_open:
                    fields.append([])
                fields[-1].append((text, part.quoted))
                is_open = True
        return fields

    async def _value(self, part: Parameter | Substitution) -> str:
        if isinstance(part, Substitution):
            return await self._substitute(part.body)
        return self._shell.parameter(part.name) or ""


# Wildcards


def _is_wild(pieces: Sequence[_Piece]) -> bool:
    plain = "".join(text for text, quoted in pieces if not quoted)
    return "*" in plain or "?" in plain or -1 < plain.find("[") < plain.rfind("]")


def _matching_paths(pieces: Sequence[_Piece], files: FileSystem, cwd: str) -> list[str]:
    """Return the existing paths that a word with wildcards matches, sorted."""
    found = [""]
    for number, component in enumerate(_components(pieces)):
        separator = "/" if number else ""
        if _is_wild(component):
            names = (
                (path, name) for path in found for name in _names(files, cwd, path + separator)
            )
            found = [path + separator + name for path, name in names if _matches(name, component)]
        else:
            name = separator + "".join(text for text, _ in component)
            found = [path + name for path in found]
        if len(found) > _MAX_NAMES:
            raise TextTooLong
    return sorted(path for path in found if path and _exists(files, cwd, path))


def _components(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the pieces of each part of a path."""
    component: list[_Piece] = []
    for text, quoted in pieces:
        first, *others = text.split("/")
        component.append((first, quoted))
        for other in others:
            yield component
            component = [(other, quoted)]
    yield component


def _matches(name: str, component: Sequence[_Piece]) -> bool:
    if name.startswith(".") and not component[0][0].startswith("."):
        return False
    pattern = "".join(
        re.sub(r"([*?[])", r"[\1]", text) if quoted else text for text, quoted in component
    )
    try:
        return len(pattern) <= _MAX_PATTERN and fnmatchcase(name, pattern)
    except re.error:
        return name == pattern


def _names(files: FileSystem, cwd: str, folder: str) -> list[str]:
    try:
        return files.listdir(files.resolve(folder or ".", cwd))
    except FileSystemError:
        return []


def _exists(files: FileSystem, cwd: str, path: str) -> bool:
    try:
        found = files.resolve(path, cwd)
        return files.is_dir(found) if path.endswith("/") else files.exists(found)
    except FileSystemError:
        return False
