"""Mistakes in test files: each with its file, line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pytest_clawperator.errors import ConfigurationError, ErrorCode

_SHOWN = 10
_HINT = "docs/test-files.md describes every key and step; the schema for editors has them, too."


class Mark(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Mistake(Exception):
    """Something in a file that is not allowed; never leaves this folder."""

    def __init__(self, mark: Mark, message: str, *, hint: str = _HINT) -> None:
        super().__init__(message)
        self.mark = mark
        self.message = message
        self.hint = hint


@dataclass
class Mistakes:
    """The mistakes of one file, collected, so that all of them are told at once."""

    path: Path
    found: list[Mistake] = field(default_factory=list)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Note a mistake that is made in the block, and go on after it."""
        try:
            yield
        except Mistake as mistake:
            self.found.append(mistake)

    def raise_if_any(self) -> None:
        """Raise the error that tells them all, in the order of the file."""
        if self.found:
            raise error_of(self.path, sorted(self.found, key=lambda one: one.mark))


def error_of(path: Path, mistakes: Sequence[Mistake]) -> ConfigurationError:
    """Return the error that tells the mistakes of a file."""
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


def shown_path(path: Path) -> str:
    """Return a path as messages show it: from the current folder, if it is below it."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
