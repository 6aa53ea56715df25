"""A test whose device failed is run once more on another one; a dead device's tests move on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_clawperator.plugin import workers
from pytest_clawperator.plugin.failures import (
    INFRASTRUCTURE,
    LEASE_PROBLEM,
    PUT_ASIDE,
    RELEASED_BADLY,
)
from pytest_clawperator.plugin.workers import WorkerLimits
from pytest_clawperator.report.index import read_run
from tests.doubles.controller import Controller, Farm, candidate
from tests.plugin.conftest import Run

TESTS = ("test_a", "test_b", "test_c", "test_d")


class Session:
    """What is asked of pytest's session."""

    shouldstop: bool | str = False
    testsfailed = 0
    exitstatus = 0


class Bench:
    """Two workers with the phones A and B, whose reports the controller judges; C is spare."""

    def __init__(self, control: Callable[..., Controller], *options: str) -> None:
        farm = Farm(*(candidate(name) for name in "ABC"))
        self.run = control("-n", "2", "--claw-spare-devices", "1", *options, farm=farm).start()
        self.scheduler = self.run.schedule(*TESTS)
        self.plugins = self.run.config.pluginmanager
        self.session = Session()
        self.plugins.register(self.session, "session")
        xdist: Any = self.plugins.get_plugin("dsession")
        xdist.shouldstop = False
        self.retries: Any = self.plugins.get_plugin("clawperator-retries")

    def report(self, worker: int, when: str, marks: Mapping[str, object] | None = None) -> Any:
        """Report a phase of the test that a worker runs, which failed if there are marks."""
        outcome = "passed" if marks is None else "failed"
        node = self.run.nodes[worker]
        test = TESTS[node.sent[0]]
        report: Any = pytest.TestReport(
            nodeid=test,
            location=("", None, test),
            keywords={},
            outcome=outcome,  # type: ignore[arg-type]
            longrepr="trouble" if outcome == "failed" else None,
            when=when,  # type: ignore[arg-type]
        )
        report.node = node
        for name, value in (marks or {}).items():
            setattr(report, name, value)
        finish(self.retries.pytest_runtest_logreport(report))
        return report

    def summary(self) -> list[str]:
        """Return the lines about flaky devices."""
        lines: list[str] = []
        reporter = SimpleNamespace(
            section=lines.append, line=lambda text, **_: lines.append(text), config=self.run.config
        )
        self.retries.pytest_terminal_summary(reporter)
        return lines


def finish(wrapper: Generator[None, None, None]) -> None:
    """Run a hook wrapper, around nothing."""
    for _ in wrapper:
        pass


def fault(serial: str, *, aside: bool = False, lease: bool = False) -> dict[str, object]:
    """Return the marks of a report whose device failed."""
    marks: dict[str, object] = {INFRASTRUCTURE: serial}
    return marks | ({PUT_ASIDE: serial} if aside else {}) | ({LEASE_PROBLEM: True} if lease else {})


@pytest.fixture
def bench(pytester: pytest.Pytester, control: Callable[..., Controller]) -> Bench:
    """Return a run whose workers each have a test."""
    pytester.makepyfile("def test_it(clawperator): pass")
    return Bench(control)


def test_a_test_whose_device_failed_is_run_once_more(bench: Bench) -> None:
    """The report becomes a rerun, and what follows in the attempt does not count."""
    failed = bench.report(0, "call", fault("A"))
    after = bench.report(0, "teardown", fault("A"))

    assert (failed.outcome, after.outcome) == ("rerun", "passed")
    status = bench.retries.pytest_report_teststatus(failed)
    assert status == ("rerun", "R", ("RERUN", {"yellow": True}))
    assert bench.summary() == ["flaky devices", "A  1 test was run once more on another device"]
    assert bench.scheduler.unrun == list(TESTS)


def test_a_device_that_is_released_badly_counts_after_a_retry(bench: Bench) -> None:
    """The test is run once more, and the error at the end of the worker stays."""
    bench.report(0, "call", fault("A"))

    after = bench.report(0, "teardown", {RELEASED_BADLY: True})

    assert after.outcome == "failed"


def test_a_test_that_did_not_begin_only_moves_on(bench: Bench) -> None:
    """Its device was put aside, so nothing was run, and nothing is a rerun."""
    report = bench.report(0, "setup", fault("A", aside=True))

    assert (report.outcome, report.longrepr) == ("passed", None)
    assert bench.summary()[1] == (
        "A  1 test went to another device before it began; the device was put aside"
    )
    assert "A" not in [one.serial for one in bench.retries._pool.free]


@pytest.mark.parametrize(
    ("before", "marks"),
    [
        (["setup"], {}),
        (["setup"], fault("A", lease=True)),
        (["setup", "call"], fault("A")),
    ],
    ids=["the test is wrong", "the lease is lost", "the test has its result"],
)
def test_other_failures_stay(bench: Bench, before: list[str], marks: dict[str, object]) -> None:
    """Another device would not do better."""
    for when in before:
        bench.report(0, when)

    report = bench.report(0, "teardown" if "call" in before else "call", marks)

    assert report.outcome == "failed"
    assert bench.summary() == []


