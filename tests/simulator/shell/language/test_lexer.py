"""Words and operators: quoting that is not closed, and syntax that is refused."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run

UNSUPPORTED = [
    ("echo $((1+2))", "'$(('"),
    ("echo $'a'", "$'...'"),
    ("echo `id`", "'`'"),
    ('echo "`id`"', "'`'"),
    ("cat <<EOF\na\nEOF", "'<<'"),
    ("cat <<<a", "'<<'"),
    ("cat <> f", "'<>'"),
    ("echo ${x:-y}", "'${x:-y}'"),
    ("echo ${x%y}", "'${x%y}'"),
    ("echo ${#x}", "'${#x}'"),
    ("echo {a,b}", "'{a,b}'"),
    ('am broadcast {"a":1,"b":2}', "'{a,b}'"),
]


@pytest.mark.parametrize(("script", "what"), UNSUPPORTED)
def test_unsupported_syntax_is_named_and_nothing_runs(script: str, what: str) -> None:
    """What a phone's shell knows and this one does not is an error, never a guess."""
    message = f"syntax error: {what} is not supported by the simulated shell"

    assert run(script) == (1, "", f"/system/bin/sh: {message}\n")


@pytest.mark.parametrize("script", ["echo 'a", 'echo "a', 'echo "a\\', "echo ${a"])
def test_an_open_quote_is_an_error(script: str) -> None:
    """A quote or brace without its end is told."""
    assert run(script) == (1, "", "/system/bin/sh: no closing quote\n")


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("echo {a} {} {a,} '{a,b}' \\{a,b}", None),
        ("echo {a} {} '{a,b}' a,b}", "{a} {} {a,b} a,b}\n"),
        ('echo $"a b" "$" $ "a$"', "a b $ $ a$\n"),
        ("echo 12>f; cat f; echo 2>f; cat f", "12\n\n"),
        ("echo a#b #c\n#d\necho e", "a#b\ne\n"),
        ('ec\\\nho joined "a\\\nb" && \\\necho more', "joined ab\nmore\n"),
    ],
)
def test_special_characters_count_only_where_they_mean_something(
    script: str, out: str | None
) -> None:
    """Braces, dollars, digits and hashes are text unless they stand where they are special."""
    assert (run(script).out or None) == out
