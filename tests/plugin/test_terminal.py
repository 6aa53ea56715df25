"""What a run prints about its devices, evidence and slow actions, and when it prints nothing."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.plugin.terminal import device_lines
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.host import running_host
from tests.plugin.conftest import QUICK, Run

USES_DEVICE = "def test_it(clawperator): clawperator.home()\n"


def test_an_unused_device_is_not_named(run: Run) -> None:
    """A suite that uses no device names none, though one was asked for."""
    result = run(suite="def test_it(clawperator_settings): pass")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("clawperator: *")


def test_a_run_without_a_terminal(pytester: pytest.Pytester, phone: AdbTransport, adb: str) -> None:
    """A run without a terminal reporter passes, trouble that was healed included."""
    pytester.makepyfile(USES_DEVICE)
    phone.shell("input keyevent KEYCODE_SLEEP")
    device = ["--claw-device", phone.serial, "--claw-adb", adb]

    result = pytester.runpytest_inprocess("-p", "no:terminal", "-p", "no:cacheprovider", *device)

    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("options", [["-q"], ["--collect-only"]])
def test_a_quiet_run_prints_nothing_about_devices(
    run: Run, phone: AdbTransport, options: list[str]
) -> None:
    """Neither the device, nor trouble that was healed, nor slow actions."""
    phone.shell("input keyevent KEYCODE_SLEEP")

    result = run(*options, suite=USES_DEVICE)

    assert result.ret == pytest.ExitCode.OK
    for words in ("*clawperator: *", "*screen*", "*= devices =*", "*slowest*"):
        result.stdout.no_fnmatch_line(words)


def test_an_unsupported_operator_is_named_as_such() -> None:
    """The line of a device has the version of its Operator, and whether it is supported."""
    cases = {
        "0.5.3": "Operator 0.5.3",
        "0.5.9-d": "Operator 0.5.9-d",
        "0.6.0": "Operator 0.6.0 (made for 0.5: expect differences)",
        "1.5.0": "Operator 1.5.0 (made for 0.5: expect differences)",
        None: "no Operator",
    }
    for version, words in cases.items():
        info = DeviceInfo(serial="PH1", key="PH1", model="Pixel 9", operator_version=version)

        lines = device_lines([Candidate(info=info, adb="127.0.0.1:5037")])

        assert lines == [f"clawperator: PH1 (Pixel 9), {words}, adb 127.0.0.1:5037"]


@pytest.mark.parametrize("rung", ["lease", "transport", "client"])
def test_the_device_of_a_conftest_is_named_when_it_comes(
    pytester: pytest.Pytester, run_plain: Run, phone: AdbTransport, adb: str, rung: str
) -> None:
    """Whichever fixture is replaced, the device is named once, and checked like any other."""
    brings = {
        "lease": f"nullcontext(Lease(serial={phone.serial!r}, key='mine', adb={adb!r}))",
        "transport": f"closing(AdbTransport(locate_server({adb!r}), {phone.serial!r}))",
        "client": f"connect({phone.serial!r}, adb={adb!r}, timeout=2)",
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
    # No other device is looked for; a transport alone does not replace the lease.
    device = phone.serial if rung == "transport" else "PH404"

    result = run_plain(
        *("--claw-device", device, "--claw-adb", adb),
        suite=f"""
        def test_off(clawperator):
            clawperator.device.key_event("sleep")

        def test_on(clawperator):
            assert "Awake" in clawperator.device.shell("dumpsys power").stdout
            assert clawperator.timeout == {2 if rung == "client" else 5}
        """,
    )

    result.assert_outcomes(passed=2)
    named, output = [
        line for line in result.outlines if line.startswith("clawperator: ") and "[" not in line
    ]
    assert named.startswith(f"clawperator: {phone.serial} (Google Pixel 9, API 36), Operator ")
    assert named.endswith(f", adb {adb}")
    assert output.startswith("clawperator: evidence of failures goes to claw-results/")


def test_the_device_of_another_host_is_named_with_its_address(run_plain: Run) -> None:
    """Also if a fixture of the suite connects to it; not in a quiet run."""
    with running_host() as host:
        suite = f"""
            import pytest
            from pytest_clawperator import connect

            @pytest.fixture
            def phone():
                with connect(url={host.url!r}) as client:
                    yield client

            def test_it(phone): pass
        """

        loud, quiet = run_plain(suite=suite), run_plain("-q")

    loud.assert_outcomes(passed=1)
    loud.stdout.fnmatch_lines([f"clawperator: * behind {host.url}"])
    quiet.stdout.no_fnmatch_line("clawperator: *")


def test_the_summary_counts_every_outcome_on_each_device(
    pytester: pytest.Pytester, run: Run, simulator: Simulator, phone: AdbTransport, adb: str
) -> None:
    """A test counts for each device it uses, a skipped one for the device that did not fit.

    Notices are shown once each, and no more than fit a screen.
    """
    first, second = simulator.serials
    phone.shell("input keyevent KEYCODE_SLEEP")

    result = run(
        *QUICK,
        suite=f"""
        import pytest
        from pytest_clawperator import connect
        from pytest_clawperator.plugin.run import events_of

        @pytest.fixture
        def late(clawperator):
            yield
            raise RuntimeError

        @pytest.fixture
        def other():
            with connect({second!r}, adb={adb!r}) as client:
                yield client

        @pytest.fixture
        def trouble(request):
            events = events_of(request.config)
            for number in range(25):
                events.notice("PH1", f"trouble {{number}}")
            events.notice("PH1", "trouble 3")

        def test_passes(clawperator): pass

        def test_both(clawperator, other): pass

        def test_fails(clawperator):
            raise AssertionError

        def test_skips(clawperator):
            pytest.skip("today")

        @pytest.mark.claw_device(api=">=99")
        def test_unfit(): pass

        @pytest.mark.claw_device(api=">=99")
        def test_unfit_with_fixture(clawperator): pass

        def test_error(late): pass

        @pytest.mark.xfail
        def test_known(clawperator):
            raise AssertionError

        def test_notices(trouble): pass
        """,
    )

    result.assert_outcomes(passed=4, failed=1, skipped=3, errors=1, xfailed=1)
    result.stdout.fnmatch_lines(
        [f"clawperator: {first} (*", f"clawperator: {second} (*", "*= devices =*"]
    )
    result.stdout.fnmatch_lines_random(
        [
            f"{first}  3 passed, 1 failed, 1 error, 3 skipped, 1 xfailed",
            f"{second}  1 passed",
            f"[[]{first}] the screen is off, so it was woken and its lock dismissed",
            "[[]PH1] trouble 3 (2 times)",
            "... and 6 more",
        ]
    )


def test_a_test_without_a_client_counts_for_its_device(run: Run, phone: AdbTransport) -> None:
    """A device without Operator counts, and a test that needs none as well."""
    phone.shell("sim fault operator_absent")

    result = run(
        suite="""
        def test_needs_none(clawperator_transport): pass

        def test_needs_it(clawperator): pass

        def test_no_device(): pass
        """
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*= devices =*", f"{phone.serial}  1 passed, 1 error"])


def test_slow_actions_and_evidence_are_listed(pytester: pytest.Pytester, run: Run) -> None:
    """Actions of a second or more, with ``-v`` all; folders of failed tests, a count of others."""
    suite = """
        import pytest

        def test_slow(clawperator):
            clawperator.home()
            clawperator.execute([{"id": "nap", "type": "sleep", "params": {"durationMs": 22000}}])

        @pytest.mark.parametrize("number", [1, 2])
        def test_quick(clawperator, number):
            clawperator.press_key("back")
            assert number != 2
    """
    evidence = ("--claw-screenshot=on", *QUICK[:2])

    plain = run(*evidence, suite=suite)
    verbose = run(*evidence, "-v", "-k", "quick and 1")

    assert not any("= devices =" in line for line in verbose.outlines)  # one, without trouble
    plain.stdout.fnmatch_lines(["*= slowest actions =*", "*  1.*s sleep*(test_it.py::test_slow)"])
    plain.stdout.no_fnmatch_line("*s press_key*")
    place = "claw-results/????????-??????-????"
    plain.stdout.fnmatch_lines(
        ["*= evidence =*", place, "  test_it-test_quick-2-*", "  2 tests that did not fail"],
        consecutive=True,
    )
    verbose.stdout.fnmatch_lines(["*= slowest actions =*", "*0.*s press_key 'back'*::test_quick*)"])
    verbose.stdout.fnmatch_lines(
        ["*= evidence =*", place, "  1 test that did not fail"], consecutive=True
    )


@pytest.mark.parametrize("form", ["apart", "joined", "given", "inside"])
def test_an_option_that_moves_the_rootdir_is_named(
    pytester: pytest.Pytester,
    run_plain: Run,
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
) -> None:
    """With how to write it; with an equals sign, an own rootdir or a path inside all is well."""
    pytester.makeini("[pytest]\n")
    apk = tmp_path_factory.mktemp("Downloads") / "x.apk"
    inside = pytester.mkdir("apks") / "x.apk"
    for path in (apk, inside):
        with ZipFile(path, "w") as archive:
            archive.writestr("AndroidManifest.xml", "")
    options = {
        "apart": ["--claw-operator-apk", str(apk)],
        "joined": [f"--claw-operator-apk={apk}"],
        "given": ["--claw-operator-apk", str(apk), f"--rootdir={pytester.path}"],
        "inside": ["--claw-operator-apk", str(inside)],
    }

    result = run_plain(*options[form], suite="def test_it(): pass")

    root: Path = apk.parents[1] if form == "apart" else pytester.path
    result.stdout.fnmatch_lines([f"rootdir: {root}"])
    warning = (
        f"clawperator: the rootdir is {root} and not {pytester.path}, because pytest takes"
        f" {apk} for a place of tests: write --claw-operator-apk={apk}"
    )
    assert (warning in result.outlines) == (form == "apart")
