"""Our scheduler for xdist, driven by doubles that behave as xdist's controller and workers."""

from __future__ import annotations

import heapq
import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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

    It begins a test only when it has the next one, or was told to end.
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
        self.order = itertools.count()
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
            show=self.say,
            collection_error=lambda worker, text: self.errors.append(worker),
            clock=lambda: self.now,
        )
        self.workers = [self.launch(device) for device in self.devices]

    def say(self, text: str) -> None:
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
        heapq.heappush(self.events, (self.now + seconds, next(self.order), call, args))

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
        """Do as xdist when all is done, or nothing more shall be."""
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

    def ran(self, test: str) -> list[tuple[str, str]]:
        """Give where a test ran, and what came out."""
        return [(device, outcome) for name, device, outcome in self.results if name == test]

    def span(self) -> float:
        """Give the time from the first test's begin to the end."""
        return self.now - self.began[0][2]


def names(count: int) -> list[str]:
    """Make ids of tests."""
    return [f"test_it[{number}]" for number in range(count)]


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


def test_each_worker_has_one_test_before_any_has_two() -> None:
    """With few tests each worker has one before any has two."""
    lab = Lab(["a", "b", "c"], names(4))

    lab.run()

    assert [device for _, device, when in lab.began if when == lab.began[0][2]] == ["a", "b", "c"]
    assert len(lab.results) == 4


def test_more_workers_than_tests() -> None:
    """Workers without a test wait for what may return, and end with the run."""
    lab = Lab(["a", "b", "c"], names(2))

    lab.run()

    assert {device for _, device, _ in lab.results} == {"a", "b"}
    assert not lab.active


def test_a_run_without_tests_ends() -> None:
    """A run without tests ends."""
    lab = Lab(["a", "b"], [])

    lab.run()

    assert lab.results == []


def test_the_longest_tests_begin_first() -> None:
    """The longest tests begin first; those of unknown length count as typical ones."""
    known = {"short": 1.0, "long": 9.0, "middle": 3.0}
    lab = Lab(["a"], ["short", "new", "long", "newer", "middle"], known=known.get)

    lab.run()

    assert [test for test, _, _ in lab.began] == ["long", "new", "newer", "middle", "short"]


def test_fewest_takers_first() -> None:
    """Tests for few devices begin before longer ones that any device can run."""
    tests = ["any", "only_b", "any_too", "only_b_too"]
    lab = Lab(
        ["a", "b"],
        tests,
        fits=lambda device, test: device == "b" or test.startswith("any"),
        known={"any": 9.0, "any_too": 9.0}.get,
    )

    lab.run()

    assert [test for test, device, _ in lab.began if device == "b"] == ["only_b", "only_b_too"]
    assert [test for test, device, _ in lab.began if device == "a"] == ["any", "any_too"]


def test_nothing_long_waits_behind_something_long() -> None:
    """Nothing long waits behind something long while other workers become free."""
    seconds = [100, 90, 80, 70, 60, 50, 40, 30] + [1] * 60
    took = dict(zip(names(len(seconds)), seconds, strict=True))

    lab = Lab(["a", "b", "c", "d"], list(took), seconds=took.__getitem__, known=took.get).run()

    assert lab.span() == pytest.approx(sum(seconds) / 4, rel=0.02)


def test_end_of_run() -> None:
    """A worker with a long test gets no second one when others do the rest sooner."""
    took = {"long": 10.0, "short": 1.0, "shorter": 0.5}

    lab = Lab(["a", "b"], list(took), seconds=took.__getitem__, known=took.get).run()

    assert lab.ran("short") == lab.ran("shorter") == [("b", "passed")]


def test_an_overdue_test_keeps_no_others_waiting() -> None:
    """A test that takes much longer than it did before does not keep others waiting."""
    took = dict.fromkeys(names(8), 1.0) | {"test_it[0]": 100.0}

    lab = Lab(["a", "b"], list(took), seconds=took.__getitem__, known=lambda test: 1.0).run()

    assert Counter(device for _, device, _ in lab.results) == {"a": 2, "b": 6}


