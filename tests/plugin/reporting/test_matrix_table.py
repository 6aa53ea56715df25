"""The table at the end of a run with a matrix."""

from __future__ import annotations

import re

import pytest

from pytest_clawperator.plugin.matrix import without_class
from tests.plugin.conftest import Run

# What a matrix makes of tests, without devices: one of each class, whose reports say which.
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

KNOWN_CLASSES = """
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.plugin.stash import DEVICE_CLASSES

def pytest_configure(config):
    labels = config.getini("classes")
    config.stash[DEVICE_CLASSES] = tuple(DeviceClass(label, Requirements()) for label in labels)
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Give a suite that runs each test in three classes."""
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nclasses = api33 api35 tablet")
    return pytester


def table(suite: pytest.Pytester, *options: str) -> list[str]:
    """Run the suite, and give the lines of the table."""
    result = suite.runpytest_inprocess("-p", "no:cacheprovider", *options)
    found = re.search(r"=+ matrix =+\n(.*?)\n(?:=|\n)", result.stdout.str(), re.DOTALL)
    return re.sub(r"\d+\.\ds", "0.0s", found[1]).splitlines() if found else []


def test_tests_that_differ_come_first(suite: pytest.Pytester) -> None:
    """Tests that did not end alike come first, those with failures on top; then the totals."""
    suite.makepyfile(
        test_shop="""
        import pytest

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
    )

    lines = table(suite)

    assert lines == [
        "5 tests, 3 not alike on all 3 classes of devices:",
        "  api33    api35  tablet",
        " failed   passed  passed  test_shop.py::test_worse[bob]",
        " passed   passed   error  test_shop.py::test_worst",
        " passed  skipped  passed  test_shop.py::test_odd",
        "api33   3 passed, 2 failed in 0.0s",
        "api35   3 passed, 1 failed, 1 skipped in 0.0s",
        "tablet  3 passed, 1 failed, 1 error in 0.0s",
    ]


def test_columns_that_do_not_fit_have_numbers(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the names of the classes do not fit, columns have numbers, and totals say whose."""
    monkeypatch.setenv("COLUMNS", "80")
    labels = [f"api{level}-{form}" for level in (33, 34, 35) for form in ("phone", "tablet")]
    suite.makeini(f"[pytest]\nclasses = {' '.join(labels)}")
    suite.makepyfile(test_shop="def test_it(on): assert on != 'api34-phone'")

    lines = table(suite)

    assert lines[1:5] == [
        " 1  2  3  4  5  6",
        " .  .  F  .  .  .  test_shop.py::test_it",
        " 1  api33-phone   1 passed in 0.0s",
        " 2  api33-tablet  1 passed in 0.0s",
    ]
    assert max(map(len, lines)) <= 80


def test_of_many_differences_thirty_are_shown(suite: pytest.Pytester) -> None:
    """Of many differences the first thirty are shown."""
    suite.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(35))
        def test_it(on, number): assert on != "api33"
        """
    )

    lines = table(suite)

    assert len([line for line in lines if "::test_it[" in line]) == 30
    assert "... and 5 more (-v shows them)" in lines


def test_a_verbose_run_shows_every_test(suite: pytest.Pytester) -> None:
    """``-v`` shows every test, with the differences on top."""
    suite.makepyfile(
        test_it="""
        def test_alike(on): pass
        def test_odd(on): assert on != "api33"
        """
    )

    lines = table(suite, "-v")

    assert [line.split()[-1] for line in lines[2:4]] == [
        "test_it.py::test_odd",
        "test_it.py::test_alike",
    ]


def test_without_a_difference_there_are_only_totals(suite: pytest.Pytester) -> None:
    """Without a difference there are only the totals."""
    suite.makepyfile("def test_it(on): pass")

    lines = table(suite)

    assert lines == [
        "1 test, alike on all 3 classes of devices",
        "api33   1 passed in 0.0s",
        "api35   1 passed in 0.0s",
        "tablet  1 passed in 0.0s",
    ]


def test_class_without_devices(suite: pytest.Pytester) -> None:
    """A class in which no test could begin is told as such, and differs from none."""
    suite.makepyfile(
        """
        import pytest

        @pytest.fixture
        def ready(on):
            if on == "api35": pytest.skip("no device")
            assert on != "tablet", "no device (--claw-strict)"
        def test_it(ready): pass
        """
    )

    lines = table(suite)

    assert lines == [
        "1 test, 1 class of devices: nothing to compare",
        "api33   1 passed in 0.0s",
        "api35   1 skipped in 0.0s (no test could begin)",
        "tablet  1 error in 0.0s (no test could begin)",
    ]


def test_a_test_that_fails_in_teardown_counts_once(suite: pytest.Pytester) -> None:
    """A test that passes and cannot be cleaned up counts once, as an error."""
    suite.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture
        def ready(on):
            yield
            assert on != "tablet"
        def test_it(ready): pass
        """
    )

    lines = table(suite)

    assert lines[2] == " passed  passed   error  test_it.py::test_it"
    assert lines[-1] == "tablet  1 error in 0.0s"


