"""The state of a shell, and the call of a command in it."""

from __future__ import annotations

from pytest_clawperator.simulator.shell.exits import TextTooLong
from pytest_clawperator.simulator.shell.shell import Invocation
from tests.simulator.shell.scripts import FOLDER, run


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
    script = "echo $$ [$!] $PWD $0; false; echo $?; true & echo $!; echo $# $USER ${HOME}"

    assert run(script).out == f"20000 [] {FOLDER} /system/bin/sh\n1\n20001\n0 shell /\n"


def test_a_subshell_changes_nothing_outside() -> None:
    """Variables and the working directory of a subshell stay there."""
    assert run("x=1; (x=2; cd /; echo $x$PWD); echo $x; pwd").out == f"2/\n1\n{FOLDER}\n"


def test_random_numbers_are_numbers() -> None:
    """Scripts make names of files with ``$RANDOM``."""
    numbers = run("echo $RANDOM $RANDOM $RANDOM $RANDOM").out.split()

    assert len(set(numbers)) > 1
    assert all(0 <= int(number) < 32768 for number in numbers)
