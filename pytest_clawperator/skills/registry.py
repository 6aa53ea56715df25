"""The registry of skills: where it is, what is in it, and the files that it names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.contracts.ecmascript import parse_json, why_not_json
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import UNUSABLE_FILE, ErrorCode, SkillError, file_problem, is_file
from pytest_clawperator.skills.skill import Skill

REGISTRY_VARIABLE = "CLAWPERATOR_SKILLS_REGISTRY"
#: Where the registry is inside a repository.
REGISTRY_IN_REPOSITORY = Path("skills") / "skills-registry.json"
# A registry of ten thousand skills has a tenth of this.
_MOST_BYTES = 50_000_000
_SHOWN_ID = 200


@dataclass(frozen=True)
class Registry:
    """The skills of a repository. ``document`` is the whole registry file."""

    path: Path
    skills: tuple[Skill, ...]
    document: Mapping[str, Any]

    @property
    def root(self) -> Path:
        """The repository, where all paths of the registry begin."""
        return self.path.resolve().parent.parent

    def get(self, skill_id: str) -> Skill:
        """Return a skill by its id; the error for an unknown one suggests the nearest id."""
        for skill in self.skills:
            if skill.id == skill_id:
                return skill
        near = closest(skill_id, [skill.id for skill in self.skills])
        meant = f"Did you mean {near}? " if near else ""
        raise SkillError(
            f"Skill not found: {skill_id[:_SHOWN_ID]}",
            hint=f"{meant}{self.path} has {len(self.skills)} skills;"
            " `clawperator-py skills list` lists them.",
            details={"skillId": skill_id[:_SHOWN_ID]},
        )

    def search(self, *, app: str = "", intent: str = "", keyword: str = "") -> tuple[Skill, ...]:
        """Return the skills for an app, an intent and a keyword; ``""`` matches all."""
        return tuple(skill for skill in self.skills if skill.fits(app, intent, keyword))

    def file(self, relative: str) -> Path:
        """Return a file of the repository; raise ValueError if it or its link leads outside."""
        path = (self.root / relative).resolve()
        if not path.is_relative_to(self.root):
            raise ValueError(f"{relative} is outside of the repository {self.root}")
        return path


def read_registry(path: str | Path | None = None) -> Registry:
    """Read the registry at a path, or the one that ``find_registry`` finds."""
    found = Path(path) if path is not None else find_registry()
    try:
        with found.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise _unreadable(found, f"it has more than {_MOST_BYTES} bytes")
        document = parse_json(content.decode("utf-8-sig"))
    except RecursionError as error:
        raise _unreadable(found, why_not_json(error)) from error
    except UNUSABLE_FILE as error:
        raise _unreadable(found, _why(error)) from error
    skills = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(skills, list):
        raise _unreadable(found, "Invalid registry: skills array required")
    entries = [Skill(one) for one in skills if isinstance(one, dict)]
    return Registry(found, tuple(entries), document)


def find_registry(
    environment: Mapping[str, str] = os.environ, *, folders: Sequence[Path] = ()
) -> Path:
    """Return the path of the registry; raise an error that lists all places that were tried.

    If the variable names one, no other place is searched. Otherwise it is in one of the
    ``folders``, by default the current one, or where skills are installed.
    """
    named = environment.get(REGISTRY_VARIABLE)
    if named:
        return Path(named)
    places = [*(folders or [Path.cwd()]), installed_repository()]
    tried = [place / REGISTRY_IN_REPOSITORY for place in places]
    for path in tried:
        if is_file(path):
            return path
    raise _not_found(tried)


def installed_repository() -> Path:
    """Return the folder where skills are installed."""
    return Path.home() / ".clawperator" / "skills"


def _not_found(tried: Sequence[Path]) -> SkillError:
    return SkillError(
        f"Registry not found at default path: {', '.join(map(str, tried))}",
        code=ErrorCode.REGISTRY_READ_FAILED,
        hint=f"Set {REGISTRY_VARIABLE} to the registry of your skills, or install some:"
        " `clawperator-py skills install URL`.",
        details={"tried": [str(path) for path in tried]},
    )


def _unreadable(path: Path, why: str) -> SkillError:
    return SkillError(
        f"Registry not found or unreadable: {path}: {why}",
        code=ErrorCode.REGISTRY_READ_FAILED,
        hint=f"{REGISTRY_VARIABLE} names the registry, which is JSON with a list of skills.",
        details={"registryPath": str(path), "tried": [str(path)]},
    )


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) or "null" in str(error):
        return file_problem(error)
    return f"it is not JSON: {why_not_json(error)}"
