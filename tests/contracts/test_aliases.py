"""Other spellings become canonical ones, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.actions import TYPE_ALIASES
from pytest_clawperator.contracts.aliases import (
    EXECUTION_ALIASES,
    canonical_execution,
    canonical_params,
    canonical_type,
)
from pytest_clawperator.contracts.params import MATCHER_PARAMS, PARAM_ALIASES
from pytest_clawperator.contracts.selectors import MATCHER_ALIASES, canonical_matcher

# The tables of the contract, written out: these are not to be derived from the package.
TYPES = {
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
PARAMS = {
    "applicationId": [
        "application_id",
        "app_id",
        "appId",
        "app",
        "package",
        "package_id",
        "packageId",
    ],
    "sessionId": ["session_id"],
    "uri": ["url"],
    "durationMs": ["duration_ms"],
    "path": ["file", "filePath", "output_path"],
    "matcher": ["selector", "node", "element"],
    "text": ["value"],
    "clickType": ["click_type", "longPress"],
    "container": ["within", "container_selector"],
    "maxSwipes": ["max_swipes"],
    "distanceRatio": ["distance_ratio"],
    "settleDelayMs": ["settle_delay_ms"],
    "maxScrolls": ["max_scrolls"],
    "maxDurationMs": ["max_duration_ms"],
    "noPositionChangeThreshold": ["no_position_change_threshold"],
    "findFirstScrollableChild": ["find_first_scrollable_child"],
    "clickAfter": ["click_after"],
    "validatorPattern": ["validator_pattern"],
    "expectedPackage": ["expected_package"],
    "expectedNode": ["expected_node", "wait_for"],
    "timeoutMs": ["timeout_ms"],
    "labelMatcher": ["label_matcher", "label_selector"],
}
FIELDS = {
    "resourceId": ["resource_id", "id"],
    "textEquals": ["text"],
    "textContains": ["text_contains"],
    "contentDescEquals": [
        "content_desc",
        "content_desc_equals",
        "description",
        "accessibility_label",
    ],
    "contentDescContains": [
        "content_desc_contains",
        "description_contains",
        "accessibility_label_contains",
    ],
}
KEYS = {
    "command_id": "commandId",
    "task_id": "taskId",
    "expected_format": "expectedFormat",
    "timeout_ms": "timeoutMs",
}
# Every way to write a parameter that holds a matcher.
MATCHERS = {
    "matcher": ["matcher", "selector", "node", "element"],
    "container": ["container", "within", "container_selector"],
    "expectedNode": ["expectedNode", "expected_node", "wait_for"],
    "labelMatcher": ["labelMatcher", "label_matcher", "label_selector"],
}


def pairs(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    """List each alias with what it stands for."""
    return [(alias, canonical) for canonical, aliases in table.items() for alias in aliases]


def test_there_are_no_others() -> None:
    """The package knows exactly the aliases of the contract."""
    assert TYPES == TYPE_ALIASES
    assert dict(pairs(PARAMS)) == PARAM_ALIASES
    assert dict(pairs(FIELDS)) == MATCHER_ALIASES
    assert KEYS == EXECUTION_ALIASES
    assert set(MATCHERS) == set(MATCHER_PARAMS)


@pytest.mark.parametrize(("alias", "canonical"), TYPES.items())
def test_action_type_aliases(alias: str, canonical: str) -> None:
    """Each alias of an action type is understood in any case and padding."""
    assert canonical_type(alias) == canonical
    assert canonical_type(f" \ufeff{alias.upper()}\n") == canonical


def test_white_space_is_that_of_the_reference() -> None:
    """A next-line character is not white space there, so it stays and will be refused."""
    assert canonical_type("\x85tap") == "\x85tap"


@pytest.mark.parametrize(("alias", "canonical"), pairs(PARAMS))
def test_each_alias_of_a_parameter_is_renamed(alias: str, canonical: str) -> None:
    """Each alias of a parameter is renamed."""
    assert canonical_params({alias: 1}) == {canonical: 1}


@pytest.mark.parametrize(("spelled", "name"), pairs(MATCHERS))
@pytest.mark.parametrize(("alias", "canonical"), pairs(FIELDS))
def test_matcher_aliases_in_every_matcher(
    spelled: str, name: str, alias: str, canonical: str
) -> None:
    """Each alias of a matcher field is renamed, however the parameter with it is spelled."""
    assert canonical_params({spelled: {alias: "x"}}) == {name: {canonical: "x"}}


@pytest.mark.parametrize(
    "name",
    [
        "coordinate",
        "submit",
        "clear",
        "direction",
        "validator",
        "key",
        "retry",
        "scrollRetry",
        "scroll_retry",
        "clickRetry",
        "click_retry",
        "all",
        "target",
        "Matcher",
        "APP",
    ],
)
def test_names_that_stay(name: str) -> None:
    """Names without an alias, and aliases in another case, are left as they are."""
    assert canonical_params({name: {"id": "x"}}) == {name: {"id": "x"}}


@pytest.mark.parametrize(("alias", "canonical"), KEYS.items())
def test_each_alias_of_a_top_level_key_is_renamed(alias: str, canonical: str) -> None:
    """Each alias of a top-level key is renamed."""
    assert canonical_execution({alias: 1}) == {canonical: 1}


@pytest.mark.parametrize("value", [None, "", 0, {}])
def test_canonical_key_beats_alias(value: Any) -> None:
    """The canonical key wins over its aliases whatever it holds and wherever it stands."""
    assert canonical_matcher({"id": "a", "resourceId": value, "resource_id": "b"}) == {
        "resourceId": value
    }


def test_last_alias_wins() -> None:
    """Of several aliases of one key the last one counts."""
    assert canonical_params({"app": "a", "package": "b", "appId": "c"}) == {"applicationId": "c"}


def test_renamed_key_keeps_its_place() -> None:
    """Unknown keys are reported in the order given, so renaming must not shuffle them."""
    assert list(canonical_params({"z": 1, "url": 2, "y": 3})) == ["z", "uri", "y"]


@pytest.mark.parametrize("name", ["clickType", "click_type", "longPress"])
def test_long_press_flag(name: str) -> None:
    """True means a long click; false is left for the schema to refuse."""
    assert canonical_params({name: True}) == {"clickType": "long_click"}
    assert canonical_params({name: False}) == {"clickType": False}


def test_retry_objects_are_left_alone() -> None:
    """Aliases mean nothing inside retry objects and coordinates."""
    params = {"retry": {"timeout_ms": 1}, "coordinate": {"id": 1}}

    assert canonical_params(params) == params


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_other_values_pass_untouched(value: Any) -> None:
    """What is not an object is left for the schema."""
    assert canonical_execution(value) is value
    assert canonical_params(value) is value
    assert canonical_execution({"actions": [value]}) == {"actions": [value]}


def test_input_is_never_changed() -> None:
    """Renaming gives new objects and leaves the caller's as they were."""
    given = {"timeout_ms": 1, "actions": [{"type": "tap", "params": {"selector": {"id": "x"}}}]}

    renamed = canonical_execution(given)

    assert renamed == {
        "timeoutMs": 1,
        "actions": [{"type": "click", "params": {"matcher": {"resourceId": "x"}}}],
    }
    assert given == {
        "timeout_ms": 1,
        "actions": [{"type": "tap", "params": {"selector": {"id": "x"}}}],
    }
