"""Failures: whether the device or the test is at fault, and how reports show it."""

from __future__ import annotations

import doctest
import json
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_clawperator.devices.health import await_return
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionsOnlyError,
    ExpectationError,
    NodeNotFoundError,
    PayloadRefusedError,
    ShellError,
    SnapshotError,
    TransportError,
)
from pytest_clawperator.plugin.failures import beyond_xfail, device_trouble, is_beyond_xfail
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.adb_server import FakeAdb, block
from tests.plugin.conftest import QUICK, Run, kept

# What an adb server without devices answers.
NO_DEVICES = {"host:version": block("0029"), "host:devices": block("")}
TROUBLE = """
import unittest

import pytest

def crash(claw):
    claw.device.shell("sim fault operator_crash times=1")
    claw.home()

@pytest.fixture
def crashed(clawperator):
    crash(clawperator)

def test_crash(clawperator):
    clawperator.device.shell("sim fault operator_crash times=1")
    clawperator.home()

def test_after(clawperator):
    clawperator.home()

def test_while_handling(clawperator):
    try:
        raise ValueError("of the test")
    except ValueError:
        crash(clawperator)

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def use(self, clawperator):
        self.clawperator = clawperator

    def test_case(self):
        crash(self.clawperator)

@pytest.mark.xfail(reason="bug 17")
def test_plain(clawperator):
    crash(clawperator)

@pytest.mark.xfail(raises=Exception, strict=True)
def test_strict(clawperator):
    crash(clawperator)

@pytest.mark.xfail
def test_setup(crashed): pass

@pytest.mark.xfail
def test_known(clawperator):
    raise AssertionError

def test_decided(clawperator):
    try:
        crash(clawperator)
    except Exception:
        pytest.xfail("it crashes here")

def test_app(clawperator):
    clawperator.wait_for_node(text="Nowhere", timeout=0)

def test_refused(clawperator):
    clawperator.device.grant("com.example.shop", "android.permission.NO_SUCH")
"""


