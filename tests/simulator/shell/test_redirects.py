"""Redirections."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.shell import Shell
from tests.simulator.shell.scripts import NOON, Ended, real_sh, run, run_in


@pytest.mark.parametrize(
    "script",
    [
        "echo one > f; echo two >> f; cat f; cat < f; cat < f > g; cat g; echo 3 > f; cat f",
        "echo out; echo err >&2; { echo a; echo b >&2; } 2>&1 | cat; (echo c >&2) 2>/dev/null",
        "echo a 2>&1 >f | cat; cat f; echo x > f 2>&1; cat f",
        "cat nope 2>/dev/null; echo $?; echo a > no/such || echo failed; echo $?",
        "x=f; echo a > $x; echo b > 'a b'; cat f a*b; > empty; cat empty",
        "while read x; do echo [$x]; done < f; echo a > f; while read x; do echo [$x]; done < f",
    ],
)
def test_redirections_work_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same bytes go to the same places."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


def test_both_outputs_can_go_to_one_file() -> None:
    """``&>`` takes standard output and standard error."""
    assert run("{ echo a; echo b >&2; } &>f; cat f") == (0, "a\nb\n", "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("cat < nope", "can't open nope: No such file or directory"),
        ("cat < ''", "can't open : No such file or directory"),
        ("echo > no/such", "can't create no/such: No such file or directory"),
        ("echo > .", "can't create .: Is a directory"),
        ("echo > /system/x", "can't create /system/x: Read-only file system"),
        ("echo a >&5", ">&5 : bad file descriptor"),
        ("echo a >&x", ">&x : illegal file descriptor name"),
        ("{ echo a; } < nope", "can't open nope: No such file or directory"),
        ("echo > no/such & wait $!", "can't create no/such: No such file or directory"),
    ],
)
def test_what_cannot_be_opened_is_told(script: str, message: str) -> None:
    """The command does not run; the file and the reason are named."""
    assert run(script) == (1, "", f"/system/bin/sh: {message}\n")


def test_a_full_disk_fails_the_command_that_writes() -> None:
    """No space is the command's failure, in its words."""
    full = False

    async def scenario() -> list[Ended]:
        nonlocal full
        shell = Shell(SHELL_COMMANDS, FileSystem(clock=lambda: NOON, is_full=lambda: full))
        await run_in(shell, "echo ok > /sdcard/g")
        full = True
        appended = await run_in(shell, "printf a >> /sdcard/g")
        return [appended, await run_in(shell, "echo a > /sdcard/h")]

    appended, created = asyncio.run(scenario())
    reason = "No space left on device"
    assert appended == (1, "", f"printf: write: {reason}\n")
    assert created == (1, "", f"/system/bin/sh: can't create /sdcard/h: {reason}\n")
