"""What a run says about its devices, and when it says nothing."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.plugin.terminal import device_lines
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.host import running_host
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator): pass\n"


class TestHeader:
    """The device above the tests."""

    def test_only_when_used(self, pytester: pytest.Pytester, run: Run) -> None:
        """A suite that uses no device names none, though one was asked for."""
        pytester.makepyfile("def test_it(clawperator_settings): pass")

        result = run()

        result.assert_outcomes(passed=1)
        result.stdout.no_fnmatch_line("clawperator: *")

    @pytest.mark.parametrize("options", [["-q"], ["--collect-only"]])
    def test_a_quiet_run_names_no_device(
        self, pytester: pytest.Pytester, run: Run, options: list[str]
    ) -> None:
        """Nothing is said with `-q`, nor where no test runs."""
        pytester.makepyfile(USES_DEVICE)

        result = run(*options)

        assert result.ret == pytest.ExitCode.OK
        result.stdout.no_fnmatch_line("clawperator: *")

    @pytest.mark.parametrize(
        ("version", "said"),
        [
            ("0.5.3", "Operator 0.5.3"),
            ("0.5.9-d", "Operator 0.5.9-d"),
            ("0.6.0", "Operator 0.6.0 (made for 0.5: expect differences)"),
            ("1.5.0", "Operator 1.5.0 (made for 0.5: expect differences)"),
            (None, "no Operator"),
        ],
    )
    def test_an_unsupported_operator_is_named_as_such(self, version: str | None, said: str) -> None:
        """An Operator that this package is not made for is named as such."""
        info = DeviceInfo(serial="PH1", key="PH1", model="Pixel 9", operator_version=version)

        lines = device_lines([Candidate(info=info, adb="127.0.0.1:5037")])

        assert lines == [f"clawperator: PH1 (Pixel 9), {said}, adb 127.0.0.1:5037"]


class TestReplaced:
    """The device of a conftest that brings its own way to one."""

    @pytest.mark.parametrize("rung", ["lease", "transport", "client"])
    def test_named_when_it_comes(
        self, pytester: pytest.Pytester, run_plain: Run, phone: AdbTransport, adb: str, rung: str
    ) -> None:
        """Whichever rung of the ladder is replaced, the device is named, and once."""
        brings = {
            "lease": f"nullcontext(Lease(serial={phone.serial!r}, key='mine', adb={adb!r}))",
            "transport": f"closing(AdbTransport(locate_server({adb!r}), {phone.serial!r}))",
            "client": f"connect({phone.serial!r}, adb={adb!r})",
        }
        pytester.makeconftest(
            f"""
            from contextlib import closing, nullcontext

            import pytest
            from pytest_clawperator import connect
            from pytest_clawperator.devices.pool import Lease
            from pytest_clawperator.transport.adb import AdbTransport
            from pytest_clawperator.transport.server import locate_server

            @pytest.fixture(scope="session")
            def clawperator_{rung}():
                with {brings[rung]} as mine:
                    yield mine
            """
        )
        pytester.makepyfile(f"{USES_DEVICE}\ndef test_other(clawperator): pass\n")

        result = run_plain("--claw-device", phone.serial, "--claw-adb", adb)

        result.assert_outcomes(passed=2)
        named = [line for line in result.outlines if line.startswith("clawperator: ")]
        device, output = named
        assert device.startswith(f"clawperator: {phone.serial} (Google Pixel 9, API 36), Operator ")
        assert device.endswith(f", adb {adb}")
        assert output.startswith("clawperator: evidence of failures goes to claw-results/")

    def test_behind_a_host(self, pytester: pytest.Pytester, run_plain: Run) -> None:
        """A device that another host reaches is named with that host's address."""
        with running_host() as host:
            pytester.makepyfile(
                f"""
                import pytest
                from pytest_clawperator import connect

                @pytest.fixture
                def phone():
                    with connect(url={host.url!r}) as client:
                        yield client

                def test_it(phone): pass
                """
            )

            result = run_plain()

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f"clawperator: * behind {host.url}"])

    def test_a_quiet_run_names_no_replaced_device(
        self, pytester: pytest.Pytester, run_plain: Run, phone: AdbTransport, adb: str
    ) -> None:
        """With `-q` it is not named."""
        pytester.makepyfile(
            f"""
            import pytest
            from pytest_clawperator import connect

            @pytest.fixture
            def phone():
                with connect({phone.serial!r}, adb={adb!r}) as client:
                    yield client

            def test_it(phone): pass
            """
        )

        result = run_plain("-q")

        result.assert_outcomes(passed=1)
        result.stdout.no_fnmatch_line("clawperator: *")


