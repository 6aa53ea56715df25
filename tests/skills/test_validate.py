"""What is wrong with a skill is found before it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.validate import make_skill, validate_all, validate_skill
from tests.doubles.skill_repository import RECIPE, add_skill

SKILL = "com.example.odd.skill"


def test_skills_that_are_as_they_should_be_are_listed(registry_path: Path) -> None:
    """With their files."""
    [shop, mail] = validate_all(read_registry(registry_path), payloads=True)

    assert [path.name for path in shop.scripts] == ["run.sh"]
    assert mail.to_json()["artifactPaths"] == [
        str(registry_path.parent / "com.example.mail.open/artifacts/open.recipe.json")
    ]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"scripts": "run.sh"}, {"missingFields": ["scripts"]}),
        ({"artifacts": "a"}, {}),
        ({"path": 5}, {"missingFields": ["path"]}),
        ({"scripts": ["../../out.sh"]}, {"outsideFiles": ["../../out.sh"]}),
        ({"skillFile": "skills/none.md"}, {}),
    ],
)
def test_an_entry_that_makes_no_sense_is_told(
    registry_path: Path, about: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Fields of a wrong type, and files that are missing or outside."""
    add_skill(registry_path, SKILL, **about)
    registry = read_registry(registry_path)

    with pytest.raises(SkillError) as caught:
        validate_skill(registry, registry.get(SKILL))

    assert caught.value.code == "SKILL_VALIDATION_FAILED"
    assert {name: caught.value.details[name] for name in expected} == expected


def test_metadata_that_differs_is_named(registry_path: Path) -> None:
    """By its fields."""
    folder = add_skill(registry_path, SKILL)
    said = json.loads((folder / "skill.json").read_text())
    (folder / "skill.json").write_text(json.dumps({**said, "summary": "else", "artifacts": ["x"]}))
    registry = read_registry(registry_path)

    with pytest.raises(SkillError, match="summary, artifacts") as caught:
        validate_skill(registry, registry.get(SKILL))

    assert caught.value.details["mismatchFields"] == ["summary", "artifacts"]


@pytest.mark.parametrize("text", ["{", "[]", "\udcff"])
def test_metadata_that_is_no_object_is_told(registry_path: Path, text: str) -> None:
    """As a skill that is invalid, and not as a registry."""
    folder = add_skill(registry_path, SKILL)
    (folder / "skill.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    registry = read_registry(registry_path)

    with pytest.raises(SkillError, match=r"skill\.json") as caught:
        validate_skill(registry, registry.get(SKILL))

    assert caught.value.code == "SKILL_VALIDATION_FAILED"


def test_payloads_are_checked_if_asked(registry_path: Path) -> None:
    """All skills are, and each failure is listed."""
    add_skill(registry_path, SKILL, recipe={**RECIPE, "actions": []})
    registry = read_registry(registry_path)
    validate_all(registry)

    with pytest.raises(SkillError, match="1 of 3 registered skills") as caught:
        validate_all(registry, payloads=True)

    [failure] = caught.value.details["failures"]
    assert (failure["skillId"], failure["details"]["path"]) == (SKILL, "actions")


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
