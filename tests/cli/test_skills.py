"""The commands about skills, as the published program answers them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli
from tests.doubles.skill_repository import RECIPE, add_skill, make_repository

ECHO, OPEN = "com.example.shop.echo", "com.example.mail.open"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a repository with a script and a recipe."""
    path = make_repository(tmp_path / "repository")
    add_skill(path, ECHO, script='printf "%s|" "$@"; echo "$CLAWPERATOR_OPERATOR_PACKAGE" >&2')
    add_skill(path, OPEN, recipe=RECIPE)
    monkeypatch.setenv("CLAWPERATOR_SKILLS_REGISTRY", str(path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return path


def test_skills_are_listed_described_and_found(cli: Cli, registry: Path) -> None:
    """As they stand in the registry; for people as a table."""
    entries = json.loads(registry.read_text())["skills"]

    assert cli("skills", "list").json == {"skills": entries, "count": 2}
    assert cli("skills", "get", OPEN).json == {"skill": entries[1]}
    assert cli("skills", "search", "shop").json == {"skills": entries[:1], "count": 1}
    assert cli("skills", "search", "--app-id", "com.example.mail").json["count"] == 1
    assert ECHO in cli("skills", "list", "--output", "pretty").out


@pytest.mark.parametrize(
    "argv",
    [["get"], ["search"], ["compile-artifact"], ["validate"], ["run"], ["new"], ["sync"], []],
)
def test_a_command_alone_tells_how_it_is_used(cli: Cli, registry: Path, argv: list[str]) -> None:
    """It is no error, as published."""
    printed = cli("skills", *argv)

    assert (printed.code, printed.json["code"]) == (0, "USAGE")
    assert "skills" in printed.json["message"]


def test_a_recipe_compiles_and_doubts_are_told_beside(cli: Cli, registry: Path) -> None:
    """On stderr, as programs read stdout."""
    variables = json.dumps({"APP": "com.x", "APPS": "y"})

    printed = cli("skills", "compile-artifact", OPEN, "--artifact", "open", "--vars", variables)

    assert printed.code == 0
    assert printed.json["execution"]["mode"] == "artifact_compiled"
    assert "no variable APPS" in printed.err


def test_a_script_gets_the_device_and_its_words(cli: Cli, registry: Path) -> None:
    """Words after two dashes are the script's, whatever they look like."""
    printed = cli("skills", "run", ECHO, "--device", "PH1", "--timeout", "30000",
                  "--expect-contains", "a b", "--", "a b", "--json", "$(id)")  # fmt: skip

    took = printed.json
    assert took["output"] == "PH1|a b|--json|$(id)|"
    assert (took["skillId"], took["exitCode"], took["timeoutMs"]) == (ECHO, 0, 30_000)
    assert took["expectedSubstring"] == "a b"


def test_people_see_what_a_script_prints(cli: Cli, registry: Path) -> None:
    """Both of its outputs, and no JSON."""
    printed = cli("skills", "run", ECHO, "--output", "pretty", "--", "hello")

    assert printed.out.startswith("hello|")
    assert "com.clawperator.operator" in printed.err


def test_a_failed_script_is_told_as_published(cli: Cli, registry: Path) -> None:
    """What it printed stands beside the code."""
    add_skill(registry, "com.example.bad.run", script="echo out; echo err >&2; exit 3")

    printed = cli("skills", "run", "com.example.bad.run")

    told = {name: printed.json[name] for name in ("skillId", "exitCode", "stdout", "stderr")}
    assert told == {"skillId": "com.example.bad.run", "exitCode": 3,
                    "stdout": "out\n", "stderr": "err\n"}  # fmt: skip
    assert (printed.code, printed.json["code"]) == (1, "SKILL_EXECUTION_FAILED")


def test_a_skill_is_checked_before_it_runs(cli: Cli, registry: Path) -> None:
    """Unless that is skipped."""
    folder = add_skill(registry, "com.example.bad.run", script="echo ran")
    (folder / "SKILL.md").unlink()

    refused = cli("skills", "run", "com.example.bad.run")
    skipped = cli("skills", "run", "com.example.bad.run", "--skip-validate")

    assert (refused.code, refused.json["code"]) == (1, "SKILL_VALIDATION_FAILED")
    assert skipped.json["output"] == "ran\n"


@pytest.mark.parametrize("timeout", ["0", "x", "Infinity", "-5"])
def test_a_time_that_is_none_is_refused(cli: Cli, registry: Path, timeout: str) -> None:
    """Before anything runs."""
    printed = cli("skills", "run", ECHO, "--timeout", timeout)

    assert (printed.code, printed.json["code"]) == (1, "EXECUTION_VALIDATION_FAILED")


def test_skills_are_validated(cli: Cli, registry: Path) -> None:
    """One of them, or all."""
    one = cli("skills", "validate", ECHO, "--dry-run").json
    every = cli("skills", "validate", "--all", "--dry-run").json

    assert (one["valid"], one["dryRun"]["payloadValidation"]) == (True, "skipped")
    assert (every["valid"], every["totalSkills"], len(every["validSkills"])) == (True, 2, 2)


def test_a_new_skill_runs_on_a_phone(cli: Cli, registry: Path, simulator: Simulator) -> None:
    """Its script opens the app, and prints what is there."""
    made = cli("skills", "new", "com.android.settings.look", "--python", "--summary", "Look")
    adb = f"{simulator.adb_host}:{simulator.adb_port}"

    printed = cli("skills", "run", "com.android.settings.look", "--adb", adb,
                  "--device", simulator.serials[0], "--expect-contains", "Connections")  # fmt: skip

    assert made.json["created"] is True
    assert printed.code == 0, printed.out


def test_skills_are_installed_from_a_repository(
    cli: Cli, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The url may be in the environment; then they are found without another variable."""
    root = registry.parent.parent
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(root), *who, *words], check=True)
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY")
    monkeypatch.setenv("CLAWPERATOR_SKILLS_URL", str(root))

    installed = cli("skills", "install").json

    found = tmp_path / "home/.clawperator/skills/skills/skills-registry.json"
    assert installed["envInstruction"] == f'export CLAWPERATOR_SKILLS_REGISTRY="{found}"'
    assert cli("skills", "list").json["count"] == 2
    assert cli("skills", "sync", "--ref", "main").json["synced"] is True
    assert cli("skills", "update").json["commit"] == installed["commit"]


def test_a_missing_registry_is_told_before_anything_runs(cli: Cli, registry: Path) -> None:
    """Whichever device is named."""
    registry.unlink()

    printed = cli("skills", "run", ECHO, "--device", "nope")

    assert (printed.code, printed.json["code"]) == (1, "REGISTRY_READ_FAILED")
