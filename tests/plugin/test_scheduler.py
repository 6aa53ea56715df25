"""Our scheduler for xdist, driven by doubles that behave as xdist's controller and workers."""

from __future__ import annotations

import heapq
import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.plugin.scheduler import (
    ANY,
    Backlog,
    DeviceScheduling,
    load_durations,
    save_durations,
)
from tests.plugin.conftest import Run

END = -1


class Worker:
    """A worker as xdist's controller sees it, and the worker itself.

    It begins a test only when it has the next one, or was asked to end.
    """

    def __init__(self, lab: Lab, device: str) -> None:
        self.lab = lab
        self.device = device
        self.gateway = SimpleNamespace(id=f"gw{next(lab.ids)}")
        self.shutting_down = False
        self.queue: deque[int] = deque()
        self.held: int | None = None
        self.next: int | None = None
        self.is_closed = False
        self.workeroutput: dict[str, int] | None = None

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Take tests, as over xdist's channel."""
        if self.is_closed:
            raise OSError("cannot send to a closed channel")
        assert not self.shutting_down
        self.queue.extend(indices)
        assert len(self.queue) + (self.held is not None) + (self.next is not None) <= 2
        self.go_on()

    def shutdown(self) -> None:
        """Take the order to end."""
        self.shutting_down = True
        self.queue.append(END)
        self.go_on()

    def go_on(self) -> None:
        """Do what can be done with what is known."""
        if self.held is None and self.queue:
            self.held = self.queue.popleft()
        if self.is_closed:
            return
        if self.held == END:
            self.is_closed = True
            self.workeroutput = {"exitstatus": 0}
            self.lab.later(0, self.lab.on_finished, self)
        elif self.held is not None and self.next is None and self.queue:
            self.next = self.queue.popleft()
            self.lab.begin(self, self.held)

    def complete(self) -> None:
        """End the running test and go on with the next."""
        self.held, self.next = self.next, None
        self.go_on()


