"""Expansion of words into the arguments of a command, and of wildcards into file names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from fnmatch import translate

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, TextTooLong
from pytest_clawperator.simulator.shell.syntax import Program, Substitution, Text, Word

Piece = tuple[str, bool]

"""Some characters, and whether they were quoted."""


_MAX_NAMES = 4096

_MAX_PATTERN = 255  # the longest name a file can have


def is_wild(pieces: Sequence[Piece]) -> bool:
    """Whether a word has unquoted wildcards."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    return "*" in plain or "?" in plain or -1 < plain.find("[") < plain.rfind("]")


def expand_files(pieces: Sequence[Piece], *, files: FileSystem, cwd: str) -> list[str]:
    """Return the existing paths that a word with wildcards matches, sorted."""
    found = [""]
    for number, component in enumerate(_components(pieces)):
        separator = "/" if number else ""
        if not is_wild(component):
            name = separator + "".join(text for text, _ in component)
            found = [path + name for path in found]
            continue
        matches = _matcher(component)
        hidden = component[0][0].startswith(".")
        found = [
            path + separator + name
            for path in found
            for name in _names(files, cwd, path + separator)
            if (hidden or not name.startswith(".")) and matches.match(name)
        ]
        if len(found) > _MAX_NAMES:
            raise TextTooLong
    return sorted(path for path in found if path and _exists(files, cwd, path))


def _components(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield the pieces of each part of a path."""
    component: list[Piece] = []
    for text, quoted in pieces:
        first, *others = text.split("/")
        component.append((first, quoted))
        for other in others:
            yield component
            component = [(other, quoted)]
    yield component


def _matcher(component: Sequence[Piece]) -> re.Pattern[str]:
    pattern = "".join(
        re.sub(r"([*?[])", r"[\1]", text) if quoted else text for text, quoted in component
    )
    # A longer pattern without stars matches no name; one with many would take long to try.
    if len(pattern) > 4 * _MAX_PATTERN:
        return re.compile(r"(?!)")
    try:
        return re.compile(translate(pattern))
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")


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


_WHITESPACE = re.compile(r"[ \t\n]+")


class _Fields:
    """Collects what a word expands to; unquoted expansions are split at white space."""

    def __init__(self, *, splits: bool) -> None:
        self.splits = splits
        self._current: list[Piece] | None = None
        self._done: list[list[Piece]] = []
        self._size = 0

    def add_text(self, text: str, *, quoted: bool) -> None:
        """Add characters as they are."""
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise TextTooLong
        if self._current is None:
            if not text and not quoted:
                return
            self._current = []
        self._current.append((text, quoted))

    def add_expanded(self, text: str, *, quoted: bool) -> None:
        """Add the result of an expansion."""
        if quoted or not self.splits:
            self.add_text(text, quoted=quoted)
            return
        first, *others = _WHITESPACE.split(text)
        self.add_text(first, quoted=False)
        for field in others:
            self.end_field()
            self.add_text(field, quoted=False)

    def end_field(self) -> None:
        """End the current field, if there is one."""
        if self._current is not None:
            self._done.append(self._current)
            self._current = None

    def fields(self) -> list[list[Piece]]:
        """Return the fields."""
        self.end_field()
        return self._done


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
            else:
                arguments.extend(await self._fields_of(word))
        return arguments

    async def text(self, word: Word) -> str:
        """Expand a word to one text, without splitting and without file names."""
        if word.static is not None:
            return word.static
        fields = await self._expand(word, splits=False)
        return "".join(text for field in fields for text, _ in field)

    async def _fields_of(self, word: Word) -> list[str]:
        found: list[str] = []
        for field in await self._expand(word, splits=True):
            names: list[str] = []
            if is_wild(field):
                names = expand_files(field, files=self._shell.files, cwd=self._shell.cwd)
            found.extend(names or ["".join(text for text, _ in field)])
        return found

    async def _expand(self, word: Word, *, splits: bool) -> list[list[Piece]]:
        """Return the fields of a word, which are one or none if it is not split."""
        fields = _Fields(splits=splits)
        for part in word.parts:
            if isinstance(part, Text):
                fields.add_text(part.text, quoted=part.quoted)
            elif isinstance(part, Substitution):
                output = await self._substitute(part.body)
                fields.add_expanded(output, quoted=part.quoted)
            else:
                fields.add_expanded(self._shell.parameter(part.name) or "", quoted=part.quoted)
        return fields.fields()
