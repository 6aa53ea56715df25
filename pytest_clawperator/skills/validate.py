"""Check a skill of a registry: files, metadata and recipes; write the first files of a new one."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator import errors
from pytest_clawperator.contracts.ecmascript import parse_json, why_not_json
from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.skills.registry import Registry
from pytest_clawperator.skills.skill import Skill

_COMPARED = ("id", "applicationId", "intent", "summary", "path", "skillFile")
_COMPARED_LISTS = ("scripts", "artifacts")
WHY_SKIPPED = "skill has no recipes; its script makes the payload when it runs"


@dataclass(frozen=True)
class Checked:
    """A valid skill, and its files."""

    skill: Skill
    skill_json: Path
    skill_file: Path
    scripts: tuple[Path, ...]
    artifacts: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the files as data."""
        return {
            "skillJsonPath": str(self.skill_json),
            "skillFilePath": str(self.skill_file),
            "scriptPaths": [str(path) for path in self.scripts],
            "artifactPaths": [str(path) for path in self.artifacts],
        }


def validate_skill(registry: Registry, skill: Skill, *, payloads: bool = False) -> Checked:
    """Check a skill, optionally with the payloads of its recipes; raise the first problem."""
    _check_lists(skill)
    checked = _files(registry, skill)
    _check_metadata(skill, checked.skill_json)
    if payloads:
        for path in checked.artifacts:
            if path.suffix == ".json":
                _check_payload(skill, path)
    return checked


def validate_all(registry: Registry, *, payloads: bool = False) -> list[Checked]:
    """Check every skill; raise one error that lists all problems."""
    valid: list[Checked] = []
    failures: list[dict[str, Any]] = []
    for skill in registry.skills:
        try:
            valid.append(validate_skill(registry, skill, payloads=payloads))
        except errors.SkillError as error:
            problem = {"code": str(error.code), "message": error.message, "details": error.details}
            failures.append({"skillId": skill.id, **problem})
    if failures:
        total = len(registry.skills)
        raise errors.SkillError(
            f"{len(failures)} of {total} registered skills failed validation: "
            + "; ".join(failure["message"] for failure in failures[:5]),
            code=errors.ErrorCode.SKILL_VALIDATION_FAILED,
            hint="The details list each of them.",
            details={
                "totalSkills": total,
                "validCount": len(valid),
                "invalidCount": len(failures),
                "failures": failures,
            },
        )
    return valid


def _check_lists(skill: Skill) -> None:
    if not isinstance(skill.entry.get("scripts"), list):
        why = "scripts must be an array"
        raise _invalid(skill, f"is missing required scripts: {why}", missingFields=["scripts"])
    if not isinstance(skill.entry.get("artifacts", []), list):
        raise _invalid(
            skill, "has an invalid artifacts value: artifacts must be an array when present"
        )


def _files(registry: Registry, skill: Skill) -> Checked:
    """Return the files of a skill; raise if some are missing or outside the repository."""
    folder, skill_file = skill.entry.get("path"), skill.entry.get("skillFile")
    missing = [
        name
        for name, value in {"path": folder, "skillFile": skill_file}.items()
        if not isinstance(value, str) or not value
    ]
    if missing:
        raise _invalid(skill, f"lacks {' and '.join(missing)}", missingFields=missing)
    relative = [f"{folder}/skill.json", str(skill_file), *skill.scripts, *skill.artifacts]
    paths = _inside(registry, skill, relative)
    absent = [str(path) for path in paths if not errors.is_file(path)]
    if absent:
        raise _invalid(
            skill,
            f"is missing required files: {', '.join(absent[:5])}",
            skillJsonPath=str(paths[0]),
            missingFiles=absent,
        )
    split = 2 + len(skill.scripts)
    return Checked(skill, paths[0], paths[1], tuple(paths[2:split]), tuple(paths[split:]))


def _inside(registry: Registry, skill: Skill, relative: Sequence[str]) -> list[Path]:
    """Return files of the repository; raise if some are outside."""
    found, outside = [], []
    for path in relative:
        try:
            found.append(registry.file(path))
        except errors.UNUSABLE_FILE:
            outside.append(path)
    if outside:
        raise _invalid(
            skill,
            f"names files outside of {registry.root}: {', '.join(outside[:5])}",
            outsideFiles=outside,
        )
    return found


def _check_metadata(skill: Skill, path: Path) -> None:
    """Raise if ``skill.json`` differs from the registry."""
    own = _json_of(skill, path)
    if not isinstance(own, dict):
        raise _invalid(skill, f"has a skill.json that is not an object: {path}")
    different = [name for name in _COMPARED if own.get(name) != skill.entry.get(name)]
    for name in _COMPARED_LISTS:
        if (own.get(name) or []) != (skill.entry.get(name) or []):
            different.append(name)
    if different:
        raise _invalid(
            skill,
            f"metadata does not match the registry entry: {', '.join(different)}",
            skillJsonPath=str(path),
            mismatchFields=different,
        )


def _check_payload(skill: Skill, path: Path) -> None:
    """Raise if a recipe is not a valid payload; its variables count as plain texts."""
    try:
        validate_execution(_json_of(skill, path))
    except errors.ExecutionValidationError as error:
        raise _invalid(
            skill,
            f"artifact payload schema violation: {path.name}: {error.message}",
            artifact=path.name,
            reason=error.message,
            **error.details,
        ) from error
    except errors.PayloadError as error:
        why = f"artifact payload schema violation: {path.name}: {error.message}"
        raise _invalid(skill, why, artifact=path.name) from error


def _json_of(skill: Skill, path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        why = why_not_json(error)
        raise _invalid(skill, f"{path.name} is not JSON: {why}", reason=why) from error
    except errors.UNUSABLE_FILE as error:
        why = errors.file_problem(error) if isinstance(error, OSError) else why_not_json(error)
        raise _invalid(
            skill, f"{path.name} is not JSON: {why}", artifact=path.name, reason=why
        ) from error


def _invalid(skill: Skill, why: str, **details: Any) -> errors.SkillError:
    return errors.SkillError(
        f"Skill {skill.id} {why}",
        code=errors.ErrorCode.SKILL_VALIDATION_FAILED,
        hint="Correct the files or the registry; `clawperator-py skills validate --all --dry-run`"
        " checks them all.",
        details=details,
    )


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

    Its script is for Node.js, with a shell script that calls it, or in Python.
    """
    if not _ID.fullmatch(skill_id):
        raise errors.SkillError(
            "skill_id must contain at least one dot so applicationId and intent can be derived,"
            f" and letters, digits, - and _ besides: {skill_id[:200]!r}",
            code=errors.ErrorCode.SKILL_ID_INVALID,
            hint="As in com.example.shop.read-cart.",
        )
    folder = registry.root / "skills" / skill_id
    if any(skill.id == skill_id for skill in registry.skills) or folder.exists():
        raise errors.SkillError(
            f"Skill already exists: {skill_id}",
            code=errors.ErrorCode.SKILL_ALREADY_EXISTS,
            hint=f"Choose another id, or change the one in {folder}.",
        )
    scripts = ("run.py",) if python else ("run.js", "run.sh")
    entry = _entry(skill_id, summary.strip() or f"TODO: describe {skill_id}", scripts)
    try:
        files = _write(folder, entry, scripts)
        _register(registry, entry)
    except (OSError, ValueError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise errors.SkillError(
            f"the skill cannot be written: {error}",
            code=errors.ErrorCode.SKILLS_SCAFFOLD_FAILED,
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
    """Add an entry to the registry atomically; entries are sorted by id."""
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
