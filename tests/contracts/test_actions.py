"""The typed action classes write what the wire wants, and every accepted spelling is renamed."""

from __future__ import annotations

import copy
import math
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import (
    ACTION_TYPES,
    Click,
    Retry,
    Sleep,
    TypedAction,
    canonical_execution,
    canonical_params,
    canonical_type,
    to_milliseconds,
)
from pytest_clawperator.contracts.matchers import MATCHER_ALIASES, NodeMatcher, canonical_matcher
from pytest_clawperator.contracts.params import (
    MATCHER_PARAMS,
    PARAM_ALIASES,
    ActionParams,
    Coordinate,
)
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.errors import ExecutionValidationError
from tests.contracts.builders import MATCHER_FIELDS, PARAMS

OK = NodeMatcher.of(text="OK")
WIRE_OK = {"textEquals": "OK"}
LABEL = NodeMatcher.of(text="Label", role="text")
WIRE_LABEL = {"role": "text", "textEquals": "Label"}
RETRY = Retry(
    max_attempts=4, initial_delay=0.25, max_delay=8, backoff_multiplier=1.5, jitter_ratio=0.125
)
WIRE_RETRY = {
    "maxAttempts": 4,
    "initialDelayMs": 250,
    "maxDelayMs": 8000,
    "backoffMultiplier": 1.5,
    "jitterRatio": 0.125,
}

# Each field of the classes: a value, its name on the wire, and the value there.
FIELDS_OF_ACTIONS: dict[str, tuple[Any, str, Any]] = {
    "all": (True, "all", True),
    "application_id": ("com.a", "applicationId", "com.a"),
    "clear": (True, "clear", True),
    "click_after": (True, "clickAfter", True),
    "click_retry": (Retry(max_attempts=2), "clickRetry", {"maxAttempts": 2}),
    "click_type": ("long_click", "clickType", "long_click"),
    "container": ({"id": "list"}, "container", {"resourceId": "list"}),
    "coordinate": ((7, 8), "coordinate", {"x": 7, "y": 8}),
    "direction": ("left", "direction", "left"),
    "distance_ratio": (0.75, "distanceRatio", 0.75),
    "duration": (0.29, "durationMs", 290),
    "expected_node": (OK, "expectedNode", WIRE_OK),
    "expected_package": ("com.b", "expectedPackage", "com.b"),
    "find_first_scrollable_child": (False, "findFirstScrollableChild", False),
    "key": ("home", "key", "home"),
    "label_matcher": (LABEL, "labelMatcher", WIRE_LABEL),
    "matcher": (OK, "matcher", WIRE_OK),
    "max_duration": (20, "maxDurationMs", 20_000),
    "max_scrolls": (12, "maxScrolls", 12),
    "max_swipes": (11, "maxSwipes", 11),
    "no_position_change_threshold": (3, "noPositionChangeThreshold", 3),
    "path": ("/x.png", "path", "/x.png"),
    "retry": (RETRY, "retry", WIRE_RETRY),
    "scroll_retry": (RETRY, "scrollRetry", WIRE_RETRY),
    "session_id": ("s", "sessionId", "s"),
    "settle_delay": (0.125, "settleDelayMs", 125),
    "submit": (False, "submit", False),
    "text": ("hi", "text", "hi"),
    "timeout": (1.5, "timeoutMs", 1500),
    "uri": ("app://x", "uri", "app://x"),
    "validator": ("regex", "validator", "regex"),
    "validator_pattern": ("^x$", "validatorPattern", "^x$"),
}
# Each class, its type, and its fields.
CLASSES: list[tuple[type[TypedAction], str, str]] = [
    (actions.OpenApp, "open_app", "application_id retry"),
    (actions.OpenUri, "open_uri", "uri retry"),
    (actions.CloseApp, "close_app", "application_id"),
    (actions.StartRecording, "start_recording", "session_id"),
    (actions.StopRecording, "stop_recording", "session_id"),
    (actions.WaitForNode, "wait_for_node", "matcher timeout retry"),
    (Click, "click", "matcher coordinate click_type retry"),
    (
        actions.ScrollAndClick,
        "scroll_and_click",
        "matcher container direction click_type max_swipes distance_ratio settle_delay"
        " find_first_scrollable_child click_after scroll_retry click_retry",
    ),
    (
        actions.Scroll,
        "scroll",
        "direction container distance_ratio settle_delay find_first_scrollable_child retry",
    ),
    (
        actions.ScrollUntil,
        "scroll_until",
        "matcher container direction max_scrolls max_duration no_position_change_threshold"
        " distance_ratio settle_delay find_first_scrollable_child click_after click_type",
    ),
    (actions.ReadText, "read_text", "matcher container all validator validator_pattern retry"),
    (actions.EnterText, "enter_text", "matcher text submit clear retry"),
    (actions.SnapshotUi, "snapshot_ui", "retry"),
    (actions.TakeScreenshot, "take_screenshot", "path retry"),
    (Sleep, "sleep", "duration"),
    (actions.PressKey, "press_key", "key"),
    (actions.WaitForNavigation, "wait_for_navigation", "timeout expected_package expected_node"),
    (actions.ReadKeyValuePair, "read_key_value_pair", "label_matcher retry"),
]


