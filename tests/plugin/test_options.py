"""The table of options: each has a help text, an ini twin and a field of the settings."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from zipfile import ZipFile

import pytest

from pytest_clawperator.plugin.options import OPTIONS, Option
from pytest_clawperator.plugin.settings import Settings
from tests.plugin.conftest import Run


def test_help_lists_every_option_and_its_ini_twin(run_plain: Run) -> None:
    """`--help` lists every option and its ini twin, in a group of their own."""
    result = run_plain("--help")

    text = result.stdout.str()
    assert "Android devices (pytest-clawperator):" in text
    for option in OPTIONS:
        assert f"  {option.flag}" in text
        assert f"  {option.dest} (" in text


def test_every_option_is_a_field_of_the_settings() -> None:
    """Every option is a field of the settings, and every field an option."""
    names = {option.field for option in OPTIONS}

    assert names == {field.name for field in fields(Settings)}


def test_the_ini_twins_can_be_written_in_toml(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The ini twins can be written as TOML, where pytest reads that."""
    if pytest.version_tuple < (9, 0):
        pytest.skip("by design: pytest reads native TOML from 9.0 on")
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
        pytest.skip("by design: pytest reads native TOML from 9.0 on")
    pytester.makepyfile("def test_it(): pass")
    pytester.makepyprojecttoml("[tool.pytest]\nclaw_device = 3\n")

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the ini option claw_device: *"])


@pytest.mark.parametrize(
    "option", [one for one in OPTIONS if one.metavar], ids=lambda one: one.flag
)
def test_an_empty_value_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, option: Option
) -> None:
    """An empty value is no value: the run ends with what is wanted."""
    pytester.makepyfile("def test_it(): pass")

    result = run_plain(f"{option.flag}=")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: {option.flag}: found '', allowed is {option.metavar}: {option.help}"]
    )


def test_an_ini_value_taken_back(pytester: pytest.Pytester, run_plain: Run) -> None:
    """An ini value that was overridden with nothing is as if it were not there."""
    pytester.makepyfile(
        """
        def test_it(clawperator_settings):
            assert clawperator_settings.device == ()
            assert clawperator_settings.timeout == 5.0
        """
    )
    pytester.makeini("[pytest]\nclaw_device = sim\nclaw_timeout = 2\n")

    result = run_plain("-o", "claw_device=", "-o", "claw_timeout=")

    result.assert_outcomes(passed=1)


def test_a_costly_check_is_made_once(pytester: pytest.Pytester, run_workers: Run) -> None:
    """What is costly to check is checked before the workers start, and not by each of them."""
    pytester.makepyfile(
        """
        import sys

        def test_it():
            assert "pytest_clawperator.simulator.apps.load" not in sys.modules
        """
    )
    app = "package: com.example.a\nname: A\nstart: home\nscreens: {home: {title: A}}\n"
    pytester.path.joinpath("a.yaml").write_text(app, encoding="utf-8")

    result = run_workers("-n", "1", "--claw-device", "sim", "--claw-sim-app", "a.yaml")

    result.assert_outcomes(passed=1)


IDLE = "has no effect: "


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--claw-sim-profile=0.5.3"], f"--claw-sim-profile {IDLE}this run has no simulated*"),
        (["--claw-sim-time-scale=1"], f"--claw-sim-time-scale {IDLE}this run has no simulated*"),
        (
            ["--claw-sim-profile=0.5.3", "--claw-device=R58"],
            f"--claw-sim-profile {IDLE}this run has no simulated phones; add --claw-device sim*",
        ),
        (["--claw-sim-app=a.yaml"], f"--claw-sim-app {IDLE}this run has no simulated phones*"),
        (
            ["--claw-device=sim", "--claw-adb=127.0.0.1:5037"],
            f"--claw-adb {IDLE}--claw-device sim asks no adb server; name a device of it, or*",
        ),
        (
            ["--claw-device=sim:2", "--claw-device=http://lab:3000", "--claw-adb=127.0.0.1:5037"],
            f"--claw-adb {IDLE}--claw-device sim:2 and --claw-device http://lab:3000 asks no *",
        ),
        (
            ["--claw-device=http://lab:3000", "--claw-operator-apk=o.apk"],
            f"--claw-operator-apk {IDLE}behind a url it is up to that host; install it there",
        ),
    ],
)
def test_an_option_without_effect_is_refused(
    pytester: pytest.Pytester, run_plain: Run, options: list[str], said: str
) -> None:
    """What the command line asks for and the run cannot use is refused, with the reason."""
    app = "package: com.example.a\nname: A\nstart: home\nscreens: {home: {title: A}}\n"
    pytester.path.joinpath("a.yaml").write_text(app, encoding="utf-8")
    with ZipFile(pytester.path / "o.apk", "w") as apk:
        apk.writestr("AndroidManifest.xml", "")

    result = run_plain(*options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])


def test_idle_in_an_ini_file(pytester: pytest.Pytester, run_plain: Run) -> None:
    """An ini file serves several runs: what it says for others is no mistake."""
    pytester.makepyfile("def test_it(): pass")
    pytester.makeini("[pytest]\nclaw_sim_profile = 0.5.3\nclaw_adb = 127.0.0.1:5037\n")

    with_phones = run_plain("--claw-device", "sim")
    with_url = run_plain("--claw-device", "http://lab:3000")

    with_phones.assert_outcomes(passed=1)
    with_url.assert_outcomes(passed=1)


TYPED = pytest.mark.skipif(
    pytest.version_tuple < (9, 0), reason="by design: pytest 8 has no typed tables"
)
DOCUMENT = Path(__file__).parents[2] / "docs" / "options.md"


@TYPED
def test_the_typed_table_of_the_documents_is_read(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """The typed table that the documents show is read as they say."""
    blocks = DOCUMENT.read_text(encoding="utf-8").split("```toml\n")
    pytester.makepyprojecttoml(blocks[1].partition("```")[0])
    pytester.makepyfile(
        """
        def test_it(clawperator_settings):
            assert [str(one) for one in clawperator_settings.device] == [
                "R58M123", "emulator-5554"
            ]
            assert clawperator_settings.timeout == 10.0
            assert clawperator_settings.strict is True
        """
    )

    result = run_plain()

    result.assert_outcomes(passed=1)


@TYPED
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("claw_timeout = 3", 'claw_timeout: * got int: 3; in TOML it is written "SECONDS"'),
        (
            'claw_device = "sim"',
            "claw_device: * got str: 'sim'; in TOML it is written [[]\"SPEC\"]",
        ),
        ('claw_strict = "yes"', "claw_strict: * got str: 'yes', allowed is true or false"),
    ],
)
def test_a_value_of_another_type_is_refused(
    pytester: pytest.Pytester, run_plain: Run, line: str, said: str
) -> None:
    """A value of another type is refused with how it is written."""
    pytester.makepyprojecttoml(f"[tool.pytest]\n{line}\n")

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: the ini option {said}"])