def test_a_lost_lease_is_marked_in_the_report(pytester: pytest.Pytester, run_plain: Run) -> None:
    """So that the controller does not blame the device."""
    pytester.makeconftest(
        f"""
        def pytest_runtest_logreport(report):
            print(report.when, getattr(report, {LEASE_PROBLEM!r}, None))
        """
    )
    pytester.makepyfile(
        """
        from pytest_clawperator.errors import LeaseError

        def test_it(): raise LeaseError("the device is no longer leased by this run")
        """
    )

    result = run_plain("-s")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*setup None", "*call True"])


def test_a_spare_device_that_failed_is_named(bench: Bench) -> None:
    """And not the test's own device, which is not put aside either."""
    report = bench.report(0, "call", fault("C", aside=True))

    assert report.outcome == "rerun"
    assert bench.summary()[1] == "C  1 test was run once more on another device"


def test_a_worker_without_a_device_retries_nothing(bench: Bench) -> None:
    """What it reports is true of all."""
    bench.run.config.hook.pytest_testnodedown(node=bench.run.nodes[0], error=None)

    assert bench.report(0, "setup", fault("A")).outcome == "failed"


@pytest.mark.parametrize(
    ("is_stopped", "reason"),
    [
        (True, "the run was stopped before another device could run it again"),
        (False, "no other device was left to run it again"),
    ],
)
def test_a_second_run_that_did_not_take_place_is_a_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, is_stopped: bool, reason: str
) -> None:
    """It is reported when the run ends, which then has failed; durations are saved anyway."""
    saved: list[object] = []
    monkeypatch.setattr(workers, "save_durations", lambda config, seen: saved.append(seen))
    bench.report(0, "call", fault("A"))
    reported: list[pytest.TestReport] = []
    bench.retries._xdist.shouldstop = is_stopped
    bench.retries._config = SimpleNamespace(
        hook=SimpleNamespace(pytest_runtest_logreport=lambda report: reported.append(report))
    )

    bench.retries.pytest_sessionfinish(bench.session)

    (report,) = reported
    assert report.longrepr == f"the device failed under this test, and {reason}"
    assert (bench.session.testsfailed, bench.session.exitstatus) == (1, 1)
    assert saved == [bench.scheduler.seen]


def test_the_run_stops_when_others_want_that(bench: Bench) -> None:
    """The worker, which does not stop by itself, leaves it to the controller."""
    bench.session.shouldstop = "stopping after 1 failures"

    bench.report(0, "call", fault("A"))

    assert bench.retries._xdist.shouldstop == "stopping after 1 failures"


@pytest.mark.parametrize("is_device", [True, False])
def test_a_worker_goes_on_if_its_device_failed(is_device: bool) -> None:
    """``--maxfail`` allows one failure more, and ``--stepwise`` does not stop there."""
    session = SimpleNamespace(shouldstop=False)
    config: Any = SimpleNamespace(
        option=SimpleNamespace(maxfail=1),
        pluginmanager=SimpleNamespace(get_plugin=lambda name: session),
    )
    report: Any = SimpleNamespace(
        nodeid="test_it", failed=True, **(fault("A") if is_device else {})
    )

    wrapper = WorkerLimits(config).pytest_runtest_logreport(report)
    next(wrapper)
    session.shouldstop = "by stepwise"
    finish(wrapper)

    assert config.option.maxfail == (2 if is_device else 1)
    assert session.shouldstop == ("" if is_device else "by stepwise")


# What follows needs xdist itself.

NO_EVIDENCE = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
TWO_PHONES = ("-n", "2", "--claw-device", "sim:2")
# Phones that answer quickly, and health checks that give up soon.
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


def cases(pytester: pytest.Pytester) -> tuple[list[str], Counter[str]]:
    """Read the JUnit report: tests, failures and errors, and how often each test is in it."""
    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors")]
    return counts, Counter(case.attrib["name"] for case in suite)


def test_the_tests_of_a_phone_that_dies_run_on_the_other(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """All pass, also with ``-x``, and the summary names the phone and why."""
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
    assert counts == ["4", "0", "0"]
    assert set(named.values()) == {1}
    (run,) = (pytester.path / "claw-results").iterdir()
    assert Counter(test.outcome for test in read_run(run).tests) == {"passed": 4, "rerun": 1}
    result.stdout.fnmatch_lines(
        [
            f"clawperator: [[]{dead}[]] the device is put aside: its tests go to other"
            " devices that fit",
            "*= flaky devices =*",
            f"{dead}  1 test was run once more on another device; 1 test went to another device"
            " before it began; the device was put aside",
            "*= devices =*",
            f"[[]{dead}[]] the device failed its check: DEVICE_OFFLINE: *",
            f"[[]{dead}[]] the device failed its check again and is put aside",
        ]
    )
    result.stdout.fnmatch_lines([f"{dead}  1 rerun"])
    result.stdout.fnmatch_lines(["127.0.0.1:*  4 passed"])


def test_a_test_that_fails_on_two_devices_is_an_error(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """Each attempt has a folder, and ``--stepwise`` ends the run there."""
    pytester.makeconftest(QUICK)
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )
    stepwise = ("-p", "cacheprovider", "-p", "stepwise", "--stepwise")

    result = run_workers(*TWO_PHONES, "--junitxml=junit.xml", *stepwise, "-rE")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert cases(pytester) == (["1", "0", "1"], {"test_crash": 1})
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
            "*Test failed, continuing from this test next run*",
        ]
    )
