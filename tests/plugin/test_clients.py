"""Which test uses which client, and that what a client did counts for that test only."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.contracts.events import ExecutionFinished
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.execution.crashes import AppWatch
from pytest_clawperator.execution.result import AppsSeen
from pytest_clawperator.plugin.clients import ClientActivity, label_of
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import QUICK, Run, kept, names

# A phone that the run does not use by itself.
OTHER = """
import pytest

clients = []

@pytest.fixture(scope="session")
def other(clawperator_transport):
    serials = [serial for serial, _ in clawperator_transport.server.devices()]
    return next(one for one in serials if one != clawperator_transport.serial)

@pytest.fixture
def ending(clawperator):
    clients.append(clawperator)
    return clawperator

def pytest_runtest_logfinish(nodeid):
    for client in clients:
        client.device.shell("log -t marker of-a-plugin.")
        client.home()
"""
WAYS = """
import unittest
from types import SimpleNamespace

import pytest
from pytest_clawperator import connect

def act(client, name):
    client.device.shell(f"log -t marker of-{name}.")
    client.home()

@pytest.fixture
def got_in_fixture(request):
    return request.getfixturevalue("clawperator")

@pytest.fixture(scope="session")
def shared(clawperator_client):
    return clawperator_client

@pytest.fixture(scope="session")
def wrapped(request):
    return SimpleNamespace(client=request.getfixturevalue("clawperator_client"))

@pytest.fixture(scope="module")
def connected(other, clawperator_lease):
    with connect(other, adb=clawperator_lease.adb) as client:
        yield client

@pytest.fixture
def of_module(connected):
    return connected

@pytest.mark.parametrize("number", [1, 2])
class TestWays:
    def test_argument(self, ending, number):
        act(ending, f"argument-{number}")

    def test_in_fixture(self, got_in_fixture, number):
        act(got_in_fixture, f"in_fixture-{number}")

    def test_in_test(self, request, number):
        act(request.getfixturevalue("clawperator"), f"in_test-{number}")

    def test_cached(self, request, number):
        act(request.getfixturevalue("shared"), f"cached-{number}")

    def test_wrapped(self, wrapped, number):
        act(wrapped.client, f"wrapped-{number}")

    def test_connected(self, of_module, number):
        act(of_module, f"connected-{number}")

@pytest.mark.usefixtures("got_in_fixture")
def test_marked(shared):
    act(shared, "marked")

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def keep(self, request):
        self.client = request.getfixturevalue("clawperator")

    def test_case_one(self):
        act(self.client, "case_one")

    def test_case_two(self):
        act(self.client, "case_two")
