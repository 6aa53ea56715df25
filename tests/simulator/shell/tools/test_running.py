"""Tools that run other commands."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.shell.session import run_script
from pytest_clawperator.simulator.shell.streams import Bytes
from tests.simulator.shell.scripts import Flow, new_shell, run, soon


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("sh -c 'echo $0 $1 $#' a b c; sh -c 'echo $0'", "a b 2\nsh\n"),
        ("echo 'echo $1 \"$@\" $#' > s; sh s x 'y z'; echo 'echo in' | sh", "x x y z 2\nin\n"),
        ("sh -c 'exit 4'; echo $?; nohup echo x; nohup nope 2>/dev/null; echo $?", "4\nx\n127\n"),
        ("A=1 sh -c 'echo $A; cd /; A=2'; pwd; echo [$A]", "1\n/data/local/tmp\n[]\n"),
    ],
)
def test_commands_run_in_shells_of_their_own(script: str, out: str) -> None:
    """Arguments and exported variables go in, an exit status comes out, nothing else."""
    assert run(script) == (0, out, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sh -c", "sh: -c requires an argument"),
        ("sh -e s", "sh: -e: unknown option"),
        ("nohup", 'nohup: Needs 1 argument (see "nohup --help")'),
        ("sleep", "/system/bin/sh: sleep: syntax error"),
        ("sleep 1m", "/system/bin/sh: sleep: syntax error: Invalid argument '1m'"),
    ],
)
def test_bad_calls_are_told(script: str, message: str) -> None:
    """What is missing or unknown is named."""
    assert run(script) == (1, "", message + "\n")


def test_a_missing_script_is_not_found() -> None:
    """Its name is told, with the status of a missing command."""
    assert run("sh nope") == (127, "", "sh: nope: No such file or directory\n")


def test_sleep_ends_when_its_run_is_cancelled() -> None:
    """A sleeping command does not hold anything up."""

    async def scenario() -> None:
        flow = Flow()
        script = "echo ready; sleep 1000"
        work = asyncio.create_task(run_script(new_shell(), script, Bytes(), flow, flow))
        await flow.until(b"ready")
        work.cancel()
        await soon(asyncio.wait([work]))
        assert work.cancelled()

    asyncio.run(scenario())
