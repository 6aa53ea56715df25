"""The files that tools read."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run


def test_a_dash_is_standard_input() -> None:
    """Files and standard input can be mixed."""
    assert run("echo a > f; cat f - f", b"b\n").out == "a\nb\na\n"


@pytest.mark.parametrize("tool", ["head", "tail", "wc", "md5sum", "cut -f1", "grep a"])
def test_a_missing_file_is_reported_by_name(tool: str) -> None:
    """The tool names itself, the file and the reason, and fails."""
    ended = run(f"{tool} nope")

    name = tool.split()[0]
    assert ended.err == f"{name}: nope: No such file or directory\n"
    assert ended.status == (2 if name == "grep" else 1)


def test_lines_end_only_at_newlines() -> None:
    """Carriage returns and other separators are part of a line."""
    assert run("tail -n 1", b"a\r\nb\x0bc\xe2\x80\xa8d\n").out == "b\x0bc\u2028d\n"
