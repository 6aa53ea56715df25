"""Evidence of failures: in every phase, for every attempt, in every report."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

FILES = ["envelopes.json", "log.txt", "screenshot.png", "snapshot.xml"]
FAILS = """
    def test_it(clawperator):
        clawperator.home()
        assert 0
"""


def folders(pytester: pytest.Pytester) -> dict[str, list[str]]:
    """Give the folders of the only run, with the names of their files."""
    (run,) = (pytester.path / "claw-results").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", run.name)
    found: dict[str, list[str]] = {}
    for path in sorted(run.rglob("*")):
        if path.is_file() and path.parent != run:
            found.setdefault(path.parent.relative_to(run).as_posix(), []).append(path.name)
    return found


def folder(pytester: pytest.Pytester) -> Path:
    """Give the only folder of a test."""
    (found,) = filter(Path.is_dir, (pytester.path / "claw-results").glob("*/*"))
    return found


def test_a_failed_test(pytester: pytest.Pytester, run: Run) -> None:
    """Each kind of evidence is there, is what it says, and is named in the report."""
    pytester.makepyfile(FAILS)

    result = run()

    result.assert_outcomes(failed=1)
    found = folder(pytester)
    assert sorted(path.name for path in found.iterdir()) == [*FILES, "trace", "trace.html"]
    assert (found / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(found / "snapshot.xml").getroot().tag == "hierarchy"
    (told,) = json.loads((found / "envelopes.json").read_bytes())
    assert told["execution"]["actions"][0]["type"] == "press_key"
    assert told["envelope"]["status"] == "success"
    assert told["execution"]["commandId"] in (found / "log.txt").read_text()
    shown = found.relative_to(pytester.path)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: evidence of failures goes to {shown.parent}",
            "*- clawperator: evidence -*",
            f"{shown}",
            "  log.txt",
            "  envelopes.json",
            "  screenshot.png",
            "  snapshot.xml",
            "*= evidence =*",
            f"{shown.parent}",
            f"  {shown.name}",
        ]
    )
    assert result.stdout.str().count(str(shown)) == 1


def test_nothing_where_nothing_failed(pytester: pytest.Pytester, run: Run) -> None:
    """Tests that pass, are skipped, or are expected to fail leave nothing behind."""
    pytester.makepyfile(
        """
        import pytest

        def test_passes(clawperator):
            clawperator.home()

        def test_skips(clawperator):
            pytest.skip("later")

        @pytest.mark.xfail
        def test_xfails(clawperator):
            assert 0

        def test_without_device():
            pass
        """
    )

    result = run()

    result.assert_outcomes(passed=2, skipped=1, xfailed=1)
    assert folders(pytester) == {}
    assert "= evidence =" not in result.stdout.str()


def test_a_test_without_a_device(pytester: pytest.Pytester, run: Run) -> None:
    """A failure that is not about a device has no evidence from one."""
    pytester.makepyfile("def test_device(clawperator): pass\ndef test_plain(): assert 0")

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert folders(pytester) == {}


@pytest.mark.parametrize("last", [True, False])
def test_setup_and_teardown(pytester: pytest.Pytester, run: Run, last: bool) -> None:
    """A fixture that fails leaves evidence too, even where it is the last before the end."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def bad_start(clawperator):
            assert 0

        @pytest.fixture
        def bad_end(clawperator):
            yield
            clawperator.open_app("com.android.settings")
            assert 0

        def test_setup(bad_start): pass
        def test_teardown(bad_end): pass
        """
        + ("" if last else "def test_after(clawperator): pass\n")
    )

    result = run("--claw-trace=off")

    result.assert_outcomes(passed=1 if last else 2, errors=2)
    setup, teardown = folders(pytester).values()
    assert setup == ["setup-log.txt", "setup-screenshot.png", "setup-snapshot.xml"]
    assert teardown == [f"teardown-{name}" for name in FILES]


def test_an_app_that_crashed(pytester: pytest.Pytester, run: Run) -> None:
    """A crash is told in the failure, in the summary, and marked in the log."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_app("com.example.shop")
        def test_it(clawperator):
            clawperator.device.shell("am crash com.example.shop")
            clawperator.home()
            assert 0
        """
    )

    result = run("--claw-trace=off")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- clawperator: com.example.shop crashed: *shell-induced crash -*",
            "* E AndroidRuntime: FATAL EXCEPTION: main",
            "  log.txt (com.example.shop crashed: *)",
            "*= evidence =*",
            "    com.example.shop crashed: *shell-induced crash",
        ]
    )
    log = (folder(pytester) / "log.txt").read_text()
    assert log.startswith("line ")
    assert re.search(r"^>>> .* FATAL EXCEPTION: main$", log, re.MULTILINE)


def test_only_the_log_of_the_test(pytester: pytest.Pytester, run: Run) -> None:
    """The log begins with the test, not with the run."""
    pytester.makepyfile(
        """
        def test_before(clawperator):
            clawperator.device.shell("log -t marker of-the-first")
            clawperator.home()

        def test_it(clawperator):
            clawperator.device.shell("log -t marker of-the-second")
            clawperator.home()
            assert 0
        """
    )

    run()

    log = (folder(pytester) / "log.txt").read_text()
    assert "of-the-second" in log
    assert "of-the-first" not in log


def test_junit_has_the_paths_as_properties(pytester: pytest.Pytester, run: Run) -> None:
    """JUnit's file has the paths as properties of the test, of every phase."""
    pytester.makepyfile(FAILS)

    run("--junitxml=report.xml")

    case = ET.parse(pytester.path / "report.xml").getroot().find(".//testcase")
    assert case is not None
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    shown = folder(pytester).relative_to(pytester.path).as_posix()
    assert properties["clawperator_screenshot"] == f"{shown}/screenshot.png"
    assert properties.keys() >= {"clawperator_log", "clawperator_snapshot", "clawperator_envelopes"}


