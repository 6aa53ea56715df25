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
def sdk(bench: SdkBench, offline: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return the function that runs a command line with the simulated SDK."""
    monkeypatch.delenv("ANDROID_ADB_SERVER_PORT")
    for name, value in bench.sdk.environment.items():
        monkeypatch.setenv(name, value)
    return offline


def test_an_emulator_lives_from_its_creation_to_its_end(sdk: Cli) -> None:
    """The answers have the published fields; one that a test run has is not stopped."""
    empty = sdk("emulator", "list", "--output", "pretty")
    made = sdk("emulator", "create", "--name", "mine", "--profile", PROFILE)
    old = sdk("emulator", "list", "--output", "pretty", "--profile", "api=30")
    idle = sdk("emulator", "status", "--output", "pretty")
    ready = sdk("provision", "emulator", "--profile", PROFILE).json
    listed = sdk("emulator", "list", "--profile", PROFILE)
    running = sdk("emulator", "status")
    transport = AdbTransport(locate_server(), ready["serial"])
    key = read_device(transport, server=transport.server).key
    with take_each(open_leases(run_id="nightly"), [[key]])[0]:
        refused = sdk("emulator", "stop", "mine")
    transport.close()
    stopped = sdk("emulator", "stop", "mine")
    deleted = sdk("emulator", "delete", "mine")

    assert "clawperator-py emulator create" in empty.out
    assert (made.json["name"], made.json["exists"]) == ("mine", True)
    assert "unsupported_api_level" in old.out
    assert idle.out == "No emulator runs.\n"
    assert (ready["avdName"], ready["booted"]) == ("mine", True)
    assert [(one["name"], one["supported"]) for one in listed.json["avds"]] == [("mine", True)]
    assert [one["serial"] for one in running.json["devices"]] == [ready["serial"]]
    assert refused.error == (1, "DEVICE_LEASED")
    assert "run nightly" in refused.json["message"]
    assert stopped.json == {"ok": True, "avdName": "mine", "stopped": True}
    assert deleted.json == {"ok": True, "avdName": "mine", "deleted": True}


def test_a_start_that_is_interrupted_leaves_no_emulator(sdk: Cli, bench: SdkBench) -> None:
    """Ctrl-C ends what was started."""
    bench.create("mine")
    bench.behave(never="boots")
    argv = [sys.executable, "-m", "pytest_clawperator", "emulator", "start", "mine"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while b"known to adb" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)

    assert process.returncode == 128 + signal.SIGINT
    assert bench.running() == []


def test_a_start_is_limited_by_the_timeout(sdk: Cli, bench: SdkBench) -> None:
    """The limit is in the error; a wrong one is refused before anything is started."""
    bench.create("mine")
    bench.behave(never="registers")

    wrong = sdk("emulator", "start", "mine", "--timeout", "soon")
    assert wrong.error == (1, "EXECUTION_VALIDATION_FAILED")
    assert bench.running() == []
    late = sdk("emulator", "start", "mine", "--timeout", "300").json
    assert (late["code"], late["details"]["timeoutMs"]) == ("EMULATOR_START_FAILED", 300)
