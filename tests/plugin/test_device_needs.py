"""Tests that no device of the run fits: skipped, or failed with ``--claw-strict``."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

SUITE = """
import pytest

@pytest.mark.claw_device(api=">=99")
@pytest.mark.parametrize("number", range(5))
def test_device(clawperator, number): pass

@pytest.mark.claw_device(api=">=30")
def test_it(clawperator): pass
"""
UP_FRONT = "no device of this run fits 5 tests (claw_device: api='>=99' is required, the device has"


def test_a_strict_run_fails_them_with_one_error(pytester: pytest.Pytester, run: Run) -> None:
    """They are listed before the first test, fail with the reason, and count as one error."""
    pytester.makepyfile(test_it=SUITE)

    result = run("--claw-strict", "--junit-xml=junit.xml", "-rE")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: ERROR: {UP_FRONT} 36): test_it.py::test_device[[]0[]], * and 2 more",
            "test_it.py EEEEE.*",
            "claw_device: api='>=99' is required, the device has 36: *(--claw-strict; *",
            "test_it.py::test_device[[]0[]] and 4 more: claw_device: api='>=99' is required, *",
            "ERROR test_it.py::test_device[[]0[]] - *",
            "*1 passed, 1 error, 4 same error in *",
        ]
    )
    assert result.stdout.str().count("ERROR at setup") == 1
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert junit.count("<error ") == 5


@pytest.mark.parametrize("quiet", [[], ["-q"]], ids=["", "quiet"])
def test_otherwise_they_are_skipped_and_listed_again_at_the_end(
    pytester: pytest.Pytester, run: Run, quiet: list[str]
) -> None:
    """A quiet run lists them only there."""
    pytester.makepyfile(test_it=SUITE)

    result = run(*quiet)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, skipped=5)
    at_first = [] if quiet else [f"clawperator: {UP_FRONT} 36): *", "test_it.py sssss.*"]
    result.stdout.fnmatch_lines(
        [
            *at_first,
            "*= no device fits =*",
            f"{UP_FRONT} 36): *",
            "These tests were skipped; --claw-strict makes it an error, *",
            "SKIPPED*claw_device: api='>=99' is required, the device has 36: *",
        ]
    )
    assert result.stdout.str().count("no device of this run fits") == (1 if quiet else 2)


def test_a_device_that_fits_every_test_is_not_mentioned(
    pytester: pytest.Pytester, run: Run
) -> None:
    """Even if the run is strict."""
    pytester.makepyfile(test_it=SUITE)

    result = run("--claw-strict", "test_it.py::test_it")

    result.assert_outcomes(passed=1)
    assert "no device" not in result.stdout.str()