@dataclass
class Lab:
    """What xdist's controller does with a scheduler, in a time of its own."""

    devices: Sequence[str]
    tests: Sequence[str]
    fits: Callable[[str, str], bool] = lambda device, test: True
    seconds: Callable[[str], float] = lambda test: 1.0
    known: Callable[[str], float | None] = lambda test: None
    crashing: set[int] = field(default_factory=set)  # which runs, counted from 0
    failing: dict[int, str] = field(default_factory=dict)  # from which run on a device fails
    collects: dict[str, list[str]] = field(default_factory=dict)  # what workers find, by id
    other: dict[str, str] = field(default_factory=dict)  # what replacements get instead
    slow: set[str] = field(default_factory=set)  # workers that collect for long
    can_replace: bool = True
    restarts: int = 100
    stops: float = inf  # when the user has seen enough

    def __post_init__(self) -> None:
        self.ids = itertools.count()
        self.now = 0.0
        self.events: list[tuple[float, int, Callable[..., object], tuple[object, ...]]] = []
        self.serial_numbers = itertools.count()
        self.active: set[Worker] = set()
        self.is_ending = False
        self.bad: set[str] = set()
        self.began: list[tuple[str, str, float]] = []  # test, device, when
        self.results: list[tuple[str, str, str]] = []  # test, device, outcome
        self.said: list[tuple[int, str]] = []
        self.errors: list[str] = []
        self.replaced: list[str] = []
        self.sched = DeviceScheduling(
            workers=len(self.devices),
            device_of=lambda node: node.device or None,
            fits=lambda node, test: self.fits(node.device, test),
            duration_of=self.known,
            replace_worker=self.replace,
            show=self.notify,
            collection_error=lambda worker, text: self.errors.append(worker),
            clock=lambda: self.now,
        )
        self.workers = [self.launch(device) for device in self.devices]

    def notify(self, text: str) -> None:
        """Keep what is said, and how many tests had begun."""
        self.said.append((len(self.began), text))

    def launch(self, device: str) -> Worker:
        """Start a worker."""
        worker = Worker(self, device)
        self.active.add(worker)
        self.later(0.1, self.on_ready, worker)
        return worker

    def replace(self, node: Worker) -> bool:
        """Start a worker like another one, which must have ended."""
        assert node not in self.sched.nodes
        if self.is_ending or not self.can_replace:
            return False
        self.replaced.append(node.device)
        self.launch(node.device)
        return True

    def later(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Let something happen after a while."""
        heapq.heappush(self.events, (self.now + seconds, next(self.serial_numbers), call, args))

    def begin(self, worker: Worker, number: int) -> None:
        """Begin a test, which may end the worker or find that its phone is dead."""
        run, test = len(self.began), self.tests[number]
        self.began.append((test, worker.device, self.now))
        if run in self.failing:
            self.bad.add(self.failing[run])
        if run in self.crashing:
            self.later(0.5, self.on_crash, worker)
        else:
            took = 0.01 if worker.device in self.bad else self.seconds(test)
            self.later(took, self.on_complete, worker, number, took)

    def on_ready(self, worker: Worker) -> None:
        """Do as xdist when a worker was started."""
        if self.is_ending:
            worker.shutdown()
            return
        self.sched.add_node(worker)
        self.later(5 if worker.gateway.id in self.slow else 0.1, self.on_collected, worker)

    def on_collected(self, worker: Worker) -> None:
        """Do as xdist when a worker has collected."""
        if not self.is_ending and worker in self.active:
            found = self.collects.get(worker.gateway.id, list(self.tests))
            self.sched.add_node_collection(worker, found)
            if self.sched.collection_is_completed:
                self.sched.schedule()

    def on_complete(self, worker: Worker, number: int, took: float) -> None:
        """Do as xdist when a test was run, and as our plugin when the phone failed."""
        test, outcome = self.tests[number], "passed"
        if worker.device in self.bad:
            self.sched.device_failed(worker)
            outcome = "retried" if self.sched.retry(worker, test) else "error"
        self.results.append((test, worker.device, outcome))
        worker.complete()
        self.sched.mark_test_complete(worker, number, took)

    def on_crash(self, worker: Worker) -> None:
        """Do as xdist when a worker is gone: its test failed, and another one is started."""
        worker.shutting_down = worker.is_closed = True
        crashed = self.sched.remove_node(worker) if worker in self.sched.nodes else None
        if crashed is not None:
            self.results.append((crashed, worker.device, "crashed"))
        self.restarts -= 1
        if self.restarts < 0:
            self.end()
        else:
            self.is_ending = False
            self.launch(self.other.get(worker.device, worker.device))
        self.active.remove(worker)

    def on_finished(self, worker: Worker) -> None:
        """Do as xdist when a worker has ended."""
        if worker in self.sched.nodes:
            assert self.sched.remove_node(worker) is None
        self.active.remove(worker)

    def end(self) -> None:
        """Do as xdist when all is done, or the run is stopped."""
        if not self.is_ending:
            self.is_ending = True
            for node in self.sched.nodes:
                node.shutdown()

    def run(self) -> Lab:
        """Let it all happen."""
        while not (self.is_ending and not self.active):
            assert self.active, "xdist: unexpectedly no active workers available"
            assert self.events, "the run hangs"
            self.now, _, call, args = heapq.heappop(self.events)
            call(*args)
            if self.sched.tests_finished or self.now >= self.stops:
                self.end()
        return self

    @property
    def ran(self) -> dict[str, str]:
        """Where each test ran, and its outcome if it did not pass."""
        found: dict[str, list[str]] = {}
        for test, device, outcome in self.results:
            shown = device if outcome == "passed" else f"{device} {outcome}"
            found.setdefault(test, []).append(shown)
        return {test: ", ".join(places) for test, places in found.items()}

    @property
    def order(self) -> list[str]:
        """The tests as they began."""
        return [test for test, _, _ in self.began]

    @property
    def on(self) -> dict[str, int]:
        """How many results each device has."""
        return dict(Counter(device for _, device, _ in self.results))

    @property
    def outcomes(self) -> dict[str, int]:
        """How often each outcome occurred."""
        return dict(Counter(outcome for _, _, outcome in self.results))

    @property
    def unrun(self) -> list[str]:
        """The tests without a result."""
        return self.sched.unrun

    @property
    def messages(self) -> list[str]:
        """What the user was shown."""
        return [text for _, text in self.said]


def names(count: int) -> list[str]:
    """Return ids of tests."""
    return [f"test_it[{number}]" for number in range(count)]


def timed(**seconds: float) -> dict[str, Any]:
    """Return what a lab needs to know of tests that take so long, and did so before."""
    return {"tests": list(seconds), "seconds": seconds.__getitem__, "known": seconds.get}


def only(*devices: str) -> Callable[[str, str], bool]:
    """Return the rule that only these devices can run any test."""
    return lambda device, test: device in devices


@st.composite
def labs(draw: st.DrawFn) -> Lab:
    """Make runs of any kind, with crashes and with phones that die."""
    devices = [f"phone{number}" for number in range(draw(st.integers(1, 5)))]
    tests = names(draw(st.integers(0, 24)))
    some = st.sets(st.sampled_from(devices), min_size=0)
    sets = draw(st.lists(some, min_size=1, max_size=4))
    table = {test: sets[draw(st.integers(0, len(sets) - 1))] for test in tests}
    took = {test: draw(st.sampled_from([0.1, 1.0, 3.0, 20.0])) for test in tests}
    known = {test: draw(st.sampled_from([None, 1.0, 5.0])) for test in tests}
    runs = st.integers(0, 30)
    return Lab(
        devices,
        tests,
        fits=lambda device, test: device in table[test],
        seconds=took.__getitem__,
        known=known.__getitem__,
        crashing=draw(st.sets(runs, max_size=4)),
        failing=draw(st.dictionaries(runs, st.sampled_from(devices), max_size=3)),
    )


@given(lab=labs())
def test_each_test_ends_once_whatever_crashes(lab: Lab) -> None:
    """Whatever crashes and dies, each test ends once, at most one retry, on devices that fit."""
    lab.run()

    final = Counter(test for test, _, outcome in lab.results if outcome != "retried")
    retries = Counter(test for test, _, outcome in lab.results if outcome == "retried")
    assert final == Counter(lab.tests)
    assert lab.sched.unrun == []
    assert all(count == 1 for count in retries.values())
    failed = {(test, device) for test, device, outcome in lab.results if outcome == "retried"}
    for test, device, outcome in lab.results:
        is_unfit = not any(lab.fits(one, test) for one in lab.devices)
        assert is_unfit or lab.fits(device, test)
        assert outcome == "retried" or (test, device) not in failed


@given(lab=labs())
def test_any_stopped_run(lab: Lab) -> None:
    """A run that xdist stops at any time ends, and what was not run is known."""
    lab.stops = 5

    lab.run()

    done = {test for test, _, outcome in lab.results if outcome != "retried"}
    if lab.sched.collection_is_completed:
        assert done.isdisjoint(lab.sched.unrun)


def on_or_any(device: str, test: str) -> bool:
    """Let one device run all tests, and the other those for any."""
    return device == "b" or test.startswith("any")


SEVERAL: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "each worker has one test before any has two",
        {"devices": "abc", "tests": names(4)},
        {"order": names(4), "on": {"a": 2, "b": 1, "c": 1}},
    ),
    (
        "workers without a test wait for what may return, and end with the run",
        {"devices": "abc", "tests": names(2)},
        {"on": {"a": 1, "b": 1}, "active": set()},
    ),
    ("a run without tests ends", {"devices": "ab", "tests": []}, {"results": []}),
    (
        "the longest begin first; those of unknown length count as typical ones",
        {
            "devices": "a",
            "tests": ["short", "new", "long", "newer", "middle"],
            "known": {"short": 1.0, "long": 9.0, "middle": 3.0}.get,
        },
        {"order": ["long", "new", "newer", "middle", "short"]},
    ),
    (
        "tests for few devices begin before longer ones that any device can run",
        {
            "devices": "ab",
            "tests": ["any", "only_b", "any_too", "only_b_too"],
            "fits": on_or_any,
            "known": {"any": 9.0, "any_too": 9.0}.get,
        },
        {"ran": {"any": "a", "only_b": "b", "any_too": "a", "only_b_too": "b"}},
    ),
    (
        "a worker with a long test gets no second one when others do the rest sooner",
        {"devices": "ab", **timed(long=10, short=1, shorter=0.5)},
        {"ran": {"long": "a", "short": "b", "shorter": "b"}},
    ),
    (
        "a test that takes much longer than it did before keeps no others waiting",
        {
            "devices": "ab",
            "tests": names(8),
            "seconds": lambda test: 100.0 if test == "test_it[0]" else 1.0,
            "known": lambda test: 1.0,
        },
        {"on": {"a": 2, "b": 6}},
    ),
    (
        "tests that no device can run are assigned all the same: any worker reports why",
        {"devices": "ab", "tests": names(3), "fits": lambda device, test: test == "test_it[0]"},
        {"outcomes": {"passed": 3}, "unrun": []},
    ),
    (
        "a device that was put aside gets nothing more, and its tests are retried elsewhere",
        {"devices": "ab", "tests": names(10), "failing": {4: "a"}},
        {"outcomes": {"passed": 10, "retried": 2}, "replaced": [], "unrun": []},
    ),
    (
        "tests that only a device put aside can run still go there, and fail",
        {"devices": "ab", "tests": names(6), "fits": only("a"), "failing": {1: "a"}},
        {"on": {"a": 6}, "outcomes": {"passed": 1, "error": 5}},
    ),
    (
        "a test whose second device failed as well is not run a third time",
        {"devices": "abc", "tests": names(3), "failing": {0: "a", 3: "b"}},
        {"ran": {"test_it[0]": "a retried, b error", "test_it[1]": "b", "test_it[2]": "c"}},
    ),
    (
        "a worker that had no test gets the retry: no new one is asked for",
        {"devices": "ab", "tests": ["test_it"], "failing": {0: "a"}},
        {"ran": {"test_it": "a retried, b"}, "replaced": []},
    ),
    (
        "when all others ended, a new worker is asked for",
        {"devices": "ab", "dies": (5, "a"), **timed(long=10, short=1)},
        {"ran": {"short": "b", "long": "a retried, b"}, "replaced": ["b"]},
    ),
    (
        "a retry does not wait for a worker that still has a long test",
        {"devices": "abc", "dies": (5, "b"), **timed(longest=99, long=10, short=1)},
        {"ran": {"short": "c", "long": "b retried, c", "longest": "a"}},
    ),
    (
        "when no new worker can come, the retry is refused and the first outcome stays",
        {"devices": "ab", "dies": (5, "a"), "can_replace": False, **timed(long=10, short=1)},
        {"ran": {"short": "b", "long": "a error"}, "unrun": []},
    ),
    (
        "a promised retry that no worker can run after all is known, and the run ends",
        {"devices": "ab", "dies": (5, "b"), "can_replace": False, **timed(long=10, longer=11)},
        {
            "ran": {"long": "b retried", "longer": "a"},
            "unrun": ["long"],
            "messages": ["no worker is left for tests that were not run: long"],
        },
    ),
    (
        "the test that a worker crashed in is named, and its next one is run by another",
        {"devices": "ab", "tests": names(3), "crashing": {0}},
        {"outcomes": {"passed": 2, "crashed": 1}, "unrun": []},
    ),
    (
        "tests that only a crashed worker's device can run wait for its replacement",
        {"devices": "ab", "tests": names(6), "fits": only("a"), "crashing": {0}},
        {"on": {"a": 6}},
    ),
    (
        "when all workers crash, their replacements do the rest",
        {"devices": "ab", "tests": names(6), "crashing": {0, 1}},
        {"outcomes": {"passed": 4, "crashed": 2}},
    ),
    (
        "a replacement may have another device, and then runs what that one can",
        {"devices": "a", "tests": names(4), "crashing": {0}, "other": {"a": "c"}},
        {"on": {"a": 1, "c": 3}},
    ),
    (
        "a replacement without a device reports that there is none",
        {
            "devices": "a",
            "tests": names(4),
            "fits": only("a"),
            "crashing": {0},
            "other": {"a": ""},
        },
        {"on": {"a": 1, "": 3}, "messages": []},
    ),
    (
        "a replacement that collects other tests gets none; others skip what only it could run",
        {
            "devices": "ab",
            "tests": names(6),
            "fits": lambda device, test: device == "a" or test > "test_it[3]",
            "crashing": {0},
            "collects": {"gw2": []},
        },
        {"errors": ["gw2"], "on": {"a": 1, "b": 5}},
    ),
    (
        "workers that collect different tests are refused, and nothing runs",
        {"devices": "ab", "tests": names(4), "collects": {"gw1": names(3)}},
        {"errors": ["gw1"], "results": []},
    ),
]


@pytest.mark.parametrize(
    ("about", "expected"), [case[1:] for case in SEVERAL], ids=[case[0] for case in SEVERAL]
)
def test_tests_are_assigned_so_that(about: dict[str, Any], expected: dict[str, Any]) -> None:
    """Run all of a lab, and compare what is expected of it."""
    about = dict(about)
    dies = about.pop("dies", None)
    lab = Lab(**about)
    if dies is not None:
        lab.later(dies[0], lab.bad.add, dies[1])

    lab.run()

    assert {name: getattr(lab, name) for name in expected} == expected


def test_nothing_long_waits_behind_something_long() -> None:
    """While other workers become free."""
    seconds = [100, 90, 80, 70, 60, 50, 40, 30] + [1] * 60
    took = dict(zip(names(len(seconds)), seconds, strict=True))

    lab = Lab("abcd", list(took), seconds=took.__getitem__, known=took.get).run()

    assert lab.now - lab.began[0][2] == pytest.approx(sum(seconds) / 4, rel=0.02)


def test_whether_a_device_fits_is_asked_once() -> None:
    """For each device, not for each decision."""
    asked: Counter[tuple[str, str]] = Counter()

    def fits(device: str, test: str) -> bool:
        asked[device, test] += 1
        return True

    Lab([f"phone{number}" for number in range(10)], names(300), fits=fits, crashing={3, 50}).run()

    assert len(asked) == 3000
    assert set(asked.values()) == {1}


def test_durations_are_known_after_the_run() -> None:
    """But not of a run that was repeated, or of a test that no device fits."""
    lab = Lab(
        "ab",
        names(7),
        seconds=lambda test: 2.0,
        failing={2: "a"},
        fits=lambda device, test: test != "test_it[6]",
    ).run()

    assert lab.sched.seen == dict.fromkeys(names(6), 2.0)


def test_each_report_of_a_run_gets_the_same_answer() -> None:
    """Other tests than the running one get none."""
    lab = Lab("ab", names(4))
    answers: list[bool] = []

    def ask() -> None:
        first = lab.workers[0]
        answers.extend(lab.sched.retry(first, f"test_it[{number}]") for number in (0, 0, 1, 2))

    lab.later(0.5, ask)
    lab.run()

    assert answers == [True, True, False, False]
    assert lab.ran["test_it[0]"] == "a, b"


def test_a_crash_does_not_take_back_a_promised_retry() -> None:
    """Nor does it keep another plugin from having the test run again."""
    promised, pending = (Lab("ab", names(4), crashing={0}) for _ in range(2))
    promised.later(0.5, lambda: promised.sched.retry(promised.workers[0], "test_it[0]"))
    pending.later(0.8, lambda: pending.sched.mark_test_pending("test_it[0]"))

    assert promised.run().ran["test_it[0]"] == "b"
    assert pending.run().ran["test_it[0]"].startswith("a crashed, ")


def test_a_test_that_could_not_be_sent_goes_to_another_worker() -> None:
    """The first worker crashes while it is given its next test."""
    lab = Lab("ab", names(6))

    def close() -> None:
        lab.workers[0].is_closed = True
        lab.later(1.5, lab.on_crash, lab.workers[0])

    lab.later(0.5, close)
    lab.run()

    assert sorted(lab.ran) == names(6)


def test_a_crash_before_the_collection_is_waited_for() -> None:
    """The run begins with the replacement; after too many crashes it ends."""
    early, often = Lab("ab", names(4)), Lab("ab", names(10), crashing={0}, restarts=0)
    early.later(0.15, early.on_crash, early.workers[0])

    assert set(early.run().on) == {"a", "b"}
    assert len(early.results) == 4
    assert sorted([*often.run().ran, *often.unrun]) == sorted(names(10))
    assert often.said == []


@pytest.mark.parametrize("when", [0.15, 0.25], ids=["alone", "after others"])
def test_a_worker_that_ends_without_a_collection_is_not_waited_for(when: float) -> None:
    """The other one runs all tests."""
    lab = Lab("ab", names(4), slow={"gw0"})

    def end() -> None:
        lab.workers[0].workeroutput = {"exitstatus": 4}
        lab.on_finished(lab.workers[0])

    lab.later(when, end)

    assert lab.run().on == {"b": 4}


REAL = """
import pytest

from pytest_clawperator.plugin.scheduler import DeviceScheduling
from tests.plugin.conftest import Run

def pytest_xdist_make_scheduler(config):
    session = config.pluginmanager.getplugin("dsession")
    config.scheduler = DeviceScheduling(
        workers=2,
        device_of=lambda node: id(node.gateway.spec),
        fits=lambda node, nodeid: True,
        duration_of=lambda nodeid: 9.0 if "dead" in nodeid else 1.0,
        replace_worker=lambda node: session._clone_node(node) is not None,
        show=print,
        collection_error=print,
    )
    return config.scheduler

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    if hasattr(report, "node") and "no device" in str(report.longrepr):
        if report.node.config.scheduler.retry(report.node, report.nodeid):
            report.outcome = "retried"

def pytest_report_teststatus(report):
    if report.outcome == "retried":
        return "retried", "R", "RETRIED"

def pytest_testnodedown(node, error):
    if error is None:
        node.config.rootpath.joinpath("ended").touch()
"""


def test_a_crash_and_a_retry_work_with_xdist_itself(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """With xdist itself a crash, and a retry after the other worker ended, come out right."""
    pytester.makeconftest(REAL)
    pytester.makepyfile(
        """
        import os
        import time
        from pathlib import Path

        HERE = Path(__file__)

        def test_dead():
            here = HERE.with_name("dead")
            if not here.exists():
                here.touch()
                deadline = time.monotonic() + 30
                while not HERE.with_name("ended").exists() and time.monotonic() < deadline:
                    time.sleep(0.01)
                assert False, "no device"

        def test_crash(): os._exit(1)
        def test_one(): pass
        def test_two(): pass
        """
    )

    result = run_workers("-n", "2")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*worker 'gw*' crashed while running*test_crash*", "*1 retried*"])


A, B = 1, 2


def every(devices: int) -> int:
    """Let all devices of a set be there."""
    return devices & (A | B)


def test_the_next_test_of_a_worker() -> None:
    """Tests of few devices come first, then the longest, then as collected."""
    backlog = Backlog([1.0, 5.0, 5.0, 1.0])
    backlog.add(range(4), [A | B, A | B, A | B, A].__getitem__)
    idle = {A: 0.0, B: 0.0}

    first = backlog.take(A, free=idle, takers=every)
    backlog.add([3], lambda _: A)  # it comes back to its old place

    assert first == 3
    assert [backlog.take(A, free=idle, takers=every) for _ in range(5)] == [3, 1, 2, 0, None]
    assert len(backlog) == 0


@pytest.mark.parametrize(
    ("seconds", "devices", "free", "taken"),
    [
        ([3.0, 2.0], [ANY, ANY], {A: 9.0, B: 1.0}, None),  # the other does both sooner
        ([3.0, 2.0], [ANY, ANY], {A: 3.0, B: 1.0}, 1),
        ([3.0, 8.0], [A | B, B], {A: 5.0, B: 0.0}, 0),  # what only another can do is its work
        ([3.0, 2.0, 1.0, 2.0], [ANY] * 4, {A: 99.0, B: 1.0}, 2),  # much is left: a short one
    ],
)
def test_a_busy_worker_takes_what_no_other_does_sooner(
    seconds: list[float], devices: list[int], free: dict[int, float], taken: int | None
) -> None:
    """What it is given waits behind what it has."""
    backlog = Backlog(seconds)
    backlog.add(range(len(seconds)), devices.__getitem__)

    assert backlog.take(A, free=free, takers=every) == taken


def test_sets_of_devices_can_be_dropped() -> None:
    """One, or all."""
    backlog = Backlog([1.0, 1.0, 1.0])
    backlog.add([0, 1, 2], [A, B, A].__getitem__)

    assert backlog.drop(A) == [0, 2]
    assert backlog.sets == [B]
    assert backlog.drop() == [1]


KEY = "clawperator/durations"


class Cache:
    """pytest's cache, as far as it is used."""

    def __init__(self, stored: object = None) -> None:
        self.stored = stored

    def get(self, key: str, default: object) -> object:
        """Return what is stored."""
        assert key == KEY
        return default if self.stored is None else self.stored

    def set(self, key: str, value: dict[str, tuple[float, int]]) -> None:
        """Store as JSON does."""
        assert key == KEY
        self.stored = {name: list(entry) for name, entry in value.items()}


def config_with(cache: Cache, **more: object) -> Any:
    """Return a configuration with a cache."""
    return SimpleNamespace(cache=cache, **more)


def test_half_of_a_duration_counts() -> None:
    """The other half is what was known; tests not run for a quarter of a year are forgotten."""
    today = int(time.time() // 86_400)
    config = config_with(Cache({"old": [1.0, today - 91], "new": [1.0, today - 80]}))

    save_durations(config, {"test_a": 4.0, "test_b": 1.0})
    save_durations(config, {"test_a": 2.0})

    assert load_durations(config) == {"new": 1.0, "test_a": 3.0, "test_b": 1.0}


def test_corrupted_entries_are_ignored() -> None:
    """And replaced."""
    entries: list[object] = [3.0, [1.0], [True, 1], ["1.0", 1], [1.0, "1"], [float("nan"), 1]]
    for stored in ("text", ["list"], {"test_a": [-1.0, 1]}, *[{"test_a": one} for one in entries]):
        config = config_with(Cache(stored))
        before = dict(load_durations(config))
        save_durations(config, {"test_b": 2.0})

        assert before == {}, stored
        assert load_durations(config) == {"test_b": 2.0}, stored


def test_only_a_controller_with_tests_and_a_cache_saves_durations() -> None:
    """Workers write nothing, and neither does a run without tests."""
    worker, empty = Cache(), Cache()

    save_durations(config_with(worker, workerinput={}), {"test_a": 1.0})
    save_durations(config_with(empty), {})
    without: Any = SimpleNamespace()
    save_durations(without, {"test_a": 1.0})

    assert (worker.stored, empty.stored, load_durations(without)) == (None, None, {})


def test_the_real_cache_keeps_durations(pytester: pytest.Pytester) -> None:
    """From run to run; a broken file is ignored."""
    configure = partial(pytester.parseconfigure, "-p", "no:unraisableexception")  # is slow
    save_durations(configure(), {"test_a": 1.5})
    kept = load_durations(configure())

    pytester.path.joinpath(".pytest_cache", "v", KEY).write_text("{", encoding="utf-8")

    assert kept == {"test_a": 1.5}
    assert load_durations(configure()) == {}
