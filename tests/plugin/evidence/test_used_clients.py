"""Evidence is of its own test, however the test got its client."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

ONLY_LOGS = ("--claw-logcat=on", "--claw-screenshot=off", "--claw-snapshot=off")
# A phone that the run does not use by itself.
OTHER = """
    import pytest

    @pytest.fixture(scope="session")
    def other(clawperator_transport):
        serials = [serial for serial, _ in clawperator_transport.server.devices()]
        return next(one for one in serials if one != clawperator_transport.serial)
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
        def test_argument(self, clawperator, number):
            act(clawperator, f"argument-{number}")

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


def evidence(pytester: pytest.Pytester) -> dict[str, Path]:
    """Return the folders of the only run by the names of the tests."""
    found = filter(Path.is_dir, (pytester.path / "claw-results").glob("*/*"))
    return {re.sub(r"^test_\w+-(.*)-\w{6}$", r"\1", path.name): path for path in found}


def markers(path: Path) -> list[str]:
    """Return what was marked in a log."""
    return re.findall(r"marker *: of-(\S+)\.$", path.read_text(), re.MULTILINE)


def test_each_log_and_envelope_is_of_its_own_test(pytester: pytest.Pytester, run: Run) -> None:
    """A line and an execution are in the evidence of one test, whichever way the client came."""
    pytester.makeconftest(OTHER)
    pytester.makepyfile(test_it=WAYS)

    result = run(*ONLY_LOGS)

    result.assert_outcomes(passed=15)
    found = evidence(pytester)
    assert len(found) == 15
    marked = [name for path in found.values() for name in markers(path / "log.txt")]
    assert len(marked) == len(set(marked)) == 15
    for path in found.values():
        (marker,) = markers(path / "log.txt")
        assert f"test_{marker}" in path.name
        assert len(json.loads((path / "envelopes.json").read_bytes())) == 1


def test_a_crash_is_told_of_the_test_in_which_it_happened(
    pytester: pytest.Pytester, run: Run
) -> None:
    """A crash is told of its own test, and neither of the next one nor of one without a client."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture
        def claw(request):
            return request.getfixturevalue("clawperator")

        @pytest.mark.claw_app("com.example.shop")
        def test_crashes(claw):
            claw.device.shell("am crash com.example.shop")
            claw.home()
            assert 0

        def test_without(): assert 0

        def test_after(claw): assert 0
        """
    )

    result = run("--claw-screenshot=off", "--claw-snapshot=off")

    result.assert_outcomes(failed=3)
    text = result.stdout.str()
    assert text.count("- clawperator: com.example.shop crashed") == 1
    found = evidence(pytester)
    assert "FATAL EXCEPTION" in (found["test_crashes"] / "log.txt").read_text()
    assert "test_without" not in found
    assert not list(found["test_after"].glob("envelopes*"))
    assert "FATAL EXCEPTION" not in (found["test_after"] / "log.txt").read_text()


def test_logs_do_not_grow_with_the_run(pytester: pytest.Pytester, run: Run) -> None:
    """Many small tests that ask for their client keep each line and each execution once."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.parametrize("number", range(60))
        def test_it(request, number):
            claw = request.getfixturevalue("clawperator")
            claw.device.shell(f"log -t marker of-{number}.")
            claw.home()
        """
    )

    result = run(*ONLY_LOGS)

    result.assert_outcomes(passed=60)
    folders = evidence(pytester).values()
    marked = sorted(int(name) for path in folders for name in markers(path / "log.txt"))
    assert marked == list(range(60))
    sent = [json.loads((path / "envelopes.json").read_bytes()) for path in folders]
    assert sum(map(len, sent)) == 60


def test_what_happens_between_tests_is_of_no_test(pytester: pytest.Pytester, run: Run) -> None:
    """What a plugin does with a client between two tests is in the evidence of neither."""
    pytester.makeconftest(
        """
        import pytest

        clients = []

        @pytest.fixture
        def ending(clawperator):
            clients.append(clawperator)
            yield
            clawperator.device.shell("log -t marker of-teardown.")
            clawperator.home()

        def pytest_runtest_logfinish(nodeid):
            clients[0].device.shell("log -t marker of-nobody.")
            clients[0].home()
        """
    )
    pytester.makepyfile(
        test_it="""
        def test_first(ending): pass

        def test_second(request):
            request.getfixturevalue("clawperator")
            assert 0
        """
    )

    run(*ONLY_LOGS)

    found = evidence(pytester)
    assert not list(found["test_first"].glob("envelopes*"))
    assert not list(found["test_second"].glob("envelopes*"))
    assert markers(found["test_second"] / "log.txt") == []


def test_a_client_that_was_not_used_shows_the_screen(pytester: pytest.Pytester, run: Run) -> None:
    """A failed test that only asked for its client has a picture, as one with an argument has."""
    pytester.makepyfile(
        test_it="""
        def test_first(clawperator_client): pass

        def test_asks(request):
            request.getfixturevalue("clawperator_client")
            assert 0
        """
    )

    result = run("--claw-trace=off", "--claw-logcat=off", "--claw-snapshot=off")

    result.assert_outcomes(passed=1, failed=1)
    assert [path.name for path in evidence(pytester)["test_asks"].iterdir()] == ["screenshot.png"]


