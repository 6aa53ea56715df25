"""A test whose device failed is run once more on another one; a dead device's tests move on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import Run

NO_EVIDENCE = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
TWO_PHONES = ("-n", "2", "--claw-device", "sim:2")
# Where the cache is left out, as in all these runs, this is left out, too.
STEPWISE = ("-p", "cacheprovider", "-p", "stepwise", "--stepwise")
# Phones that answer quickly, and nobody who waits long for one that does not.
QUICK = """
from pathlib import Path

import pytest
from pytest_clawperator import SimulatorScenario
from pytest_clawperator.devices import health

DEAD = Path(__file__).with_name("dead")

def pytest_clawperator_simulator_scenario():
    return SimulatorScenario(seed=6, time_scale=0.05)

def pytest_configure(config):
    if hasattr(config, "workerinput"):  # the controller is the process of the tests
        health.await_return.__kwdefaults__["timeout"] = 0.1

def die(clawperator):
    "Have the first phone that comes here go away for good."
    try:
        DEAD.open("x").write(clawperator.serial)
    except FileExistsError:
        return
    clawperator.device.shell("sim fault offline")
    while True:
        clawperator.home()
"""

# Before it has a client, a worker makes its phone go offline.
AWAY = """
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.server import locate_server

def send_away(config, fault):
    lease = config.workerinput["clawperator_lease"]
    transport = AdbTransport(locate_server(lease["adb"]), lease["serial"])
    transport.shell(f"sim fault {fault}")
    while (lease["serial"], "offline") not in transport.server.devices():
        pass
    transport.close()
"""
NEVER_REACHED = f"""{AWAY}
def pytest_sessionstart(session):
    if getattr(session.config, "workerinput", {{}}).get("workerid") == "gw0":
        DEAD.write_text(session.config.workerinput["clawperator_lease"]["serial"])
        send_away(session.config, "offline")
"""
AWAY_AT_FIRST = f"""{AWAY}
def pytest_collection_modifyitems(config):
    if hasattr(config, "workerinput"):
        send_away(config, "offline ms=1500")
"""

ONE_DIES = """
import pytest
from conftest import die

def test_dies(clawperator): die(clawperator)

@pytest.mark.parametrize("number", range(5))
def test_it(clawperator, number): pass
"""
CRASHES = """
def test_crash(clawperator):
    clawperator.device.shell("sim fault operator_crash times=1")
    clawperator.home()
"""


def cases(pytester: pytest.Pytester) -> tuple[dict[str, str], Counter[str]]:
    """Read the JUnit report: its counts, and how often each test is in it."""
    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    return dict(suite.attrib), Counter(case.attrib["name"] for case in suite)


def test_a_phone_that_dies(pytester: pytest.Pytester, run_workers: Run) -> None:
    """The other phone runs its tests: all pass, and it is said which were moved, and why."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(
        """
        import pytest
        from conftest import DEAD, die

        @pytest.fixture
        def untidy(clawperator):
            yield
            assert not DEAD.exists() or DEAD.read_text() != clawperator.serial

        def test_dies(clawperator, untidy): die(clawperator)

        @pytest.mark.parametrize("number", range(3))
        def test_it(clawperator, number): pass
        """
    )

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE, "--junitxml=junit.xml", "-x")

    dead = (pytester.path / "dead").read_text()
    assert result.parseoutcomes() == {"passed": 4, "rerun": 1}
    assert result.ret == pytest.ExitCode.OK
    counts, named = cases(pytester)
    assert [counts[name] for name in ("tests", "failures", "errors")] == ["4", "0", "0"]
    assert set(named.values()) == {1}
    result.stdout.fnmatch_lines(
        [
            f"clawperator: [[]{dead}[]] the device is put aside: its tests go to other"
            " devices that fit",
            "*= flaky devices =*",
            f"{dead}  1 test was run once more on another device; 1 test went to another device"
            " before it began; it was put aside",
            "*= devices =*",
            f"[[]{dead}[]] the device failed its check: DEVICE_OFFLINE: *",
            f"[[]{dead}[]] the device failed its check again and is put aside",
        ]
    )
    result.stdout.fnmatch_lines([f"{dead}  1 rerun"])
    result.stdout.fnmatch_lines(["127.0.0.1:*  4 passed"])


