"""The table at the end of a run with a matrix."""

from __future__ import annotations

import io
import re
from textwrap import dedent
from typing import Any

import pytest

from pytest_clawperator.devices.requirements import DeviceClass, Requirements
from pytest_clawperator.plugin.matrix import MatrixTable, without_class
from pytest_clawperator.plugin.stash import DEVICE_CLASSES

# What a matrix makes of tests, without devices: one of each class, whose reports name it.
CONFTEST = """
import pytest
from pytest_clawperator import expect

@pytest.fixture
def on(request):
    return request.param

def pytest_generate_tests(metafunc):
    if "on" in metafunc.fixturenames:
        classes = metafunc.config.getini("classes")
        metafunc.parametrize("on", classes, ids=classes, indirect=True, scope="session")

def pytest_addoption(parser):
    parser.addini("classes", "the labels", type="args")

def pytest_itemcollected(item):
    if "on" in item.fixturenames:
        item.user_properties.append(("clawperator_class", item.callspec.params["on"]))
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a suite that runs each test in three classes."""
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nclasses = api33 api35 tablet")
    return pytester


def table(suite: pytest.Pytester, tests: str, *options: str) -> list[str]:
    """Run the tests, and return the lines of the table."""
    suite.makepyfile(test_it=f"import pytest\n{dedent(tests)}")
    result = suite.runpytest_inprocess("-p", "no:cacheprovider", *options)
    found = re.search(r"=+ matrix =+\n(.*?)\n(?:=|\n)", result.stdout.str(), re.DOTALL)
    return re.sub(r"\d+\.\ds", "0.0s", found[1]).splitlines() if found else []


def test_tests_that_differ_come_first(suite: pytest.Pytester) -> None:
    """Tests that did not end alike come first, those with failures on top; then the totals."""
    tests = """
        def test_alike(on): pass
        def test_broken(on): assert False
        def test_odd(on):
            if on == "api35": pytest.skip("not here")
        @pytest.mark.parametrize("who", ["bob"])
        def test_worse(on, who): assert on != "api33"
        @pytest.fixture
        def ready(on): assert on != "tablet"
        def test_worst(ready): pass
    """

    assert table(suite, tests) == [
        "5 tests, 3 with different outcomes on 3 device classes:",
        "  api33    api35  tablet",
        " failed   passed  passed  test_it.py::test_worse[bob]",
        " passed   passed   error  test_it.py::test_worst",
        " passed  skipped  passed  test_it.py::test_odd",
        "api33   3 passed, 2 failed in 0.0s",
        "api35   3 passed, 1 failed, 1 skipped in 0.0s",
        "tablet  3 passed, 1 failed, 1 error in 0.0s",
    ]
    verbose = [line.split()[-1] for line in table(suite, tests, "-v")[2:7]]
    assert verbose[:3] == [f"test_it.py::test_{name}" for name in ("worse[bob]", "worst", "odd")]
    assert sorted(verbose[3:]) == ["test_it.py::test_alike", "test_it.py::test_broken"]


def test_columns_that_do_not_fit_have_numbers(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the names of the classes do not fit, columns have numbers, which the totals explain."""
    monkeypatch.setenv("COLUMNS", "80")
    labels = [f"api{level}-{form}" for level in (33, 34, 35) for form in ("phone", "tablet")]
    suite.makeini(f"[pytest]\nclasses = {' '.join(labels)}")

    lines = table(suite, "def test_it(on): assert on != 'api34-phone'")

    assert lines[1:5] == [
        " 1  2  3  4  5  6",
        " .  .  F  .  .  .  test_it.py::test_it",
        " 1  api33-phone   1 passed in 0.0s",
        " 2  api33-tablet  1 passed in 0.0s",
    ]
    assert max(map(len, lines)) <= 80


def test_of_many_differences_thirty_are_shown(suite: pytest.Pytester) -> None:
    """The rest is counted."""
    lines = table(
        suite,
        """
        @pytest.mark.parametrize("number", range(35))
        def test_it(on, number): assert on != "api33"
        """,
    )

    assert len([line for line in lines if "::test_it[" in line]) == 30
    assert "... and 5 more (-v shows them)" in lines


def test_a_class_in_which_no_test_could_begin_differs_from_none(suite: pytest.Pytester) -> None:
    """It is marked as such."""
    lines = table(
        suite,
        """
        @pytest.fixture
        def ready(on):
            if on == "api35": pytest.skip("no device")
            assert on != "tablet", "no device (--claw-strict)"
        def test_it(ready): pass
        """,
    )

    assert lines == [
        "1 test, 1 device class: nothing to compare",
        "api33   1 passed in 0.0s",
        "api35   1 skipped in 0.0s (no test could begin)",
        "tablet  1 error in 0.0s (no test could begin)",
    ]


def test_a_test_counts_once_as_it_ended(suite: pytest.Pytester) -> None:
    """As an error if it cannot be cleaned up, after reruns as the last, and only where it ran."""
    lines = table(
        suite,
        """
        FAILED = []
        def test_again(on):
            FAILED.append(on)
            assert FAILED.count(on) > 1
        @pytest.fixture
        def ready(on):
            yield
            assert on != "api35"
        def test_end(ready): pass
        """,
        *("-p", "rerunfailures", "--reruns=1", "-k", "test_again or not tablet"),
    )

    assert lines[:3] == [
        "2 tests, 1 with different outcomes on 3 device classes:",
        "  api33  api35  tablet",
        " passed  error       -  test_it.py::test_end",
    ]
    assert lines[-1] == "tablet  1 passed in 0.0s"


def test_without_a_difference_there_are_only_totals(suite: pytest.Pytester) -> None:
    """With ``-q``, and for tests without classes, there is nothing."""
    tests = "def test_it(on): pass\ndef test_plain(): pass"

    assert table(suite, tests) == [
        "1 test, alike on all 3 device classes",
        *(f"{label:6}  1 passed in 0.0s" for label in ("api33", "api35", "tablet")),
    ]
    assert table(suite, tests, "-q") == table(suite, tests, "-k", "plain") == []


def test_a_test_counts_over_which_its_worker_died(pytester: pytest.Pytester) -> None:
    """Xdist reports it without properties, for no phase; its id has the class."""
    config = pytester.parseconfigure()
    config.stash[DEVICE_CLASSES] = tuple(
        DeviceClass(label, Requirements()) for label in ("phone", "tablet")
    )
    when: Any = "???"
    place = ("a.py", 0, "")
    crashed = pytest.TestReport("a.py::test_it[tablet]", place, {}, "failed", "crashed", when)
    output, written = MatrixTable(config), io.StringIO()

    output.add(crashed)
    output.write(pytest.TerminalReporter(config, written))

    assert "tablet  1 failed in 0.0s" in written.getvalue()


def test_an_id_without_its_class_is_the_same_in_all() -> None:
    """Other parameters stay."""
    cases = {
        "a.py::test_it[api35]": "a.py::test_it",
        "a.py::test_it[api35-bob]": "a.py::test_it[bob]",
        "a.py::test_it[bob-api35]": "a.py::test_it[bob]",
        "a.py::test_it[a-api35-b]": "a.py::test_it[a-b]",
        "a.py::test_it[api35x]": "a.py::test_it[api35x]",
        "api35.py::test_it": "api35.py::test_it",
    }

    assert {nodeid: without_class(nodeid, "api35") for nodeid in cases} == cases
