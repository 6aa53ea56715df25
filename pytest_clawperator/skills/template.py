"""Templates: the variables of a recipe, and their values in it.

The rules are the published program's, whose values and objects are JavaScript's: values become
text by ``String(value)``, and keys that are numbers come first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pytest_clawperator.contracts.ecmascript import stringify, to_string
from pytest_clawperator.skills.skill import recipe_name

_PLACEHOLDER = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_INDEX = 2**32 - 2
_IDS = ("COMMAND_ID", "TASK_ID")


def as_texts(values: Any) -> dict[str, str]:
    """Return variables as texts; what is neither an object nor a list has none."""
    if isinstance(values, list):
        values = {str(number): value for number, value in enumerate(values)}
    if not isinstance(values, Mapping):
        return {}
    ordered = sorted(values, key=_index_of)
    return {key: to_string(values[key]) for key in ordered if key != "__proto__"}


def with_ids(variables: Mapping[str, str], *, skill_id: str, artifact: str) -> dict[str, str]:
    """Return variables with the ids that are not given: the same ones for the same input."""
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
    """Return the names of the variables in a template, in its order, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, variables: Mapping[str, str]) -> str:
    """Put the values into a template, one variable after the other, escaped for JSON."""
    for name, value in variables.items():
        template = template.replace(f"{{{{{name}}}}}", stringify(value)[1:-1])
    return template


def is_used(name: str, template: str) -> bool:
    """Whether a variable stands in a template; those that are filled in by themselves do."""
    return name in _IDS or f"{{{{{name}}}}}" in template


def _index_of(key: str) -> int:
    """Return where JavaScript puts a key: numbers first, in their order, then all others."""
    is_index = _INDEX.fullmatch(key) is not None and int(key) <= _MOST_INDEX
    return int(key) if is_index else _MOST_INDEX + 1


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