def test_whether_a_device_fits_is_asked_once() -> None:
    """Whether a device can run a test is asked once for each device, not for each decision."""
    asked: Counter[tuple[str, str]] = Counter()

    def fits(device: str, test: str) -> bool:
        asked[device, test] += 1
        return True

    lab = Lab([f"phone{number}" for number in range(10)], names(300), fits=fits, crashing={3, 50})
    lab.run()

    assert len(asked) == 3000
    assert set(asked.values()) == {1}


def test_tests_that_no_device_fits_go_to_anybody() -> None:
    """Tests that no device can run are dealt out all the same: any worker says why."""
    lab = Lab(["a", "b"], names(8), fits=lambda device, test: int(test[8:-1]) < 2)

    lab.run()

    assert len(lab.results) == 8
    assert set(lab.sched.seen) == {"test_it[0]", "test_it[1]"}


def test_what_tests_took_is_known_after_the_run() -> None:
    """What tests took is known after the run, but not of a run that was repeated."""
    lab = Lab(["a", "b"], names(6), seconds=lambda test: 2.0, failing={2: "a"})

    lab.run()

    assert lab.sched.seen == dict.fromkeys(names(6), 2.0)


def test_a_failed_device_gets_nothing_more() -> None:
    """What a phone that was put aside has left is retried elsewhere, and it gets nothing more."""
    lab = Lab(["a", "b"], names(10), failing={4: "a"})

    lab.run()

    on_a = [outcome for _, device, outcome in lab.results if device == "a"]
    assert on_a == ["passed", "passed", "retried", "retried"]
    assert lab.replaced == []
    assert lab.sched.unrun == []


def test_failed_device_without_other() -> None:
    """Tests that only a phone put aside can run still go there, and say at once why they fail."""
    lab = Lab(["a", "b"], names(6), fits=lambda device, test: device == "a", failing={1: "a"})

    lab.run()

    assert {device for _, device, _ in lab.results} == {"a"}
    assert [outcome for _, _, outcome in lab.results].count("error") == 5


def test_all_devices_failed() -> None:
    """When all phones are put aside the rest fails at once instead of waiting."""
    lab = Lab(["a", "b"], names(20), failing={4: "a", 6: "b"})

    lab.run()

    final = [test for test, _, outcome in lab.results if outcome != "retried"]
    assert sorted(final) == sorted(names(20))


def test_a_test_is_retried_only_once() -> None:
    """A test whose second device failed as well is not run a third time."""
    lab = Lab(["a", "b", "c"], names(3), failing={0: "a", 3: "b"})

    lab.run()

    assert lab.ran("test_it[0]")[0] == ("a", "retried")
    assert len(lab.ran("test_it[0]")) == 2


def test_retry_on_kept_worker() -> None:
    """A worker that had no test gets the retry: no new one is asked for."""
    lab = Lab(["a", "b"], ["test_it"], failing={0: "a"})

    lab.run()

    assert lab.ran("test_it") == [("a", "retried"), ("b", "passed")]
    assert lab.replaced == []


def test_retry_when_others_ended() -> None:
    """When all others ended, a new worker is asked for, and the run goes on meanwhile."""
    took = {"long": 10.0, "short": 1.0}
    lab = Lab(["a", "b"], list(took), seconds=took.__getitem__, known=took.get)
    lab.later(5, lab.bad.add, "a")
    states: list[tuple[bool, bool]] = []
    lab.later(10.3, lambda: states.append((lab.sched.tests_finished, lab.sched.has_pending)))

    lab.run()

    assert lab.ran("long") == [("a", "retried"), ("b", "passed")]
    assert lab.replaced == ["b"]
    assert states == [(False, True)]


def test_retry_does_not_wait() -> None:
    """A retry gets a new worker at once and does not wait for one that still has a long test."""
    took = {"longest": 99.0, "long": 10.0, "short": 1.0}
    lab = Lab(["a", "b", "c"], list(took), seconds=took.__getitem__, known=took.get)
    lab.later(5, lab.bad.add, "b")

    lab.run()

    assert lab.ran("long") == [("b", "retried"), ("c", "passed")]
    assert lab.results[-1] == ("longest", "a", "passed")


