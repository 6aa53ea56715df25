"""What is known at a place of a test file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pytest_clawperator.skills.test_files.mistakes import Mark, Mistakes
from pytest_clawperator.skills.test_files.templates import read_text

#: Returns the name of the function of another file's steps, and what that file needs.
ReadUsed = Callable[[str, Mark], tuple[str, tuple[str, ...]]]


@dataclass
class Scope:
    """The variables that can be used, and what else a reader needs to know."""

    mistakes: Mistakes
    used: ReadUsed
    names: set[str] = field(default_factory=set)

    def inner(self) -> Scope:
        """Return the scope of steps that may not run: what they set is unknown after them."""
        return replace(self, names=set(self.names))

    def text(self, text: str, mark: Mark) -> ast.expr:
        """Return the Python of a text, with its variables."""
        return read_text(text, mark, self.names)