def test_each_test_has_its_own_video(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """A client that the tests hold in an object of their own is recorded in each of them."""
    pytester.makepyfile(
        test_it="""
        from types import SimpleNamespace

        import pytest

        @pytest.fixture(scope="session")
        def app(request):
            return SimpleNamespace(client=request.getfixturevalue("clawperator_client"))

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(app, number):
            app.client.home()
            wait = "until pidof screenrecord; do sleep 0.05; done"
            assert app.client.device.shell(wait).ok

        def test_plain(app): pass
        """
    )

    run("--claw-video=on", "--claw-logcat=off", "--claw-screenshot=off", "--claw-snapshot=off")

    found = evidence(pytester)
    assert {name: [one.name for one in path.iterdir()] for name, path in found.items()} == {
        "test_it-1": ["video.mp4"],
        "test_it-2": ["video.mp4"],
    }
    assert phone.shell("ls /data/local/tmp | grep clawperator; pidof screenrecord").stdout == ""


def test_each_attempt_has_its_own_log(pytester: pytest.Pytester, run: Run) -> None:
    """A rerun begins anew, also with a client that the test asks for."""
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        test_it="""
        attempts = []

        def test_it(request):
            attempts.append(1)
            claw = request.getfixturevalue("clawperator")
            claw.device.shell(f"log -t marker of-{len(attempts)}.")
            claw.home()
            assert 0
        """
    )

    run("--reruns=2", "-p", "rerunfailures", *ONLY_LOGS)

    (found,) = evidence(pytester).values()
    for attempt in (1, 2, 3):
        assert markers(found / f"attempt-{attempt}" / "log.txt") == [str(attempt)]


def test_logs_of_one_test_continue_each_other(pytester: pytest.Pytester, run: Run) -> None:
    """Subtests and a teardown that fail have a log each, and a line is in one of them."""
    pytester.makepyfile(
        test_it="""
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
        """
    )

    run("--claw-screenshot=off", "--claw-snapshot=off")

    (found,) = evidence(pytester).values()
    logs = {path.name: markers(path) for path in found.glob("*log*")}
    assert logs == {
        "log.txt": ["0"],
        "log-2.txt": ["1"],
        "log-3.txt": ["2"],
        "log-4.txt": ["end"],
        "teardown-log.txt": ["teardown"],
    }


def test_the_device_of_the_class_before_is_of_no_test(
    pytester: pytest.Pytester, simulator: Simulator, adb: str, run_plain: Run
) -> None:
    """The first test on a device has that device's evidence only, and counts for that one only."""
    pytester.makepyfile(test_it="def test_it(clawperator):\n    assert 0\n")

    result = run_plain(
        "--claw-trace=off", "--claw-matrix=each", "--claw-adb", adb, "--claw-logcat=off"
    )

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines_random([f"{serial}  1 failed" for serial in simulator.serials])
    kept = [sorted(one.name for one in path.iterdir()) for path in evidence(pytester).values()]
    assert kept == [["screenshot.png", "snapshot.xml"]] * 2


def test_a_client_that_ends_before_the_test_is_not_recorded(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """A fixture with another parameter has another client, and one video is of each test."""
    pytester.makeconftest(OTHER)
    pytester.makepyfile(
        test_it="""
        import pytest
        from pytest_clawperator import connect

        @pytest.fixture(scope="session", params=["mine", "other"])
        def claw(request, other, clawperator_lease):
            serial = other if request.param == "other" else clawperator_lease.serial
            with connect(serial, adb=clawperator_lease.adb) as client:
                yield client

        def test_it(claw):
            assert claw.device.shell("until pidof screenrecord; do sleep 0.05; done").ok
        """
    )

    result = run("--claw-video=on", "--claw-logcat=off", "--claw-screenshot=off")

    result.assert_outcomes(passed=2)
    kept = [sorted(one.name for one in path.iterdir()) for path in evidence(pytester).values()]
    assert kept == [["video.mp4"]] * 2
    assert phone.shell("pidof screenrecord").stdout == ""


def test_a_client_of_the_process_is_observed_once(pytester: pytest.Pytester, run: Run) -> None:
    """A client that fixtures return again and again has one observer, not one for each test."""
    pytester.makeconftest(OTHER)
    pytester.makepyfile(
        test_it="""
        import pytest
        from pytest_clawperator import connect

        kept = []

        @pytest.fixture
        def claw(other, clawperator_lease):
            if not kept:
                kept.append(connect(other, adb=clawperator_lease.adb))
            return kept[0]

        @pytest.mark.parametrize("number", range(5))
        def test_it(claw, number):
            assert len(claw.runner.observers._observers) == 1

        def test_end():
            kept.pop().close()
        """
    )

    result = run()

    result.assert_outcomes(passed=6)


def test_nothing_keeps_the_client_of_a_test_that_ended(pytester: pytest.Pytester, run: Run) -> None:
    """A client of one test, with the log that it read, is not kept until the run ends."""
    pytester.makeconftest(OTHER)
    pytester.makepyfile(
        test_it="""
        import gc
        import weakref

        import pytest
        from pytest_clawperator import connect

        ended = []

        @pytest.fixture
        def claw(other, clawperator_lease):
            with connect(other, adb=clawperator_lease.adb) as client:
                yield client

        def test_first(claw):
            claw.home()
            ended.append(weakref.ref(claw))

        def test_second():
            gc.collect()
            assert ended[0]() is None
        """
    )

    result = run()

    result.assert_outcomes(passed=2)
