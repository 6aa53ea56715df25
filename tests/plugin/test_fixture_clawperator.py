"""``clawperator``: the client on a device that was checked just before the test."""

from __future__ import annotations

import re
import time

import pytest

from pytest_clawperator.devices import lease
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator):\n    assert clawperator.home().success\n"


def test_first_test(pytester: pytest.Pytester, run: Run) -> None:
    """A test acts on the device and reads from it; its report says which device that was."""
    pytester.makepyfile(
        """
        from pytest_clawperator import Clawperator

        def test_android_version(clawperator: Clawperator):
            clawperator.open_app("com.android.settings")
            clawperator.scroll_and_click(text="About phone")
            assert clawperator.read_value(label="Android version") == "16"
        """
    )

    result = run("--junitxml=results.xml")

    result.assert_outcomes(passed=1)
    written = pytester.path.joinpath("results.xml").read_text(encoding="utf-8")
    assert re.search(r'<property name="clawperator_device" value="127.0.0.1:\d+" ?/>', written)


def test_settings_are_put_back(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """Orientation, airplane mode, languages and the keyboard are as before after a failed test."""
    questions = (
        "settings get system user_rotation; cmd connectivity airplane-mode;"
        " cmd locale get-app-locales com.example.shop; settings get secure default_input_method"
    )
    before = phone.shell(questions).stdout
    pytester.makepyfile(
        f"""
        def test_changes(clawperator):
            device = clawperator.device
            keyboards = device.shell("ime list -a -s").stdout.split()
            device.orientation = "landscape"
            device.airplane_mode = True
            device.set_app_locale("com.example.shop", "de-DE")
            device.keyboard = next(name for name in keyboards if name != device.keyboard)
            print("changed", device.shell({questions!r}).stdout)
            raise RuntimeError("on the way")
        """
    )

    result = run()

    result.assert_outcomes(failed=1)
    assert before not in result.stdout.str()
    assert phone.shell(questions).stdout == before


class TestWiderScopes:
    """What fixtures that live longer than a test set on the device."""

    QUESTIONS = "settings get system user_rotation; cmd connectivity airplane-mode"

    def test_session(self, pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
        """Each test begins and ends with it; it is put back when the run ends."""
        before = phone.shell(self.QUESTIONS).stdout
        pytester.makepyfile(
            """
            import pytest

            @pytest.fixture(scope="session")
            def lying(clawperator_client):
                clawperator_client.device.orientation = "landscape"

            @pytest.mark.parametrize("time", [1, 2])
            def test_it(lying, clawperator, time):
                device = clawperator.device
                assert (device.orientation, device.airplane_mode) == ("landscape", False)
                device.orientation = "reverse_portrait"
                device.airplane_mode = True
            """
        )

        result = run()

        result.assert_outcomes(passed=2)
        assert phone.shell(self.QUESTIONS).stdout == before

    def test_module(self, pytester: pytest.Pytester, run: Run) -> None:
        """A fixture ends what it set with a block, around what tests set themselves."""
        pytester.makepyfile(
            test_1="""
            import pytest

            @pytest.fixture(scope="module")
            def lying(clawperator_client):
                with clawperator_client.device.restoring():
                    clawperator_client.device.orientation = "landscape"
                    yield

            @pytest.mark.parametrize("time", [1, 2])
            def test_it(lying, clawperator, time):
                assert clawperator.device.orientation == "landscape"
                clawperator.device.orientation = "reverse_portrait"
            """,
            test_2="def test_it(clawperator): assert clawperator.device.orientation == 'portrait'",
        )

        result = run()

        result.assert_outcomes(passed=3)

    def test_what_cannot_be_put_back(self, pytester: pytest.Pytester, run: Run) -> None:
        """At the end of the run no test is to blame, so it is told and fails none."""
        pytester.makepyfile(
            """
            import pytest

            @pytest.fixture(scope="session")
            def german(clawperator_client):
                clawperator_client.device.set_app_locale("com.example.shop", "de-DE")

            def test_it(german, clawperator):
                clawperator.device.uninstall("com.example.shop")
            """
        )

        result = run()

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [
                "clawperator: *could not put back: locale of com.example.shop (*",
                "*= devices =*",
                "*could not put back: locale of com.example.shop (*",
            ]
        )


def test_what_cannot_be_put_back(pytester: pytest.Pytester, run: Run) -> None:
    """A setting that cannot be put back is an error of the test, and is told by name."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.device.set_app_locale("com.example.shop", "de-DE")
            clawperator.device.uninstall("com.example.shop")
        """
    )

    result = run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["E *could not put back: locale of com.example.shop (*"])
    result.stdout.no_fnmatch_line("*contextlib*")  # the message tells it all