def test_a_phone_that_was_never_reached(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A phone that cannot be connected costs no rerun: its tests go to the other phone."""
    pytester.makeconftest(QUICK + NEVER_REACHED)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(8))
        def test_it(clawperator, number): pass
        """
    )

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE, "--junitxml=junit.xml", "-x", "-v")

    dead = (pytester.path / "dead").read_text()
    assert result.parseoutcomes() == {"passed": 8}
    assert result.ret == pytest.ExitCode.OK
    counts, named = cases(pytester)
    assert [counts[name] for name in ("tests", "failures", "errors")] == ["8", "0", "0"]
    assert set(named.values()) == {1}
    result.stdout.fnmatch_lines(
        [
            f"clawperator: [[]{dead}[]] the device is put aside: its tests go to other"
            " devices that fit",
            "*= flaky devices =*",
            f"{dead}  * went to another device before * began; it was put aside",
            "*= devices =*",
            "127.0.0.1:*  8 passed",
            f"[[]{dead}[]] the device failed its check: DEVICE_OFFLINE: *",
            f"[[]{dead}[]] waiting up to 10 s for the device to come back",
            f"[[]{dead}[]] the device failed its check again and is put aside",
        ]
    )


def test_phones_that_are_away_at_first(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Phones that are offline for a moment before the first test cost a wait and no test."""
    pytester.makeconftest(QUICK.replace("= 0.1", "= 60") + AWAY_AT_FIRST)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(clawperator, number): pass
        """
    )

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE)

    assert result.parseoutcomes() == {"passed": 6}
    result.stdout.no_fnmatch_line("*flaky devices*")
    for _ in range(2):
        result.stdout.fnmatch_lines(
            [
                "[[]127.0.0.1:*[]] the device failed its check: DEVICE_OFFLINE: *",
                "[[]127.0.0.1:*[]] the device works again",
            ]
        )


def test_trouble_on_both(pytester: pytest.Pytester, run_workers: Run) -> None:
    """What fails by the device on a second one too is an error, and each attempt has a folder."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(CRASHES)

    result = run_workers(*TWO_PHONES, "--junitxml=junit.xml", "-x", "-rE")

    assert result.parseoutcomes() == {"errors": 1, "rerun": 1}
    assert result.ret == pytest.ExitCode.INTERRUPTED
    counts, named = cases(pytester)
    assert [counts[name] for name in ("tests", "failures", "errors")] == ["1", "0", "1"]
    assert named == {"test_crash": 1}
    first, second = sorted(filter(Path.is_dir, pytester.path.glob("claw-results/*/*")))
    assert second.name == f"{first.name}-2"
    for folder in (first, second):
        crashed = (folder / "log.txt").read_text(encoding="utf-8").count("FATAL EXCEPTION")
        assert crashed == 1
    result.stdout.fnmatch_lines(
        [
            "*_ ERROR at call of test_crash _*",
            "*= flaky devices =*",
            "127.0.0.1:*  1 test was run once more on another device",
            "*= devices =*",
            "127.0.0.1:*  1 *",
            "127.0.0.1:*  1 *",
            "*= evidence =*",
            f"claw-results/{first.parent.name}",
            f"  {first.name}",
            f"  {second.name}",
            "ERROR *::test_crash - infrastructure: OPERATOR_CRASHED: *",
            "*! *stopping after 1 failures !*",
        ]
    )


def test_a_test_that_has_its_result_is_not_run_again(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """A test that had its result when the device failed, or that is wrong, is not run again."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(
        """
        import pytest
        from conftest import die

        @pytest.fixture
        def deadly(clawperator):
            yield
            die(clawperator)

        def test_good(deadly): pass

        def test_bad(clawperator): raise AssertionError("the app is wrong")
        """
    )

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE, "--junitxml=junit.xml", "-rE")

    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "errors": 1}
    result.stdout.fnmatch_lines(["ERROR *::test_good - infrastructure: DEVICE_OFFLINE: *"])
    result.stdout.no_fnmatch_line("*flaky devices*")


