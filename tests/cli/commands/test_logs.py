"""A device's log on the terminal."""

from __future__ import annotations

import json
import signal

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli, start


def test_a_log_has_what_was_executed(cli: Cli) -> None:
    """The newest lines are of the last execution."""
    cli("sleep", "1")

    assert "[Clawperator-Result]" in cli("logs").out.splitlines()[-2]


def test_a_log_in_json_has_an_entry_on_each_line(cli: Cli) -> None:
    """Dividers and other lines that are no entries are left out."""
    cli("sleep", "1")
    entries = [json.loads(line) for line in cli("logs", "--json").out.splitlines()]

    assert entries[0].keys() == {"time", "pid", "tid", "priority", "tag", "message"}


def test_a_log_begins_when_it_shall(cli: Cli) -> None:
    """A time that is far away leaves nothing; one that just passed, what came since."""
    cli("sleep", "1")

    assert "Clawperator" in cli("logs", "--since", "5m").out
    assert "Clawperator" not in cli("logs", "--since", "12-31 23:59:59").out


@pytest.mark.parametrize("since", ["yesterday", "5", "-5m", "';reboot'"])
def test_a_time_that_is_none_is_refused(since: str, cli: Cli) -> None:
    """Nothing of it reaches the device's shell."""
    printed = cli("logs", f"--since={since}")

    assert (printed.code, printed.json["code"]) == (1, "EXECUTION_VALIDATION_FAILED")


def test_control_characters_in_a_log_are_shown(cli: Cli, phone: AdbTransport) -> None:
    """An app cannot write to the terminal of whoever reads the log."""
    phone.shell("log -t Evil 'a\x1b[31mred\u202e'")

    line = next(line for line in cli("logs").out.splitlines() if "Evil" in line)
    assert line.endswith(r"a\x1b[31mred\u202e")


def test_ctrl_c_ends_following_cleanly(cli: Cli, simulator: Simulator) -> None:
    """The exit code is that of an interrupted program, and nothing is complained about."""
    cli("sleep", "1")
    with start(simulator, "logs", "--follow") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=20)

    assert (process.returncode, complaints) == (130, b"")


def test_a_reader_that_goes_away_is_no_error(cli: Cli, simulator: Simulator) -> None:
    """The program ends in silence, as others in a pipe do."""
    for number in range(50):
        cli("sleep", str(number))
    with start(simulator, "logs", "--follow") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait(20)

    assert (process.returncode, complaints) == (141, b"")
