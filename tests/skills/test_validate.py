"""Skills are checked before they run; new ones are valid."""

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


def test_valid_skills_are_listed_with_their_files(registry_path: Path) -> None:
    """In the order of the registry."""
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
def test_an_invalid_entry_is_refused(
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
    own = json.loads((folder / "skill.json").read_text())
    (folder / "skill.json").write_text(json.dumps({**own, "summary": "else", "artifacts": ["x"]}))
    registry = read_registry(registry_path)

    with pytest.raises(SkillError, match="summary, artifacts") as caught:
        validate_skill(registry, registry.get(SKILL))

    assert caught.value.details["mismatchFields"] == ["summary", "artifacts"]


@pytest.mark.parametrize("text", ["{", "[]", "\udcff"])
def test_metadata_that_is_not_an_object_is_refused(registry_path: Path, text: str) -> None:
    """As an invalid skill, not as an invalid registry."""
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
    ("skill_id", "summary", "code"),
    [
        *[(odd, "", "SKILL_ID_INVALID")
          for odd in ("nodot", ".a", "a.", "a..b", "../a.b", "a/b.c", "a.b\n", "a b.c", "")],
        ("com.example.shop.echo", "", "SKILL_ALREADY_EXISTS"),
        ("com.a.folder", "", "SKILL_ALREADY_EXISTS"),
        ("com.a.b", "\udcff", "SKILLS_SCAFFOLD_FAILED"),
    ],
)  # fmt: skip
def test_a_skill_that_cannot_be_made_leaves_nothing(
    registry_path: Path, skill_id: str, summary: str, code: str
) -> None:
    """Its id is invalid or taken, or a file cannot hold its summary."""
    (registry_path.parent / "com.a.folder").mkdir()
    before = registry_path.read_text()

    with pytest.raises(SkillError) as caught:
        make_skill(read_registry(registry_path), skill_id, summary=summary)

    assert caught.value.code == code
    assert registry_path.read_text() == before
    assert not (registry_path.parent / "com.a.b").exists()
