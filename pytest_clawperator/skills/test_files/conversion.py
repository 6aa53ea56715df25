"""Test files as Python: what ``clawperator-py convert`` writes."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_clawperator.skills.test_files import syntax
from pytest_clawperator.skills.test_files.files import TestFile
from pytest_clawperator.skills.test_files.mistakes import Mark

_WIDTH = 99
_OPEN, _CLOSE = "([{", ")]}"
_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def as_python(file: TestFile) -> str:
    """Return the module of pytest functions that a file stands for."""
    future, *rest = file.head()
    standard = [one for one in rest if _imports(one, "os", "re", "typing")]
    others = [one for one in rest if _imports(one, "pytest", "pytest_clawperator")]
    marks = [one for one in rest if isinstance(one, ast.Assign)]
    groups: list[Sequence[ast.stmt]] = [[future], standard, others, marks]
    about = ast.Module([ast.Expr(ast.Constant(file.about))], [])
    title = ast.unparse(ast.fix_missing_locations(about))
    head = [title, *("\n".join(map(_written, group)) for group in groups if group)]
    functions = [*(one.function for one in file.used), *file.tests]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(map(_written, functions)) + "\n"


def _imports(statement: ast.stmt, *names: str) -> bool:
    if isinstance(statement, ast.Import):
        return statement.names[0].name in names
    return isinstance(statement, ast.ImportFrom) and statement.module in names


def _written(statement: ast.stmt) -> str:
    text = ast.unparse(ast.fix_missing_locations(syntax.placed(statement, Mark(1, 1))))
    return "\n".join(_folded(_double_quoted(line)) for line in _logical_lines(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; those of a docstring are one."""
    lines = iter(text.splitlines())
    for line in lines:
        while line.count('"""') == 1:
            line += "\n" + next(lines)
        yield line


def _double_quoted(line: str) -> str:
    """Write texts in double quotes, where that needs no other character."""
    if line.lstrip().startswith('"""'):
        return line
    written = line
    for token in reversed(_tokens(line)):
        body = token.string[1:-1]
        is_plain = token.string.startswith("'") and not set(body) & {'"', "\\", "'"}
        if token.type == tokenize.STRING and is_plain:
            first, last = token.start[1], token.end[1]
            written = f'{written[:first]}"{body}"{written[last:]}'
    return written


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of one line; of one that begins a block, those up to its colon."""
    margin = len(line) - len(line.lstrip())
    found: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type not in _LAYOUT:
                start, end = (token.start[0], token.start[1] + margin), (1, token.end[1] + margin)
                found.append(token._replace(start=start, end=end))
    except (tokenize.TokenError, IndentationError):  # a block without its body
        pass
    return found


def _folded(line: str) -> str:
    """Write what is too long with one argument a line."""
    if len(line) <= _WIDTH or line.lstrip().startswith('"""'):
        return line
    cuts = _cuts(_tokens(line))
    if len(cuts) < 2:
        return line
    margin = " " * (len(line) - len(line.lstrip()))
    head, tail = line[: cuts[0]], line[cuts[-1] :]
    parts = [line[a:b].strip().removesuffix(",") for a, b in pairwise(cuts)]
    inner = [_folded(f"{margin}    {part},") for part in parts if part]
    return "\n".join([head, *inner, f"{margin}{tail}"])


def _cuts(tokens: list[tokenize.TokenInfo]) -> list[int]:
    """Return where the last bracket that is not inside another one begins and ends, and between."""
    depth = 0
    cuts: list[int] = []
    found: list[int] = []
    for token in tokens:
        if token.string in _OPEN and token.type == tokenize.OP:
            depth += 1
            cuts = [token.end[1]] if depth == 1 else cuts
        elif token.string in _CLOSE and token.type == tokenize.OP:
            depth -= 1
            if depth == 0:
                found = [*cuts, token.start[1]]
        elif token.string == "," and depth == 1:
            cuts.append(token.end[1])
    return found