AWAY = TransportError("the device is away", serial="A")
LOST = NodeNotFoundError("no node", serial="A")
UNREADABLE = SnapshotError("it breaks off", serial="A")
LOST_TREE, NO_TREE = (
    SnapshotError("no tree", code=code, serial="A")
    for code in (ErrorCode.SNAPSHOT_EXTRACTION_FAILED, ErrorCode.UI_TREE_UNAVAILABLE)
)


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return the error, raised from the cause."""
    error.__cause__ = cause
    return error


def circle() -> BaseException:
    """Return an error whose cause has the error as its own cause."""
    first = ValueError()
    return caused(first, caused(ValueError(), first))


def in_doctest(error: BaseException) -> BaseException:
    """Return what a doctest makes of an error."""
    example: Any = None
    raised: Any = (type(error), error, None)
    return doctest.UnexpectedException(example, example, raised)


TROUBLES: list[tuple[BaseException | None, BaseException | None]] = [
    (None, None),
    (AWAY, AWAY),
    (LOST, None),
    (AssertionError("text"), None),
    (ShellError("not found", serial="A"), None),
    (PayloadRefusedError("refused", serial="A"), None),
    (TransportError("no such file", code=ErrorCode.FILE_UNAVAILABLE), None),
    (UNREADABLE, UNREADABLE),
    (LOST_TREE, LOST_TREE),
    (NO_TREE, NO_TREE),
    (SnapshotError("it breaks off"), None),
    (SnapshotError("no such axis", code=ErrorCode.XPATH_INVALID, serial="A"), None),
    (caused(AssertionError("not signed in"), AWAY), AWAY),
    (caused(AssertionError("not signed in"), LOST), None),
    (caused(NodeNotFoundError("no node"), AWAY), None),
    (caused(ExpectationError("not so"), AWAY), None),
    (circle(), None),
    (in_doctest(AWAY), AWAY),
    (in_doctest(LOST), None),
]


@pytest.mark.parametrize(("error", "trouble"), TROUBLES, ids=repr)
def test_whether_a_device_failed(
    error: BaseException | None, trouble: BaseException | None
) -> None:
    """Where an error is ours its class decides; others are looked into."""
    assert device_trouble(error) is trouble


@pytest.mark.skipif(sys.version_info < (3, 11), reason="by design: Python has groups since 3.11")
@pytest.mark.parametrize(("error", "trouble"), TROUBLES[1:], ids=repr)
def test_whether_a_device_failed_in_a_group(
    error: BaseException, trouble: BaseException | None
) -> None:
    """One of a group is enough, however deep."""
    group = sys.modules["builtins"].__dict__["BaseExceptionGroup"]

    assert device_trouble(group("many", [LOST, group("few", [ValueError(), error])])) is trouble


@pytest.mark.parametrize(
    ("error", "when", "is_beyond"),
    [
        (None, "call", False),
        (LOST, "setup", False),
        (AWAY, "call", True),
        (AWAY, "teardown", True),
        (ConfigurationError("no such app"), "setup", True),
        (ConfigurationError("nothing was expected"), "call", True),
        (TypeError("Locator.click() got an unexpected keyword argument 'to'"), "call", True),
        (TypeError("Locator.clack() got an unexpected keyword argument 'to'"), "call", False),
        (TypeError("Pixie.click() got an unexpected keyword argument 'to'"), "call", False),
        (TypeError("unsupported operand"), "call", False),
        (ExecutionsOnlyError("no shell"), "call", True),
        (beyond_xfail("wrong marker"), "setup", True),
        (pytest.fail.Exception("own"), "setup", False),
    ],
    ids=repr,
)
def test_what_xfail_does_not_cover(error: BaseException | None, when: str, is_beyond: bool) -> None:
    """Trouble with a device, what keeps a test from running, and mistakes in the test."""
    assert is_beyond_xfail(error, when=when) is is_beyond


MISTAKEN = """
import pytest
from pytest_clawperator import ConfigurationError, Snapshot, expect

SNAPSHOT = Snapshot.from_xml('<hierarchy><node text="OK" bounds="[0,0][9,9]"/></hierarchy>')

@pytest.mark.xfail
def test_nothing_expected(): expect(SNAPSHOT)

@pytest.mark.xfail(raises=Exception)
def test_misspelt(): expect(SNAPSHOT).to_have_node(txt="OK")

@pytest.mark.xfail(raises=ConfigurationError)
def test_misspelt_option(): expect(SNAPSHOT).to_have_no_overlay(timout=1)

@pytest.mark.xfail(raises=(ValueError, ConfigurationError))
def test_meant(): expect(SNAPSHOT)

@pytest.mark.xfail
def test_bug(): expect(SNAPSHOT).to_have_node(text="Ok")
"""


def test_xfail_does_not_cover_a_mistake_in_the_test(run: Run) -> None:
    """It would stay forever: only ``raises=`` with its very type says that it is meant."""
    result = run("-rf", *QUICK, suite=MISTAKEN)

    result.assert_outcomes(failed=3, xfailed=2)
    result.stdout.fnmatch_lines(
        [
            "FAILED *::test_nothing_expected - *nothing was expected*",
            "FAILED *::test_misspelt - *unexpected keyword: txt*",
            "FAILED *::test_misspelt_option - *unexpected keyword argument 'timout'*",
        ]
    )


NEVER_RUN = """
import pytest

pytestmark = pytest.mark.xfail(reason="bug 17")

@pytest.mark.claw_device(api=1)
def test_unfit(clawperator): pass

@pytest.mark.claw_app("com.example.absent")
def test_no_app(clawperator): pass

def test_no_payload(clawperator_payload): pass

def test_no_spare(clawperator_devices): clawperator_devices(2)

class TestBadFixture:
    @pytest.fixture
    def clawperator_client(self): return "a client"

    def test_bad_fixture(self, clawperator): pass
