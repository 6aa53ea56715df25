"""Other spellings of action types and keys, renamed to the canonical ones before judging.

A canonical key beats every alias of it in the same object; of several aliases the last
one wins; a renamed key keeps the place where its alias stood. Renaming never fails: what
it does not understand it leaves for the schema to refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.ecmascript import trim

EXECUTION_ALIASES = {
    "command_id": "commandId",
    "task_id": "taskId",
    "expected_format": "expectedFormat",
    "timeout_ms": "timeoutMs",
}

ACTION_TYPE_ALIASES = {
    "open_url": "open_uri",
    "tap": "click",
    "press": "click",
    "wait_for": "wait_for_node",
    "find": "wait_for_node",
    "find_node": "wait_for_node",
    "read": "read_text",
    "snapshot": "snapshot_ui",
    "screenshot": "take_screenshot",
    "capture_screenshot": "take_screenshot",
    "type_text": "enter_text",
    "text_entry": "enter_text",
    "input_text": "enter_text",
    "key_press": "press_key",
}

# Not accepted, but what somebody who writes them wants.
LIKELY_ACTION_TYPES = {
    **ACTION_TYPE_ALIASES,
    "back": "press_key",
    "home": "press_key",
    "press_back": "press_key",
    "keyevent": "press_key",
    "get_text": "read_text",
    "launch": "open_app",
    "launch_app": "open_app",
    "open": "open_app",
    "start_app": "open_app",
    "stop_app": "close_app",
    "long_press": "click",
    "long_click": "click",
    "swipe": "scroll",
    "wait": "wait_for_node",
    "wait_for_nav": "wait_for_navigation",
    "type": "enter_text",
    "set_text": "enter_text",
    "read_value": "read_key_value_pair",
    "dump": "snapshot_ui",
    "pause": "sleep",
}

PARAM_ALIASES = {
    "application_id": "applicationId",
    "app_id": "applicationId",
    "appId": "applicationId",
    "app": "applicationId",
    "package": "applicationId",
    "package_id": "applicationId",
    "packageId": "applicationId",
    "session_id": "sessionId",
    "url": "uri",
    "duration_ms": "durationMs",
    "file": "path",
    "filePath": "path",
    "output_path": "path",
    "selector": "matcher",
    "node": "matcher",
    "element": "matcher",
    "value": "text",
    "click_type": "clickType",
    "longPress": "clickType",
    "within": "container",
    "container_selector": "container",
    "max_swipes": "maxSwipes",
    "distance_ratio": "distanceRatio",
    "settle_delay_ms": "settleDelayMs",
    "max_scrolls": "maxScrolls",
    "max_duration_ms": "maxDurationMs",
    "no_position_change_threshold": "noPositionChangeThreshold",
    "find_first_scrollable_child": "findFirstScrollableChild",
    "click_after": "clickAfter",
    "validator_pattern": "validatorPattern",
    "expected_package": "expectedPackage",
    "expected_node": "expectedNode",
    "wait_for": "expectedNode",
    "timeout_ms": "timeoutMs",
    "label_matcher": "labelMatcher",
    "label_selector": "labelMatcher",
}

MATCHER_ALIASES = {
    "resource_id": "resourceId",
    "id": "resourceId",
    "text": "textEquals",
    "text_contains": "textContains",
    "content_desc": "contentDescEquals",
    "content_desc_equals": "contentDescEquals",
    "description": "contentDescEquals",
    "accessibility_label": "contentDescEquals",
    "content_desc_contains": "contentDescContains",
    "description_contains": "contentDescContains",
    "accessibility_label_contains": "contentDescContains",
}

MATCHER_PARAMS = ("matcher", "container", "expectedNode", "labelMatcher")


def rename_keys(given: dict[Any, Any], aliases: Mapping[str, str]) -> dict[Any, Any]:
    """Rename the aliases among the keys; the same object comes back where there are none."""
    if given.keys().isdisjoint(aliases):
        return given
    renamed = {}
    for key, value in given.items():
        canonical = aliases.get(key)
        if canonical is None:
            renamed[key] = value
        elif canonical not in given:
            renamed[canonical] = value
    return renamed


def canonical_type(spelled: str) -> str:
    """Give the canonical action type for any spelling of it: `` Tap `` is ``click``."""
    cleaned = trim(spelled).lower()
    canonical = ACTION_TYPE_ALIASES.get(cleaned, cleaned)
    return spelled if canonical == spelled else canonical


def canonical_matcher(matcher: Any) -> Any:
    """Rename the aliases of a matcher object."""
    return rename_keys(matcher, MATCHER_ALIASES) if isinstance(matcher, dict) else matcher


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
