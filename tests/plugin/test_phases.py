"""The phases of a test: soft failures, forgotten checks, and what a remote host cannot do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.service import executions_only
from tests.plugin.conftest import Run

PRELUDE = """
import unittest

import pytest

from pytest_clawperator import expect
from pytest_clawperator.snapshot.tree import Snapshot

SCREEN = Snapshot.from_xml(
    '<hierarchy><node class="android.widget.FrameLayout" bounds="[0,0][100,100]">'
    '<node text="Tea" class="android.widget.TextView" bounds="[0,0][50,50]"/>'
    "</node></hierarchy>"
)

def wants(text):
    expect.soft(SCREEN).to_have_node(text=text)
"""


def test_soft_failures_fail_their_phase_at_its_end(run_plain: Run) -> None:
    """With every failure and its line; beside a hard failure below it; skips do not hide them."""
    result = run_plain(
        "--show-capture=no",
        suite=f"""{PRELUDE}
def test_two():
    wants("Cheese")
    expect.soft(SCREEN).to_have_node(text="Wine")

def test_one():
    expect.soft(SCREEN).to_have_node(text="Water")
    x = 1

def test_beside_hard():
    wants("Bread")
    assert 1 == 2

class TestCase(unittest.TestCase):
    def test_case_soft(self):
        wants("Milk")

    def test_case_both(self):
        wants("Butter")
        self.fail("hard")

@pytest.fixture
def before():
    wants("Salt")

@pytest.fixture
def after():
    yield
    wants("Pepper")

def test_before(before):
    raise RuntimeError("never runs")

def test_after(after):
    wants("Tea")

def test_untouched():
    wants("Tea")

def test_skip():
    wants("Cheese")
    pytest.skip("the rest")

def test_decided():
    wants("Cheese")
    pytest.xfail("the rest is known")

@pytest.mark.xfail(strict=True)
def test_xfail():
    wants("Cheese")
""",
    )

    result.assert_outcomes(failed=7, xfailed=1, passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            *("*ERROR at setup of test_before*", "*Salt*"),
            *("*ERROR at teardown of test_after*", "*Pepper*"),
            ">*expect.soft(SCREEN).to_have_node(text=text)",
            "E*EXPECTATION_FAILED: 2 checks failed",
            "E*1. test_it.py:*: expect.soft(SCREEN)*",
            "E*expected node(text='Cheese') to be visible, found no match",
            "E*2. test_it.py:*",
            "E*expected node(text='Wine') to be visible, found no match",
            *('>*expect.soft(SCREEN).to_have_node(text="Water")', "E*Water*"),
            *(">*assert 1 == 2", "*- soft checks that failed before -*", "*Bread*"),
        ]
    )
    result.stdout.fnmatch_lines(["*expected node(text='Milk')*"])
    result.stdout.fnmatch_lines(["E*hard", "*checks that failed before*", "*node(text='Butter')*"])
    assert "plugin/phases.py" not in result.stdout.str()
    assert "RuntimeError" not in result.stdout.str()


def test_an_expectation_without_a_check_fails_the_test(run_plain: Run) -> None:
    """In the line that forgot it, unless the test failed before; settings end with the test."""
    result = run_plain(
        suite=f"""{PRELUDE}
def test_forgotten():
    expect(SCREEN).to_have_node

def test_whole():
    expect(SCREEN).to_have_node(text="Tea")

def test_broken():
    begun = expect(SCREEN)
    assert 1 == 2
    begun.to_have_node(text="Tea")

def test_sets():
    expect.set_timeout(99)

def test_after():
    assert expect.settings.timeout is None
"""
    )

    result.assert_outcomes(failed=2, passed=3)
    result.stdout.fnmatch_lines(
        [
            ">       expect(SCREEN).to_have_node",
            "E *CONFIGURATION_INVALID: nothing was expected: *: expect(SCREEN).to_have_node",
            "E *hint: expect(...) alone checks nothing. *",
        ]
    )
    assert result.stdout.str().count("CONFIGURATION_INVALID: nothing was expected") == 1


def test_a_forgotten_check_is_noticed_in_every_phase(run_plain: Run) -> None:
    """In fixtures, and before a skip; a check may follow in a later phase of the same test."""
    result = run_plain(
        "-rA",
        suite=f"""{PRELUDE}
@pytest.fixture
def forgets():
    expect(SCREEN).node(text="Tea")

@pytest.fixture
def forgets_later():
    yield
    expect(SCREEN).to_have_node

@pytest.fixture
def skips():
    expect(SCREEN)
    pytest.skip("the rest")

@pytest.fixture
def screen():
    return expect(SCREEN)