def test_every_field_of_every_class_is_written_and_accepted() -> None:
    """Each class writes each field under its wire name, and a payload accepts what it writes."""
    assert {cls for cls, *_ in CLASSES} == set(TypedAction.__subclasses__())
    assert sorted(ACTION_TYPES) == sorted(kind for _, kind, _ in CLASSES)
    assert {name for _, name, _ in FIELDS_OF_ACTIONS.values()} == set(PARAMS)
    for cls, kind, names in CLASSES:
        assert {each.name for each in fields(cls)} == {"id", *names.split()}, kind
        given = {name: FIELDS_OF_ACTIONS[name] for name in names.split()}
        values = {name: value for name, (value, _, _) in given.items()}
        wire = {"id": "i", "type": kind, "params": {name: sent for _, name, sent in given.values()}}

        written = cls(id="i", **values)

        if cls is Click:  # which has a matcher or a point, not both
            assert written.to_wire() == wire
        else:
            assert complete_execution([written]).actions[0].to_wire() == wire, kind
    assert complete_execution([Click(OK)]).actions[0].to_wire()["params"] == {"matcher": WIRE_OK}


def test_fields_that_are_not_given_are_left_out() -> None:
    """Only what is given travels, and an id comes first."""
    assert list(actions.SnapshotUi(id="snap").to_wire().items()) == [
        ("id", "snap"),
        ("type", "snapshot_ui"),
    ]
    assert actions.StopRecording().to_wire() == {"type": "stop_recording"}
    assert Retry().to_wire() == {}
    assert len(fields(Retry)) == len(WIRE_RETRY)


def test_the_row_of_a_type_is_whole() -> None:
    """Each type takes some time, logs its errors, and shares no spelling with another type."""
    spellings = [word for kind in ACTION_TYPES.values() for word in (*kind.aliases, *kind.guesses)]

    assert len(set(spellings)) == len(spellings)
    assert not set(spellings) & set(ACTION_TYPES)
    for kind in ACTION_TYPES.values():
        assert kind.longest(ActionParams()) > 0, kind
        assert "error" in kind.logs, kind
        assert len(set(kind.logs)) == len(kind.logs), kind


