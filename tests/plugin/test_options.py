"""The table of options: each has a help text, an ini twin and a field of the settings."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.plugin.settings import Settings
from tests.plugin.conftest import Run


def test_help(run_plain: Run) -> None:
    """`--help` lists every option and its ini twin, in a group of their own."""
    result = run_plain("--help")

    text = result.stdout.str()
    assert "Android devices (pytest-clawperator):" in text
    for option in OPTIONS:
        assert f"  {option.flag}" in text
        assert f"  {option.dest} (" in text


def test_settings() -> None:
    """Every option is a field of the settings, and every field an option."""
    names = {option.field for option in OPTIONS}

    assert names == {field.name for field in fields(Settings)}


def test_native_toml(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The ini twins can be written as TOML, where pytest reads that."""
    if pytest.version_tuple < (9, 0):
        pytest.skip("pytest reads native TOML from 9.0 on")
    pytester.makepyfile(
        """
        def test_it(clawperator_settings):
            assert clawperator_settings.timeout == 2.5
            assert [str(spec) for spec in clawperator_settings.device] == ["A", "B"]
            assert clawperator_settings.strict
        """
    )
    pytester.makepyprojecttoml(
        """
        [tool.pytest]
        claw_timeout = "2.5"
        claw_device = ["A", "B"]
        claw_strict = true
        """
    )

    result = run_plain()

    result.assert_outcomes(passed=1)


def test_a_number_in_native_toml(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A value of the wrong type ends the run with the option's name."""
    if pytest.version_tuple < (9, 0):
        pytest.skip("pytest reads native TOML from 9.0 on")
    pytester.makepyfile("def test_it(): pass")
    pytester.makepyprojecttoml("[tool.pytest]\nclaw_device = 3\n")

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the ini option claw_device: *"])
