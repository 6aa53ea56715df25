"""Other spellings of action types and keys, renamed to the canonical ones before validation.

Which spellings there are stands beside what they are spellings of: in
:mod:`~pytest_clawperator.contracts.actions`, :mod:`~pytest_clawperator.contracts.params` and
:mod:`~pytest_clawperator.contracts.selectors`. Renaming never fails: what is not understood is
left for the schema to refuse.
"""

from __future__ import annotations

from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.actions import TYPE_ALIASES
from pytest_clawperator.contracts.params import MATCHER_PARAMS, PARAM_ALIASES
from pytest_clawperator.contracts.schema.objects import rename_keys
from pytest_clawperator.contracts.selectors import canonical_matcher
from pytest_clawperator.contracts.text.ecmascript import trim

EXECUTION_ALIASES = {
    "command_id": "commandId",
    "task_id": "taskId",
    "expected_format": "expectedFormat",
    "timeout_ms": "timeoutMs",
}


def canonical_type(spelled: str) -> str:
    """Return the canonical action type for any spelling of it: `` Tap `` is ``click``."""
    cleaned = trim(spelled).lower()
    canonical = TYPE_ALIASES.get(cleaned, cleaned)
    return spelled if canonical == spelled else canonical


def canonical_params(params: Any) -> Any:
    """Rename the aliases of an action's parameters and of the matchers in them."""
    if not isinstance(params, dict):
        return params
    renamed = rename_keys(params, PARAM_ALIASES)
    for name in MATCHER_PARAMS:
        if name in renamed:
            renamed = _with(renamed, name, canonical_matcher(renamed[name]))
    if renamed.get("clickType") is True:
        renamed = _with(renamed, "clickType", "long_click")
    return renamed


def canonical_action(action: Any) -> Any:
    """Rename the type, the parameters and the matchers of one action."""
    if not isinstance(action, dict):
        return action
    spelled = action.get("type")
    if isinstance(spelled, str):
        action = _with(action, "type", canonical_type(spelled))
    if "params" in action:
        action = _with(action, "params", canonical_params(action["params"]))
    return action


def _with(given: dict[Any, Any], key: str, value: Any) -> dict[Any, Any]:
    """Change one value in a copy; most objects are canonical already and need none."""
    return given if given[key] is value else {**given, key: value}


def canonical_execution(execution: Any) -> Any:
    """Rename every alias of a payload; anything that is not an object passes untouched."""
    if not isinstance(execution, dict):
        return execution
    renamed = rename_keys(execution, EXECUTION_ALIASES)
    actions = renamed.get("actions")
    if isinstance(actions, list):
        first, rest = actions[: limits.MAX_INSPECTED], actions[limits.MAX_INSPECTED :]
        renamed = {**renamed, "actions": [*map(canonical_action, first), *rest]}
    return renamed
