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
        ("grep -E '(' f", "bad regex '(': unmatched ("),
        ("grep '[[:big:]]' f", "bad regex '[[:big:]]': unknown class [:big:]"),
        ("grep -e a -e '*b' -E f", "bad regex '*b': nothing to repeat before *"),
    ],
)
def test_trouble_has_a_status_of_its_own(script: str, message: str) -> None:
    """A bad expression or a missing file ends in a message and status 2."""
    assert run(script) == (2, "", f"grep: {message}\n")


def test_a_search_that_is_answered_ends_its_source() -> None:
    """When ``grep -q`` has found something, what feeds it ends at its next write."""
    assert run("while :; do echo needle; done | grep -q needle && echo end").out == "end\n"


FOCUS = (
    "  mCurrentFocus=Window{a1b2c3 u0 com.example.shop/com.example.shop.MainActivity} "
    "mFocusedApp=ActivityRecord{d4e5f6 u0 com.example.shop/.MainActivity t12} and more of it"
)


@pytest.mark.parametrize(
    "options",
    [
        "-E 'mCurrentFocus.*u0.*/.*'",
        "'mCurrentFocus.*u0.*shop.*Main.*more'",
        "-iE '.*MCURRENT.*shop.*=.*activity.*'",
        "-E 'nothing.*here|^ *m.*u0.*t[0-9]+}.*of.*it$'",
        "-v 'mCurrentFocus.*u0.*/.*/.*/.*'",
    ],
)
def test_patterns_with_many_gaps_find_long_lines(options: str) -> None:
    """What people search in ``dumpsys`` and ``logcat`` is found, however often ``.*`` is used."""
    assert run(f"cat | grep {options}", f"{FOCUS}\n".encode()) == (0, f"{FOCUS}\n", "")