@pytest.fixture
def checks_later():
    begun = expect(SCREEN)
    yield
    begun.to_have_node(text="Tea")

@pytest.fixture
def breaks():
    expect(SCREEN)
    raise RuntimeError("broken")

def test_setup(forgets): pass
def test_teardown(forgets_later): pass
def test_skipped_in_setup(skips): pass
def test_broken(breaks): pass
def test_checked(screen, checks_later): screen.to_have_node(text="Tea")

def test_skip():
    expect(SCREEN).to_have_node
    pytest.skip("the rest")

def test_xfail():
    expect(SCREEN)
    pytest.xfail("the rest")

def test_twice():
    screen = expect(SCREEN)
    screen.to_have_node(text="Tea")
    screen.to_be_in_app

def test_skip_of_unittest():
    expect(SCREEN)
    raise unittest.SkipTest("the rest")

def test_honest_skip(screen):
    expect(SCREEN).to_have_node(text="Tea")
    pytest.skip("the rest")

def test_ended_before(screen):
    assert 1 == 2
    screen.to_have_node(text="Tea")
""",
    )

    result.assert_outcomes(passed=3, failed=5, errors=4, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "ERROR test_it.py::test_setup - *nothing was expected*",
            "ERROR test_it.py::test_teardown - *nothing was expected*",
            "ERROR test_it.py::test_skipped_in_setup - *nothing was expected*",
            "ERROR test_it.py::test_broken - RuntimeError: broken",
            "FAILED test_it.py::test_skip - *nothing was expected*",
            "FAILED test_it.py::test_xfail - *nothing was expected*",
            "FAILED test_it.py::test_twice - *nothing was expected*to_be_in_app*",
            "FAILED test_it.py::test_skip_of_unittest - *nothing was expected*",
        ]
    )


# Through a host that runs executions only

SUITE = """
import pytest
from pytest_clawperator import expect

PACKAGE = "com.android.settings"

@pytest.fixture
def quiet(clawperator):
    clawperator.device.airplane_mode = True

def test_execution(clawperator):
    clawperator.open_app(PACKAGE)

def test_shell(clawperator):
    clawperator.device.shell("id")

def test_fixture(clawperator, quiet):
    raise AssertionError("the test was not skipped")

@pytest.mark.claw_app(PACKAGE, clear=True)
def test_clear(clawperator):
    raise AssertionError("the test was not skipped")

@pytest.mark.claw_app("com.example.absent")
def test_absent(clawperator):
    raise AssertionError("the test was not skipped")

def test_log(clawperator):
    ran = clawperator.execute([{"id": "nap", "type": "sleep", "params": {"durationMs": 0}}])
    assert not any("password" in entry.message for entry in ran.log)

def test_transport(clawperator_transport):
    raise AssertionError("the test was not skipped")

def test_checkpoint(clawperator_checkpoint):
    clawperator_checkpoint("ready", build=lambda claw: None)

def test_soft(clawperator):
    expect.soft(clawperator).to_be_in_app("com.example.nowhere", timeout=0)
    clawperator.device.shell("id")

@pytest.fixture
def cleaning(clawperator):
    yield
    clawperator.device.shell("id")

def test_teardown(cleaning): pass
"""


@pytest.fixture
def device(simulator: Simulator) -> Iterator[str]:
    """Run a host that offers what the published program does, and return its device."""
    with executions_only(simulator) as host:
        yield f"--claw-device={host.url}/{simulator.serials[0]}"


def test_what_needs_adb_is_skipped_by_name(run_plain: Run, device: str) -> None:
    """Executions run; a soft failure is not hidden by a skip, and a teardown is not skipped."""
    result = run_plain(device, suite=SUITE)

    result.assert_outcomes(passed=2, skipped=7, failed=1, errors=1)
    for reason in (
        "*test_it.py:13: device.shell is not possible here: http://* runs executions and nothing"
        " else",
        "*device.airplane_mode is not possible here: http://*",
        "*claw_app('com.android.settings'): device.clear_data is not possible here: http://*",
        "*claw_app('com.example.absent'): it is not installed on *",
        "*the log of an execution is not here: the other host keeps the device's log to itself",
        "*clawperator_transport: the device behind http://* cannot be reached directly",
        "*a device behind a url has no checkpoints",
    ):
        result.stdout.fnmatch_lines([f"SKIPPED {reason}"])


def test_with_strict_nothing_is_skipped(run_plain: Run, device: str) -> None:
    """A run that must be complete fails where it cannot be."""
    result = run_plain(device, "--claw-strict", suite=SUITE)

    result.assert_outcomes(passed=2, failed=4, errors=5)
