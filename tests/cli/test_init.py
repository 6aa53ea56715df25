"""The first files of a project, and that they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import TOP, Cli

FILES = ["tests/test_first.py", "tests/conftest.py", "pytest.ini", ".github/workflows/ui-tests.yml"]

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


def test_a_new_project_runs_green_on_simulated_phones(offline: Cli, tmp_path: Path) -> None:
    """What was written is all that is needed, is tidy, and stays on a second call."""
    printed = offline("init", str(tmp_path))
    done = run_in(tmp_path, "pytest", "-q", "--strict-markers", "--strict-config")
    rules = ["--select", "A,ANN,B,C4,D,E,F,I,N,PT,RUF,SIM,UP,W", "--ignore", "D203,D213"]
    tidy = run_in(tmp_path, "ruff", "check", "--isolated", "--no-cache", *rules, ".")
    again = offline("init", str(tmp_path)).json

    assert printed.json["written"] == FILES
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert tidy.returncode == 0, tidy.stdout
    assert run_in(tmp_path, "ruff", "format", "--isolated", "--check", ".").returncode == 0
    assert (again["written"], again["toAdd"], again["left"]) == ([], {}, FILES)


def test_existing_files_are_left_alone_and_get_what_they_lack(offline: Cli, tmp_path: Path) -> None:
    """What is to be added makes the project run."""
    (tmp_path / "tests").mkdir()
    before = {
        "tests/conftest.py": "# mine\n",
        "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\n",
    }
    for path, content in before.items():
        (tmp_path / path).write_text(content)

    printed = offline("init", str(tmp_path), "--ci", "none").json

    assert (printed["written"], sorted(printed["left"])) == (FILES[:1], sorted(before))
    assert [(tmp_path / path).read_text() for path in before] == list(before.values())
    for path, content in printed["toAdd"].items():
        added = content.replace("[tool.pytest.ini_options]\n", "")
        (tmp_path / path).write_text(before[path] + added)
    planned = run_in(tmp_path, "pytest", "-q", "--setup-plan")
    assert "SETUP    F settings" in planned.stdout, planned.stdout + planned.stderr
    assert planned.returncode == 0


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
    name: str, content: str, added: str | None, offline: Cli, tmp_path: Path
) -> None:
    """Pytest would ignore one of them; what to add to the first is in its syntax."""
    (tmp_path / name).write_text(content)

    printed = offline("init", str(tmp_path), "--device", "auto").json

    assert printed["left"] == [name]
    assert printed["toAdd"].get(name) == added
    assert (tmp_path / name).read_text() == content


def test_a_file_of_another_tool_is_not_a_configuration(offline: Cli, tmp_path: Path) -> None:
    """Without a section for pytest it does not configure pytest; links are not followed."""
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "pytest.ini").symlink_to(tmp_path / "elsewhere")

    printed = offline("init", str(tmp_path), "--device", "sim:2").json
    linked = offline("init", str(tmp_path / "link")).json

    assert (printed["written"], printed["left"]) == (FILES, [])
    assert "\nclaw_device = sim:2\n" in (tmp_path / "pytest.ini").read_text()
    assert linked["left"] == ["pytest.ini"]
    assert not (tmp_path / "elsewhere").exists()


def test_a_dry_run_writes_nothing(offline: Cli, tmp_path: Path) -> None:
    """It lists what would be written; not even the folder is made."""
    place = tmp_path / "new"
    printed = offline("init", str(place), "--dry-run").json
    shown = offline("init", str(place), "--dry-run", "--output", "pretty")

    assert (printed["written"], printed["dryRun"]) == (FILES, True)
    assert shown.out.count("would write") == len(FILES)
    assert not place.exists()


def test_people_read_what_was_left_and_what_comes_next(offline: Cli, tmp_path: Path) -> None:
    """What is to be added is there to be copied."""
    (tmp_path / ".gitlab-ci.yml").write_text("stages: [test]\n")

    printed = offline("init", str(tmp_path), "--ci", "gitlab", "--output", "pretty")

    for text in (
        "✓ wrote tests/test_first.py",
        "! left .gitlab-ci.yml as it is",
        "Add to .gitlab-ci.yml by hand:",
        "    ui-tests:",
        f"cd {tmp_path} && pytest",
    ):
        assert text in printed.out


@pytest.mark.parametrize(("ci", "path"), [("github", FILES[-1]), ("gitlab", ".gitlab-ci.yml")])
def test_the_ci_file_runs_the_tests_on_simulated_phones(
    ci: str, path: str, offline: Cli, tmp_path: Path
) -> None:
    """Whatever the tests use elsewhere: a CI machine has no phone."""
    offline("init", str(tmp_path), "--ci", ci, "--device", "auto")

    content = (tmp_path / path).read_text()
    assert yaml.safe_load(content)
    assert "pytest -n auto --claw-device sim --junitxml=report.xml" in content
    assert "claw-results/" in content


def test_a_failure_leaves_nothing_behind(offline: Cli, tmp_path: Path) -> None:
    """Wrong options are refused first; what was written before a failure is removed."""
    place = str(tmp_path)
    for argv, code in (
        (["--device", "SIM"], "CONFIGURATION_INVALID"),
        (["--device", "a\nb"], "CONFIGURATION_INVALID"),
        (["--ci", "jenkins"], "USAGE"),
    ):
        assert offline("init", place, *argv).error == (1, code)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".github").write_text("in the way")

    assert offline("init", place).error == (1, "FILE_UNAVAILABLE")
    assert files_in(tmp_path) == [".github"]
    assert not (tmp_path / "tests").exists()
