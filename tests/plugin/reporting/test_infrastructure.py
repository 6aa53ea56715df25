"""Infrastructure: told as what it is, healed once, out loud, and given up once."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from pytest_clawperator.devices.health import await_return
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def test_the_operator_crashes(pytester: pytest.Pytester, run: Run) -> None:
    """The test is an error that says so first; the next finds the Operator healed."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()

        def test_after(clawperator):
            clawperator.home()
        """
    )

    result = run("-rE", *QUICK)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] OPERATOR_CRASHED: the Operator app * crashed *",
            "clawperator: [[]*[]] the device failed its check: SERVICE_UNAVAILABLE: *",
            "clawperator: [[]*[]] the Operator's service is dead, so it is switched off and on",
            "clawperator: [[]*[]] the device works again",
            "*= ERRORS =*",
            "*_ ERROR at call of test_crash _*",
            ">       clawperator.home()",
            "E *OperatorNotReadyError: [[]*[]] OPERATOR_CRASHED: *",
            "E * hint: *",
            "*= devices =*",
            "*  1 passed, 1 error*",
            "[[]*[]] OPERATOR_CRASHED: *",
            "[[]*[]] the device works again",
            "ERROR *::test_crash - infrastructure: OPERATOR_CRASHED: *",
        ]
    )
    result.stdout.no_fnmatch_line("*pipeline.py*")


def test_the_service_is_switched_off(pytester: pytest.Pytester, run: Run) -> None:
    """A service that somebody switched off is switched on again."""
    pytester.makepyfile(
        """
        def test_off(clawperator):
            clawperator.device.shell("settings delete secure enabled_accessibility_services")

        def test_after(clawperator):
            clawperator.home()
        """
    )

    result = run(*QUICK)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] the device failed its check: *",
            "clawperator: [[]*[]] the device works again",
        ]
    )


def test_the_connection_drops(pytester: pytest.Pytester, run: Run) -> None:
    """A device that was gone for a moment is connected to again."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_drop(clawperator):
            clawperator.device.shell("sim fault offline ms=400")
            with pytest.raises(ClawperatorError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)

        def test_after(clawperator):
            clawperator.home()
        """
    )

    result = run(*QUICK)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] the device failed its check: DEVICE_OFFLINE: *",
            "clawperator: [[]*[]] waiting up to * s for the device to come back",
            "clawperator: [[]*[]] the device works again",
        ]
    )


def test_put_aside(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """A device that cannot be healed is given up once, and the tests left say why at once."""
    pytester.makeconftest(
        """
        import pytest
        from pytest_clawperator.devices import health

        @pytest.fixture(scope="session", autouse=True)
        def impatient(clawperator_client):
            clawperator_client.device.orientation = "landscape"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(health.await_return, "__kwdefaults__", {
                    **health.await_return.__kwdefaults__, "timeout": 0.1
                })
                yield
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_drop(clawperator):
            clawperator.device.shell("sim fault offline ms=2000")
            with pytest.raises(ClawperatorError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)

        @pytest.mark.parametrize("number", range(3))
        def test_after(clawperator, number): pass
        """
    )

    result = run("-rE")
    await_return(phone)

    result.assert_outcomes(passed=1, errors=3)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] the device failed its check again and is put aside",
            "*_ ERROR at setup of test_after[[]2] _*",
            "E *DeviceUnavailableError: [[]*[]] DEVICE_OFFLINE: the device was put aside, because"
            " it failed its check twice: DEVICE_OFFLINE: *",
            "*hint: *",
            "ERROR *::test_after[[]0] - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_after[[]1] - infrastructure: DEVICE_OFFLINE: the device was put aside*",
        ]
    )
    assert "= evidence =" not in result.stdout.str()
    assert "could not put back" not in result.stdout.str()  # it is not asked any more


def test_a_device_that_says_no(pytester: pytest.Pytester, run: Run) -> None:
    """What a device refuses to do is the test's failure."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.device.grant("com.example.shop", "android.permission.NO_SUCH")
        """
    )

    result = run(*QUICK)

    result.assert_outcomes(failed=1)
    assert "infrastructure" not in result.stdout.str()


def test_junit_xml(pytester: pytest.Pytester, run: Run) -> None:
    """JUnit XML counts trouble with the device as an error too, whenever it came."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()

        def test_fails(clawperator):
            raise AssertionError("the app is wrong")
        """
    )

    run("--junitxml=junit.xml", *QUICK)

    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    counts = [suite.get(name) for name in ("tests", "errors", "failures")]
    told = [(node.tag, node.get("message", "")) for case in suite for node in case]
    (crash_tag, crash), (fails_tag, fails) = (one for one in told if one[1])
    assert counts == ["2", "1", "1"]
    assert (crash_tag, fails_tag) == ("error", "failure")
    assert crash.startswith("infrastructure: OPERATOR_CRASHED: ")
    assert fails.startswith("AssertionError: the app is wrong")


def test_expected_to_fail(pytester: pytest.Pytester, run: Run) -> None:
    """A test that is marked to fail does not hide that its device failed, whenever that was."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")

        @pytest.fixture
        def crashed(clawperator, crash):
            clawperator.home()

        @pytest.mark.xfail(reason="bug 17")
        def test_plain(clawperator, crash):
            clawperator.home()

        @pytest.mark.xfail(raises=Exception, strict=True)
        def test_strict(clawperator, crash):
            clawperator.home()

        @pytest.mark.xfail
        def test_setup(crashed): pass

        @pytest.mark.xfail
        def test_known(clawperator):
            raise AssertionError

        def test_said(clawperator, crash):
            try:
                clawperator.home()
            except Exception:
                pytest.xfail("it crashes here")
        """
    )

    result = run("-rE", "--junitxml=junit.xml", *QUICK)

    result.assert_outcomes(errors=3, xfailed=2)
    result.stdout.fnmatch_lines(
        [
            f"ERROR *::{name} - infrastructure: OPERATOR_CRASHED: *"
            for name in ("test_plain", "test_strict", "test_setup")
        ]
    )
    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    assert [suite.get(name) for name in ("errors", "failures", "skipped")] == ["3", "0", "2"]


def test_errors_of_the_test(pytester: pytest.Pytester, run: Run) -> None:
    """An error that the test was dealing with when the device failed is shown too."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            try:
                raise ValueError("of the test")
            except ValueError:
                clawperator.device.shell("sim fault operator_crash times=1")
                clawperator.home()
        """
    )

    result = run(*QUICK)

    result.stdout.fnmatch_lines(
        [
            "E * ValueError: of the test",
            ">           clawperator.home()",
            "E *OperatorNotReadyError: [[]*[]] OPERATOR_CRASHED: *",
        ]
    )
    result.stdout.no_fnmatch_line("*pipeline.py*")


def test_full_trace(pytester: pytest.Pytester, run: Run) -> None:
    """``--full-trace`` shows where inside of the package it happened."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    result = run("--full-trace", *QUICK)

    result.stdout.fnmatch_lines(["*pipeline.py*"])


