"""Recipes compile as in the published program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.compile import Compiled, compile_artifact
from pytest_clawperator.skills.registry import read_registry
from tests.conformance.vectors import rows

# Messages of parsers and validators are ours; those of the published program are not always
# texts. What follows a colon names a file.
_OWN_WORDS = ("COMPILE_VALIDATION_FAILED", "REGISTRY_READ_FAILED")


@pytest.mark.parametrize("row", rows("skill_compile"))
def test_a_recipe_compiles_as_published(row: dict[str, Any], tmp_path: Path) -> None:
    """The same payload with the same ids, or the same error about the same thing."""
    path = _make_repository(tmp_path, row)

    def compiled() -> Compiled:
        skill, artifact = row["skillId"], row["artifactName"]
        return compile_artifact(read_registry(path), skill, artifact, row["varsJson"])

    if row["ok"]:
        assert compiled().execution.to_wire() == row["execution"]
        return
    with pytest.raises(SkillError) as caught:
        compiled()
    expected = row["error"]
    assert caught.value.code == expected["code"]
    if expected["code"] not in _OWN_WORDS:
        assert caught.value.message == expected["message"]
    details = json.loads(json.dumps(expected["details"]).replace("$ROOT", str(tmp_path)))
    assert {key: caught.value.details[key] for key in details} == details


def _make_repository(root: Path, row: dict[str, Any]) -> Path:
    """Write the registry of a row, and its template unless it is missing."""
    registry = root / "skills" / "skills-registry.json"
    registry.parent.mkdir()
    entry = {"id": row["registrySkillId"], "artifacts": row["registryArtifacts"]}
    registry.write_text(json.dumps({"skills": [entry]}))
    if not row["templateFileMissing"]:
        template = root / "skills" / "com.x.do" / "artifacts" / "a.recipe.json"
        template.parent.mkdir(parents=True)
        template.write_text(row["template"], encoding="utf-8")
    return registry
