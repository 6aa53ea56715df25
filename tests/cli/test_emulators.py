"""Emulators on the command line, through the processes of a simulated SDK and the real adb."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.devices.lease import open_leases, take_each
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.server import locate_server
from tests.cli.conftest import Cli
from tests.doubles.simulator.sdk_bench import SdkBench

PROFILE = "api=34,image=google_apis,abi=x86_64"


@pytest.fixture
def sdk(bench: SdkBench, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return the function that runs a command line with the simulated SDK."""
    for name, value in bench.sdk.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ANDROID_SERIAL")
    return cli


def test_an_emulator_lives_from_its_creation_to_its_end(sdk: Cli) -> None:
    """Each command tells what it did, in the published program's fields."""
    made = sdk("emulator", "create", "--name", "mine", "--profile", PROFILE)
    started = sdk("emulator", "start", "mine")
    listed = sdk("emulator", "list", "--profile", PROFILE)
    running = sdk("emulator", "status")
    stopped = sdk("emulator", "stop", "mine")
    deleted = sdk("emulator", "delete", "mine")

    assert (made.json["name"], made.json["exists"]) == ("mine", True)
    assert started.json["booted"] is True
    assert [(one["name"], one["supported"]) for one in listed.json["avds"]] == [("mine", True)]
    assert [one["serial"] for one in running.json["devices"]] == [started.json["serial"]]
    assert stopped.json == {"ok": True, "avdName": "mine", "stopped": True}
    assert deleted.json == {"ok": True, "avdName": "mine", "deleted": True}


def test_an_emulator_that_a_run_has_is_not_stopped(sdk: Cli) -> None:
    """The error names the holder, and the emulator goes on."""
    ready = sdk("provision", "emulator", "--profile", PROFILE).json
    transport = AdbTransport(locate_server(), ready["serial"])
    key = read_device(transport, server=transport.server).key
    with take_each(open_leases(run_id="nightly"), [[key]])[0]:
        refused = sdk("emulator", "stop", ready["avdName"])
    transport.close()

    assert (refused.code, refused.json["code"]) == (1, "DEVICE_LEASED")
    assert "run nightly" in refused.json["message"]
    assert sdk("emulator", "stop", ready["avdName"]).code == 0


def test_people_see_tables(sdk: Cli, bench: SdkBench) -> None:
    """Virtual devices and why one cannot be used; what runs; and what to do without any."""
    empty = sdk("emulator", "list", "--output", "pretty")
    bench.create("mine")
    listed = sdk("emulator", "list", "--output", "pretty", "--profile", "api=30")
    status = sdk("emulator", "status", "--output", "pretty")

    assert "clawperator-py emulator create" in empty.out
    assert "unsupported_api_level" in listed.out
    assert status.out == "No emulator runs.\n"


def test_a_name_is_required(sdk: Cli) -> None:
    """Without one the command tells how it is used, and that is no error."""
    printed = sdk("emulator", "start")

    assert (printed.code, printed.json["code"]) == (0, "USAGE")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_is_broken_off_leaves_no_emulator(
    number: signal.Signals, sdk: Cli, bench: SdkBench
) -> None:
    """Whoever presses Ctrl-C does not want it any more."""
    bench.create("mine")
    bench.behave(never="boots")
    argv = [sys.executable, "-m", "pytest_clawperator", "emulator", "start", "mine"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while b"known to adb" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
        process.communicate(timeout=20)

    assert process.returncode == 128 + number
    assert bench.running() == []


def test_a_start_may_take_as_long_as_is_said(sdk: Cli, bench: SdkBench) -> None:
    """The limit is told, and one that is no time is refused before anything is started."""
    bench.create("mine")
    bench.behave(never="registers")

    assert sdk("emulator", "start", "mine", "--timeout", "soon").json["code"] == (
        "EXECUTION_VALIDATION_FAILED"
    )
    assert bench.running() == []
    late = sdk("emulator", "start", "mine", "--timeout", "300").json
    assert (late["code"], late["details"]["timeoutMs"]) == ("EMULATOR_START_FAILED", 300)
