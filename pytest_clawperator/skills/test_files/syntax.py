"""Pieces of Python syntax trees, and the places of a file that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pytest_clawperator.skills.test_files.mistakes import Mark

Node = TypeVar("Node", bound=ast.stmt | ast.expr)

_PLACED = (ast.expr, ast.stmt, ast.keyword, ast.arg, ast.alias)
#: What the device of a test is called: the fixture.
CLIENT = "clawperator"


def name(identifier: str) -> ast.Name:
    """Return the use of a name."""
    return ast.Name(identifier, ast.Load())


def attribute(value: ast.expr, *names: str) -> ast.expr:
    """Return ``value.name``, or of several names one after the other."""
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
    """Say where a tree stands in its file; parts that know their place keep it."""
    for part in ast.walk(node):
        if isinstance(part, _PLACED) and not hasattr(part, "lineno"):
            part.lineno = part.end_lineno = mark.line
            part.col_offset = part.end_col_offset = mark.column - 1
    return node
