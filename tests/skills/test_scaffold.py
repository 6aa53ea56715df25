"""New skills are valid ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.validate import make_skill, validate_all


@pytest.mark.parametrize(("python", "scripts"), [(False, ["run.js", "run.sh"]), (True, ["run.py"])])
def test_a_new_skill_is_valid(registry_path: Path, python: bool, scripts: list[str]) -> None:
    """It is in the registry, whose other fields stay."""
    made = make_skill(
        read_registry(registry_path), "com.a.do-it", summary="Do\n'it': \"now\"", python=python
    )

    assert [path.name for path in made.files] == ["SKILL.md", "skill.json", *scripts]
    found = {one.skill.id: one for one in validate_all(read_registry(registry_path))}
    assert found["com.a.do-it"].skill.summary == "Do\n'it': \"now\""
    document = json.loads(registry_path.read_text())
    assert document["schemaVersion"] == "1.0"
    assert [one["id"] for one in document["skills"]] == sorted(found)
    assert not [path for path in registry_path.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "skill_id", ["nodot", ".a", "a.", "a..b", "../a.b", "a/b.c", "a.b\n", "a b.c", ""]
)
def test_an_id_that_is_none_is_refused(registry_path: Path, skill_id: str) -> None:
    """Nothing is written for it."""
    before = registry_path.read_text()

    with pytest.raises(SkillError) as caught:
        make_skill(read_registry(registry_path), skill_id)

    assert caught.value.code == "SKILL_ID_INVALID"
    assert registry_path.read_text() == before


def test_a_skill_that_is_there_is_left_alone(registry_path: Path) -> None:
    """Whether it is registered or only a folder."""
    (registry_path.parent / "com.a.b").mkdir()

    for skill_id in ("com.example.shop.echo", "com.a.b"):
        with pytest.raises(SkillError) as caught:
            make_skill(read_registry(registry_path), skill_id)
        assert caught.value.code == "SKILL_ALREADY_EXISTS"


def test_what_cannot_be_written_has_its_code(registry_path: Path) -> None:
    """Such as a summary that no file can hold; nothing is left of it."""
    with pytest.raises(SkillError) as caught:
        make_skill(read_registry(registry_path), "com.a.b", summary="\udcff")

    assert caught.value.code == "SKILLS_SCAFFOLD_FAILED"
    assert not (registry_path.parent / "com.a.b").exists()
