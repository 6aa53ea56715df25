"""``devices``, ``packages list``, ``leases`` and ``logs``."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator

import pytest

from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.devices.lease import Hold, open_leases, take_each
from pytest_clawperator.errors import LeaseError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli, start


def test_devices_are_listed_with_their_state(cli: Cli, simulator: Simulator) -> None:
    """For programs and for people."""
    expected = {"serial": simulator.serials[0], "state": "device"}

    assert expected in cli("devices").json["devices"]
    assert simulator.serials[0] in cli("devices", "--output", "pretty").out


def test_apps_are_listed(cli: Cli) -> None:
    """All of them, or those that were installed later."""
    every = cli("packages", "list").json["packages"]
    later = cli("packages", "list", "--third-party").json["packages"]

    assert "com.android.settings" in every
    assert set(later) < set(every)


def test_a_group_alone_tells_its_commands(cli: Cli) -> None:
    """It is no error, as published."""
    printed = cli("packages")

    assert (printed.code, printed.json["code"]) == (0, "USAGE")
    assert "packages list" in printed.json["message"]


def test_a_device_that_is_not_there_is_named(cli: Cli) -> None:
    """The error says what is connected, and which command lists it."""
    printed = cli("packages", "list", "--device", "nope")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_NOT_FOUND")
    assert "clawperator-py devices" in printed.json["hint"]


@pytest.fixture
def held(phone: AdbTransport) -> Iterator[Hold]:
    """Hold the phone, as a test run does."""
    key = read_device(phone, server=phone.server).key
    with take_each(open_leases(run_id="nightly"), [[key]])[0] as hold:
        yield hold


def test_a_free_device_has_no_holder(cli: Cli, phone: AdbTransport) -> None:
    """It is told for programs and for people."""
    [lease] = cli("leases", "--device", phone.serial).json["leases"]

    assert (lease["serial"], lease["holder"], lease["commandId"]) == (phone.serial, None, None)
    assert "nobody" in cli("leases", "--output", "pretty").out


def test_a_holder_is_named(cli: Cli, held: Hold, phone: AdbTransport) -> None:
    """With the run it belongs to, and without the token that identifies it."""
    [lease] = cli("leases", "--device", phone.serial).json["leases"]

    assert lease["holder"]["run_id"] == "nightly"
    assert lease["holder"]["pid"] == held.holder.pid
    assert "token" not in lease["holder"]


@pytest.mark.parametrize("argv", [["snapshot"], ["click", "--text", "Settings"], ["press", "home"]])
def test_a_held_device_is_not_acted_on(argv: list[str], cli: Cli, held: Hold) -> None:
    """The error names the holder, and the command that tells more."""
    printed = cli(*argv)

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_LEASED")
    assert "run nightly" in printed.json["message"]
    assert "clawperator-py leases" in printed.json["hint"]


@pytest.mark.parametrize("argv", [["devices"], ["packages", "list"], ["logs"]])
def test_a_held_device_can_be_asked(argv: list[str], cli: Cli, held: Hold) -> None:
    """What needs no execution goes on."""
    assert cli(*argv).code == 0


def test_a_device_is_released_after_each_command(cli: Cli, phone: AdbTransport) -> None:
    """The next command can have it, also after one that failed."""
    codes = [cli(*argv).code for argv in (["sleep", "1"], ["click", "--text", "x"], ["back"])]

    assert codes == [0, 1, 0]
    assert cli("leases", "--device", phone.serial).json["leases"][0]["holder"] is None


def test_a_lease_is_broken_when_that_is_sure(cli: Cli, held: Hold, phone: AdbTransport) -> None:
    """The former holder can send nothing more, and others can have the device."""
    printed = cli("leases", "--break", phone.serial, "--yes")

    assert printed.code == 0
    assert "run nightly" in printed.json["brokenLeaseOf"]
    with pytest.raises(LeaseError):
        held.check()
    assert cli("sleep", "1").code == 0


def test_a_lease_is_not_broken_without_a_question(
    cli: Cli, held: Hold, phone: AdbTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can be asked, --yes is required."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    printed = cli("leases", "--break", phone.serial)

    assert printed.code == 1
    assert "--yes" in printed.json["hint"]
    held.check()


def test_a_question_can_be_answered_with_no(
    cli: Cli, held: Hold, phone: AdbTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is done, as after Ctrl-C."""
    answer = io.StringIO("n\n")
    monkeypatch.setattr(answer, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", answer)

    assert cli("leases", "--break", phone.serial).code == 130
    held.check()


def test_a_free_device_cannot_be_taken_from_anybody(cli: Cli, phone: AdbTransport) -> None:
    """There is nothing to break, and the next step is to use the device."""
    printed = cli("leases", "--break", phone.serial, "--yes")

    assert (printed.code, printed.json["code"]) == (1, "USAGE")
    assert "nobody holds" in printed.json["message"]


def test_a_wrong_serial_is_one_of_the_option_that_has_it(cli: Cli) -> None:
    """The hint names --break, and not --device."""
    printed = cli("leases", "--break", "nowhere", "--yes")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_NOT_FOUND")
    assert "--break" in printed.json["hint"]
    assert "--device" not in printed.json["hint"]


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
