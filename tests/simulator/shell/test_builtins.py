"""Commands that are part of the shell."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulator.shell.scripts import DEADLINE, FOLDER, Gate, new_shell, run, run_in, with_gate


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 3", 3), ("false; exit", 1), ("exit 256", 0), ("exit -1", 255), ("(exit 7)", 7)],
)
def test_exit_ends_the_shell_with_a_status(script: str, status: int) -> None:
    """The status is the given one, or that of the last command, in one byte."""
    assert run(f"{script}; exit").status == status


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("exit abc; echo no", 1, "exit: bad number: abc"),
        ("break", 0, "break: can't break"),
        ("set -x; echo no", 1, "set: -x is not supported by the simulated shell"),
        ("set; echo no", 1, "set: without options is not supported by the simulated shell"),
        (
            "for i in 1; do break 2; done",
            1,
            "break: several levels are not supported by the simulated shell",
        ),
    ],
)
def test_complaints_name_the_builtin(script: str, status: int, message: str) -> None:
    """The shell names itself, the builtin, and what is wrong."""
    assert run(script) == (status, "", f"/system/bin/sh: {message}\n")


def test_exec_replaces_the_shell() -> None:
    """Nothing behind ``exec`` runs; the status is that of its command."""
    assert run("exec sh -c 'echo $$; exit 4'; echo no") == (4, "20001\n", "")


def test_exec_without_a_command_keeps_its_redirections() -> None:
    """The shell's own output goes to the file from then on."""
    assert run("exec 3>f; echo y >&3; exec 3>&-; cat f; exec > g; echo z; cat g >&2").err == "z\n"


def test_command_prints_where_a_command_is_found() -> None:
    """Clients ask ``command -v`` whether a command exists."""
    assert run("command -v cat ls /system/bin/ls; command -v nope || echo $?; command echo hi") == (
        0,
        "cat\n/system/bin/ls\n/system/bin/ls\n1\nhi\n",
        "",
    )


def test_wait_returns_the_status_of_a_job() -> None:
    """Jobs are waited for by number, or all of them."""
    script = "false & wait $!; echo $?; (exit 5) & wait; echo $?; wait 77; echo $?; wait x; echo $?"

    assert run(script).out == "1\n0\n127\n127\n"


def test_wait_tells_that_a_job_was_ended_by_a_signal() -> None:
    """A job that got SIGTERM has that status."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        await run_in(shell, "gate > f &")
        assert shell.jobs.send(20001, 15)
        ended = await asyncio.wait_for(run_in(shell, "wait $!; echo $?"), DEADLINE)
        assert ended.out == "143\n"

    with_gate(scenario)


def test_cd_keeps_the_path_as_it_was_typed() -> None:
    """Links are not followed in what ``pwd`` prints."""
    assert run(
        "cd /sdcard; pwd; cd Download/..; pwd; cd ..; pwd; cd; pwd; cd /data; echo $PWD"
    ).out == ("/sdcard\n/sdcard\n/\n/\n/data\n")


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("cd nope", 2, f"cd: {FOLDER}/nope: No such file or directory"),
        ("touch f; cd f", 2, f"cd: {FOLDER}/f: Not a directory"),
        ("export 1=2; echo no", 1, "1: is not an identifier"),
        ("read a-b; echo no", 1, "a-b: is not an identifier"),
    ],
)
def test_bad_folders_and_names_are_told(script: str, status: int, message: str) -> None:
    """The shell names itself and the reason."""
    assert run(script) == (status, "", f"/system/bin/sh: {message}\n")


def test_export_passes_a_variable_on() -> None:
    """Only exported variables reach other shells."""
    assert run("A=1; B=2; export A C=3; sh -c 'echo $A$B$C'; export | grep '^[AC]$'").out == (
        "13\nA\nC\n"
    )


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ('read x y; echo "$y|$x"', "b  c|a\n"),
        ("read -r; echo $REPLY", "a b c\n"),
        ("read x y z w; echo $x$y$z$w; read x || echo end", "abc\nend\n"),
        ("while read line; do echo [$line]; done", "[a b c]\n"),
    ],
)
def test_read_splits_a_line_into_variables(script: str, out: str) -> None:
    """The last variable takes the rest; the status tells the end of the input."""
    assert run(script, b" a b  c \n").out == out


@pytest.mark.parametrize(
    "script", ["IFS=:", "export IFS=:", "read IFS", "for IFS in :; do :; done"]
)
def test_a_lasting_change_of_the_separators_is_refused(script: str) -> None:
    """Words would not be split as the script expects, so it stops."""
    message = "IFS is supported by the simulated shell only in front of 'read'"

    assert run(f"{script}; echo no", b":\n") == (1, "", f"/system/bin/sh: {message}\n")


def test_read_leaves_the_rest_of_the_input() -> None:
    """What comes behind the line is there for the next command."""
    assert run("read x; read y; cat", b"1\n2\n3\n4").out == "3\n4"