def test_retry_without_replacement() -> None:
    """When no new worker can come, the retry is refused and the first outcome stays."""
    took = {"long": 10.0, "short": 1.0}
    lab = Lab(["a", "b"], list(took), seconds=took.__getitem__, known=took.get, can_replace=False)
    lab.later(5, lab.bad.add, "a")

    lab.run()

    assert lab.ran("long") == [("a", "error")]
    assert lab.sched.unrun == []


def test_retry_when_replacement_fails() -> None:
    """A promised retry that nobody can run after all is known, and the run ends."""
    took = {"long": 10.0, "longer": 11.0}
    lab = Lab(["a", "b"], list(took), seconds=took.__getitem__, known=took.get, can_replace=False)
    lab.later(5, lab.bad.add, "b")

    lab.run()

    assert lab.ran("long") == [("b", "retried")]
    assert lab.sched.unrun == ["long"]
    assert lab.said[0][1] == "no worker is left for tests that were not run: long"


def test_retry_of_one_run() -> None:
    """Each report of a run gets the same answer; other tests than the running one get none."""
    lab = Lab(["a", "b"], names(4))
    answers: list[bool] = []

    def ask() -> None:
        first = lab.workers[0]
        answers.extend(lab.sched.retry(first, f"test_it[{number}]") for number in (0, 0, 1, 2))

    lab.later(0.5, ask)
    lab.run()

    assert answers == [True, True, False, False]
    assert [device for device, _ in lab.ran("test_it[0]")] == ["a", "b"]


def test_the_test_of_a_crashed_worker_is_named() -> None:
    """The test that a worker crashed in is named, and its next one is run by somebody."""
    lab = Lab(["a", "b"], names(6), crashing={0})

    lab.run()

    assert lab.ran("test_it[0]") == [("a", "crashed")]
    assert Counter(outcome for _, _, outcome in lab.results) == {"passed": 5, "crashed": 1}


def test_crash_of_only_taker() -> None:
    """Tests that only a crashed worker's device can run wait for its replacement."""
    lab = Lab(["a", "b"], names(6), fits=lambda device, test: device == "a", crashing={0})

    lab.run()

    assert {device for _, device, _ in lab.results} == {"a"}
    assert len(lab.results) == 6


def test_crash_of_all() -> None:
    """When all workers crash, their replacements do the rest."""
    lab = Lab(["a", "b"], names(6), crashing={0, 1})

    lab.run()

    assert Counter(outcome for _, _, outcome in lab.results) == {"passed": 4, "crashed": 2}


def test_crash_with_promise() -> None:
    """A worker that crashes after its device failed does not take back the promised retry."""
    lab = Lab(["a", "b"], names(4), crashing={0})
    lab.later(0.5, lambda: lab.sched.retry(lab.workers[0], "test_it[0]"))

    lab.run()

    assert lab.ran("test_it[0]") == [("b", "passed")]


def test_crash_while_sending() -> None:
    """A test that could not be sent to a worker goes to another one."""
    lab = Lab(["a", "b"], names(6))

    def close() -> None:
        lab.workers[0].is_closed = True
        lab.later(1.5, lab.on_crash, lab.workers[0])

    lab.later(0.5, close)
    lab.run()

    final = [test for test, _, _ in lab.results]
    assert sorted(final) == names(6)


def test_crash_is_handled_by_others() -> None:
    """Another plugin may have a test run again in which a worker crashed."""
    lab = Lab(["a", "b"], names(4), crashing={0})
    lab.later(0.8, lambda: lab.sched.mark_test_pending("test_it[0]"))

    lab.run()

    assert [outcome for _, outcome in lab.ran("test_it[0]")] == ["crashed", "passed"]


def test_crash_before_collection() -> None:
    """A worker that crashes while it collects is replaced, and the run begins with all."""
    lab = Lab(["a", "b"], names(4))
    lab.later(0.15, lab.on_crash, lab.workers[0])

    lab.run()

    assert {device for _, device, _ in lab.results} == {"a", "b"}
    assert len(lab.results) == 4


