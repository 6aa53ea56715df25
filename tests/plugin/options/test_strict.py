"""``--claw-strict``: a test that cannot run on the device fails instead of being skipped."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

SUITE = """
import pytest

@pytest.mark.claw_device(api=">=99")
def test_device(clawperator):
    pass

@pytest.mark.claw_app("com.example.absent")
def test_app(clawperator):
    pass
"""


@pytest.mark.parametrize(("options", "ini"), [(["--claw-strict"], ""), ([], "claw_strict = true")])
def test_a_test_that_the_device_does_not_fit_fails(
    pytester: pytest.Pytester, run: Run, options: list[str], ini: str
) -> None:
    """Tests that the device does not fit fail with the reason."""
    pytester.makepyfile(SUITE)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run(*options)

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "claw_device: api='>=99' is required, the device has 36: *(--claw-strict)",
            "claw_app: com.example.absent is not installed on *(--claw-strict)",
        ]
    )


def test_the_ini_twin_is_true_or_false(pytester: pytest.Pytester, run: Run) -> None:
    """The ini twin is true or false."""
    pytester.makepyfile(SUITE)
    pytester.makeini("[pytest]\nclaw_strict = maybe\n")

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the ini option claw_strict: invalid truth value 'maybe', allowed is true or false"]
    )
