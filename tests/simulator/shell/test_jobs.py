"""Background jobs."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.jobs import Jobs
from pytest_clawperator.simulator.shell.shell import Shell
from tests.simulator.shell.scripts import DEADLINE, NOON, Gate, new_shell, run_in, soon, with_gate


def test_a_background_job_outlives_its_script() -> None:
    """A script does not wait for what it left behind, and ``stop`` ends that."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        ended = await run_in(shell, "gate > f & echo left $!")
        assert ended.out == "left 20001\n"
        await soon(gate.reached.wait())
        await asyncio.wait_for(shell.jobs.stop(), DEADLINE)
        assert gate.cancelled

    with_gate(scenario)


def test_a_background_job_goes_on_and_finishes() -> None:
    """What a job does after its script ended counts."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        await run_in(shell, "gate > f &")
        gate.opened.set()
        assert await asyncio.wait_for(shell.children[20001].status(), DEADLINE) == 0
        assert (await run_in(shell, "cat f")).out == "passed\n"

    with_gate(scenario)


def test_the_jobs_of_all_shells_are_the_devices() -> None:
    """Any shell of a device reaches what another one left behind."""

    async def scenario(gate: Gate) -> None:
        jobs = Jobs()
        files = FileSystem(clock=lambda: NOON)
        first, second = (
            Shell({**SHELL_COMMANDS, "gate": gate}, files, jobs=jobs) for _ in range(2)
        )
        pid = (await run_in(first, "gate > /sdcard/f & echo $!")).out.strip()
        assert second.jobs.send(int(pid), 0)
        assert second.jobs.send(int(pid), 15)
        await asyncio.wait_for(jobs.stop(), DEADLINE)
        assert not second.jobs.send(int(pid), 15)

    with_gate(scenario)


def test_a_program_takes_its_signals_itself() -> None:
    """While a program is registered, signals go to it and do not end its job."""

    async def scenario() -> None:
        jobs = Jobs()
        got: list[int] = []
        with jobs.program("screenrecord", pid=77, signal=got.append):
            assert [(program.pid, program.name) for program in jobs.programs()] == [
                (77, "screenrecord")
            ]
            assert jobs.send(77, 2)
        assert got == [2]
        assert not jobs.send(77, 2)

    asyncio.run(scenario())