def test_a_rerun_test_counts_as_it_ended(suite: pytest.Pytester) -> None:
    """A test that is run again counts as it ended."""
    suite.makepyfile(
        """
        FAILED = []
        def test_it(on):
            FAILED.append(on)
            assert FAILED.count(on) > 1
        """
    )

    lines = table(suite, "-p", "rerunfailures", "--reruns", "1")

    assert lines[0] == "1 test, alike on all 3 classes of devices"


def test_some_not_run(suite: pytest.Pytester) -> None:
    """A test that did not run in a class is no difference, and has an empty place."""
    suite.makepyfile(
        test_it="""
        def test_a(on): assert on != "api35"
        def test_b(on): pass
        """
    )

    lines = table(suite, "-k", "test_a and not tablet or test_b")

    assert lines[:3] == [
        "2 tests, 1 not alike on all 3 classes of devices:",
        "  api33   api35  tablet",
        " passed  failed       -  test_it.py::test_a",
    ]


def test_reports_of_workers_are_counted(suite: pytest.Pytester, run_workers: Run) -> None:
    """Reports of workers count, and so does a test over which its worker died."""
    suite.makeconftest(f"{CONFTEST}\n{KNOWN_CLASSES}")
    suite.makepyfile(
        test_it="""
        import os

        def test_it(on):
            if on == "tablet": os._exit(1)
        """
    )

    result = run_workers("-n", "1")

    result.stdout.fnmatch_lines(
        [
            "*= matrix =*",
            "  api33   api35  tablet",
            " passed  passed  failed  test_it.py::test_it",
            "tablet  1 failed in 0.0s",
        ]
    )


@pytest.mark.parametrize("options", [["-q"], ["-k", "plain"]])
def test_a_quiet_run_has_no_table(suite: pytest.Pytester, options: list[str]) -> None:
    """There is no table with ``-q``, nor for tests without classes."""
    suite.makepyfile("def test_it(on): pass\ndef test_plain(): pass")

    assert table(suite, *options) == []


@pytest.mark.parametrize(
    ("nodeid", "expected"),
    [
        ("a.py::test_it[api35]", "a.py::test_it"),
        ("a.py::test_it[api35-bob]", "a.py::test_it[bob]"),
        ("a.py::test_it[bob-api35]", "a.py::test_it[bob]"),
        ("a.py::test_it[a-api35-b]", "a.py::test_it[a-b]"),
        ("a.py::test_it[api35x]", "a.py::test_it[api35x]"),
        ("api35.py::test_it", "api35.py::test_it"),
    ],
)
def test_an_id_without_its_class_is_the_same_in_all(nodeid: str, expected: str) -> None:
    """Ids without their class are the same in all classes."""
    assert without_class(nodeid, "api35") == expected