def test_the_adb_server_of_the_phones_ends(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The simulated phones start it again, and the tests after that find them."""
    pytester.makepyfile(
        """
        import socket

        def test_end(clawperator_lease, clawperator):
            host, _, port = clawperator_lease.adb.partition(":")
            with socket.create_connection((host, int(port)), timeout=30) as adb:
                adb.sendall(b"0009host:kill")
                while adb.recv(4096): pass

        def test_after(clawperator):
            clawperator.home()
        """
    )

    result = run_plain("--claw-device=sim", *QUICK)

    result.assert_outcomes(passed=2)


KILLS_PHONES = """
import os
import signal

def kill_phones(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

def test_kill(request, clawperator):
    phones = request.config.pluginmanager.get_plugin("clawperator-simulated")
    kill_phones(phones.simulators[0].pid)
    clawperator.home()

def test_after(clawperator): pass

def test_last(clawperator): pass
"""


def test_the_simulated_phones_end(pytester: pytest.Pytester, run_plain: Run) -> None:
    """It is said that their process is gone; nobody waits for them, and no internals are shown."""
    pytester.makepyfile(KILLS_PHONES)

    result = run_plain("--claw-device=sim", "-rE", *QUICK)

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "clawperator: the simulated phones' process ended (signal 9)",
            "*_ ERROR at call of test_kill _*",
            ">       clawperator.home()",
            "E  *: the simulated phones' process ended (signal 9): *",
            "E *hint: See what ended it *",
            "*_ ERROR at setup of test_after _*",
            "E *the device was put aside, because the simulated phones' process ended (signal 9)",
            "*hint: See what ended it *",
            "*= devices =*",
            "127.0.0.1:*  3 errors",
            "the simulated phones' process ended (signal 9)",
            "ERROR *::test_kill - infrastructure: *: the simulated phones' process ended*",
            "ERROR *::test_last - infrastructure: *: the device was put aside*",
        ]
    )
    for inner in ("*warm_shell.py*", "*contextlib.py*", "*direct cause*", "*waiting up to*"):
        result.stdout.no_fnmatch_line(inner)
