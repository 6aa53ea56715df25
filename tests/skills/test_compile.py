"""What compiles, and likely mistakes that the published program accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.compile import compile_artifact
from pytest_clawperator.skills.registry import read_registry
from tests.doubles.skill_repository import RECIPE, add_skill

MAIL = "com.example.mail.open"


def test_a_recipe_compiles_to_a_payload(registry_path: Path) -> None:
    """The same input has the same ids, and nothing in it is doubtful."""
    registry = read_registry(registry_path)

    one, two = (compile_artifact(registry, MAIL, "open", {"APP": "com.x"}) for _ in range(2))

    assert one.checked() == two.checked()
    assert one.execution.actions[0].to_wire()["params"] == {"applicationId": "com.x"}


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"APP": "com.x", "APPS": "y"}, "COMPILE_VAR_UNKNOWN"),
        ({"APP": ["com.x"]}, "COMPILE_VARS_PARSE_FAILED"),
        ({"APP": None}, "COMPILE_VARS_PARSE_FAILED"),
        ({"APP": "{{NAME}}"}, "COMPILE_VALIDATION_FAILED"),
    ],
)
def test_what_is_probably_a_mistake_is_doubted(
    registry_path: Path, variables: dict[str, Any], code: str
) -> None:
    """It compiles as published, but asking for the checked payload is an error."""
    compiled = compile_artifact(read_registry(registry_path), MAIL, "open", variables)

    with pytest.raises(SkillError) as caught:
        compiled.checked()

    assert caught.value.code == code
    assert caught.value.details["artifactName"] == "open"


def test_an_invalid_payload_is_refused_with_its_problems(registry_path: Path) -> None:
    """Which of them, and where."""
    add_skill(registry_path, "com.example.bad.open", recipe={**RECIPE, "timeoutMs": "{{APP}}"})

    with pytest.raises(SkillError) as caught:
        compile_artifact(read_registry(registry_path), "com.example.bad.open", "open", {"APP": "x"})

    assert caught.value.code == "COMPILE_VALIDATION_FAILED"
    assert caught.value.details["path"] == "timeoutMs"


@pytest.mark.parametrize("kind", ["missing", "outside", "link", "huge"])
def test_a_recipe_that_cannot_be_read_is_refused(registry_path: Path, kind: str) -> None:
    """One that is not there, outside of the repository, or much too long."""
    secret = registry_path.parent.parent.parent / "open.recipe.json"
    secret.write_text("{}")
    path = "../open.recipe.json" if kind == "outside" else "skills/odd/open.recipe.json"
    place = registry_path.parent / "odd" / "open.recipe.json"
    place.parent.mkdir()
    if kind == "link":
        place.symlink_to(secret)
    if kind == "huge":
        place.write_text("[" + "1," * 600_000 + "1]")
    add_skill(registry_path, "com.example.odd", artifacts=[path])

    with pytest.raises(SkillError) as caught:
        compile_artifact(read_registry(registry_path), "com.example.odd", "open")

    assert caught.value.code == "REGISTRY_READ_FAILED"


def test_the_error_for_an_unknown_recipe_lists_those_of_the_skill(registry_path: Path) -> None:
    """Also if it has none."""
    registry = read_registry(registry_path)

    hints = []
    for skill in (MAIL, "com.example.shop.echo"):
        with pytest.raises(SkillError, match="Artifact not found") as caught:
            compile_artifact(registry, skill, "close")
        hints.append(str(caught.value.hint))

    assert hints[0] == "Its recipes: open."
    assert "none" in hints[1]
