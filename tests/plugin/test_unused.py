"""In a project that does not use it, the plugin is neither seen nor paid for."""

from __future__ import annotations

import pytest

HEAVY = ("pydantic", "pydantic_core", "lxml", "adbutils", "yaml", "PIL", "filelock")


def test_plain_project(pytester: pytest.Pytester) -> None:
    """A plain suite runs strictly, with warnings as errors, and loads nothing heavy."""
    pytester.makepyfile(
        f"""
        import sys

        def test_light(request):
            assert request.config.pluginmanager.hasplugin("pytest_clawperator.plugin")
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    )

    result = pytester.runpytest_subprocess("-W", "error", "--strict-markers", "--strict-config")

    result.assert_outcomes(passed=1)
    assert "claw" not in result.stdout.str().replace("plugins: ", "").split("collected")[-1]


def test_can_be_switched_off(pytester: pytest.Pytester) -> None:
    """The entry point is named after its module, so ``-p no:`` reaches it."""
    pytester.makepyfile(
        """
        def test_absent(request):
            assert not request.config.pluginmanager.hasplugin("pytest_clawperator.plugin")
        """
    )

    result = pytester.runpytest_subprocess("-p", "no:pytest_clawperator.plugin")

    result.assert_outcomes(passed=1)