def test_seconds_become_whole_milliseconds() -> None:
    """The Operator ignores fractions, so a third of a second is 333 ms, and never nothing."""
    rows = [(0, 0), (1, 1000), (0.1, 100), (0.29, 290), (1 / 3, 333), (0.0001, 1)]
    for seconds, milliseconds in rows:
        converted = to_milliseconds(seconds)

        assert (converted, type(converted)) == (milliseconds, int), seconds


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (Sleep("5"), "durationMs"),  # type: ignore[arg-type]  # the point
        (Sleep(True), "durationMs"),
        (Sleep(math.nan), "durationMs"),
        (Sleep(math.inf), "durationMs"),
        (actions.WaitForNode(OK, timeout=timedelta(1)), "timeoutMs"),  # type: ignore[arg-type]
        (Click(coordinate=(1,)), "coordinate"),  # type: ignore[arg-type]  # likewise
        (Click(coordinate={1, 2}), "coordinate"),  # type: ignore[arg-type]  # likewise
        (Click("OK"), "matcher"),  # type: ignore[arg-type]  # likewise
        (Click({"text": ("a", "b")}), "matcher.textEquals"),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_converted_is_refused_with_its_path(
    written: TypedAction, path: str
) -> None:
    """A value that cannot be converted is refused like any other, with its path."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution([written])

    assert refused.value.path == f"actions.0.params.{path}"


def test_a_point_is_a_pair_or_a_coordinate() -> None:
    """A point may be a pair or a coordinate object."""
    for point in ((3, 4), Coordinate(3, 4)):
        action = complete_execution([Click(coordinate=point)]).to_wire()["actions"][0]

        assert action["params"] == {"coordinate": {"x": 3, "y": 4}}


# The aliases of the contract, written out: these are not to be derived from the package.
TYPES = {
    "open_uri": "open_url",
    "click": "tap press",
    "wait_for_node": "wait_for find find_node",
    "read_text": "read",
    "snapshot_ui": "snapshot",
    "take_screenshot": "screenshot capture_screenshot",
    "enter_text": "type_text text_entry input_text",
    "press_key": "key_press",
}
PARAM_SPELLINGS = {
    "applicationId": "application_id app_id appId app package package_id packageId",
    "sessionId": "session_id",
    "uri": "url",
    "durationMs": "duration_ms",
    "path": "file filePath output_path",
    "matcher": "selector node element",
    "text": "value",
    "clickType": "click_type longPress",
    "container": "within container_selector",
    "maxSwipes": "max_swipes",
    "distanceRatio": "distance_ratio",
    "settleDelayMs": "settle_delay_ms",
    "maxScrolls": "max_scrolls",
    "maxDurationMs": "max_duration_ms",
    "noPositionChangeThreshold": "no_position_change_threshold",
    "findFirstScrollableChild": "find_first_scrollable_child",
    "clickAfter": "click_after",
    "validatorPattern": "validator_pattern",
    "expectedPackage": "expected_package",
    "expectedNode": "expected_node wait_for",
    "timeoutMs": "timeout_ms",
    "labelMatcher": "label_matcher label_selector",
}
FIELDS = {
    "resourceId": "resource_id id",
    "textEquals": "text",
    "textContains": "text_contains",
    "contentDescEquals": "content_desc content_desc_equals description accessibility_label",
    "contentDescContains": (
        "content_desc_contains description_contains accessibility_label_contains"
    ),
}
KEYS = {
    "commandId": "command_id",
    "taskId": "task_id",
    "expectedFormat": "expected_format",
    "timeoutMs": "timeout_ms",
}


def pairs(table: dict[str, str]) -> dict[str, str]:
    """Return what each alias of a table stands for."""
    return {alias: canonical for canonical, aliases in table.items() for alias in aliases.split()}


def test_the_aliases_are_those_of_the_contract() -> None:
    """The package accepts exactly the aliases of the contract."""
    assert pairs(TYPES) == actions.TYPE_ALIASES
    assert pairs(PARAM_SPELLINGS) == PARAM_ALIASES
    assert pairs(FIELDS) == MATCHER_ALIASES
    assert pairs(KEYS) == actions.EXECUTION_ALIASES
    assert set(MATCHER_PARAMS) == {"matcher", "container", "expectedNode", "labelMatcher"}


def test_every_alias_is_renamed() -> None:
    """Each alias is renamed: types in any case and padding, matcher fields in every matcher."""
    for alias, canonical in pairs(TYPES).items():
        for spelled in (alias, f" \ufeff{alias.upper()}\n"):
            assert canonical_type(spelled) == canonical, spelled
    for alias, canonical in pairs(KEYS).items():
        assert canonical_execution({alias: 1}) == {canonical: 1}, alias
    for alias, canonical in pairs(PARAM_SPELLINGS).items():
        assert canonical_params({alias: 1}) == {canonical: 1}, alias
    for name in MATCHER_PARAMS:
        for spelled in (name, *PARAM_SPELLINGS[name].split()):
            for alias, field in {
                **pairs(FIELDS),
                **{same: same for same in MATCHER_FIELDS},
            }.items():
                renamed = canonical_params({spelled: {alias: "x"}})
                assert renamed == {name: {field: "x"}}, (spelled, alias)


def test_other_names_and_values_stay() -> None:
    """Names without an alias, aliases in another case, and values of other types are kept."""
    names = "coordinate submit clear direction validator key retry scrollRetry scroll_retry"
    for name in f"{names} clickRetry click_retry all target Matcher APP".split():
        params = {name: {"id": "x", "timeout_ms": 1}}
        assert canonical_params(params) == params, name
    others: tuple[Any, ...] = (None, 1, "x", [], True)
    for value in others:
        assert canonical_execution(value) is value
        assert canonical_params(value) is value
        assert canonical_execution({"actions": [value]}) == {"actions": [value]}
    assert canonical_type("\x85tap") == "\x85tap", "not white space for the reference"


def test_the_canonical_key_wins_over_aliases_and_the_last_alias_over_others() -> None:
    """A canonical key wins whatever it holds; a renamed key keeps its place among the others."""
    values: tuple[Any, ...] = (None, "", 0, {})
    for value in values:
        given = {"id": "a", "resourceId": value, "resource_id": "b"}
        assert canonical_matcher(given) == {"resourceId": value}
    assert canonical_params({"app": "a", "package": "b", "appId": "c"}) == {"applicationId": "c"}
    assert list(canonical_params({"z": 1, "url": 2, "y": 3})) == ["z", "uri", "y"]


def test_a_true_click_type_is_a_long_click() -> None:
    """True means a long click; false is left for the schema to refuse."""
    for name in ("clickType", "click_type", "longPress"):
        assert canonical_params({name: True}) == {"clickType": "long_click"}
        assert canonical_params({name: False}) == {"clickType": False}


def test_renaming_does_not_change_its_input() -> None:
    """Renaming returns new objects and leaves the caller's as they were."""
    given = {"timeout_ms": 1, "actions": [{"type": "tap", "params": {"selector": {"id": "x"}}}]}
    before = copy.deepcopy(given)

    renamed = canonical_execution(given)

    params = {"matcher": {"resourceId": "x"}}
    assert renamed == {"timeoutMs": 1, "actions": [{"type": "click", "params": params}]}
    assert given == before
