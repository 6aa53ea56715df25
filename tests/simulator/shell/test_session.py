"""Whole runs: scripts that come line by line, and scripts that only mean harm."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.session import run_input
from pytest_clawperator.simulator.shell.shell import MAX_NESTING
from pytest_clawperator.simulator.shell.streams import Bytes, Collected
from tests.simulator.shell.scripts import DEADLINE, Ended, new_shell, run, run_in

DEEP = 3 * MAX_NESTING


def typed(text: bytes) -> Ended:
    """Run what comes on standard input."""

    async def scenario() -> Ended:
        out, err = Collected(), Collected()
        work = run_input(new_shell(), Bytes(text), out, err)
        status = await asyncio.wait_for(work, DEADLINE)
        return Ended(status, out.data.decode(), err.data.decode())

    return asyncio.run(scenario())


def test_a_script_on_standard_input_shares_it_with_its_commands() -> None:
    """Lines are run as they come, and a command may read the next one."""
    script = b"echo a\nread x\nfor the read\nif true\nthen\necho $x\nfi\nnope\nexit 4\necho no\n"

    assert typed(script) == (
        4,
        "a\nfor the read\n",
        "/system/bin/sh: <stdin>[7]: nope: inaccessible or not found\n",
    )


def test_a_script_without_its_end_is_an_error() -> None:
    """When the input ends inside a command, that is told with the line."""
    assert typed(b"echo a\nif true\n") == (
        1,
        "a\n",
        "/system/bin/sh: <stdin>[2]: syntax error: unmatched 'if'\n",
    )


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# only a comment", b"echo a\\"])
def test_input_that_ends_early_is_no_error(text: bytes) -> None:
    """Empty lines, comments and a last line without its end are fine."""
    assert typed(text)[::2] == (0, "")


def test_variables_and_folder_last_between_runs() -> None:
    """One shell can run several scripts, as an interactive one does."""

    async def scenario() -> Ended:
        shell = new_shell()
        await run_in(shell, "x=1; export y=2; cd /data")
        assert (shell.cwd, shell.env["y"]) == ("/data", "2")
        return await run_in(shell, "echo $x$y; pwd")

    assert asyncio.run(scenario()).out == "12\n/data\n"


@pytest.mark.parametrize(
    "script",
    [
        "echo " + "$(" * DEEP + "echo" + ")" * DEEP,
        "( " * DEEP + "echo a" + ")" * DEEP,
        "{ " * DEEP + "echo a" + "; }" * DEEP,
        "if " * DEEP + "true",
        'echo "$(' * DEEP,
        "[ " + "! " * 20_000 + "a = b = c ]",
        'x=\'sh -c "$x"\'; export x; sh -c "$x"',
        "echo 'sh ./f' > f; sh ./f",
        "x=aaaaaaaa; while :; do x=$x$x; done",
        "while :; do sleep 9 & done",
        "exec " * 20_000 + "true",
        "command " * 15_000 + "true",
        "nohup " * 20_000 + "true",
        "case",
        "echo ${1x}",
    ],
    ids=lambda script: script[:20],
)
def test_scripts_that_exhaust_the_shell_fail_cleanly(script: str) -> None:
    """Endless nesting, recursion and growth end in a message and a failure."""
    ended = run(script)

    assert ended.status != 0
    assert ended.err


def test_reasonable_nesting_works() -> None:
    """Scripts may nest well beyond what people write."""
    depth = MAX_NESTING - 4

    assert run("echo " + "$(echo " * depth + "deep" + ")" * depth).out == "deep\n"


@pytest.mark.parametrize("sign", [*"{[($'\"\\*;&|<>#!`~ \n", "$(", "${", "[[", "&&", "é", "\x01"])
def test_long_runs_of_one_sign_are_answered(sign: str) -> None:
    """A hundred thousand of any sign are a script like any other."""
    assert 0 <= run(f"echo a{sign * (100_000 // len(sign))}").status <= 255


PIECES = (
    *("if", "then", "else", "fi", "for", "in", "do", "done", "case", "esac", "function"),
    *("{", "}", "(", ")", "!", "[[", "]]", "((", "))", "$(", "$((", "${x", "${x}", "`", "'", '"'),
    *(";", ";;", "&", "&&", "||", "|", "<<", ">", "<", "2>&1", "&>", "\n", "\\", "#"),
    *("a", "b=", "$x", "-f", "*", "=", "1", "{a,b}", "exec", "command", "read", "cat", "break"),
)
SIGNS = "ab \t\n'\"\\$`;&|<>(){}[]#*?=~!%+-/:0129@^,"


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from(SIGNS) | st.characters(exclude_categories=[]), max_size=40)
    | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
)
def test_no_text_breaks_the_shell(script: str) -> None:
    """Whatever comes over the wire, there is a status and no exception."""
    assert 0 <= run(script).status <= 255


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_on_standard_input_break_the_shell(data: bytes) -> None:
    """Binary input ends in a status, too."""

    async def scenario() -> int:
        work = run_input(new_shell(), Bytes(data), Collected(), Collected())
        return await asyncio.wait_for(work, DEADLINE)

    assert 0 <= asyncio.run(scenario()) <= 255
