"""Workers of xdist: each has a device of its own, from beginning to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.adb_server import FakeAdb
from tests.plugin.conftest import Run

NO_EVIDENCE = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
# Each test leaves a line: its name, its worker and its device.
LEAVES_LINES = """
import os
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("lines")

@pytest.fixture
def line(request, clawperator):
    worker = os.environ["PYTEST_XDIST_WORKER"]
    with LINES.open("a") as file:
        file.write(f"{request.node.name} {worker} {clawperator.serial}\\n")
"""

# Lets a test in a worker kill the controller's phones; it returns once they are gone.
KILLS_PHONES = """
import os
import signal
import socket
from pathlib import Path

from pytest_clawperator.plugin.stash import SIMULATED_PHONES

PID = Path(__file__).with_name("pid")

def pytest_configure_node(node):
    phones = node.config.stash[SIMULATED_PHONES]
    PID.write_text(f"{phones.simulators[0].pid} {phones.simulators[0].adb_port}")

def kill_phones():
    pid, port = map(int, PID.read_text().split())
    with socket.create_connection(("127.0.0.1", port), timeout=30) as adb:
        os.kill(pid, signal.SIGKILL)
        try:
            adb.recv(1)
        except ConnectionResetError:
            pass
"""


def lines(folder: Path) -> list[list[str]]:
    """Read what the tests left: name, worker, device."""
    return [line.split() for line in (folder / "lines").read_text(encoding="utf-8").splitlines()]


def test_one_device_each(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """Two workers have two devices, which are named at the start and counted at the end."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(line, number): pass
        """
    )

    result = run_workers("-n", "2", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=6)
    pairs = {(worker, serial) for _, worker, serial in lines(pytester.path)}
    assert {serial for _, serial in pairs} == set(simulator.serials)
    assert len(pairs) == 2
    result.stdout.fnmatch_lines(
        [
            "clawperator: 127.0.0.1:* (Google Pixel *, API 36), Operator 0.5.3*, adb *",
            "clawperator: 127.0.0.1:* (Google Pixel *, API 36), Operator 0.5.3*, adb *",
            "*= devices =*",
            "127.0.0.1:*  * passed",
            "127.0.0.1:*  * passed",
        ]
    )


def test_there_are_as_many_phones_as_workers(pytester: pytest.Pytester, run_workers: Run) -> None:
    """With `sim` there are as many phones as workers, on one adb server."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_it(line, number): pass
        """
    )

    result = run_workers("-n", "2", "--claw-device", "sim", "-q")

    result.assert_outcomes(passed=4)
    assert len({serial for _, _, serial in lines(pytester.path)}) == 2
    result.stdout.no_fnmatch_line("clawperator: *")


def test_a_worker_that_crashes(
    pytester: pytest.Pytester, run_workers: Run, adb: str, simulator: Simulator
) -> None:
    """The replacement of a worker that crashed goes on with its device."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import os

        def test_first(line): pass

        def test_crash(line):
            os._exit(1)

        def test_last(line): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", simulator.serials[1], "--claw-adb", adb)

    result.assert_outcomes(passed=2, failed=1)
    left = {name: (worker, serial) for name, worker, serial in lines(pytester.path)}
    assert left["test_first"] == ("gw0", simulator.serials[1])
    assert left["test_last"] == ("gw1", simulator.serials[1])
    result.stdout.fnmatch_lines(["*= devices =*", f"{simulator.serials[1]}  2 passed, 1 failed"])


