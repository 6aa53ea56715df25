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


def test_devices_and_apps_are_listed(cli: Cli, simulator: Simulator) -> None:
    """For programs and for people; all apps, or those that were installed later."""
    every = cli("packages", "list").json["packages"]
    later = cli("packages", "list", "--third-party").json["packages"]
    missing = cli("packages", "list", "--device", "nope")

    assert {"serial": simulator.serials[0], "state": "device"} in cli("devices").json["devices"]
    assert simulator.serials[0] in cli("devices", "--output", "pretty").out
    assert "com.android.settings" in every
    assert set(later) < set(every)
    assert missing.error == (1, "DEVICE_NOT_FOUND")
    assert "clawperator-py devices" in missing.json["hint"]


@pytest.fixture
def held(phone: AdbTransport) -> Iterator[Hold]:
    """Hold the phone, as a test run does."""
    key = read_device(phone, server=phone.server).key
    with take_each(open_leases(run_id="nightly"), [[key]])[0] as hold:
        yield hold


def test_a_free_device_has_no_holder(cli: Cli, phone: AdbTransport) -> None:
    """Also after commands that used it, and after one that failed; no lease can be broken."""
    codes = [cli(*argv).code for argv in (["sleep", "1"], ["click", "--text", "x"], ["back"])]
    [lease] = cli("leases", "--device", phone.serial).json["leases"]
    broken = cli("leases", "--break", phone.serial, "--yes")
    wrong = cli("leases", "--break", "nowhere", "--yes")

    assert codes == [0, 1, 0]
    assert (lease["serial"], lease["holder"], lease["commandId"]) == (phone.serial, None, None)
    assert "free" in cli("leases", "--output", "pretty").out
    assert broken.error == (1, "USAGE")
    assert "is not leased" in broken.json["message"]
    assert wrong.error == (1, "DEVICE_NOT_FOUND")
    assert "--break" in wrong.json["hint"]
    assert "--device" not in wrong.json["hint"]


def test_a_held_device_is_not_acted_on(cli: Cli, held: Hold, phone: AdbTransport) -> None:
    """The holder is named, without the token that identifies it; other questions are answered."""
    [lease] = cli("leases", "--device", phone.serial).json["leases"]

    assert lease["holder"]["run_id"] == "nightly"
    assert lease["holder"]["pid"] == held.holder.pid
    assert "token" not in lease["holder"]
    for argv in (["snapshot"], ["click", "--text", "Settings"], ["press", "home"]):
        refused = cli(*argv)
        assert refused.error == (1, "DEVICE_LEASED")
        assert "run nightly" in refused.json["message"]
        assert "clawperator-py leases" in refused.json["hint"]
    assert [cli(*argv).code for argv in (["devices"], ["packages", "list"], ["logs"])] == [0] * 3


def test_a_lease_is_broken_only_when_that_is_certain(
    cli: Cli, held: Hold, phone: AdbTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a question or with --yes; the former holder can send nothing more."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    unasked = cli("leases", "--break", phone.serial)
    answer = io.StringIO("n\n")
    monkeypatch.setattr(answer, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", answer)
    declined = cli("leases", "--break", phone.serial)
    held.check()
    broken = cli("leases", "--break", phone.serial, "--yes")

    assert (unasked.code, "--yes" in unasked.json["hint"]) == (1, True)
    assert declined.code == 130
    assert (broken.code, "run nightly" in broken.json["brokenLeaseOf"]) == (0, True)
    with pytest.raises(LeaseError):
        held.check()
    assert cli("sleep", "1").code == 0


def test_a_log_is_printed(cli: Cli, phone: AdbTransport) -> None:
    """As text or as JSON lines, from a time on; an app cannot control the reader's terminal."""
    cli("sleep", "1")
    last = cli("logs").out.splitlines()[-2]
    entries = [json.loads(line) for line in cli("logs", "--json").out.splitlines()]
    phone.shell("log -t Evil 'a\x1b[31mred\u202e'")
    [evil] = [line for line in cli("logs").out.splitlines() if "Evil" in line]

    assert "[Clawperator-Result]" in last
    assert entries[0].keys() == {"time", "pid", "tid", "priority", "tag", "message"}
    assert "Clawperator" in cli("logs", "--since", "5m").out
    assert "Clawperator" not in cli("logs", "--since", "12-31 23:59:59").out
    assert evil.endswith(r"a\x1b[31mred\u202e")
    for since in ("yesterday", "5", "-5m", "';reboot'"):
        assert cli("logs", f"--since={since}").error == (1, "EXECUTION_VALIDATION_FAILED")


def test_following_ends_cleanly(cli: Cli, simulator: Simulator) -> None:
    """With Ctrl-C, and when the reader of the pipe goes away."""
    for number in range(50):
        cli("sleep", str(number))
    with (
        start(simulator, "logs", "--follow") as process,
        start(simulator, "logs", "--follow") as piped,
    ):
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=20)
        assert piped.stdout is not None
        assert piped.stderr is not None
        piped.stdout.readline()
        piped.stdout.close()
        piped_complaints = piped.stderr.read()
        piped.wait(20)

    assert (process.returncode, complaints) == (130, b"")
    assert (piped.returncode, piped_complaints) == (141, b"")
