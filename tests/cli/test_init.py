"""The first files of a project, and that they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Cli

TOP = Path(__file__).parents[2]

FILES = ["tests/test_first.py", "tests/conftest.py", "pytest.ini", ".github/workflows/ui-tests.yml"]

GITHUB = FILES[-1]

PLUGINS = "pytest_clawperator.plugin,tests.doubles.quick_phones"


def run_in(place: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python's in a folder, with the plugin and no other."""
    environment = {**os.environ, "PYTHONPATH": str(TOP), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", *argv],
        cwd=place,
        env={**environment, "PYTEST_PLUGINS": PLUGINS},
        capture_output=True,
        text=True,
        timeout=120,
    )


def files_in(place: Path) -> list[str]:
    """List the files in a folder and its folders."""
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())


def test_a_new_project_runs_green_on_simulated_phones(cli: Cli, tmp_path: Path) -> None:
    """What was written is all that is needed, and is as tidy as it should stay."""
    printed = cli("init", str(tmp_path))
    done = run_in(tmp_path, "pytest", "-q", "--strict-markers", "--strict-config")
    rules = ["--select", "A,ANN,B,C4,D,E,F,I,N,PT,RUF,SIM,UP,W", "--ignore", "D203,D213"]
    tidy = run_in(tmp_path, "ruff", "check", "--isolated", "--no-cache", *rules, ".")

    assert printed.json["written"] == FILES
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert tidy.returncode == 0, tidy.stdout
    assert run_in(tmp_path, "ruff", "format", "--isolated", "--check", ".").returncode == 0


def test_a_project_with_files_of_its_own_runs_after_what_is_to_be_added(
    cli: Cli, tmp_path: Path
) -> None:
    """Its conftest and its configuration are left alone, and what they lack is told."""
    (tmp_path / "tests").mkdir()
    before = {
        "tests/conftest.py": "# mine\n",
        "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\n",
    }
    for path, content in before.items():
        (tmp_path / path).write_text(content)

    printed = cli("init", str(tmp_path), "--ci", "none").json

    assert (printed["written"], sorted(printed["left"])) == (FILES[:1], sorted(before))
    assert [(tmp_path / path).read_text() for path in before] == list(before.values())
    for path, content in printed["toAdd"].items():
        added = content.replace("[tool.pytest.ini_options]\n", "")
        (tmp_path / path).write_text(before[path] + added)
    planned = run_in(tmp_path, "pytest", "-q", "--setup-plan")
    assert "SETUP    F settings" in planned.stdout, planned.stdout + planned.stderr
    assert planned.returncode == 0


def test_a_second_call_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    """All files are there, and none lacks anything."""
    cli("init", str(tmp_path), "--ci", "gitlab")
    again = cli("init", str(tmp_path), "--ci", "gitlab").json

    assert (again["written"], again["toAdd"]) == ([], {})
    assert again["left"] == [*FILES[:3], ".gitlab-ci.yml"]


@pytest.mark.parametrize(
    ("name", "content", "added"),
    [
        ("pyproject.toml", "[tool.pytest]\n", '[tool.pytest]\nclaw_device = ["auto"]'),
        ("pytest.toml", "", '[pytest]\nclaw_device = ["auto"]'),
        ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\nclaw_device = auto"),
        ("tox.ini", "[tox]\n[pytest]\n", "[pytest]\nclaw_device = auto"),
        ("pytest.ini", "", "[pytest]\nclaw_device = auto"),
        ("tox.ini", "[pytest]\nclaw_device = sim:2\n", None),
    ],
)
def test_a_configured_project_gets_no_second_configuration(
    name: str, content: str, added: str | None, cli: Cli, tmp_path: Path
) -> None:
    """Pytest would ignore one of them; what to add to the first is told in its syntax."""
    (tmp_path / name).write_text(content)

    printed = cli("init", str(tmp_path), "--device", "auto").json

    assert printed["left"] == [name]
    assert printed["toAdd"].get(name) == added
    assert (tmp_path / name).read_text() == content


def test_a_file_of_another_tool_is_no_configuration(cli: Cli, tmp_path: Path) -> None:
    """Without a section for pytest it does not configure pytest."""
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")

    printed = cli("init", str(tmp_path), "--device", "sim:2").json

    assert (printed["written"], printed["left"]) == (FILES, [])
    assert "\nclaw_device = sim:2\n" in (tmp_path / "pytest.ini").read_text()


def test_a_dry_run_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    """It tells what would be written; not even the folder is made."""
    place = tmp_path / "new"
    printed = cli("init", str(place), "--dry-run")
    shown = cli("init", str(place), "--dry-run", "--output", "pretty")

    assert printed.json["written"] == FILES
    assert printed.json["dryRun"] is True
    assert shown.out.count("would write") == len(FILES)
    assert files_in(tmp_path) == []
    assert not place.exists()


def test_people_read_what_was_left_and_what_comes_next(cli: Cli, tmp_path: Path) -> None:
    """What is to be added stands there to be copied."""
    (tmp_path / ".gitlab-ci.yml").write_text("stages: [test]\n")

    printed = cli("init", str(tmp_path), "--ci", "gitlab", "--output", "pretty")

    assert "✓ wrote tests/test_first.py" in printed.out
    assert "! left .gitlab-ci.yml as it is" in printed.out
    assert "Add to .gitlab-ci.yml by hand:" in printed.out
    assert "    ui-tests:" in printed.out
    assert f"cd {tmp_path} && pytest" in printed.out


@pytest.mark.parametrize(("ci", "path"), [("github", GITHUB), ("gitlab", ".gitlab-ci.yml")])
def test_the_ci_file_runs_the_tests_on_simulated_phones(
    ci: str, path: str, cli: Cli, tmp_path: Path
) -> None:
    """Whatever the tests use elsewhere: a CI machine has no phone."""
    cli("init", str(tmp_path), "--ci", ci, "--device", "auto")

    content = (tmp_path / path).read_text()
    assert yaml.safe_load(content)
    assert "pytest -n auto --claw-device sim --junitxml=report.xml" in content
    assert "claw-results/" in content


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--device", "SIM"], "CONFIGURATION_INVALID"),
        (["--device", "a\nb"], "CONFIGURATION_INVALID"),
        (["--ci", "jenkins"], "USAGE"),
    ],
)
def test_a_wrong_option_writes_nothing(
    argv: list[str], code: str, cli: Cli, tmp_path: Path
) -> None:
    """It is refused first."""
    printed = cli("init", str(tmp_path), *argv)

    assert (printed.code, printed.json["code"]) == (1, code)
    assert files_in(tmp_path) == []


def test_files_that_cannot_be_written_leave_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    """What was written before the one that could not be is removed again."""
    (tmp_path / ".github").write_text("in the way")

    printed = cli("init", str(tmp_path))

    assert printed.json["code"] == "FILE_UNAVAILABLE"
    assert files_in(tmp_path) == [".github"]
    assert not (tmp_path / "tests").exists()


def test_a_link_that_leads_elsewhere_is_not_followed(cli: Cli, tmp_path: Path) -> None:
    """Something of that name is there, even if it leads nowhere."""
    (tmp_path / "pytest.ini").symlink_to(tmp_path / "elsewhere")

    assert cli("init", str(tmp_path)).json["left"] == ["pytest.ini"]
    assert not (tmp_path / "elsewhere").exists()
