"""The commands about skills, as the published program answers them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli
from tests.doubles.skill_repository import RECIPE, add_skill, make_repository

ECHO, OPEN, BAD = "com.example.shop.echo", "com.example.mail.open", "com.example.bad.run"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a repository with a script and a recipe."""
    path = make_repository(tmp_path / "repository")
    add_skill(path, ECHO, script='printf "%s|" "$@"; echo "$CLAWPERATOR_OPERATOR_PACKAGE" >&2')
    add_skill(path, OPEN, recipe=RECIPE)
    monkeypatch.setenv("CLAWPERATOR_SKILLS_REGISTRY", str(path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return path


def test_skills_are_listed_found_compiled_and_validated(offline: Cli, registry: Path) -> None:
    """As they stand in the registry; warnings of a compiled recipe are on stderr."""
    entries = json.loads(registry.read_text())["skills"]
    variables = json.dumps({"APP": "com.x", "APPS": "y"})
    recipe = offline("skills", "compile-artifact", OPEN, "--artifact", "open", "--vars", variables)
    one = offline("skills", "validate", ECHO, "--dry-run").json
    every = offline("skills", "validate", "--all", "--dry-run").json

    assert offline("skills", "list").json == {"skills": entries, "count": 2}
    assert offline("skills", "get", OPEN).json == {"skill": entries[1]}
    assert offline("skills", "search", "shop").json == {"skills": entries[:1], "count": 1}
    assert offline("skills", "search", "--app-id", "com.example.mail").json["count"] == 1
    assert ECHO in offline("skills", "list", "--output", "pretty").out
    assert (recipe.code, recipe.json["execution"]["mode"]) == (0, "artifact_compiled")
    assert "no variable APPS" in recipe.err
    assert (one["valid"], one["dryRun"]["payloadValidation"]) == (True, "skipped")
    assert (every["valid"], every["totalSkills"], len(every["validSkills"])) == (True, 2, 2)


def test_a_script_gets_the_device_and_its_words(offline: Cli, registry: Path) -> None:
    """Words after two dashes are the script's; people see what it prints."""
    done = offline("skills", "run", ECHO, "--device", "PH1", "--timeout", "30000",
                   "--expect-contains", "a b", "--", "a b", "--json", "$(id)").json  # fmt: skip
    shown = offline("skills", "run", ECHO, "--output", "pretty", "--", "hello")

    assert done["output"] == "PH1|a b|--json|$(id)|"
    assert (done["skillId"], done["exitCode"], done["timeoutMs"]) == (ECHO, 0, 30_000)
    assert done["expectedSubstring"] == "a b"
    assert shown.out.startswith("hello|")
    assert "com.clawperator.operator" in shown.err


def test_a_failed_script_is_reported_as_published(offline: Cli, registry: Path) -> None:
    """What it printed stands beside the code; a skill is checked before it runs."""
    folder = add_skill(registry, BAD, script="echo out; echo err >&2; exit 3")

    failed = offline("skills", "run", BAD)
    (folder / "SKILL.md").unlink()
    refused = offline("skills", "run", BAD)
    skipped = offline("skills", "run", BAD, "--skip-validate")
    registry.unlink()
    unknown = offline("skills", "run", ECHO, "--device", "nope")

    fields = {"skillId": BAD, "exitCode": 3, "stdout": "out\n", "stderr": "err\n"}
    assert fields.items() <= failed.json.items()
    assert failed.error == (1, "SKILL_EXECUTION_FAILED")
    assert refused.error == (1, "SKILL_VALIDATION_FAILED")
    assert skipped.json["stdout"] == "out\n"
    assert unknown.error == (1, "REGISTRY_READ_FAILED")


def test_a_new_skill_runs_on_a_phone(cli: Cli, registry: Path, simulator: Simulator) -> None:
    """Its script opens the app, and prints what is there."""
    made = cli("skills", "new", "com.android.settings.look", "--python", "--summary", "Look")
    adb = f"{simulator.adb_host}:{simulator.adb_port}"

    printed = cli("skills", "run", "com.android.settings.look", "--adb", adb,
                  "--device", simulator.serials[0], "--expect-contains", "Connections")  # fmt: skip

    assert made.json["created"] is True
    assert printed.code == 0, printed.out


def test_skills_are_installed_from_a_repository(
    offline: Cli, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The url may be in the environment; then they are found without another variable."""
    root = registry.parent.parent
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(root), *who, *words], check=True)
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY")
    monkeypatch.setenv("CLAWPERATOR_SKILLS_URL", str(root))

    installed = offline("skills", "install").json

    found = tmp_path / "home/.clawperator/skills/skills/skills-registry.json"
    assert installed["envInstruction"] == f'export CLAWPERATOR_SKILLS_REGISTRY="{found}"'
    assert offline("skills", "list").json["count"] == 2
    assert offline("skills", "sync", "--ref", "main").json["synced"] is True
    assert offline("skills", "update").json["commit"] == installed["commit"]
