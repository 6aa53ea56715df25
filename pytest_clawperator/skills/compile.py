"""Compile a recipe: a template of an execution payload, and the values of its variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_clawperator import errors
from pytest_clawperator.contracts.ecmascript import parse_json, stringify, to_string, why_not_json
from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.skills.registry import Registry
from pytest_clawperator.skills.skill import Skill, recipe_name

MODE = "artifact_compiled"
# A payload has at most 64,000 bytes.
_MOST_BYTES = 1_000_000
_LEFT_OVER = re.compile(r"\{\{[^{}\"]{0,60}(?:\}\})?")


@dataclass(frozen=True)
class Compiled:
    """A compiled recipe; ``doubts`` are likely mistakes that the published program accepts."""

    execution: Execution
    doubts: tuple[errors.SkillError, ...] = ()

    def checked(self) -> Execution:
        """Return the execution; raise the first doubt if there is one."""
        if self.doubts:
            raise self.doubts[0]
        return self.execution


def compile_artifact(
    registry: Registry, skill_id: str, artifact: str, variables: Mapping[str, Any] | str = ""
) -> Compiled:
    """Compile a recipe of a skill; ``variables`` is an object, or its JSON text."""
    skill = registry.get(skill_id)
    path = skill.recipe(artifact)
    if path is None:
        raise _no_artifact(skill, artifact)
    values = _parsed(variables)
    text = _read(registry, path, artifact)
    recipe = _Recipe(skill.id, artifact, path, text)
    given = as_texts(values)
    filled = recipe.filled(given)
    execution = recipe.validated(filled)
    return Compiled(execution, tuple(recipe.doubts(values, given, filled)))


@dataclass(frozen=True)
class _Recipe:
    """The template of one recipe; errors name it."""

    skill_id: str
    artifact: str
    path: str
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """Return the text with all values filled in; raise for the first missing one."""
        complete = with_ids(given, skill_id=self.skill_id, artifact=self.artifact)
        for name in placeholders(self.text):
            if not complete.get(name):
                raise self._missing(name, given)
        return fill(self.text, complete)

    def validated(self, filled: str) -> Execution:
        """Return the payload; raise if it is not valid."""
        try:
            execution = validate_execution(filled)
        except errors.ExecutionValidationError as error:
            raise self._invalid(error.message, problems=error.problems) from error
        except errors.PayloadError as error:
            raise self._invalid(error.message) from error
        return replace(execution, mode=MODE)

    def doubts(self, values: Any, given: Mapping[str, str], filled: str) -> list[errors.SkillError]:
        """Return likely mistakes: variables that are unused or not texts, and leftover braces."""
        known = placeholders(self.text)
        found = [self._unknown(name, known) for name in given if not is_used(name, self.text)]
        pairs = values.items() if isinstance(values, Mapping) else [("--vars", values)]
        for name, value in pairs:
            if value is None or isinstance(value, (list, Mapping)):
                found.append(self._no_text(name, value))
        if left := _LEFT_OVER.search(filled):
            found.append(self._invalid(f"{left[0]} is left over in the payload"))
        return found

    def _missing(self, name: str, given: Mapping[str, str]) -> errors.SkillError:
        near = closest(name, given)
        meant = f" {near} is given; the case of letters matters." if near else ""
        return errors.SkillError(
            f"Missing required variable: {name}",
            code=errors.ErrorCode.COMPILE_VAR_MISSING,
            hint=f"Give it a value that is not empty.{meant}",
            details={"placeholder": name, **self._about()},
        )

    def _unknown(self, name: str, known: list[str]) -> errors.SkillError:
        others = ", ".join(known) or "none"
        return errors.SkillError(
            f"{self.path} has no variable {name}",
            code=errors.ErrorCode.COMPILE_VAR_UNKNOWN,
            hint=f"Its variables: {others}.",
            details={"placeholder": name, **self._about()},
        )

    def _no_text(self, name: str, value: Any) -> errors.SkillError:
        return errors.SkillError(
            f"the variable {name} is not a text: {shown(value)}",
            code=errors.ErrorCode.COMPILE_VARS_PARSE_FAILED,
            hint="Allowed are texts, numbers, true and false.",
            details=self._about(),
        )

    def _invalid(self, why: str, *, problems: Any = ()) -> errors.SkillError:
        return errors.SkillError(
            f"{self.path} does not compile to a payload: {why}",
            code=errors.ErrorCode.COMPILE_VALIDATION_FAILED,
            hint="Values are put between the quotes of the recipe's JSON.",
            details={**self._about(), **_listed(problems)},
        )

    def _about(self) -> dict[str, Any]:
        return {"skillId": self.skill_id, "artifactName": self.artifact}


def _listed(problems: Any) -> dict[str, Any]:
    """Return the problems of a payload as data."""
    listed = [{"path": one.path, "message": one.message} for one in problems]
    return {"path": listed[0]["path"], "problems": listed} if listed else {}


def _parsed(variables: Mapping[str, Any] | str) -> Any:
    if not isinstance(variables, str):
        return variables
    try:
        return parse_json(variables or "{}")
    except (ValueError, RecursionError) as error:
        raise errors.SkillError(
            "Invalid --vars JSON",
            code=errors.ErrorCode.COMPILE_VARS_PARSE_FAILED,
            hint=f'{why_not_json(error)}. Write an object, as in \'{{"ROOM": "Bedroom"}}\'.',
            details={"varsJson": variables},
        ) from error


def _read(registry: Registry, relative: str, artifact: str) -> str:
    try:
        path = registry.file(relative)
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"{path} has more than {_MOST_BYTES} bytes")
        return content.decode("utf-8")
    except errors.UNUSABLE_FILE as error:
        why = (
            f"{errors.file_problem(error)}: {relative}"
            if isinstance(error, OSError)
            else str(error)
        )
        raise errors.SkillError(
            f"Cannot read artifact: {why}",
            code=errors.ErrorCode.REGISTRY_READ_FAILED,
            hint=f"Correct the paths in {registry.path}, or install the skills again.",
            details={"registryPath": str(registry.path), "artifactName": artifact},
        ) from error


def _no_artifact(skill: Skill, artifact: str) -> errors.SkillError:
    names = [recipe_name(Path(path).name) for path in skill.recipes]
    return errors.SkillError(
        f"Artifact not found: {artifact} (skill: {skill.id})",
        code=errors.ErrorCode.ARTIFACT_NOT_FOUND,
        hint=f"Its recipes: {', '.join(names) or 'none; `skills run` runs its script'}.",
        details={"skillId": skill.id, "artifactName": artifact},
    )


_PLACEHOLDER = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_INDEX = 2**32 - 2
_IDS = ("COMMAND_ID", "TASK_ID")


def as_texts(values: Any) -> dict[str, str]:
    """Return the variables of an object or a list as texts; other values have none."""
    if isinstance(values, list):
        values = {str(number): value for number, value in enumerate(values)}
    if not isinstance(values, Mapping):
        return {}
    ordered = sorted(values, key=_index_of)
    return {key: to_string(values[key]) for key in ordered if key != "__proto__"}


def with_ids(variables: Mapping[str, str], *, skill_id: str, artifact: str) -> dict[str, str]:
    """Return variables with the missing ids added; the same input gives the same ids."""
    ordered = sorted(sorted(variables, key=_utf16), key=_index_of)
    seed = {
        "skillId": skill_id,
        "artifactName": recipe_name(artifact),
        "vars": {key: variables[key] for key in ordered},
    }
    unique = sha256(stringify(seed).encode()).hexdigest()[:12]
    made = {"COMMAND_ID": f"cmd-{unique}", "TASK_ID": f"task-{unique}"}
    return {**variables, **{name: variables.get(name) or made[name] for name in _IDS}}


def placeholders(template: str) -> list[str]:
    """Return the names of the variables in a template, in order, without repetition."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, variables: Mapping[str, str]) -> str:
    """Put the values into a template, one variable after the other, escaped for JSON."""
    for name, value in variables.items():
        template = template.replace(f"{{{{{name}}}}}", stringify(value)[1:-1])
    return template


def is_used(name: str, template: str) -> bool:
    """Whether a template uses a variable; ids that are filled in automatically count as used."""
    return name in _IDS or f"{{{{{name}}}}}" in template


def _index_of(key: str) -> int:
    """Return the sort key of JavaScript's object order: numbers first, then all other keys."""
    is_index = _INDEX.fullmatch(key) is not None and int(key) <= _MOST_INDEX
    return int(key) if is_index else _MOST_INDEX + 1


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
