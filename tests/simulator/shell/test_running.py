"""What goes on while a script runs: commands and their streams, pipes, jobs, cancelling."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.shell.io import Bytes
from pytest_clawperator.simulator.shell.jobs import Jobs
from pytest_clawperator.simulator.shell.shell import Invocation, Shell
from pytest_clawperator.simulator.shell.tools import TOOLS
from tests.simulator.shell.scripts import (
    DEADLINE,
    FOLDER,
    NOON,
    Ended,
    Flow,
    Gate,
    Never,
    new_shell,
    run,
    run_in,
    soon,
    with_gate,
)


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


def test_a_full_disk_fails_the_command_that_writes() -> None:
    """No space is the command's failure, in its words."""
    full = False

    async def scenario() -> list[Ended]:
        nonlocal full
        shell = Shell(TOOLS, FileSystem(clock=lambda: NOON, is_full=lambda: full))
        ended = [await run_in(shell, "exec 3>/sdcard/f")]
        ended.append(await run_in(shell, "echo ok > /sdcard/g"))
        full = True
        ended.append(await run_in(shell, "printf a >> /sdcard/g; echo $?; echo b >> /sdcard/g"))
        ended.append(await run_in(shell, "echo a > /sdcard/h"))
        return ended

    _, _, appended, created = asyncio.run(scenario())
    assert appended == (1, "1\n", "printf: write: No space left on device\n")
    reason = "No space left on device"
    assert created == (1, "", f"/system/bin/sh: can't create /sdcard/h: {reason}\n")


def test_spawn_runs_a_command_for_another() -> None:
    """A command can run others; what they change stays theirs."""

    async def outer(invocation: Invocation) -> int:
        return await invocation.shell.spawn(
            ["sh", "-c", "cd /; pwd; exit 9"],
            stdin=invocation.stdin,
            stdout=invocation.stdout,
            stderr=invocation.stderr,
        )

    assert run("outer; echo $?; pwd", outer=outer).out == f"/\n9\n{FOLDER}\n"


@pytest.mark.parametrize("script", ["echo first; gate", "{ echo first; gate; } | cat | cat"])
def test_output_flows_while_the_command_runs(script: str) -> None:
    """What was written is there before the script ends, through pipes too."""

    async def scenario(gate: Gate) -> None:
        flow = Flow()
        work = asyncio.create_task(new_shell(gate=gate).run(script, Bytes(), flow, flow))
        await flow.until(b"first")
        assert not work.done()
        gate.opened.set()
        assert await asyncio.wait_for(work, DEADLINE) == 0
        assert flow.data == b"first\npassed\n"

    with_gate(scenario)


@pytest.mark.parametrize(
    "script",
    [
        "gate",
        "gate | cat",
        "cat | gate | cat",
        "x=$(gate)",
        "(gate)",
        "{ gate; } > f",
        "f() { gate; }; f",
        "sh -c gate",
        "timeout 100 gate",
        "gate & wait",
        "gate & while :; do :; done",
        "for i in 1 2 3; do gate; done",
        "echo x | xargs gate",
    ],
)
def test_cancelling_a_run_cancels_everything_in_it(script: str) -> None:
    """No command, stage or job of a cancelled script goes on."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        work = asyncio.create_task(shell.run(script, Never(), Flow(), Flow()))
        await soon(gate.reached.wait())
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(work, DEADLINE)
        assert gate.cancelled
        assert len(shell.jobs) == 0

    with_gate(scenario)


def test_a_reader_that_stops_ends_the_writer() -> None:
    """The next write into a pipe that nobody reads ends the writer with SIGPIPE's status."""
    script = "set -o pipefail; while :; do echo y; done | head -n 2; echo $?"

    assert run(script).out == "y\ny\n141\n"


def test_a_slow_reader_holds_the_writer_back() -> None:
    """A pipe holds only so much."""

    async def scenario(gate: Gate) -> None:
        written = 0

        async def flood(invocation: Invocation) -> int:
            nonlocal written
            while True:
                await invocation.stdout.write(b"x" * 1024)
                written += 1

        shell = new_shell(gate=gate, flood=flood)
        work = asyncio.create_task(shell.run("flood | gate", Bytes(), Flow(), Flow()))
        await soon(gate.reached.wait())
        for _ in range(1000):
            await asyncio.sleep(0)
        assert written < 200
        gate.opened.set()
        await asyncio.wait_for(work, DEADLINE)

    with_gate(scenario)


def test_a_background_job_outlives_its_script() -> None:
    """A script does not wait for what it left behind, and ``stop`` ends that."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        ended = await run_in(shell, "gate > f & echo left $!")
        assert ended.out == "left 20001\n"
        await soon(gate.reached.wait())
        assert len(shell.jobs) == 1
        await asyncio.wait_for(shell.jobs.stop(), DEADLINE)
        assert gate.cancelled
        assert len(shell.jobs) == 0

    with_gate(scenario)


def test_a_background_job_goes_on_and_finishes() -> None:
    """What a job does after its script ended counts."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        await run_in(shell, "gate > f &")
        job = shell.jobs.find(20001)
        assert job is not None
        gate.opened.set()
        assert await asyncio.wait_for(job.status(), DEADLINE) == 0
        assert (await run_in(shell, "cat f")).out == "passed\n"

    with_gate(scenario)


def test_the_jobs_of_all_shells_are_the_devices() -> None:
    """A device that gives its shells one registry can end what any of them left behind."""

    async def scenario(gate: Gate) -> None:
        jobs = Jobs()
        files = FileSystem(clock=lambda: NOON)
        first, second = (Shell({**TOOLS, "gate": gate}, files, jobs=jobs) for _ in range(2))
        pid = (await run_in(first, "gate > /sdcard/f & echo $!")).out.strip()
        assert (len(jobs), first.jobs is second.jobs) == (1, True)
        assert (await run_in(second, f"kill {pid}; echo $?")).out == "0\n"
        await asyncio.wait_for(jobs.stop(), DEADLINE)
        assert len(jobs) == 0

    with_gate(scenario)


def test_a_killed_job_ends_with_its_signal() -> None:
    """Killing what runs in the background ends it, and ``wait`` tells how."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        ended = await run_in(shell, "gate & kill $!; wait $!; echo $?; kill 77; echo $?")
        assert ended.out == "143\n1\n"
        assert ended.err == "/system/bin/sh: kill: 77: No such process\n"

    with_gate(scenario)


def test_an_endless_loop_lets_others_run() -> None:
    """A script that never waits does not take the whole simulator."""

    async def scenario() -> int:
        work = asyncio.create_task(new_shell().run("while :; do :; done", Bytes(), Flow(), Flow()))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        work.cancel()
        await asyncio.wait([work])
        return turns

    assert asyncio.run(asyncio.wait_for(scenario(), DEADLINE)) == 100
