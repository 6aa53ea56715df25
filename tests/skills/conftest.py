"""A repository with two skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.skill_repository import RECIPE, add_skill, make_repository


@pytest.fixture
def registry_path(tmp_path: Path) -> Path:
    """Make a repository with a skill that prints its words, and one with a recipe."""
    path = make_repository(tmp_path / "repository")
    add_skill(path, "com.example.shop.echo", script='printf "%s|" "$@"')
    add_skill(path, "com.example.mail.open", recipe=RECIPE, keywords=["post"])
    return path