"""


def test_xfail_does_not_cover_a_test_that_never_ran(run: Run) -> None:
    """Whatever kept it from running, it is an error; so is a class without a device."""
    result = run("--claw-strict", "-rE", *QUICK, suite=NEVER_RUN)
    matrix = run(
        *("--claw-strict", "--claw-matrix=api=1", *QUICK),
        suite="import pytest\n@pytest.mark.xfail\ndef test_it(clawperator): pass",
    )

    result.assert_outcomes(errors=4, failed=1)
    assert result.ret == matrix.ret == pytest.ExitCode.TESTS_FAILED
    matrix.assert_outcomes(errors=1)


def test_a_test_cannot_close_the_client_of_the_run(run: Run) -> None:
    """It fails itself, and later tests have their device."""
    result = run(
        *QUICK,
        suite="""
        import pytest
        from pytest_clawperator import ConfigurationError

        def test_closes(clawperator):
            clawperator.close()

        def test_with(clawperator):
            with pytest.raises(ConfigurationError, match="the run closes this client"):
                with clawperator:
                    raise AssertionError("the block was entered")

        def test_after(clawperator):
            clawperator.home()
        """,
    )

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       clawperator.close()",
            "E *CONFIGURATION_INVALID: close() is not possible: the run*",
        ]
    )


def test_trouble_with_a_device_is_an_error(pytester: pytest.Pytester, run: Run) -> None:
    """In the terminal, JUnit XML and Allure, even if the test is expected to fail.

    What the app does wrong, or the device refuses, is the test's failure.
    """
    pytest.importorskip("allure_pytest")
    reports = ("--junitxml=junit.xml", "-p", "allure_pytest", "--alluredir=allure")

    result = run("-rE", *reports, *QUICK, suite=TROUBLE)

    result.assert_outcomes(passed=1, errors=6, xfailed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] OPERATOR_CRASHED: the Operator app * crashed *",
            "clawperator: [[]*[]] the device failed its check: SERVICE_UNAVAILABLE: *",
            "clawperator: [[]*[]] the Operator's service is dead, so it is switched off and on",
            "clawperator: [[]*[]] the device works again",
            "*= ERRORS =*",
            "*_ ERROR at call of test_crash _*",
            ">       clawperator.home()",
            "E *OperatorNotReadyError: [[]*[]] OPERATOR_CRASHED: *",
            "E * hint: *",
            "E * ValueError: of the test",
            ">       crash(clawperator)",
            "E *OperatorNotReadyError: [[]*[]] OPERATOR_CRASHED: *",
            "*= devices =*",
            "*  1 passed, 2 failed, 6 errors*",
            "[[]*[]] OPERATOR_CRASHED: *",
            "[[]*[]] the device works again*",
        ]
    )
    assert "pipeline.py" not in result.stdout.str().partition("TestCase.test_case")[0]
    calls = ("test_crash", "test_while_handling", "test_case", "test_plain", "test_strict")
    errors = (*calls, "test_setup")
    result.stdout.fnmatch_lines_random(
        [
            f"ERROR *::{name} - infrastructure: OPERATOR_CRASHED: *"
            for name in (*errors, "test_setup")
        ]
    )
    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    assert [suite.get(name) for name in ("errors", "failures", "skipped")] == ["6", "2", "2"]
    nodes = [(node.tag, node.get("message", "")) for case in suite for node in case]
    tags = {message.partition(": ")[0]: tag for tag, message in nodes if tag != "properties"}
    assert (tags["infrastructure"], tags["NODE_NOT_FOUND"]) == ("error", "failure")
    results = [json.loads(path.read_bytes()) for path in pytester.path.glob("allure/*-result.json")]
    statuses = {one["name"]: one["status"] for one in results}
    broken = {name for name, status in statuses.items() if status == "broken"}
    assert broken == {*errors, "test_refused"}  # which Allure decides by the type of the error
    assert statuses["test_app"] == "failed"


def test_a_full_trace_shows_the_inside_of_the_package(run: Run) -> None:
    """``--full-trace`` shows where inside of the package it happened."""
    result = run("--full-trace", *QUICK, "-k", "test_crash", suite=TROUBLE)

    result.stdout.fnmatch_lines(["*pipeline.py*"])


def test_a_device_that_drops_is_connected_to_again(pytester: pytest.Pytester, run: Run) -> None:
    """What could not be put back is an error of the device; the next test finds it put back."""
    result = run(
        *("-rE", "--junitxml=junit.xml", *QUICK),
        suite="""
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
        """,
    )

    result.assert_outcomes(passed=2, errors=1)
    why = "infrastructure: DEVICE_OFFLINE: could not restore: orientation (*"
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] the device failed its check: DEVICE_OFFLINE: *",
            "clawperator: [[]*[]] waiting up to * s for the device to come back",
            "clawperator: [[]*[]] the device works again",
            f"ERROR *::test_away - {why}",
        ]
    )
    assert "infrastructure: DEVICE_OFFLINE: " in (pytester.path / "junit.xml").read_text()


def test_a_device_that_cannot_be_healed_is_put_aside(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """It is given up once, and the remaining tests say why immediately."""
    pytester.makeconftest(
        """
        import pytest
        from pytest_clawperator.devices import health

        @pytest.fixture(scope="session", autouse=True)
        def impatient(clawperator_client):
            clawperator_client.device.orientation = "landscape"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(health.await_return, "__kwdefaults__", {
                    **health.await_return.__kwdefaults__, "timeout": 0.1
                })
                yield
        """
    )

    result = run(
        "-rE",
        suite="""
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_drop(clawperator):
            clawperator.device.shell("sim fault offline ms=2000")
            with pytest.raises(ClawperatorError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)

        @pytest.mark.parametrize("number", range(3))
        def test_after(clawperator, number): pass
        """,
    )
    await_return(phone)

    result.assert_outcomes(passed=1, errors=3)
    result.stdout.fnmatch_lines(
        [
            "clawperator: [[]*[]] the device failed its check again and is put aside",
            "*_ ERROR at setup of test_after[[]2] _*",
            "E *DeviceUnavailableError: [[]*[]] DEVICE_OFFLINE: the device was put aside, because"
            " it failed its check twice: DEVICE_OFFLINE: *",
            "*hint: *",
            "ERROR *::test_after[[]0] - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_after[[]1] - infrastructure: DEVICE_OFFLINE: the device was put aside*",
        ]
    )
    assert list(kept(pytester)) == ["test_after-0"]  # under which it was found out
    assert "could not restore" not in result.stdout.str()  # it is not asked any more


def test_summary_lines_say_what_happened_in_80_columns(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the class of an error nor the device takes the place of what happened."""
    monkeypatch.setenv("COLUMNS", "80")

    result = run(
        *(*QUICK, "-rfE"),
        suite="""
        import pytest
        from pytest_clawperator import expect

        pytestmark = pytest.mark.claw_timeout(0)

        def test_flaky(clawperator):
            clawperator.click(text="Go")

        def test_seen(clawperator):
            expect(clawperator.node(text="Go")).to_be_visible()

        @pytest.fixture
        def gone(clawperator):
            clawperator.click(text="Go")

        def test_setup(gone): pass

        def test_own(): assert 1 == 2
        """,
    )

    result.stdout.fnmatch_lines(
        [
            "E  *NodeNotFoundError: [[]127.0.0.1:*[]] NODE_NOT_FOUND: click: no node*",
            "FAILED test_it.py::test_flaky - NODE_NOT_FOUND: click: no node(text='Go')*...",
            "FAILED test_it.py::test_seen - EXPECTATION_FAILED: expected node(text='Go') *...",
            "FAILED test_it.py::test_own - assert 1 == 2",
            "ERROR test_it.py::test_setup - NODE_NOT_FOUND: click: no node(text='Go')*...",
        ]
    )


