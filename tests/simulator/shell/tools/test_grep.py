"""``grep``."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run

TEXT = "printf 'foo\\nbar\\nFoo bar\\nbaz\\n' > f; printf 'foo2\\n' > g; "


@pytest.mark.parametrize(
    ("script", "out"),
    [
        (
            TEXT + "grep foo f; grep -i foo f; grep -v a f; grep -c ba f",
            "foo\nfoo\nFoo bar\nfoo\n3\n",
        ),
        (TEXT + "grep foo f g; grep -n ba f", "f:foo\ng:foo2\n2:bar\n3:Foo bar\n4:baz\n"),
        (TEXT + "grep -E 'foo|baz' f; grep -F . f; grep -e foo -e baz f", "foo\nbaz\nfoo\nbaz\n"),
        (TEXT + "grep 'o\\{2\\}$' f; grep '^[fF]oo' f", "foo\nfoo\nFoo bar\n"),
        (
            TEXT + "grep -A1 foo f; grep -B1 baz f; grep -nC1 bar f | head -n 2",
            "foo\nbar\nFoo bar\nbaz\n1-foo\n2:bar\n",
        ),
        ("printf '1\\n2\\n3\\n4\\n5\\n6\\n' | grep -A1 -E '^[15]$'", "1\n2\n--\n5\n6\n"),
        (TEXT + "grep -q foo f && echo y; grep zz f || echo $?", "y\n1\n"),
        (TEXT + "cat f | grep --line-buffered foo; printf 'a\\nb\\n' | grep 'a\nb'", "foo\na\nb\n"),
    ],
)
def test_grep_prints_the_lines_that_match(script: str, out: str) -> None:
    """What is printed is what the phone's prints."""
    assert run(script)[1:] == (out, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("grep", "no REGEX"),
        ("grep a nope", "nope: No such file or directory"),
        ("grep -E '(' f", "bad regex '(': missing ), unterminated subpattern at position 0"),
        ("grep -E '(a+)+b' f", "bad regex '(a+)+b': not supported by the simulated grep"),
    ],
)
def test_trouble_has_a_status_of_its_own(script: str, message: str) -> None:
    """A bad expression or a missing file ends in a message and status 2."""
    assert run(script) == (2, "", f"grep: {message}\n")


def test_a_search_that_is_answered_ends_its_source() -> None:
    """When ``grep -q`` has found something, what feeds it ends at its next write."""
    assert run("while :; do echo needle; done | grep -q needle && echo end").out == "end\n"
