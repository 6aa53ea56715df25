"""Splitting of lines, compared with ``read`` of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.shell.scripts import real_sh, run


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("IFS=: read -r x y", "a:b:c"),
        ("IFS=: read -r x y", " a : b:"),
        ("IFS=: read -r x y", "::a:"),
        ("IFS=', ' read -r x y", "  a ,  b c  "),
        ("IFS=', ' read -r x y", "a ,, b ,"),
        ("IFS= read -r x y", "  a b  "),
        ("IFS=] read -r x y", "a]b"),
        ("read x y", r"a\ b c"),
        ("read x y", "a b\\ "),
        ("read x y", "a b\\  c\\\\ "),
        ("read x y", r"\a\\b c\d"),
        ("read x y", "a\\\nb c"),
        ("read -r x y", "\\a b\\"),
        ("IFS=: read x y", r"a\:b:c"),
    ],
)
def test_lines_are_split_as_in_the_shell_of_this_machine(
    script: str, line: str, tmp_path: Path
) -> None:
    """The separators are those of ``IFS``; without ``-r`` a backslash escapes one."""
    script += '; printf \'%s<%s|%s>\' $? "$x" "$y"; read -r z w; printf \'<%s>\' "$z"'
    data = f"{line}\nnext line\n".encode()

    assert run(script, data)[:2] == real_sh(script, tmp_path, data)[:2]


def test_a_line_may_end_without_its_newline_in_a_backslash() -> None:
    """The backslash escapes nothing and is dropped."""
    assert run("read x; echo $?$x", b"a\\").out == "1a\n"
