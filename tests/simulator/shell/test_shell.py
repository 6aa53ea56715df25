"""The state of a shell, and the call of a command in it."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.shell.shell import Invocation, signal_number
from pytest_clawperator.simulator.shell.streams import TextTooLong
from tests.simulator.shell.scripts import DEADLINE, FOLDER, new_shell, run, run_in


def test_a_command_gets_its_streams_and_the_shell() -> None:
    """An invocation has the arguments, redirected streams, and the environment of the call."""
    seen: list[object] = []

    async def probe(invocation: Invocation) -> int:
        seen.extend([invocation.args, invocation.shell.env["A"], await invocation.stdin.read()])
        await invocation.out("out é\n")
        await invocation.err("err\n")
        return 300

    script = "echo given > g; A='1 2' probe x > f < g; echo \"$? $A\"; cat f"
    ended = run(script, probe=probe)

    assert seen == [["probe", "x"], "1 2", b"given\n"]
    assert ended == (0, "44 \nout é\n", "err\n")


def test_a_command_that_fails_badly_only_fails() -> None:
    """A mistake in a command ends that command with a message, nothing else."""

    async def broken(invocation: Invocation) -> int:
        raise KeyError("oops")

    assert run("broken; echo $?", broken=broken) == (
        0,
        "1\n",
        "broken: internal error of the simulated command\n",
    )


def test_a_command_that_wants_too_much_memory_fails() -> None:
    """Text beyond the limit is the command's failure."""

    async def greedy(invocation: Invocation) -> int:
        raise TextTooLong

    assert run("greedy", greedy=greedy) == (1, "", "greedy: Out of memory\n")


def test_special_parameters_come_from_the_shell() -> None:
    """Process ids, statuses and names are the simulated ones."""
    assert run("echo $$ $PWD; false; echo $?; echo $USER ${HOME} [$nope]").out == (
        f"20000 {FOLDER}\n1\nshell / []\n"
    )


def test_a_program_takes_signals_while_it_runs() -> None:
    """It is listed under the process id of its shell; once it has ended, no signal reaches it."""

    async def scenario() -> None:
        shell = new_shell()
        work = asyncio.create_task(run_in(shell, "sleep 99; echo $?"))
        while not shell.jobs.programs():
            await asyncio.sleep(0)
        (program,) = shell.jobs.programs()
        assert (program.name, program.pid) == ("sleep", shell.pid)
        assert shell.jobs.send(shell.pid, 0)
        assert shell.jobs.send(shell.pid, 2)
        assert (await asyncio.wait_for(work, DEADLINE)).out == "130\n"
        assert not shell.jobs.send(shell.pid, 2)

    asyncio.run(scenario())


def test_signals_have_names_and_numbers() -> None:
    """Both are understood; what is neither is not a signal."""
    found = [signal_number(text) for text in ("INT", "sigterm", "9", "0", "64", "65", "x", "-1")]

    assert found == [2, 15, 9, 0, 64, None, None, None]


def test_a_subshell_changes_nothing_outside() -> None:
    """Variables and the working directory of a subshell stay there."""
    assert run("x=1; (x=2; cd /; echo $x$PWD); echo $x; pwd").out == f"2/\n1\n{FOLDER}\n"