class TestSummary:
    """The devices below the tests."""

    def test_nothing_to_say(self, pytester: pytest.Pytester, run: Run) -> None:
        """One device that gave no trouble is not told of again."""
        pytester.makepyfile(USES_DEVICE)

        result = run()

        result.stdout.no_fnmatch_line("*= devices =*")

    def test_a_quiet_run_shows_no_healed_trouble(
        self, pytester: pytest.Pytester, run: Run, phone: AdbTransport
    ) -> None:
        """With `-q` trouble that was healed is not told of."""
        pytester.makepyfile(USES_DEVICE)
        phone.shell("input keyevent KEYCODE_SLEEP")

        result = run("-q")

        result.assert_outcomes(passed=1)
        result.stdout.no_fnmatch_line("*clawperator*")
        result.stdout.no_fnmatch_line("*screen*")

    def test_the_device_of_a_failure_is_named(
        self, pytester: pytest.Pytester, run: Run, phone: AdbTransport
    ) -> None:
        """Where something failed, the device that it failed on is named."""
        pytester.makepyfile(f"{USES_DEVICE}\ndef test_bad(clawperator):\n    assert False\n")

        result = run("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")

        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(["*= devices =*", f"{phone.serial}  1 passed, 1 failed"])

    def test_a_test_counts_for_each_of_its_devices(
        self, pytester: pytest.Pytester, run: Run, simulator: Simulator, adb: str
    ) -> None:
        """A test counts for each device that it uses, from whatever fixture."""
        first, second = simulator.serials
        pytester.makepyfile(
            f"""
            import pytest
            from pytest_clawperator import connect

            @pytest.fixture
            def other():
                with connect({second!r}, adb={adb!r}) as client:
                    yield client

            def test_one(clawperator): pass

            def test_both(clawperator, other): pass
            """
        )

        result = run()

        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(
            [f"clawperator: {first} (*", f"clawperator: {second} (*", "*= devices =*"]
        )
        result.stdout.fnmatch_lines_random([f"{first}  2 passed", f"{second}  1 passed"])

    def test_every_outcome_is_counted(
        self, pytester: pytest.Pytester, run: Run, phone: AdbTransport
    ) -> None:
        """Every outcome is counted, and trouble told."""
        pytester.makepyfile(
            """
            import pytest

            @pytest.fixture
            def late(clawperator):
                yield
                raise RuntimeError

            def test_passes(clawperator): pass

            def test_fails(clawperator):
                raise AssertionError

            def test_skips(clawperator):
                pytest.skip("today")

            def test_error(late): pass

            @pytest.mark.xfail
            def test_known(clawperator):
                raise AssertionError
            """
        )
        phone.shell("input keyevent KEYCODE_SLEEP")

        result = run()

        result.assert_outcomes(passed=2, failed=1, skipped=1, errors=1, xfailed=1)
        result.stdout.fnmatch_lines(
            [
                "*= devices =*",
                f"{phone.serial}  2 passed, 1 failed, 1 error, 1 skipped, 1 xfailed",
                f"[[]{phone.serial}] the screen is off, so it was woken and its lock dismissed",
            ]
        )

    def test_without_a_client(
        self, pytester: pytest.Pytester, run: Run, phone: AdbTransport
    ) -> None:
        """A test whose device has no Operator counts for it, and one that needs none as well."""
        pytester.makepyfile(
            """
            def test_needs_none(clawperator_transport): pass

            def test_needs_it(clawperator): pass

            def test_no_device(): pass
            """
        )
        phone.shell("sim fault operator_absent")

        result = run()

        result.assert_outcomes(passed=2, errors=1)
        result.stdout.fnmatch_lines(["*= devices =*", f"{phone.serial}  1 passed, 1 error"])

    def test_skipped_by_a_marker(
        self, pytester: pytest.Pytester, run: Run, phone: AdbTransport
    ) -> None:
        """A test that its marker skips counts for the device that did not fit."""
        pytester.makepyfile(
            """
            import pytest

            def test_fails(clawperator):
                raise AssertionError

            @pytest.mark.claw_device(api=">=99")
            def test_without_the_fixture(): pass

            @pytest.mark.claw_device(api=">=99")
            def test_with_it(clawperator): pass
            """
        )

        result = run("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")

        result.assert_outcomes(failed=1, skipped=2)
        result.stdout.fnmatch_lines(["*= devices =*", f"{phone.serial}  1 failed, 2 skipped"])

    def test_notices_are_shown_once_and_not_all(self, pytester: pytest.Pytester, run: Run) -> None:
        """Trouble is told once each, and no more than fits a screen."""
        pytester.makeconftest(
            """
            import pytest
            from pytest_clawperator.plugin.run import events_of

            @pytest.fixture
            def trouble(request):
                events = events_of(request.config)
                for number in range(25):
                    events.notice("PH1", f"trouble {number}")
                events.notice("PH1", "trouble 3")
            """
        )
        pytester.makepyfile("def test_it(trouble): pass")

        result = run()

        result.stdout.fnmatch_lines(
            ["*= devices =*", "[[]PH1] trouble 3 (2 times)", "... and 5 more"]
        )


def test_without_a_terminal(pytester: pytest.Pytester, phone: AdbTransport, adb: str) -> None:
    """A run without a terminal reporter works all the same."""
    pytester.makepyfile(USES_DEVICE)
    phone.shell("input keyevent KEYCODE_SLEEP")
    device = ["--claw-device", phone.serial, "--claw-adb", adb]

    result = pytester.runpytest_inprocess("-p", "no:terminal", "-p", "no:cacheprovider", *device)

    assert result.ret == pytest.ExitCode.OK
