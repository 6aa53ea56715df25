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
AGAIN = Retry(max_attempts=2)
WIRE_AGAIN = {"maxAttempts": 2}

# Each class with every field given: its type and its whole parameters.
FILLED: list[tuple[type[TypedAction], str, dict[str, Any], dict[str, Any]]] = [
    (
        actions.OpenApp,
        "open_app",
        {"application_id": "com.a", "retry": RETRY},
        {"applicationId": "com.a", "retry": WIRE_RETRY},
    ),
    (
        actions.OpenUri,
        "open_uri",
        {"uri": "app://x", "retry": RETRY},
        {"uri": "app://x", "retry": WIRE_RETRY},
    ),
    (actions.CloseApp, "close_app", {"application_id": "com.a"}, {"applicationId": "com.a"}),
    (actions.StartRecording, "start_recording", {"session_id": "s"}, {"sessionId": "s"}),
    (actions.StopRecording, "stop_recording", {"session_id": "s"}, {"sessionId": "s"}),
    (
        actions.WaitForNode,
        "wait_for_node",
        {"matcher": OK, "timeout": 1.5, "retry": RETRY},
        {"matcher": WIRE_OK, "timeoutMs": 1500, "retry": WIRE_RETRY},
    ),
    (
        Click,
        "click",
        {"matcher": OK, "coordinate": (7, 8), "click_type": "long_click", "retry": RETRY},
        {
            "matcher": WIRE_OK,
            "coordinate": {"x": 7, "y": 8},
            "clickType": "long_click",
            "retry": WIRE_RETRY,
        },
    ),
    (
        actions.ScrollAndClick,
        "scroll_and_click",
        {
            "matcher": OK,
            "container": LABEL,
            "direction": "left",
            "click_type": "focus",
            "max_swipes": 11,
            "distance_ratio": 0.75,
            "settle_delay": 0.125,
            "find_first_scrollable_child": True,
            "click_after": False,
            "scroll_retry": RETRY,
            "click_retry": AGAIN,
        },
        {
            "matcher": WIRE_OK,
            "container": WIRE_LABEL,
            "direction": "left",
            "clickType": "focus",
            "maxSwipes": 11,
            "distanceRatio": 0.75,
            "settleDelayMs": 125,
            "findFirstScrollableChild": True,
            "clickAfter": False,
            "scrollRetry": WIRE_RETRY,
            "clickRetry": WIRE_AGAIN,
        },
    ),
    (
        actions.Scroll,
        "scroll",
        {
            "direction": "right",
            "container": LABEL,
            "distance_ratio": 0.5,
            "settle_delay": 2,
            "find_first_scrollable_child": False,
            "retry": RETRY,
        },
        {
            "direction": "right",
            "container": WIRE_LABEL,
            "distanceRatio": 0.5,
            "settleDelayMs": 2000,
            "findFirstScrollableChild": False,
            "retry": WIRE_RETRY,
        },
    ),
    (
        actions.ScrollUntil,
        "scroll_until",
        {
            "matcher": OK,
            "container": {"id": "list"},
            "direction": "up",
            "max_scrolls": 12,
            "max_duration": 20,
            "no_position_change_threshold": 3,
            "distance_ratio": 0.25,
            "settle_delay": 0.5,
            "find_first_scrollable_child": True,
            "click_after": True,
            "click_type": "default",
        },
        {
            "matcher": WIRE_OK,
            "container": {"resourceId": "list"},
            "direction": "up",
            "maxScrolls": 12,
            "maxDurationMs": 20_000,
            "noPositionChangeThreshold": 3,
            "distanceRatio": 0.25,
            "settleDelayMs": 500,
            "findFirstScrollableChild": True,
            "clickAfter": True,
            "clickType": "default",
        },
    ),
    (
        actions.ReadText,
        "read_text",
        {
            "matcher": OK,
            "container": LABEL,
            "all": True,
            "validator": "regex",
            "validator_pattern": "^x$",
            "retry": RETRY,
        },
        {
            "matcher": WIRE_OK,
            "container": WIRE_LABEL,
            "all": True,
            "validator": "regex",
            "validatorPattern": "^x$",
            "retry": WIRE_RETRY,
        },
    ),
    (
        actions.EnterText,
        "enter_text",
        {"matcher": OK, "text": "hi", "submit": False, "clear": True, "retry": RETRY},
        {"matcher": WIRE_OK, "text": "hi", "submit": False, "clear": True, "retry": WIRE_RETRY},
    ),
    (actions.SnapshotUi, "snapshot_ui", {"retry": RETRY}, {"retry": WIRE_RETRY}),
    (
        actions.TakeScreenshot,
        "take_screenshot",
        {"path": "/x.png", "retry": RETRY},
        {"path": "/x.png", "retry": WIRE_RETRY},
    ),
    (Sleep, "sleep", {"duration": 0.29}, {"durationMs": 290}),
    (actions.PressKey, "press_key", {"key": "home"}, {"key": "home"}),
    (
        actions.WaitForNavigation,
        "wait_for_navigation",
        {"timeout": 3, "expected_package": "com.a", "expected_node": OK},
        {"timeoutMs": 3000, "expectedPackage": "com.a", "expectedNode": WIRE_OK},
    ),
    (
        actions.ReadKeyValuePair,
        "read_key_value_pair",
        {"label_matcher": LABEL, "retry": RETRY},
        {"labelMatcher": WIRE_LABEL, "retry": WIRE_RETRY},
    ),
]


def test_every_field_of_every_class_is_written_and_accepted() -> None:
    """Each class writes each field under its wire name, and a payload accepts what it writes."""
    assert {cls for cls, *_ in FILLED} == set(TypedAction.__subclasses__())
    assert sorted(ACTION_TYPES) == sorted(name for _, name, *_ in FILLED)
    for cls, name, given, params in FILLED:
        assert {each.name for each in fields(cls)} == {"id", *given}, name
        assert set(params) <= set(PARAMS), name
        wire = {"id": "i", "type": name, "params": params}
        if cls is Click:  # which has a matcher or a point, not both
            assert Click(id="i", **given).to_wire() == wire
            given, params = {"matcher": OK}, {"matcher": WIRE_OK}
            wire["params"] = params

        written = cls(id="i", **given)

        assert complete_execution([written]).actions[0].to_wire() == wire, name


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