def test_without_a_device_there_is_one_error(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Tests that have no device share one error, and those that need none run."""
    with FakeAdb(NO_DEVICES) as server:
        result = run_plain(
            *(f"--claw-adb={server.server}", "--junit-xml=junit.xml", "-rE"),
            suite="""
            import pytest

            @pytest.mark.parametrize("number", range(37))
            def test_phone(clawperator, number):
                pass

            def test_plain():
                pass
            """,
        )

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_phone[[]0[]]*",
            "*= same error =*",
            "test_it.py::test_phone[[]0[]] and 36 more: NO_DEVICES: no device is connected",
            "ERROR test_it.py::test_phone[[]0[]] - infrastructure: NO_DEVICES: *",
            "*1 passed, 1 error, 36 same error in *",
        ]
    )
    assert result.stdout.str().count("ERROR at setup") == 1
    assert len(result.outlines) < 40
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert junit.count("<error ") == 37


def test_errors_of_different_causes_are_shown_separately(
    pytester: pytest.Pytester, run: Run
) -> None:
    """So are those of the tests themselves; no screen is kept of a test that did not begin."""
    result = run(
        "--claw-strict",
        suite="""
        import pytest

        @pytest.mark.claw_device(api=1)
        class TestOld:
            def test_a(self, clawperator): pass
            def test_b(self, clawperator): pass

        @pytest.mark.claw_device(form="tablet")
        class TestBig:
            def test_a(self, clawperator): pass
            def test_b(self, clawperator): pass

        @pytest.fixture
        def broken(clawperator): raise ValueError("mine")

        def test_c(broken): pass
        def test_d(broken): pass
        """,
    )

    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        [
            "*::TestOld::test_a and 1 more: claw_device: api=1 is required, *",
            "*::TestBig::test_a and 1 more: claw_device: form='tablet' is required, *",
            "*4 errors, 2 same error in *",
        ]
    )
    assert list(kept(pytester)) == ["test_c", "test_d"]


def test_a_failed_envelope_that_nothing_looked_at_is_named(run: Run) -> None:
    """With its line, also if it was kept; a check, a condition or a line that prints it looks."""
    result = run(
        *(*QUICK, "-Wdefault"),
        suite="""
        import pytest
        from pytest_clawperator import expect

        MISSING = {"matcher": {"textEquals": "Nowhere"}, "retry": {"maxAttempts": 1}}
        WAIT = [{"id": "w", "type": "wait_for_node", "params": MISSING}]

        @pytest.fixture
        def before(clawperator):
            return clawperator.execute(WAIT)

        def test_dropped(clawperator):
            clawperator.execute(WAIT)

        def test_unread_after_all(before):
            kept = before

        def test_read(clawperator, before, capsys):
            assert not before
            expect(clawperator.execute(WAIT)).to_have_failed()
            print(clawperator.execute(WAIT))
            clawperator.execute([{"type": "sleep", "params": {"durationMs": 0}}])
        """,
    )

    result.assert_outcomes(passed=3, warnings=2)
    said = "ClawperatorWarning: this execution failed, and nothing looked at its envelope: *"
    result.stdout.fnmatch_lines([f"*test_it.py:12: {said}NODE_NOT_FOUND*", f"*.py:9: {said}"])


def test_a_failed_envelope_explains_a_bare_assert(run: Run) -> None:
    """``assert claw.execute([...])`` fails with what failed; one that succeeded passes."""
    result = run(
        *QUICK,
        suite="""
        def test_failed(clawperator):
            missing = {"matcher": {"textEquals": "Nowhere"}, "retry": {"maxAttempts": 1}}
            assert clawperator.execute([{"id": "w", "type": "wait_for_node", "params": missing}])

        def test_succeeded(clawperator):
            assert clawperator.execute([{"type": "sleep", "params": {"durationMs": 0}}])
        """,
    )

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ['E  *assert <RunResult failed: step "w" (wait_for_node) failed: NODE_NOT_FOUND; 1 step>']
    )
