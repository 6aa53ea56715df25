"""``claw_device``: a test runs only on a device that meets its requirements."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_met_and_unmet(pytester: pytest.Pytester, run: Run) -> None:
    """On a device that will do the test runs; on another it is skipped with the reasons."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_device(api=">=30,<99", form="phone", emulator=False, model="pixel *")
        def test_met(clawperator):
            pass

        @pytest.mark.claw_device(form="tablet", abi="x86")
        def test_unmet(clawperator):
            raise AssertionError
        """
    )

    result = run("--strict-markers")

    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "SKIPPED*claw_device: abi='x86' is required, the device has 'arm64-v8a';"
            " form='tablet' is required, the device has 'phone': *(Google Pixel 9, API 36)"
        ]
    )


def test_all_markers_count(pytester: pytest.Pytester, run: Run) -> None:
    """What a class or a module requires holds for its tests, beside their own requirements."""
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.claw_device(api=36)

        @pytest.mark.claw_device(emulator=True)
        class TestEmulator:
            @pytest.mark.claw_device(form="phone")
            def test_it(self, clawperator):
                raise AssertionError
        """
    )

    result = run()

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*emulator=True is required, the device has False*"])


def test_before_other_fixtures(pytester: pytest.Pytester, run: Run) -> None:
    """A test that does not fit is skipped before its own fixtures do anything."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def logged_in(clawperator_client):
            raise AssertionError

        @pytest.mark.claw_device(api=1)
        def test_it(logged_in):
            raise AssertionError

        @pytest.mark.claw_device(api=1)
        def test_without_fixture():
            raise AssertionError
        """
    )

    result = run()

    result.assert_outcomes(skipped=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("apy=33", "unknown requirement apy. Allowed: api=a level *; abi=*; form='phone'*"),
        ("api='new'", "api='new' is not a requirement *. Allowed: a level or comparisons,*"),
        ("api=True", "api=True is not a requirement*"),
        ("form='watch'", "form='watch' is not a requirement *. Allowed: 'phone' or 'tablet'."),
        ("emulator='no'", "emulator='no' is not a requirement *. Allowed: True or False."),
        ("model=''", "model='' is not a requirement *. Allowed: a text*"),
        ("api='>=36,<30'", "api='>=36,<30' is not a requirement *. Allowed: a level or compar*"),
        ("", "it requires nothing. Allowed: api=a level *; abi=*; form='phone' or*"),
        ("33", "it is written claw_device(api=*, manufacturer=None)"),
    ],
)
def test_an_impossible_requirement_ends_the_run(
    pytester: pytest.Pytester, run: Run, given: str, said: str
) -> None:
    """What cannot be required ends the run with the test, what was found and what is allowed."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_device({given})\ndef test_it(): pass\n"
    )

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_device({given}): {said}"])


def test_nonsense_in_a_worker(pytester: pytest.Pytester, run_workers: Run, adb: str) -> None:
    """With workers, which cannot refuse the run, the test itself fails with the same words."""
    pytester.makepyfile(
        test_it="import pytest\n\n@pytest.mark.claw_device(form='watch')\ndef test_it(): pass\n"
    )

    result = run_workers("-n", "1", "--claw-adb", adb)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["test_it.py::test_it: claw_device(form='watch'): *'tablet'."])
