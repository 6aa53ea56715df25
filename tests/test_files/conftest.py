"""Test files written for these tests, and read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest

from pytest_clawperator.test_files.file import as_python, read_test_file

Read = Callable[..., str]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return the function that reads a test file, and returns its Python."""
    monkeypatch.chdir(tmp_path)

    def read(text: str, **others: str) -> str:
        (tmp_path / "test_it.claw.yaml").write_text(dedent(text), encoding="utf-8")
        for name, other in others.items():
            (tmp_path / f"{name}.claw.yaml").write_text(dedent(other), encoding="utf-8")
        return as_python(read_test_file(tmp_path / "test_it.claw.yaml", root=tmp_path))

    return read


@pytest.fixture
def read_steps(read: Read) -> Callable[[str], list[str]]:
    """Return the function that reads steps, and returns the statements of the test."""

    def read_steps(steps: str) -> list[str]:
        head = "fixtures: [name, index]\nsteps:\n"
        tree = ast.parse(read(head + indent(dedent(steps).strip("\n"), "  ")))
        function = tree.body[-1]
        assert isinstance(function, ast.FunctionDef)
        return [ast.unparse(one) for one in function.body[1:]]

    return read_steps
