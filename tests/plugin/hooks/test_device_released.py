"""``pytest_clawperator_device_released``: what is done once a device was used."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


@pytest.mark.parametrize("passes", [True, False])
def test_once_after_the_tests(pytester: pytest.Pytester, run: Run, passes: bool) -> None:
    """The hook is told the device and whether a test failed, once, after the last test."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_released(device, failed):
            print("released", device.model, failed)
        """
    )
    pytester.makepyfile(
        f"""
        def test_first(clawperator):
            assert {passes}

        def test_last(clawperator):
            print("last test")
        """
    )

    result = run("-s")

    result.stdout.fnmatch_lines(["*last test*", f"*released Pixel 9 {not passes}"])
    assert result.stdout.str().count("released") == 1


def test_an_error_in_the_hook_is_one_of_the_last_test(pytester: pytest.Pytester, run: Run) -> None:
    """What goes wrong there is an error of the last test, and nothing stays open."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_released(device, failed):
            raise RuntimeError("the shelf is full")
        """
    )
    pytester.makepyfile("def test_last(clawperator): pass")

    result = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_last*", "E *the shelf is full"])
