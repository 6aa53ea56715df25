"""The first files of a project, and that they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_clawperator.cli.commands.first_project import FILES
from tests.cli.conftest import Cli

TOP = Path(__file__).parent.parent.parent.parent
PLUGINS = ["-p", "pytest_clawperator.plugin", "-p", "tests.doubles.quick_phones"]


def test_a_new_project_runs_green_on_simulated_phones(cli: Cli, tmp_path: Path) -> None:
    """What was written is all that is needed."""
    printed = cli("init", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TOP), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert printed.json["written"] == list(FILES)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_file_that_is_there_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    """A second call changes nothing, and neither does the first one to what it finds."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    first = cli("init", str(tmp_path))
    again = cli("init", str(tmp_path), "--output", "pretty")

    assert first.json["left"] == ["pytest.ini"]
    assert (tmp_path / "pytest.ini").read_text() == "[pytest]\n"
    assert again.out.count("was left as it is") == len(FILES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", "[project]\nname = 'x'\n[tool.pytest.ini_options]\n"),
        ("setup.cfg", "[tool:pytest]\n"),
        ("tox.ini", "[tox]\n[pytest]\n"),
    ],
)
def test_a_configured_project_gets_no_second_configuration(
    name: str, content: str, cli: Cli, tmp_path: Path
) -> None:
    """Pytest would ignore the old one; what to add to it is told."""
    (tmp_path / name).write_text(content)

    printed = cli("init", str(tmp_path), "--output", "pretty")

    assert not (tmp_path / "pytest.ini").exists()
    assert f"Add this to {name}" in printed.out


def test_the_ci_file_is_one(cli: Cli, tmp_path: Path) -> None:
    """It is YAML that runs the tests on simulated phones."""
    cli("init", str(tmp_path))

    job = yaml.safe_load((tmp_path / ".github/workflows/ui-tests.yml").read_text())
    runs = [step.get("run", "") for step in job["jobs"]["simulated"]["steps"]]
    assert any("pytest -n auto --claw-device sim" in run for run in runs)


def test_a_folder_that_cannot_be_written_is_told(cli: Cli, tmp_path: Path) -> None:
    """A file in the way of a folder is an error with a code."""
    (tmp_path / "tests").write_text("")

    assert cli("init", str(tmp_path)).json["code"] == "FILE_UNAVAILABLE"
