"""Python syntax for a test file: names, calls, and texts such as ``Hello ${name}``."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pytest_clawperator.contracts.wording import closest, listed, quote
from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.text import shown_path
from pytest_clawperator.yaml_source import Mark, Mistake

Node = TypeVar("Node", bound=ast.stmt | ast.expr)
_PLACED = (ast.expr, ast.stmt, ast.keyword, ast.arg, ast.alias)
#: What the device of a test is called: the fixture.
CLIENT = "clawperator"


def name(identifier: str) -> ast.Name:
    """Return a reference to a name."""
    return ast.Name(identifier, ast.Load())


def attribute(value: ast.expr, *names: str) -> ast.expr:
    """Return ``value.name``, or a chain of several names."""
    for each in names:
        value = ast.Attribute(value, each, ast.Load())
    return value


def call(
    function: ast.expr,
    args: Sequence[ast.expr] = (),
    keywords: Mapping[str, ast.expr] | None = None,
) -> ast.Call:
    """Return a call."""
    named = [ast.keyword(key, value) for key, value in (keywords or {}).items()]
    return ast.Call(function, list(args), named)


def assign(identifier: str, value: ast.expr) -> ast.Assign:
    """Return ``identifier = value``."""
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


def placed(node: Node, mark: Mark) -> Node:
    """Set the position of a tree in its file; parts that have a position keep it."""
    for part in ast.walk(node):
        if isinstance(part, _PLACED) and not hasattr(part, "lineno"):
            part.lineno = part.end_lineno = mark.line
            part.col_offset = part.end_col_offset = mark.column - 1
    return node


#: Names that the Python of a test uses itself.
RESERVED = frozenset(
    ["clawperator", "expect", "pytest", "re", "os", "Clawperator", "Any", "request"]
)

_TAKEN = "|".join(sorted([*keyword.kwlist, *RESERVED]))
#: The pattern of a variable's name, also for the schema.
NAME_PATTERN = rf"^(?!(?:{_TAKEN})$)[A-Za-z][A-Za-z0-9_]*$"
_PART = r"\$\{[A-Za-z][A-Za-z0-9_]*\}"
#: The patterns of a whole variable, of a text in which variables may stand, and of one without.
VARIABLE_PATTERN = f"^{_PART}$"
TEXT_PATTERN = rf"^(?:[^$]|\$(?!\{{)|\$\$\{{|{_PART})*$"
CONSTANT_PATTERN = r"^(?:[^$]|\$(?!\{)|\$\$\{)*$"
_NAME = re.compile(NAME_PATTERN.removesuffix("$") + r"\Z")
_VARIABLE = re.compile(rf"{_PART}\Z")
_PIECE = re.compile(rf"(\$\$\{{|{_PART}|\$\{{)")


def check_name(text: object, mark: Mark) -> str:
    """Return the name of a variable; refuse one that is not valid in Python."""
    if isinstance(text, str) and _NAME.match(text):
        return text
    if isinstance(text, str) and (text in RESERVED or keyword.iskeyword(text)):
        raise Mistake(mark, f"`{text}` cannot be the name of a variable: it is reserved in Python")
    raise Mistake(
        mark,
        f"{quote(str(text))} is not a valid name; use a letter first, then letters, digits and _",
    )


def is_variable(value: object) -> bool:
    """Whether a value is a single variable, whose value replaces it unchanged."""
    return isinstance(value, str) and _VARIABLE.match(value) is not None


def has_variables(text: str) -> bool:
    """Whether a text contains variables."""
    return any(piece.startswith("${") for piece in _PIECE.findall(text))


def read_text(text: str, mark: Mark, names: Iterable[str]) -> ast.expr:
    """Return the Python of a text: a constant, a variable, or an f-string of both."""
    pieces = [piece for piece in _PIECE.split(text) if piece]
    parts: list[ast.expr] = []
    for piece in pieces:
        if piece == "${":
            raise Mistake(
                mark,
                f"in {quote(text)}, `${{` does not begin a variable; write $${{ for the characters",
            )
        if is_variable(piece):
            parts.append(_variable(piece[2:-1], mark, names))
        else:
            parts.append(ast.Constant("${" if piece == "$${" else piece))
    if is_variable(text):
        return parts[0]
    if all(isinstance(part, ast.Constant) for part in parts):
        return ast.Constant("".join(str(p.value) for p in parts if isinstance(p, ast.Constant)))
    return ast.JoinedStr([_joined(part) for part in parts])


def _joined(part: ast.expr) -> ast.expr:
    return part if isinstance(part, ast.Constant) else ast.FormattedValue(part, -1)


def _variable(variable: str, mark: Mark, names: Iterable[str]) -> ast.expr:
    known = sorted(names)
    if variable in known:
        return name(variable)
    near = closest(variable, known)
    meant = f"did you mean `{near}`? " if near else ""
    has = f"known here: {listed(known)}" if known else "none is known here"
    raise Mistake(
        mark,
        f"there is no variable `{variable}`; {meant}{has}",
        hint="A variable is declared under `variables:`, `parameters:`, `fixtures:` or `needs:`,"
        " or by `as:` of a step above.",
    )


_SHOWN = 10
_HINT = "docs/test-files.md describes every key and step; the schema for editors has them, too."


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
        if not self.found:
            return
        mistakes = sorted(self.found, key=lambda one: one.mark)
        first = mistakes[0]
        lines = [f"{shown_path(self.path)}:{one.mark.line}:{one.mark.column}: {one.message}"
                 for one in mistakes[:_SHOWN]]  # fmt: skip
        rest = len(mistakes) - len(lines)
        raise ConfigurationError(
            "\n  ".join([*lines, *([f"... and {rest} more"] if rest else [])]),
            code=ErrorCode.TEST_FILE_INVALID,
            hint=first.hint or _HINT,
            details={"file": str(self.path), "line": first.mark.line, "column": first.mark.column},
        )


#: Returns the name of the function of another file's steps, and what that file needs.
ReadUsed = Callable[[str, Mark], tuple[str, tuple[str, ...]]]


@dataclass
class Scope:
    """The variables that are known at a place of a file, and what readers share."""

    mistakes: Mistakes
    used: ReadUsed
    names: set[str] = field(default_factory=set)

    def inner(self) -> Scope:
        """Return the scope of steps that may be skipped: what they set is unknown after them."""
        return replace(self, names=set(self.names))

    def text(self, text: str, mark: Mark) -> ast.expr:
        """Return the Python of a text, with its variables."""
        return read_text(text, mark, self.names)
