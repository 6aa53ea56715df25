"""``--claw-strict``: tests that no device of the run fits fail instead of being skipped."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

SUITE = """
import pytest

@pytest.mark.claw_device(api=">=99")
@pytest.mark.parametrize("number", range(5))
def test_device(clawperator, number):
    pass

def test_it(clawperator):
    pass
"""
UP_FRONT = "no device of this run fits 5 tests (claw_device: api='>=99' is required, the device has"


@pytest.mark.parametrize(
    ("options", "ini", "ci"),
    [
        (["--claw-strict"], "", None),
        ([], "claw_strict = true", None),
        ([], "", "true"),
        (["--claw-strict"], "claw_strict = false", "false"),
    ],
)
def test_tests_that_no_device_fits_fail_with_one_error(
    pytester: pytest.Pytester,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    ini: str,
    ci: str | None,
) -> None:
    """They are told before the first test, fail with the reason, and count as one error."""
    pytester.makepyfile(test_it=SUITE)
    pytester.makeini(f"[pytest]\n{ini}\n")
    if ci is not None:
        monkeypatch.setenv("CI", ci)

    result = run(*options, "--junit-xml=junit.xml", "-rE")

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


@pytest.mark.parametrize(
    ("options", "ini", "ci"),
    [
        ([], "", None),
        ([], "", "0"),
        (["--claw-no-strict"], "", "true"),
        (["--claw-no-strict"], "claw_strict = true", None),
        ([], "claw_strict = false", "1"),
    ],
)
def test_otherwise_they_are_skipped_and_the_summary_is_loud(
    pytester: pytest.Pytester,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    ini: str,
    ci: str | None,
) -> None:
    """Where the run is not strict they are skipped, and the end of the run says so."""
    pytester.makepyfile(test_it=SUITE)
    pytester.makeini(f"[pytest]\n{ini}\n")
    if ci is not None:
        monkeypatch.setenv("CI", ci)

    result = run(*options)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, skipped=5)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {UP_FRONT} 36): *",
            "test_it.py sssss.*",
            "*= no device fits =*",
            f"{UP_FRONT} 36): *",
            "These tests were skipped; --claw-strict makes it an error, *",
            "SKIPPED*claw_device: api='>=99' is required, the device has 36: *",
        ]
    )


def test_nothing_is_told_where_every_test_has_a_device(pytester: pytest.Pytester, run: Run) -> None:
    """Where the device fits every test, nothing is told."""
    pytester.makepyfile(
        "import pytest\n\n@pytest.mark.claw_device(api='>=30')\ndef test_it(clawperator): pass\n"
    )

    result = run("--claw-strict")

    result.assert_outcomes(passed=1)
    assert "no device" not in result.stdout.str()
