"""Wildcards and braces: in file names, ``case``, ``[[ == ]]`` and ``${x#…}``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.character_classes import CLASSES
from pytest_clawperator.simulator.shell.io import MAX_TEXT, TextTooLong
from pytest_clawperator.simulator.shell.words import has_pair

Piece = tuple[str, bool]
"""Some characters, and whether they were quoted."""

_MAX_WORDS = 4096
_NOTHING = r"(?!)"


@dataclass(frozen=True)
class _Literal:
    """Characters that match themselves."""

    text: str

    def match(self, text: str) -> int | None:
        return len(self.text) if text.startswith(self.text) else None

    def search(self, text: str, start: int) -> tuple[int, int] | None:
        found = text.find(self.text, start)
        return None if found < 0 else (found, found + len(self.text))


@dataclass(frozen=True)
class _Expression:
    """Characters and sets of characters, always the same number of them."""

    pattern: re.Pattern[str]

    def match(self, text: str) -> int | None:
        match = self.pattern.match(text)
        return match and match.end()

    def search(self, text: str, start: int) -> tuple[int, int] | None:
        match = self.pattern.search(text, start)
        return match and match.span()


_Run = _Literal | _Expression


class Pattern:
    """A wildcard pattern; matching takes time in proportion to the text, whatever the pattern.

    Between two stars the earliest possible match is always as good as a later one, so the
    pattern is looked for piece by piece and never tried again from an earlier place.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._forward: list[_Run] = []
        self._backward: list[_Run] = []
        if not is_wild(pieces):
            text = "".join(text for text, _ in pieces)
            self._forward.append(_Literal(text))
            self._backward.append(_Literal(text[::-1]))
            return
        for atoms in _runs_between_stars(pieces):
            self._forward.append(_compiled(atoms))
            self._backward.insert(0, _compiled(atoms[::-1]))

    def matches(self, text: str) -> bool:
        """Tell whether the pattern is all of the text."""
        return self.prefix(text, longest=True) == len(text)

    def prefix(self, text: str, *, longest: bool) -> int | None:
        """Tell how much of the text's beginning matches; None if nothing does."""
        return _prefix(self._forward, self._backward, text, longest=longest)

    def suffix(self, text: str, *, longest: bool) -> int | None:
        """Tell how much of the text's end matches; None if nothing does."""
        return _prefix(self._backward, self._forward, text[::-1], longest=longest)

    def replaced(self, text: str, replacement: str) -> str | None:
        """Replace every match, if there is no star to look for longer ones with; else None."""
        run = self._forward[0]
        if len(self._forward) > 1 or run.match("") is not None:
            return None
        if len(text) * len(replacement) > MAX_TEXT:
            return None
        if isinstance(run, _Literal):
            return text.replace(run.text, replacement)
        return run.pattern.sub(lambda _: replacement, text)

    def search(self, text: str, start: int) -> tuple[int, int] | None:
        """Find the leftmost, then longest match from ``start`` on."""
        first = self._forward[0].search(text, start)
        if first is None or len(self._forward) == 1:
            return first
        length = self.prefix(text[first[0] :], longest=True)
        return None if length is None else (first[0], first[0] + length)