def test_without_another_device(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Where no other device will do, the test is an error at once."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(
        """
        import pytest
        from conftest import die

        def test_dies(clawperator): die(clawperator)

        def test_next(clawperator): pass

        def test_last(clawperator): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", "sim", *NO_EVIDENCE, "-rE")

    dead = (pytester.path / "dead").read_text()
    assert result.parseoutcomes() == {"errors": 3}
    result.stdout.fnmatch_lines(
        [
            "*= flaky devices =*",
            f"{dead}  it was put aside",
            "ERROR *::test_dies - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_next - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_last - infrastructure: DEVICE_OFFLINE: the device was put aside*",
        ]
    )


def test_a_spare_device(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Where a spare device failed under a test, it is named and not the test's own."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(
        """
        from conftest import DEAD

        def test_pair(clawperator_devices):
            alice, bob = clawperator_devices(2)
            if not DEAD.exists():
                DEAD.write_text(bob.serial)
                bob.device.shell("sim fault operator_crash times=1")
            bob.home()
        """
    )
    phones = ("--claw-device", "sim:3", "--claw-spare-devices", "1")

    result = run_workers("-n", "2", *phones, *NO_EVIDENCE)

    dead = (pytester.path / "dead").read_text()
    assert result.parseoutcomes() == {"passed": 1, "rerun": 1}
    result.stdout.fnmatch_lines(
        [
            "*= flaky devices =*",
            f"{dead}  1 test was run once more on another device",
            f"[[]{dead}[]] OPERATOR_CRASHED: *",
        ]
    )


def test_allure_keeps_its_results(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A worker that starts late does not clean the folder that others have written to."""
    pytest.importorskip("allure_pytest")
    pytester.makeconftest(QUICK)
    pytester.makepyfile(ONE_DIES, test_crash="import os\ndef test_crash(): os._exit(1)")
    folder = pytester.mkdir("allure")
    folder.joinpath("old").touch()
    options = ("-p", "allure_pytest", "--alluredir=allure", "--clean-alluredir")

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE, *options)

    assert result.parseoutcomes()["passed"] == 6
    assert len(list(folder.glob("*-result.json"))) >= 6
    assert not folder.joinpath("old").exists()


def test_stepwise_goes_on_where_a_test_is_run_again(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """``--stepwise`` goes on where a test is run again, and ends where no other device is left."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(ONE_DIES)

    moved = run_workers(*TWO_PHONES, *NO_EVIDENCE, *STEPWISE)
    (pytester.path / "dead").unlink()
    alone = run_workers("-n", "1", "--claw-device", "sim", *NO_EVIDENCE, *STEPWISE)

    assert moved.parseoutcomes()["passed"] == 6
    assert moved.ret == pytest.ExitCode.OK
    assert alone.parseoutcomes()["errors"] == 1
    assert alone.ret == pytest.ExitCode.INTERRUPTED


def test_stepwise_with_trouble_on_both(pytester: pytest.Pytester, run_workers: Run) -> None:
    """``--stepwise`` ends a run where the second try failed, too."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(CRASHES)

    result = run_workers(*TWO_PHONES, *NO_EVIDENCE, *STEPWISE)

    outcomes = result.parseoutcomes()
    assert [outcomes[name] for name in ("errors", "rerun")] == [1, 1]
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*Test failed, continuing from this test next run*"])
