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
names = st.sampled_from(["x", "y", "z", "w", "n", "u"])
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
    return f"$(show {' '.join(words)})"


@st.composite
def whole_word(draw: st.DrawFn, depth: int) -> str:
    """Draw a word made of pieces that touch."""
    pieces = [single_quoted, escaped, bare, parameters, double_quoted(depth), st.just('""')]
    if depth:
        pieces.append(substitution(depth - 1))
    return "".join(draw(st.lists(st.one_of(pieces), min_size=1, max_size=3)))


async def show(invocation: Invocation) -> int:
    """Print each argument in angle brackets."""
    await invocation.out("".join(f"<{argument}>" for argument in invocation.args[1:]))
    return 0


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(whole_word(2), max_size=4))
def test_words_expand_as_in_the_shell_of_this_machine(words: list[str], tmp_path: Path) -> None:
    """Any mixture of quotes, escapes and expansions gives the same arguments."""
    script = f"{VARIABLES}show {' '.join(words)}"
    function = "show() { test $# = 0 || printf '<%s>' \"$@\"; }\n"

    assert run(script, show=show).out == real_sh(function + script, tmp_path).out


def quoted_as_adb_clients_do(value: str) -> str:
    """Quote a value the way hosts do before they send a command."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


@settings(max_examples=25, deadline=None)
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

    assert run(f"show {quoted_as_adb_clients_do(value)}", show=show).out == f"<{value}>"


def test_wildcards_expand_to_the_files_that_match() -> None:
    """Names come sorted, hidden ones only if asked for; without a match the word stays."""
    make = "touch b a .h c.txt; mkdir d; touch d/x d/y; "
    for words, out in {
        "*": "<a><b><c.txt><d>",
        ".h*": "<.h>",
        "[ab] ?": "<a><b><a><b><d>",
        "*/x d/*": "<d/x><d/x><d/y>",
        "'*' \\* \"?\"": "<*><*><?>",
        "no*pe *.txt": "<no*pe><c.txt>",
        "/data/local/tmp/d/*": "</data/local/tmp/d/x></data/local/tmp/d/y>",
        "[z-a]": "<[z-a]>",
        "*" * 300: "<a><b><c.txt><d>",
    }.items():
        assert run(f"{make}show {words}", show=show) == (0, out, ""), words


def test_expansions_that_grow_too_large_end_the_script() -> None:
    """A variable that doubles itself runs into the limit, not out of memory."""
    ended = run("x=aaaaaaaa; while true; do x=$x$x; done; echo no")

    assert (ended.status, ended.out) == (1, "")
    assert "can't allocate" in ended.err