def test_away_when_it_is_put_back(pytester: pytest.Pytester, run: Run) -> None:
    """It is the device that failed; once it is healed, the next test finds it put back."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_away(clawperator):
            clawperator.device.orientation = "landscape"
            clawperator.device.shell("sim fault offline ms=1500")
            with pytest.raises(ClawperatorError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)

        def test_after(clawperator):
            assert clawperator.device.orientation == "portrait"
        """
    )

    result = run("-rE", "--junitxml=junit.xml")

    result.assert_outcomes(passed=2, errors=1)
    told = "infrastructure: DEVICE_OFFLINE: could not put back: orientation (*"
    result.stdout.fnmatch_lines([f"ERROR *::test_away - {told}"])
    assert "infrastructure: DEVICE_OFFLINE: " in (pytester.path / "junit.xml").read_text()


class TestScreen:
    """A screen that is off or locked."""

    def test_is_woken(self, pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
        """A screen that is off is switched on and unlocked, and that is said."""
        pytester.makepyfile(USES_DEVICE)
        phone.shell("input keyevent KEYCODE_SLEEP")

        result = run()

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [
                f"clawperator: [[]{phone.serial}] the screen is off, so it was woken *",
                "*= devices =*",
                f"{phone.serial}  1 passed",
                f"[[]{phone.serial}] the screen is off, so it was woken and its lock dismissed",
            ]
        )


class TestOperator:
    """An Operator that does not answer."""

    def test_switched_off(self, pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
        """A service that is off is switched on before the first test, out loud."""
        pytester.makepyfile(USES_DEVICE)
        phone.shell("am force-stop com.clawperator.operator")

        result = run()

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["clawperator: *was force-stopped; it is switched on"])

    def test_dies_between_tests(self, pytester: pytest.Pytester, run: Run) -> None:
        """An Operator that went away is brought back before the next test, out loud."""
        pytester.makepyfile(
            """
            def test_stops_it(clawperator):
                clawperator.device.shell("am force-stop com.clawperator.operator")

            def test_it(clawperator):
                assert clawperator.home().success
            """
        )

        result = run()

        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(
            [
                "clawperator: *the device failed its check: DEVICE_ACCESSIBILITY_NOT_RUNNING: *",
                "clawperator: *the device works again",
            ]
        )


def test_a_device_that_stays_away(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """A device that fails its check twice is put aside: later tests say why at once."""
    pytester.makepyfile(
        """
        def test_breaks_it(clawperator):
            clawperator.device.shell("pm uninstall com.clawperator.operator")

        def test_second(clawperator):
            raise AssertionError

        def test_third(clawperator):
            raise AssertionError
        """
    )

    result = run()

    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_second*",
            "E *OPERATOR_NOT_INSTALLED: *",
            "*ERROR at setup of test_third*",
            "E *OPERATOR_NOT_INSTALLED: the device was put aside, because it failed its check*",
            "*hint: Install it: --claw-operator-apk path/to/operator.apk.",
        ]
    )


def test_somebody_else_is_on_it(
    pytester: pytest.Pytester,
    run: Run,
    phone: AdbTransport,
    adb: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another process's execution that does not end is told with its command; nothing is healed."""
    monkeypatch.setattr(lease, "LANDING_GRACE", 0.1)
    pytester.makepyfile(USES_DEVICE)
    host, port = adb.split(":")
    key = read_device(phone, server=AdbServer(host, int(port))).key
    other = Flight(key)

    with other.claim("nap", serial=phone.serial) as claim:
        claim.take_off(time.monotonic() + 0.5)
        busy = run()
        claim.land()
    free = run()

    busy.assert_outcomes(errors=1)
    busy.stdout.fnmatch_lines(["*EXECUTION_CONFLICT_IN_FLIGHT: *with command nap"])
    busy.stdout.no_fnmatch_line("*failed its check*")
    free.assert_outcomes(passed=1)
