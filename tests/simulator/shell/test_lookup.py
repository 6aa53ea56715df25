"""Where commands are found, and what is said where they are not."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.shell.commands import BUILTINS, TOOLS
from pytest_clawperator.simulator.shell.lookup import IN_SHELL, SHELL_ONLY
from tests.simulator.shell.scripts import run


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("nope", 127, "nope: inaccessible or not found"),
        ("exec nope; echo no", 127, "nope: inaccessible or not found"),
        ("command nope", 127, "nope: inaccessible or not found"),
        ("nohup nope", 127, "nope: inaccessible or not found"),
        ("sed s/a/b/", 127, "sed: inaccessible or not found"),
        ("./nope a", 127, "./nope: inaccessible or not found"),
        ("/system/bin/exit", 127, "/system/bin/exit: inaccessible or not found"),
        ("/data/ls", 127, "/data/ls: inaccessible or not found"),
        ("/data", 126, "/data: can't execute: Is a directory"),
        ("echo x > f; ./f", 126, "./f: can't execute: Permission denied"),
        ("printf '\\177ELF' > f; chmod +x f; ./f", 126, "./f: not executable: 64-bit ELF file"),
        ("''", 126, ": can't execute: Is a directory"),
    ],
)
def test_what_cannot_run_is_told_as_on_a_phone(script: str, status: int, message: str) -> None:
    """The shell names itself, the command, and the reason."""
    assert run(script) == (status, "", f"/system/bin/sh: {message}\n")


def test_programs_are_found_by_path() -> None:
    """The folders of programs hold the same commands."""
    assert run("/system/bin/echo a; /bin/true && /vendor/bin/pwd").out == "a\n/data/local/tmp\n"


def test_an_executable_file_runs_as_a_script() -> None:
    """A pushed script runs once it may, and its messages name the line."""
    ended = run("printf 'echo ran $0 \"$1\"\\nnope\\n' > s; chmod +x s; ./s 'a b'; echo $?")

    assert ended == (0, "ran ./s a b\n127\n", "./s[2]: nope: inaccessible or not found\n")


def test_the_names_of_builtins_are_those_in_the_table() -> None:
    """What runs in the shell is in the table; ``kill`` is one of Android's commands."""
    assert set(BUILTINS) <= IN_SHELL
    assert IN_SHELL - {"kill"} <= {*BUILTINS, *TOOLS}
    assert set(BUILTINS) >= SHELL_ONLY


@pytest.mark.parametrize("script", ["x=shift; $x", "command local a", "exec type ls"])
def test_a_builtin_of_a_phone_is_not_taken_for_a_missing_program(script: str) -> None:
    """However it is called, the message says that the simulated shell does not have it."""
    ended = run(f"{script}; echo no")

    assert (ended.status, ended.out) == (1, "")
    assert ended.err.endswith("is not supported by the simulated shell\n")