def test_each_attempt_has_a_folder(pytester: pytest.Pytester, run: Run) -> None:
    """Each attempt has a folder, a failed one of a test that passed in the end too."""
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        """
        attempts = []

        def test_it(clawperator):
            attempts.append(1)
            assert len(attempts) == 3
        """
    )

    result = run("--claw-trace=off", "--reruns=2", "-p", "rerunfailures")

    result.stdout.fnmatch_lines(["* 1 passed, 2 rerun in *"])
    assert [name.rpartition("/")[2] for name in folders(pytester)] == ["attempt-1", "attempt-2"]
    result.stdout.fnmatch_lines(
        ["*= evidence =*", "claw-results/*", "  *attempt-1", "  *attempt-2"]
    )


def test_reruns_that_all_leave_evidence(pytester: pytest.Pytester, run: Run) -> None:
    """The attempt that passed is listed with those that failed."""
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        """
        attempts = []

        def test_it(clawperator):
            attempts.append(1)
            assert len(attempts) == 2
        """
    )

    result = run("--claw-trace=off", "--reruns=2", "-p", "rerunfailures", "--claw-screenshot=on")

    result.stdout.fnmatch_lines(
        ["*= evidence =*", "claw-results/*", "  *attempt-1", "  *attempt-2"], consecutive=True
    )


def test_junit_and_reruns(pytester: pytest.Pytester, run: Run) -> None:
    """Each attempt has its own properties, and none of the attempt before."""
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile("def test_it(clawperator): assert 0")

    run("--reruns=1", "-p", "rerunfailures", "--junitxml=report.xml", "--claw-logcat=off")

    first, second = ET.parse(pytester.path / "report.xml").getroot().iter("testcase")
    for attempt, case in enumerate([first, second], 1):
        told = [(one.get("name"), str(one.get("value"))) for one in case.iter("property")]
        names = [name for name, _ in told]
        kept = ["clawperator_screenshot", "clawperator_snapshot", "clawperator_trace"]
        assert names == [
            "clawperator_device",
            "clawperator_model",
            "clawperator_api",
            *kept,
        ]
        assert all(f"/attempt-{attempt}/" in path for _, path in told[3:])