"""


def markers(path: Path) -> list[str]:
    """Return what was marked in a log."""
    return re.findall(r"marker *: of-(\S+)\.$", path.read_text(), re.MULTILINE)


def test_what_was_typed_in_one_test_does_not_count_in_the_next() -> None:
    """A password that one test typed does not cost the next test its video."""
    performer = SimpleNamespace(apps=AppWatch(AppsSeen()))
    client: Any = SimpleNamespace(runner=None, performer=performer)
    activity = ClientActivity(client)
    params = {"matcher": {"textEquals": "Password"}, "text": "hunter2"}
    execution = complete_execution([{"id": "type", "type": "enter_text", "params": params}])
    typed = []

    for _ in range(2):
        activity.begin()
        typed.append(set(activity.typed))
        activity(ExecutionFinished(serial="PH1", at=0.0, execution=execution, elapsed=0.1))
        typed.append(set(activity.typed))

    assert typed == [set(), {"hunter2"}, set(), {"hunter2"}]


def test_an_execution_is_named_by_its_actions() -> None:
    """With matchers as a test writes them, in a few words."""
    matcher = {"role": "button", "textEquals": "Buy", "resourceId": "com.shop:id/buy"}
    payloads: list[list[dict[str, Any]]] = [
        [{"type": "click", "params": {"matcher": {"textEquals": "Buy"}}}],
        [{"type": "click", "params": {"matcher": matcher}}],
        [{"type": "open_app", "params": {"applicationId": "com.shop"}}],
        [{"id": str(number), "type": "snapshot_ui"} for number in range(9)],
    ]

    *short, long = [label_of(complete_execution(payload)) for payload in payloads]

    assert short == [
        "click text='Buy'",
        "click text='Buy', id='buy', role='button'",
        "open_app 'com.shop'",
    ]
    assert (len(long), long[-3:]) == (60, "...")


def test_each_log_and_envelope_is_of_its_own_test(pytester: pytest.Pytester, run: Run) -> None:
    """Whichever way the client came; what a plugin does between tests is in none."""
    pytester.makeconftest(OTHER)

    result = run("--claw-logcat=on", *QUICK[:1], QUICK[2], suite=WAYS)

    result.assert_outcomes(passed=15)
    found = kept(pytester)
    assert len(found) == 15
    for path in found.values():
        (marker,) = markers(path / "log.txt")
        assert f"test_{marker}" in path.name
        assert len(json.loads((path / "envelopes.json").read_bytes())) == 1


def test_logs_of_one_test_continue_each_other(pytester: pytest.Pytester, run: Run) -> None:
    """Subtests and a teardown that fail have a log each, and a line is in one of them."""
    run(
        *("--claw-screenshot=off", "--claw-snapshot=off"),
        suite="""
        import pytest

        def act(claw, name):
            claw.device.shell(f"log -t marker of-{name}.")
            claw.home()

        @pytest.fixture
        def claw(clawperator):
            yield clawperator
            act(clawperator, "teardown")
            assert 0

        def test_it(claw, subtests):
            for number in range(3):
                with subtests.test(number=number):
                    act(claw, number)
                    assert 0
            act(claw, "end")
            assert 0
        """,
    )

    assert {path.name: markers(path) for path in kept(pytester)["test_it"].glob("*log*")} == {
        "log.txt": ["0"],
        "log-2.txt": ["1"],
        "log-3.txt": ["2"],
        "log-4.txt": ["end"],
        "teardown-log.txt": ["teardown"],
    }


def test_each_test_has_its_own_video(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """Also with a client in an object, or one of a fixture with another parameter."""
    pytester.makeconftest(OTHER)

    result = run(
        *("--claw-video=on", "--claw-logcat=off", "--claw-screenshot=off"),
        suite="""
        from types import SimpleNamespace

        import pytest
        from pytest_clawperator import connect

        def await_recording(client):
            assert client.device.shell("until pidof screenrecord; do sleep 0.05; done").ok

        @pytest.fixture(scope="session")
        def app(request):
            return SimpleNamespace(client=request.getfixturevalue("clawperator_client"))

        @pytest.mark.parametrize("number", [1, 2])
        def test_wrapped(app, number):
            app.client.home()
            await_recording(app.client)

        def test_plain(app): pass

        @pytest.fixture(scope="session", params=["mine", "other"])
        def claw(request, other, clawperator_lease):
            serial = other if request.param == "other" else clawperator_lease.serial
            with connect(serial, adb=clawperator_lease.adb) as client:
                yield client

        def test_param(claw):
            await_recording(claw)
        """,
    )

    result.assert_outcomes(passed=5)
    assert {name: names(path) for name, path in kept(pytester).items()} == {
        f"test_{name}": ["video.mp4"]
        for name in ("param-mine", "param-other", "wrapped-1", "wrapped-2")
    }
    assert phone.shell("ls /data/local/tmp | grep clawperator; pidof screenrecord").stdout == ""


def test_the_device_of_the_class_before_is_of_no_test(
    pytester: pytest.Pytester, simulator: Simulator, adb: str, run_plain: Run
) -> None:
    """The first test on a device has that device's evidence only, and counts for that one only."""
    options = ("--claw-trace=off", "--claw-matrix=each", "--claw-adb", adb, "--claw-logcat=off")

    result = run_plain(*options, suite="def test_it(clawperator): assert 0")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines_random([f"{serial}  1 failed" for serial in simulator.serials])
    assert [names(path) for path in kept(pytester).values()] == [
        ["screenshot.png", "snapshot.xml"]
    ] * 2


def test_a_client_is_observed_once_and_not_kept(pytester: pytest.Pytester, run: Run) -> None:
    """However often fixtures return it; one of a single test is not kept until the run ends."""
    pytester.makeconftest(OTHER)

    result = run(
        suite="""
        import gc
        import weakref

        import pytest
        from pytest_clawperator import connect

        reused, ended = [], []

        @pytest.fixture
        def again(other, clawperator_lease):
            if not reused:
                reused.append(connect(other, adb=clawperator_lease.adb))
            return reused[0]

        @pytest.mark.parametrize("number", range(3))
        def test_again(again, number):
            assert len(again.runner.observers._observers) == 1

        def test_close():
            reused.pop().close()

        @pytest.fixture
        def once(other, clawperator_lease):
            with connect(other, adb=clawperator_lease.adb) as client:
                yield client

        def test_once(once):
            once.home()
            ended.append(weakref.ref(once))

        def test_gone():
            gc.collect()
            assert ended[0]() is None
        """
    )

    result.assert_outcomes(passed=6)