def test_more_workers_than_devices(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """Too few devices end the run before the first test, with what is there and what to do."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_workers("-n", "3", "--claw-device", "auto", "--claw-adb", adb)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"*NO_DEVICES: 3 workers need 3 devices, *but there are 2: *{simulator.serials[1]} *",
            "*hint: Run with -n 2, connect more devices, or use simulated phones: *",
        ]
    )
    assert "passed" not in result.stdout.str()


def test_no_device_chosen(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """Where nobody said which devices, the workers have what is there, and others none."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_it(line, number): pass

        def test_other(): pass
        """
    )

    result = run_workers("-n", "3", "--claw-adb", adb)

    result.assert_outcomes(passed=5)
    assert {serial for _, _, serial in lines(pytester.path)} <= set(simulator.serials)


def test_trouble_in_a_worker(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """What a worker notices about its device is told at the end."""
    pytester.makepyfile(
        """
        def test_off(clawperator):
            clawperator.device.key_event("sleep")

        def test_on(clawperator): pass
        """
    )
    serial = simulator.serials[1]

    result = run_workers("-n", "1", "--claw-device", serial, "--claw-adb", adb)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*= devices =*", f"{serial}  2 passed", f"[[]{serial}] the screen is off, so it was *"]
    )


def test_infrastructure_in_a_worker(
    pytester: pytest.Pytester, run_workers: Run, phone: AdbTransport, adb: str
) -> None:
    """What is an error for a worker is one in the reports of the whole run."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.xfail  # which is not for this
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    result = run_workers(
        "-n", "1", "--claw-device", phone.serial, "--claw-adb", adb, "--junitxml", "junit.xml"
    )

    result.assert_outcomes(errors=1)
    xml = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert 'errors="1" failures="0"' in xml
    assert '<error message="infrastructure: OPERATOR_CRASHED: ' in xml
    result.stdout.fnmatch_lines(["*= devices =*", f"{phone.serial}  1 error"])


def test_the_simulated_phones_end(pytester: pytest.Pytester, run_workers: Run) -> None:
    """The controller, whose phones they are, says that their process is gone."""
    pytester.makeconftest(KILLS_PHONES)
    pytester.makepyfile(
        """
        from conftest import kill_phones

        def test_kill(clawperator):
            kill_phones()
            clawperator.home()

        def test_after(clawperator): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", "sim", "-rE", *NO_EVIDENCE)

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "clawperator: the simulated phones' process ended (signal 9)",
            "E  *: the simulated phones' process ended (signal 9): *",
            "E *hint: See what ended it *",
            "*_ ERROR at setup of test_after _*",
            "E *the device was put aside, because the simulated phones' process ended (signal 9)",
            "*hint: See what ended it *",
            "*= devices =*",
            "127.0.0.1:*  2 errors",
            "the simulated phones' process ended (signal 9)",
            "ERROR *::test_kill - infrastructure: *: the simulated phones' process ended (signal*",
        ]
    )
    for wrong in ("*start-server*", "*waiting up to*"):
        result.stdout.no_fnmatch_line(wrong)


def test_the_phones_of_another_worker_end(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A worker that finds its device gone learns why, and waits for nothing."""
    pytester.makeconftest(KILLS_PHONES)
    pytester.makepyfile(
        """
        from conftest import kill_phones

        def test_kill(clawperator):
            kill_phones()

        def test_after(clawperator): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", "sim", *NO_EVIDENCE)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*_ ERROR at setup of test_after _*",
            "E *the device was put aside, because the simulated phones' process ended (signal 9)",
            "*hint: See what ended it *",
            "*= devices =*",
            "127.0.0.1:*  1 passed, 1 error",
        ]
    )
    result.stdout.no_fnmatch_line("*start-server*")


def test_a_device_of_a_conftest(
    pytester: pytest.Pytester,
    run_workers: Run,
    simulator: Simulator,
    adb: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A device that a worker brings itself is named where the run is shown."""
    serial = simulator.serials[1]
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_clawperator import connect

        @pytest.fixture(scope="session")
        def clawperator_client():
            with connect({serial!r}, adb={adb!r}) as client:
                yield client
        """
    )
    pytester.makepyfile("def test_it(clawperator): pass")
    with FakeAdb({}) as nobody:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(nobody.server.port))

        result = run_workers("-n", "1")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {serial} (Google Pixel *, API 36), Operator *, adb {adb}",
            "clawperator: evidence of failures goes to *",
        ]
    )