def test_too_many_crashes() -> None:
    """A run that xdist ends after too many crashes ends, and says what was not run."""
    lab = Lab(["a", "b"], names(10), crashing={0}, restarts=0)

    lab.run()

    done = [test for test, _, _ in lab.results]
    assert sorted(done + lab.sched.unrun) == sorted(names(10))
    assert lab.said == []


@pytest.mark.parametrize("when", [0.15, 0.25], ids=["alone", "after others"])
def test_end_before_collection(when: float) -> None:
    """Nobody waits for a worker that ends without having collected."""
    lab = Lab(["a", "b"], names(4), slow={"gw0"})

    def end() -> None:
        lab.workers[0].workeroutput = {"exitstatus": 4}
        lab.on_finished(lab.workers[0])

    lab.later(when, end)
    lab.run()

    assert [device for _, device, _ in lab.results] == ["b"] * 4


def test_workers_with_other_tests_are_refused() -> None:
    """Workers that collect different tests are told, and nothing runs."""
    lab = Lab(["a", "b"], names(4), collects={"gw1": names(3)})

    lab.run()

    assert lab.errors == ["gw1"]
    assert lab.results == []


def test_other_collection_of_replacement() -> None:
    """A replacement that collects other tests gets none; others skip what only it could run."""
    lab = Lab(
        ["a", "b"],
        names(6),
        fits=lambda device, test: device == "a" or test > "test_it[3]",
        crashing={0},
        collects={"gw2": []},
    )

    lab.run()

    assert lab.errors == ["gw2"]
    assert Counter(device for _, device, _ in lab.results) == {"a": 1, "b": 5}


def test_replacement_with_other_device() -> None:
    """A replacement may have another device, and then runs what that one can."""
    lab = Lab(["a"], names(4), crashing={0}, other={"a": "c"})

    lab.run()

    assert [device for _, device, _ in lab.results] == ["a", "c", "c", "c"]


def test_replacement_without_device() -> None:
    """A replacement without a device says of the tests that need one that there is none."""
    lab = Lab(
        ["a"], names(4), fits=lambda device, test: device == "a", crashing={0}, other={"a": ""}
    )

    lab.run()

    assert [device for _, device, _ in lab.results] == ["a", "", "", ""]
    assert lab.said == []


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


def test_tests_of_few_devices_come_first() -> None:
    """Tests of few devices come first, then the longest, then as collected."""
    backlog = Backlog([1.0, 5.0, 5.0, 1.0])
    backlog.add(range(4), [A | B, A | B, A | B, A].__getitem__)

    taken = [backlog.take(A, free={A: 0.0, B: 0.0}, takers=every) for _ in range(5)]

    assert taken == [3, 1, 2, 0, None]
    assert len(backlog) == 0


def test_a_returned_test_gets_its_old_place() -> None:
    """A test that comes back gets its old place."""
    backlog = Backlog([3.0, 2.0, 1.0])
    backlog.add([0, 1, 2], lambda _: ANY)
    first = backlog.take(A, free={A: 0.0}, takers=every)

    backlog.add([0], lambda _: ANY)

    assert first == 0
    assert [backlog.take(A, free={A: 0.0}, takers=every) for _ in range(3)] == [0, 1, 2]


def test_left_to_others() -> None:
    """A busy worker gets nothing of the last tests when another does them sooner."""
    backlog = Backlog([3.0, 2.0])
    backlog.add([0, 1], lambda _: ANY)

    assert backlog.take(A, free={A: 9.0, B: 1.0}, takers=every) is None
    assert backlog.take(A, free={A: 3.0, B: 1.0}, takers=every) == 1


def test_work_of_others_alone() -> None:
    """What only another worker can do counts as its work."""
    backlog = Backlog([3.0, 8.0])
    backlog.add([0, 1], [A | B, B].__getitem__)

    assert backlog.take(A, free={A: 5.0, B: 0.0}, takers=every) == 0


