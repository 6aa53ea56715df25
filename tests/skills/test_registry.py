"""The registry: where it is looked for, what is in it, and files outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.registry import find_registry, read_registry


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty home folder, and work in another folder."""
    folder, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for one in (folder, elsewhere):
        one.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(elsewhere)
    return folder


def test_the_registry_of_the_variable_comes_first(registry_path: Path) -> None:
    """It is not looked for elsewhere, whether it is there or not."""
    assert find_registry({"CLAWPERATOR_SKILLS_REGISTRY": "/no/such.json"}) == Path("/no/such.json")


def test_the_current_folder_comes_before_what_is_installed(
    registry_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the published program; then the folder where skills are installed."""
    installed = home / ".clawperator/skills/skills/skills-registry.json"
    installed.parent.mkdir(parents=True)
    installed.write_text('{"skills": []}')
    assert find_registry({}) == installed

    monkeypatch.chdir(registry_path.parent.parent)

    assert find_registry({}) == registry_path


def test_all_places_that_were_tried_are_named(home: Path) -> None:
    """With the variable and the command that help."""
    with pytest.raises(SkillError, match=r"elsewhere/skills/skills-registry\.json, ") as caught:
        find_registry({})

    assert caught.value.code == "REGISTRY_READ_FAILED"
    assert f"{home}/.clawperator/skills/skills/skills-registry.json" in caught.value.message
    assert "CLAWPERATOR_SKILLS_REGISTRY" in str(caught.value.hint)


@pytest.mark.parametrize(
    "content",
    [None, b"{", b"[]", b"{}", b'{"skills": {}}', b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}'],
    ids=["missing", "cut", "list", "empty", "object", "bytes", "deep", "NaN"],
)
def test_a_registry_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    """Missing, not JSON, or without a list of skills."""
    path = tmp_path / "registry.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SkillError) as caught:
        read_registry(path)

    assert caught.value.code == "REGISTRY_READ_FAILED"
    assert str(path) in caught.value.message


def test_skills_are_found_by_app_intent_and_keyword(registry_path: Path) -> None:
    """All that is given must fit; the case of a keyword does not matter."""
    registry = read_registry(registry_path)

    found = [
        [skill.id for skill in registry.search(**asked)]
        for asked in (
            {"app": "com.example.shop"},
            {"intent": "open"},
            {"keyword": "EXAMPLE"},
            {"keyword": "about", "app": "com.example.mail"},
            {"app": "com.example.mail", "intent": "echo"},
        )
    ]

    shop, mail = "com.example.shop.echo", "com.example.mail.open"
    assert found == [[shop], [mail], [shop, mail], [mail], []]


def test_the_error_for_an_unknown_skill_suggests_the_nearest(registry_path: Path) -> None:
    """A slip of a letter is noticed."""
    with pytest.raises(SkillError, match=r"Did you mean com\.example\.shop\.echo") as caught:
        read_registry(registry_path).get("com.example.shop.ecko")

    assert caught.value.code == "SKILL_NOT_FOUND"


def test_entries_of_any_shape_are_read(tmp_path: Path) -> None:
    """What is not a text or a list of texts counts as absent."""
    path = tmp_path / "skills" / "skills-registry.json"
    path.parent.mkdir()
    path.write_text('{"skills": [5, {"id": 3, "scripts": "x", "artifacts": [1, "a.md"]}, {}]}')

    [odd, empty] = read_registry(path).skills

    assert (odd.id, odd.scripts, odd.artifacts, odd.recipes) == ("", (), ("a.md",), ())
    assert (empty.summary, empty.script()) == ("", None)


@pytest.mark.parametrize("relative", ["../secret", "/etc/passwd", "skills/../../secret", "link"])
def test_files_outside_of_the_repository_are_refused(registry_path: Path, relative: str) -> None:
    """By dots, by an absolute path, and by a symbolic link."""
    registry = read_registry(registry_path)
    (registry.root.parent / "secret").write_text("secret")
    (registry.root / "link").symlink_to(registry.root.parent / "secret")

    with pytest.raises(ValueError, match="outside"):
        registry.file(relative)
