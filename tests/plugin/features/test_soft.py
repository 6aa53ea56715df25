"""``expect.soft`` under pytest: a phase fails at its end, with everything."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

PRELUDE = """
    import unittest

    import pytest

    from pytest_clawperator.assertions.expect import expect
    from pytest_clawperator.snapshot.tree import Snapshot

    SCREEN = Snapshot.from_xml(
        '<hierarchy><node class="android.widget.FrameLayout" bounds="[0,0][100,100]">'
        '<node text="Tea" class="android.widget.TextView" bounds="[0,0][50,50]"/>'
        "</node></hierarchy>"
    )

    def wants(text):
        expect.soft(SCREEN).to_have_node(text=text)
"""


def run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    """Run tests that know a screen."""
    pytester.makepyfile(PRELUDE + tests)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


def test_all_soft_failures_are_told_at_the_end(pytester: pytest.Pytester) -> None:
    """The test runs to its end and fails with every soft failure and its line."""
    result = run(
        pytester,
        """
    def test_soft():
        wants("Cheese")
        expect.soft(SCREEN).to_have_node(text="Wine")
        print("went on")
    """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*expect.soft(SCREEN).to_have_node(text=text)",
            "E*EXPECTATION_FAILED: 2 checks failed",
            "E*1. test_all_soft_failures_are_told_at_the_end.py:*: expect.soft(SCREEN)*",
            "E*expected node(text='Cheese') to be visible, found no match",
            "E*2. test_all_soft_failures_are_told_at_the_end.py:*",
            "E*expected node(text='Wine') to be visible, found no match",
            "went on",
        ]
    )
    assert "plugin/phases.py" not in result.stdout.str()


def test_one_soft_failure_points_at_its_line(pytester: pytest.Pytester) -> None:
    """A single failure looks as if it had been raised in the test."""
    result = run(
        pytester,
        """
    def test_soft():
        expect.soft(SCREEN).to_have_node(text="Wine")
        x = 1
    """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['>*expect.soft(SCREEN).to_have_node(text="Wine")', "E*Wine*"])


def test_soft_failures_stand_beside_a_hard_one(pytester: pytest.Pytester) -> None:
    """A failure that ends the test is shown as ever, and the soft ones below it."""
    result = run(
        pytester,
        """
    def test_both():
        wants("Cheese")
        assert 1 == 2
    """,
        "--show-capture=no",
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [">*assert 1 == 2", "*- soft checks that failed before -*", "*Cheese*"]
    )


def test_unittest_cases_too(pytester: pytest.Pytester) -> None:
    """In a TestCase soft failures count alone and beside a hard one."""
    result = run(
        pytester,
        """
    class TestCase(unittest.TestCase):
        def test_soft(self):
            wants("Cheese")

        def test_both(self):
            wants("Wine")
            self.fail("hard")
    """,
    )

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*expected node(text='Cheese')*"])
    result.stdout.fnmatch_lines(["E*hard", "*checks that failed before*", "*node(text='Wine')*"])


def test_each_phase_fails_for_itself(pytester: pytest.Pytester) -> None:
    """What failed in setup or teardown is an error there, and not of the test."""
    result = run(
        pytester,
        """
    @pytest.fixture
    def before():
        wants("Cheese")

    @pytest.fixture
    def after():
        yield
        wants("Wine")

    def test_before(before):
        raise RuntimeError("never runs")

    def test_after(after):
        wants("Tea")

    def test_untouched():
        wants("Tea")
    """,
    )

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_before*",
            "*Cheese*",
            "*ERROR at teardown of test_after*",
            "*Wine*",
        ]
    )
    assert "never runs" not in result.stdout.str().split("short test summary")[-1]


def test_skipping_does_not_hide_a_failure(pytester: pytest.Pytester) -> None:
    """A test that skips after a soft failure has failed; an expected failure is expected."""
    result = run(
        pytester,
        """
    def test_skip():
        wants("Cheese")
        pytest.skip("the rest")

    @pytest.mark.xfail(strict=True)
    def test_xfail():
        wants("Cheese")
    """,
    )

    result.assert_outcomes(failed=1, xfailed=1)


def test_soft_failures_cross_processes(pytester: pytest.Pytester, run_workers: Run) -> None:
    """The failures of a worker arrive whole, also beside a hard one."""
    pytester.makepyfile(
        PRELUDE
        + """
    def test_soft():
        wants("Cheese")
        wants("Wine")

    def test_both():
        wants("Bread")
        assert 1 == 2
    """
    )

    result = run_workers("-n", "1")

    result.assert_outcomes(failed=2)
    for text in ("Cheese", "Wine", "Bread"):
        result.stdout.fnmatch_lines([f"*expected node(text='{text}')*"])


def test_settings_end_with_the_test(pytester: pytest.Pytester) -> None:
    """What a test sets on expect does not reach the next one."""
    result = run(
        pytester,
        """
    def test_one():
        expect.set_timeout(99)

    def test_two():
        assert expect.settings.timeout is None
    """,
    )

    result.assert_outcomes(passed=2)


def test_xfail_does_not_hide_a_soft_failure(pytester: pytest.Pytester) -> None:
    """What failed softly before counts for more than pytest.xfail()."""
    result = run(
        pytester,
        """
    def test_soft():
        wants("Cheese")
        pytest.xfail("the rest is known")
    """,
    )

    result.assert_outcomes(failed=1)


def test_an_expectation_without_a_check_fails_the_test(pytester: pytest.Pytester) -> None:
    """Nothing would be expected, so the test fails in the line that forgot it."""
    result = run(
        pytester,
        """
    def test_forgotten():
        expect(SCREEN).to_have_node

    def test_whole():
        expect(SCREEN).to_have_node(text="Tea")
    """,
    )

    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            ">       expect(SCREEN).to_have_node",
            "E *CONFIGURATION_INVALID: nothing was expected: *: expect(SCREEN).to_have_node",
            "E *hint: expect(...) alone checks nothing. *",
        ]
    )


def test_another_failure_of_the_test_counts_for_more(pytester: pytest.Pytester) -> None:
    """A test that fails before its check is reached fails for its own reason."""
    result = run(
        pytester,
        """
    def test_broken():
        begun = expect(SCREEN)
        assert 1 == 2
        begun.to_have_node(text="Tea")
    """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*nothing was expected*")
