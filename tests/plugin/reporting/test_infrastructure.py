"""Trouble with a device is an error; it is healed once, with a notice, and given up once."""

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


def test_a_test_case_of_unittest_is_an_error_too(pytester: pytest.Pytester, run: Run) -> None:
    """The error of a TestCase is kept elsewhere by pytest; it is the device's all the same."""
    pytester.makepyfile(
        """
        import unittest

        import pytest

        class TestCase(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def use(self, clawperator):
                self.clawperator = clawperator

            def test_crash(self):
                self.clawperator.device.shell("sim fault operator_crash times=1")
                self.clawperator.home()
        """
    )

    result = run("-rE", *QUICK)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["ERROR *::test_crash - infrastructure: OPERATOR_CRASHED: *"])


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


def test_a_device_that_cannot_be_healed_is_put_aside(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
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
    kept = [path.name for path in pytester.path.glob("claw-results/*/*/trace.html")]
    assert len(kept) == 1  # of the test under which it was found out
    assert "could not restore" not in result.stdout.str()  # it is not asked any more


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
