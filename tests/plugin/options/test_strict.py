"""``--claw-strict``: tests that no device of the run fits fail instead of being skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.plugin.settings import is_ci
from pytest_clawperator.simulator import Simulator
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


@pytest.fixture(scope="module")
def two_levels() -> Iterator[list[str]]:
    """Start a phone of API 33 and one of API 36, and return the options that name both."""
    with (
        Simulator(seed=8, api=33, time_scale=0.05) as older,
        Simulator(seed=9, time_scale=0.05) as newer,
    ):
        servers = [f"--claw-adb={one.adb_host}:{one.adb_port}" for one in (older, newer)]
        yield ["--claw-device=auto", *servers]


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


def test_a_quiet_run_is_loud_about_it(pytester: pytest.Pytester, run: Run) -> None:
    """Also ``-q`` says at its end which tests no device fits."""
    pytester.makepyfile(test_it=SUITE)

    result = run("-q")

    result.assert_outcomes(passed=1, skipped=5)
    result.stdout.fnmatch_lines(["*= no device fits =*", f"{UP_FRONT} 36): *"])
    assert result.stdout.str().count("no device of this run fits") == 1


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("dist", ["load", "loadfile"])
def test_workers_tell_it_once_for_all_devices(
    pytester: pytest.Pytester, run_workers: Run, two_levels: list[str], strict: bool, dist: str
) -> None:
    """With workers it is told once, with what each device lacks; the exit code is as without."""
    pytester.makepyfile(test_it=SUITE)
    options = ["--claw-strict"] if strict else []

    result = run_workers("-n", "2", "--dist", dist, *two_levels, *options)

    text = result.stdout.str()
    told = f"{UP_FRONT} 3*; api='>=99' is required, the device has 3*): test_it.py::test_device*"
    if strict:
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"clawperator: ERROR: {told}"])
        assert result.parseoutcomes()["passed"] == 1
        assert text.count("no device of this run fits") == 1
    else:
        assert result.ret == pytest.ExitCode.OK
        result.assert_outcomes(passed=1, skipped=5)
        result.stdout.fnmatch_lines([f"clawperator: {told}", "*= no device fits =*", told])
        assert text.count("no device of this run fits") == 2


MATRIX_SUITE = """
import pytest

@pytest.mark.claw_device(api=33)
def test_old(clawperator): pass

@pytest.mark.claw_device(form="tablet")
def test_big(clawperator): pass

def test_it(clawperator): pass
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_matrix_is_strict_about_what_no_class_fits(
    pytester: pytest.Pytester, run_workers: Run, two_levels: list[str], workers: list[str]
) -> None:
    """In classes that its markers exclude a test is skipped; only what none fits is an error."""
    pytester.makepyfile(test_it=MATRIX_SUITE)

    result = run_workers(*workers, "--claw-matrix=api=33,36", *two_levels, "--claw-strict")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, skipped=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: ERROR: no device of this run fits 2 tests (claw_device: form='tablet'"
            " is required, the device has 'phone'): *test_big*test_big*",
            "SKIPPED*claw_device: api=33 is required, the device has 36: *",
        ]
    )
    assert result.stdout.str().count("no device of this run fits") == 1


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_class_without_devices_is_one_error(
    pytester: pytest.Pytester, run_workers: Run, two_levels: list[str], workers: list[str]
) -> None:
    """The tests of a class without a device share an error, and the other classes run."""
    pytester.makepyfile(test_it="def test_it(clawperator): pass\ndef test_too(clawperator): pass\n")

    result = run_workers(*workers, "--claw-matrix=api=33,36,40", *two_levels, "--claw-strict")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: ERROR: no device of this run fits 2 tests (--claw-matrix: no device is"
            " api40): test_it.py::test_it[[]api40[]], test_it.py::test_too[[]api40[]]",
            "* and 1 more: --claw-matrix: no device is api40: *",
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


@pytest.mark.parametrize(
    ("value", "is_true"),
    [
        *[(one, False) for one in (None, "", "0", "false", "No", " off ")],
        *[(one, True) for one in ("1", "true", "True", "woodpecker")],
    ],
)
def test_values_of_the_variable_ci(value: str | None, is_true: bool) -> None:
    """CI counts as set unless its value says no."""
    environment = {} if value is None else {"CI": value}

    assert is_ci(environment) is is_true


def test_the_ini_twin_is_true_or_false(pytester: pytest.Pytester, run: Run) -> None:
    """The ini twin is true or false."""
    pytester.makepyfile(SUITE)
    pytester.makeini("[pytest]\nclaw_strict = maybe\n")

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the ini option claw_strict: invalid truth value 'maybe', allowed is true or false"]
    )
