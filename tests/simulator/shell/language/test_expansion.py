"""Expansion of words, compared with the shell of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.shell import Invocation
from tests.simulator.shell.scripts import real_sh, run

VARIABLES = "x='a b'; y=; z='*'; w=' lead  trail '; n='1\n2'; "

text_characters = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0'")
    | st.sampled_from(' \t\n$`"\\;&|<>()#*?[]{}=~!😀é'),
    max_size=6,
)
single_quoted = text_characters.map(lambda text: f"'{text}'")
escaped = st.sampled_from(list(" $`\"'\\;&|<>()#*?[]{}~!a😀\n")).map(lambda key: "\\" + key)
bare = st.sampled_from(["a", "b1", "-", "=", "a=b", "%", "é", "😀", "a#b", "]", "}", ",", "."])
names = st.sampled_from(["x", "y", "z", "w", "n", "u", "1", "2", "3", "9", "#"])
parameters = names.map("${}".format) | names.map("${{{}}}".format)


@st.composite
def double_quoted(draw: st.DrawFn, depth: int) -> str:
    """Draw a word in double quotes, with everything that means something inside them."""
    plain = st.text(st.sampled_from("ab '#*;&|(){}~é😀\t\n"), max_size=3)
    slashed = st.sampled_from(['\\"', "\\$", "\\`", "\\\\", "\\\n", "\\a", "\\ ", "\\'"])
    inner = [plain, slashed, parameters, st.just("$ ")]
    if depth:
        inner.append(substitution(depth - 1))
    return '"' + "".join(draw(st.lists(st.one_of(inner), max_size=3))) + '"'


@st.composite
def substitution(draw: st.DrawFn, depth: int) -> str:
    """Draw a command substitution."""
    words = draw(st.lists(whole_word(depth), max_size=2))
    return f"$(printf '%s' {' '.join(words)})"


@st.composite
def whole_word(draw: st.DrawFn, depth: int) -> str:
    """Draw a word made of pieces that touch."""
    pieces = [single_quoted, escaped, bare, parameters, double_quoted(depth), st.just('""')]
    if depth:
        pieces.append(substitution(depth - 1))
    return "".join(draw(st.lists(st.one_of(pieces), min_size=1, max_size=3)))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(whole_word(2) | st.sampled_from(['"$@"', '"$*"', "$@"]), max_size=4))
def test_words_expand_as_in_the_shell_of_this_machine(words: list[str], tmp_path: Path) -> None:
    """Any mixture of quotes, escapes and expansions gives the same arguments."""
    inner = f"{VARIABLES}printf '<%s>' {' '.join(words)}"
    script = f"sh -c {quoted_as_adb_clients_do(inner)} name"
    script = f"{script} p 'q r' ''; {script}"

    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


def quoted_as_adb_clients_do(value: str) -> str:
    """Quote a value the way hosts do before they send a command."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_value_quoted_by_a_host_arrives_unchanged(value: str) -> None:
    """Quotes, dollars, backquotes, newlines and emoji all survive."""
    got: list[str] = []

    async def take(invocation: Invocation) -> int:
        got.extend(invocation.args[1:])
        return 0

    run(f"am broadcast --es 'payload' {quoted_as_adb_clients_do(value)} --last", am=take)

    assert got == ["broadcast", "--es", "payload", value, "--last"]


@pytest.mark.parametrize("filler", ["x", "'", '\\"', "😀", "$(", "`"])
def test_a_large_argument_arrives_whole(filler: str) -> None:
    """Sixty thousand characters are one argument, whatever they are."""
    value = filler * (60_000 // len(filler))

    ended = run(f"printf %s {quoted_as_adb_clients_do(value)} | wc -c")

    assert ended.out == f"{len(value.encode())}\n"


def test_a_command_with_double_brackets_takes_empty_words() -> None:
    """The usual wait for a booted device works without quotes."""
    assert run("[[ -z $(true) ]] && echo booting; [[ -z $(echo 1) ]] || echo up").out == (
        "booting\nup\n"
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("abc == a*", "yes"),
        ("abc = ?b[a-c]", "yes"),
        ("abc != a*", "no"),
        ("! abc == a*", "no"),
        ("abc == 'a*'", "no"),
        ("'a*' == \"a*\"", "yes"),
        ("'[x]' == '[x]'", "yes"),
        ("abc == $pattern", "yes"),
        ('abc == "$pattern"', "no"),
        ("'a*' == \"$pattern\"", "yes"),
        ("a* == abc", "no"),
        ("a == b", "no"),
    ],
)
def test_double_brackets_compare_with_an_unquoted_pattern(question: str, answer: str) -> None:
    """Wildcards on the right side count unless they are quoted; files play no part."""
    script = f"pattern='a*'; touch abc; if [[ {question} ]]; then echo yes; else echo no; fi"

    assert run(script) == (0, f"{answer}\n", "")


def test_all_parameters_in_quotes_are_no_word_where_there_are_none() -> None:
    """``"$@"`` passes on what a script got, which can be nothing."""
    inner = 'ls "$@" | head -n 1; for i in "$@"; do echo $i; done; echo "$*".'

    assert run(f"touch f; sh -c '{inner}' x") == (0, "f\n.\n", "")


def test_an_exported_value_is_not_split() -> None:
    """``export`` takes the whole of an unquoted expansion."""
    assert run("x='a b'; export A=$x; sh -c 'echo \"$A\"'").out == "a b\n"


def test_expansions_that_grow_too_large_end_the_script() -> None:
    """A variable that doubles itself runs into the limit, not out of memory."""
    ended = run("x=aaaaaaaa; while :; do x=$x$x; done; echo no")

    assert (ended.status, ended.out) == (1, "")
    assert "can't allocate" in ended.err