def test_a_busy_worker_gets_a_short_test() -> None:
    """While much is left, a worker with a long test gets a short one behind it."""
    backlog = Backlog([3.0, 2.0, 1.0, 2.0])
    backlog.add(range(4), lambda _: ANY)

    assert backlog.take(A, free={A: 99.0, B: 1.0}, takers=every) == 2


def test_sets_of_devices_can_be_dropped() -> None:
    """The sets of devices that are waited for are known, and can be dropped."""
    backlog = Backlog([1.0, 1.0, 1.0])
    backlog.add([0, 1, 2], [A, B, A].__getitem__)

    dropped = backlog.drop(A)

    assert dropped == [0, 2]
    assert backlog.sets == [B]
    assert backlog.drop() == [1]


KEY = "clawperator/durations"


class Cache:
    """pytest's cache, as far as it is used."""

    def __init__(self, stored: object = None) -> None:
        self.stored = stored

    def get(self, key: str, default: object) -> object:
        """Give what is stored."""
        assert key == KEY
        return default if self.stored is None else self.stored

    def set(self, key: str, value: dict[str, tuple[float, int]]) -> None:
        """Store as JSON does."""
        assert key == KEY
        self.stored = {name: list(entry) for name, entry in value.items()}


def config_with(cache: Cache, **more: object) -> Any:
    """Make a configuration with a cache."""
    return SimpleNamespace(cache=cache, **more)


def test_half_of_a_duration_counts() -> None:
    """What a test took counts half, what was known of it the other half."""
    config = config_with(Cache())

    save_durations(config, {"test_a": 4.0, "test_b": 1.0})
    save_durations(config, {"test_a": 2.0})

    assert load_durations(config) == {"test_a": 3.0, "test_b": 1.0}


def test_tests_not_run_for_long_are_forgotten() -> None:
    """Tests that were not run for a quarter of a year are forgotten."""
    today = int(time.time() // 86_400)
    config = config_with(Cache({"old": [1.0, today - 91], "new": [1.0, today - 80]}))

    save_durations(config, {"test_a": 4.0})

    assert load_durations(config) == {"new": 1.0, "test_a": 4.0}


@pytest.mark.parametrize(
    "stored",
    [
        ["list"],
        "text",
        {"test_a": 3.0},
        {"test_a": [1.0]},
        {"test_a": [True, 1]},
        {"test_a": ["1.0", 1]},
        {"test_a": [1.0, "1"]},
        {"test_a": [float("nan"), 1]},
        {"test_a": [-1.0, 1]},
    ],
    ids=repr,
)
def test_corrupted_entries_are_ignored(stored: object) -> None:
    """What nobody wrote like this is ignored, and replaced."""
    config = config_with(Cache(stored))

    before = dict(load_durations(config))
    save_durations(config, {"test_b": 2.0})

    assert before == {}
    assert load_durations(config) == {"test_b": 2.0}


def test_workers_write_no_durations() -> None:
    """Workers write nothing: their controller does."""
    config = config_with(Cache(), workerinput={})

    save_durations(config, {"test_a": 1.0})

    assert load_durations(config) == {}


def test_a_run_without_tests_leaves_the_cache_alone() -> None:
    """A run without tests leaves the cache alone."""
    cache = Cache()

    save_durations(config_with(cache), {})

    assert cache.stored is None


def test_without_a_cache_nothing_is_known() -> None:
    """Without pytest's cache nothing is known, and nothing is kept."""
    config: Any = SimpleNamespace()

    save_durations(config, {"test_a": 1.0})

    assert load_durations(config) == {}


def test_the_real_cache_keeps_durations(pytester: pytest.Pytester) -> None:
    """The real cache keeps durations from run to run, and a broken file is ignored."""
    first = pytester.parseconfigure()
    save_durations(first, {"test_a": 1.5})
    kept = load_durations(pytester.parseconfigure())

    pytester.path.joinpath(".pytest_cache", "v", KEY).write_text("{", encoding="utf-8")

    assert kept == {"test_a": 1.5}
    assert load_durations(pytester.parseconfigure()) == {}