def is_wild(pieces: Sequence[Piece]) -> bool:
    """Tell whether unquoted wildcards are in a word."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    return "*" in plain or "?" in plain or has_pair(plain, "[]")


def expand_braces(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Give a word once for each choice between its unquoted braces."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    if "," not in plain or not has_pair(plain, "{}"):
        return [list(pieces)]
    done: list[list[Piece]] = []
    waiting = [[(character, quoted) for text, quoted in pieces for character in text or [""]]]
    size = 0
    while waiting:
        characters = waiting.pop()
        group = _brace_group(characters)
        if group is None:
            done.append(characters)
            continue
        start, commas, end = group
        bounds = [start, *commas, end]
        for left, right in reversed(list(pairwise(bounds))):
            waiting.append(
                characters[:start] + characters[left + 1 : right] + characters[end + 1 :]
            )
            size += len(waiting[-1])
        if size > MAX_TEXT // 16 or len(done) + len(waiting) > _MAX_WORDS:
            raise TextTooLong
    return done


def expand_files(pieces: Sequence[Piece], *, files: FileSystem, cwd: str) -> list[str]:
    """Give the paths that a word with wildcards names, in order; none if there are none."""
    found = [""]
    for number, component in enumerate(_components(pieces)):
        separator = "/" if number else ""
        if not is_wild(component):
            name = separator + "".join(text for text, _ in component)
            found = [path + name for path in found]
            continue
        pattern = Pattern(component)
        hidden = component[0][0].startswith(".")
        found = [
            path + separator + name
            for path in found
            for name in _names(files, cwd, path + separator)
            if (hidden or not name.startswith(".")) and pattern.matches(name)
        ]
        if len(found) > _MAX_WORDS:
            raise TextTooLong
    return sorted(path for path in found if path and _exists(files, cwd, path))


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


def _components(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    component: list[Piece] = []
    for text, quoted in pieces:
        first, *others = text.split("/")
        component.append((first, quoted))
        for other in others:
            yield component
            component = [(other, quoted)]
    yield component


def _brace_group(characters: Sequence[Piece]) -> tuple[int, list[int], int] | None:
    """Find the first group with a choice: where it begins, its commas, and where it ends."""
    found: tuple[int, list[int], int] | None = None
    opened: list[tuple[int, list[int]]] = []
    for position, (character, quoted) in enumerate(characters):
        if quoted:
            continue
        if character == "{":
            opened.append((position, []))
        elif character == "," and opened:
            opened[-1][1].append(position)
        elif character == "}" and opened:
            start, commas = opened.pop()
            if commas and (found is None or start < found[0]):
                found = start, commas, position
    return found


def _runs_between_stars(pieces: Sequence[Piece]) -> list[list[str]]:
    """Give the pattern's parts between its stars, each as expressions for single characters."""
    runs: list[list[str]] = [[]]
    characters = [(character, quoted) for text, quoted in pieces for character in text]
    position = 0
    while position < len(characters):
        character, quoted = characters[position]
        position += 1
        if quoted or character not in "*?[":
            runs[-1].append(re.escape(character))
        elif character == "*":
            runs.append([])
        elif character == "?":
            runs[-1].append(".")
        else:
            position, expression = _bracket(characters, position)
            runs[-1].append(expression)
    return runs


def _bracket(characters: Sequence[Piece], start: int) -> tuple[int, str]:
    """Read ``[…]`` from behind its bracket: where it ends, and what it matches."""
    position = start
    negated = position < len(characters) and characters[position] == ("!", False)
    position += negated
    members: list[str] = []
    first = position
    while position < len(characters):
        character, quoted = characters[position]
        if character == "]" and not quoted and position > first:
            return position + 1, _set(members, negated=negated)
        named = _class_at(characters, position) if character == "[" and not quoted else None
        if named:
            members.append(CLASSES[named])
            position += len(named) + 4
        elif _is_range(characters, position):
            low, high = character, characters[position + 2][0]
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
            position += 3
        else:
            members.append(re.escape(character))
            position += 1
    return start, re.escape("[")


def _set(members: Sequence[str], *, negated: bool) -> str:
    if not members:
        return "." if negated else _NOTHING
    return f"[{'^' if negated else ''}{''.join(members)}]"


def _is_range(characters: Sequence[Piece], position: int) -> bool:
    return (
        position + 2 < len(characters)
        and characters[position + 1] == ("-", False)
        and characters[position + 2] != ("]", False)
    )


def _class_at(characters: Sequence[Piece], position: int) -> str | None:
    text = "".join(character for character, _ in characters[position : position + 12])
    match = re.match(r"\[:([a-z]+):\]", text)
    return match[1] if match and match[1] in CLASSES else None


def _compiled(atoms: Sequence[str]) -> _Run:
    return _Expression(re.compile("".join(atoms), re.DOTALL))


def _prefix(
    forward: Sequence[_Run], backward: Sequence[_Run], text: str, *, longest: bool
) -> int | None:
    end = forward[0].match(text)
    if end is None or len(forward) == 1:
        return end
    for run in forward[1:-1]:
        found = run.search(text, end)
        if found is None:
            return None
        end = found[1]
    if longest:
        found = backward[0].search(text[end:][::-1], 0)
        return None if found is None else len(text) - found[0]
    found = forward[-1].search(text, end)
    return None if found is None else found[1]
