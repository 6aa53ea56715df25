"""Wildcards in file names, compared with the shell of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.shell.scripts import real_sh, run

SCRIPTS = [
    "touch b a ab .h; mkdir d; touch d/f; printf '<%s>' * ? [ab] a* [!a]* nope* 'a*' a\\*",
    "touch b a .h; mkdir d; touch d/f; printf '<%s>' */* ./a* d/* */ .[!.]*",
    "touch 'x y' z; printf '<%s>' x* \"x y\" 'x '* ?\\ ?; for f in *; do echo \"$f\"; done",
    "touch 'a[b' 'a*b'; printf '<%s>' a'['b a'*'b a[*]b a\\[* [ ]",
    "x='*'; touch a b; printf '<%s>' $x \"$x\"",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_wildcards_match_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same patterns name the same files, and those that match nothing stay as they are."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


@pytest.mark.parametrize(
    "pattern", ["*a" * 100 + "*b", "*" * 5000, "[" * 5000 + "]", "?" * 5000, "*/" * 2000 + "*"]
)
def test_hostile_patterns_are_answered(pattern: str) -> None:
    """Patterns that make others try for ever are answered at once."""
    ended = run(f"touch {'a' * 200}; echo {pattern} | wc -l; echo over")

    assert ended.out.endswith("over\n")
