"""A new skill: its files, and its entry in the registry."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ErrorCode, SkillError
from pytest_clawperator.skills.registry import Registry

_ID = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")
_FILES = Path(__file__).with_name("starters")


@dataclass(frozen=True)
class Made:
    """A new skill, and its files."""

    skill_id: str
    folder: Path
    files: tuple[Path, ...]


def make_skill(
    registry: Registry, skill_id: str, *, summary: str = "", python: bool = False
) -> Made:
    """Write a skill that opens its app and prints what is on the screen, and register it.

    Its script is for Node.js, with one for a shell that calls it; or in Python.
    """
    if not _ID.fullmatch(skill_id):
        raise SkillError(
            "skill_id must contain at least one dot so applicationId and intent can be derived,"
            f" and letters, digits, - and _ besides: {skill_id[:200]!r}",
            code=ErrorCode.SKILL_ID_INVALID,
            hint="As in com.example.shop.read-cart.",
        )
    folder = registry.root / "skills" / skill_id
    if any(skill.id == skill_id for skill in registry.skills) or folder.exists():
        raise SkillError(
            f"Skill already exists: {skill_id}",
            code=ErrorCode.SKILL_ALREADY_EXISTS,
            hint=f"Choose another id, or change the one in {folder}.",
        )
    scripts = ("run.py",) if python else ("run.js", "run.sh")
    entry = _entry(skill_id, summary.strip() or f"TODO: describe {skill_id}", scripts)
    try:
        files = _write(folder, entry, scripts)
        _register(registry, entry)
    except (OSError, ValueError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SkillError(
            f"the skill cannot be written: {error}",
            code=ErrorCode.SKILLS_SCAFFOLD_FAILED,
            hint=f"Nothing of it is left in {folder}; correct the cause and try again.",
        ) from error
    return Made(skill_id, folder, files)


def _entry(skill_id: str, summary: str, scripts: tuple[str, ...]) -> dict[str, Any]:
    app, _, intent = skill_id.rpartition(".")
    path = f"skills/{skill_id}"
    return {
        "id": skill_id,
        "applicationId": app,
        "intent": intent,
        "summary": summary,
        "path": path,
        "skillFile": f"{path}/SKILL.md",
        "scripts": [f"{path}/scripts/{name}" for name in scripts],
        "artifacts": [],
    }


def _write(folder: Path, entry: dict[str, Any], scripts: tuple[str, ...]) -> tuple[Path, ...]:
    """Write the files of a skill, and return them."""
    (folder / "scripts").mkdir(parents=True)
    summary = "\n".join(f"  {line}" for line in entry["summary"].splitlines())
    about = _starter("SKILL.md", entry).replace("@SUMMARY@", summary)
    texts = {"SKILL.md": about.replace("@SCRIPT@", scripts[0]), "skill.json": _json(entry)}
    texts |= {f"scripts/{name}": _starter(name, entry) for name in scripts}
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        if path.suffix in (".sh", ".py"):
            path.chmod(0o755)
    return tuple(folder / name for name in texts)


def _starter(name: str, entry: dict[str, Any]) -> str:
    text = (_FILES / f"{name}.txt").read_text(encoding="utf-8")
    return text.replace("@SKILL@", entry["id"]).replace("@APP@", entry["applicationId"])


def _register(registry: Registry, entry: dict[str, Any]) -> None:
    """Add an entry to the registry, all or nothing; entries are sorted by their ids."""
    skills = [*registry.document["skills"], entry]
    skills.sort(key=lambda one: str(one.get("id")).lower() if isinstance(one, dict) else "")
    written = registry.path.with_name(f".{registry.path.name}.{os.getpid()}")
    try:
        written.write_text(_json({**registry.document, "skills": skills}), encoding="utf-8")
        written.replace(registry.path.resolve())
    finally:
        written.unlink(missing_ok=True)


def _json(document: Any) -> str:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