def test_workers_write_into_one_folder(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Workers write into one folder of the run, and the summary names all."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(clawperator, number):
            assert 0
        """
    )

    result = run_workers("--claw-trace=off", "-n2", "--claw-device", "sim", "--claw-snapshot=off")

    result.assert_outcomes(failed=2)
    assert list(folders(pytester).values()) == [["log.txt", "screenshot.png"]] * 2
    (run_folder,) = (pytester.path / "claw-results").iterdir()
    result.stdout.fnmatch_lines(
        [
            f"clawperator: evidence of failures goes to claw-results/{run_folder.name}",
            "*= evidence =*",
            f"claw-results/{run_folder.name}",
            "  test_workers_*-test_it-?-*",
            "  test_workers_*-test_it-?-*",
        ]
    )


def test_a_folder_that_cannot_be_written(pytester: pytest.Pytester, run: Run) -> None:
    """The test's own failure is told as it is, and beside it why there is no evidence."""
    pytester.makepyfile(
        """
        import shutil
        from pathlib import Path

        def test_it(clawperator):
            shutil.rmtree("taken")
            Path("taken").write_text("a file now")
            assert 0
        """
    )

    result = run("--claw-output", "taken")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * assert 0",
            "no screenshot: *taken/* cannot be written: *",
            "no trace: *taken/* cannot be written: *",
        ]
    )


def test_a_folder_that_was_deleted(pytester: pytest.Pytester, run: Run) -> None:
    """Evidence goes to a new one, and the summary has only what is there."""
    pytester.makepyfile(
        """
        import shutil

        def test_first(clawperator):
            assert 0

        def test_it(clawperator, clawperator_artifacts):
            clawperator_artifacts.attach("x.txt", b"1")
            shutil.rmtree("claw-results")
            assert 0
        """
    )

    result = run("--claw-trace=off", "--claw-snapshot=off", "--claw-logcat=off")

    result.assert_outcomes(failed=2)
    assert [path.name for path in folder(pytester).iterdir()] == ["screenshot.png"]
    listed = result.stdout.str().split("= evidence =")[1]
    assert "-test_it-" in listed
    assert "test_first" not in listed.split("short test summary")[0]


def test_a_device_that_is_gone(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """What the device does not give any more is named, and the failure stays the test's."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import DeviceError

        def test_it(clawperator):
            clawperator.device.shell("sim fault offline ms=700")
            with pytest.raises(DeviceError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)
            assert 0
        """
    )

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E * assert 0", "no screenshot: DEVICE_OFFLINE: *", "no snapshot: DEVICE_OFFLINE: *"]
    )
    wait_until_back(phone)


def wait_until_back(phone: AdbTransport) -> None:
    """Wait for a phone that went away, so that others can use it."""
    from pytest_clawperator.devices.health import await_return

    await_return(phone)


def test_a_run_that_is_broken_off_does_not_look_at_the_device(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """A run that somebody breaks off ends without looking at the device."""
    pytester.makeconftest(
        """
        from pytest_clawperator.plugin import recorder

        def pytest_configure(config):
            before = recorder.collect
            recorder.collect = lambda *_, **__: print("looked")
            config.add_cleanup(lambda: setattr(recorder, "collect", before))
        """
    )
    pytester.makepyfile("def test_it(clawperator): raise KeyboardInterrupt")

    device = ("--claw-device", phone.serial, "--claw-adb", adb)
    result = pytester.runpytest_inprocess("-s", *device, no_reraise_ctrlc=True)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.no_fnmatch_line("*looked*")


def test_a_test_with_two_clients_has_evidence_of_both(pytester: pytest.Pytester, run: Run) -> None:
    """A test with a second client has evidence of both devices."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import connect

        @pytest.fixture
        def other(clawperator_lease, simulated):
            with connect(simulated, adb=clawperator_lease.adb) as client:
                yield client

        @pytest.fixture
        def simulated(clawperator_transport):
            serials = [serial for serial, _ in clawperator_transport.server.devices()]
            return next(one for one in serials if one != clawperator_transport.serial)

        def test_it(clawperator, other):
            assert 0
        """
    )

    run("--claw-snapshot=off", "--claw-logcat=off", "--claw-trace=off")

    names = sorted(path.name for path in folder(pytester).iterdir())
    assert len(names) == 2
    assert names[1] == "screenshot.png"
    assert re.fullmatch(r"127\.0\.0\.1-\d+-screenshot\.png", names[0])
