"""The typed action classes write what the wire wants."""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import (
    ACTION_TYPES,
    EXECUTION_ALIASES,
    TYPE_ALIASES,
    Click,
    CloseApp,
    EnterText,
    OpenApp,
    OpenUri,
    PressKey,
    ReadKeyValuePair,
    ReadText,
    Retry,
    Scroll,
    ScrollAndClick,
    ScrollUntil,
    Sleep,
    SnapshotUi,
    StartRecording,
    StopRecording,
    TakeScreenshot,
    TypedAction,
    WaitForNavigation,
    WaitForNode,
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
from tests.contracts.builders import ENOUGH, PARAMS

OK = NodeMatcher.of(text="OK")
WIRE_OK = {"textEquals": "OK"}
RETRY = Retry(max_attempts=3, initial_delay=0.5, max_delay=3, backoff_multiplier=2.0)
WIRE_RETRY = {
    "maxAttempts": 3,
    "initialDelayMs": 500,
    "maxDelayMs": 3000,
    "backoffMultiplier": 2.0,
}

WRITTEN: list[tuple[TypedAction, str, dict[str, Any]]] = [
    (OpenApp("a"), "open_app", {"applicationId": "a"}),
    (OpenUri("u", retry=RETRY), "open_uri", {"uri": "u", "retry": WIRE_RETRY}),
    (CloseApp("a"), "close_app", {"applicationId": "a"}),
    (StartRecording("s"), "start_recording", {"sessionId": "s"}),
    (StopRecording(), "stop_recording", {}),
    (WaitForNode(OK, timeout=2.5), "wait_for_node", {"matcher": WIRE_OK, "timeoutMs": 2500}),
    (Click(OK, click_type="focus"), "click", {"matcher": WIRE_OK, "clickType": "focus"}),
    (Click(coordinate=(3, 4)), "click", {"coordinate": {"x": 3, "y": 4}}),
    (
        ScrollAndClick(OK, max_swipes=15, settle_delay=0.25, click_retry=RETRY),
        "scroll_and_click",
        {"matcher": WIRE_OK, "maxSwipes": 15, "settleDelayMs": 250, "clickRetry": WIRE_RETRY},
    ),
    (Scroll("up", distance_ratio=0.5), "scroll", {"direction": "up", "distanceRatio": 0.5}),
    (
        ScrollUntil(OK, container={"id": "list"}, max_duration=10, click_after=True),
        "scroll_until",
        {
            "matcher": WIRE_OK,
            "container": {"resourceId": "list"},
            "maxDurationMs": 10000,
            "clickAfter": True,
        },
    ),
    (
        ReadText(OK, validator="regex", validator_pattern="^x$"),
        "read_text",
        {"matcher": WIRE_OK, "validator": "regex", "validatorPattern": "^x$"},
    ),
    (
        EnterText(OK, "hi", submit=True),
        "enter_text",
        {"matcher": WIRE_OK, "text": "hi", "submit": True},
    ),
    (SnapshotUi(), "snapshot_ui", {}),
    (TakeScreenshot("/tmp/x.png"), "take_screenshot", {"path": "/tmp/x.png"}),
    (Sleep(1.5), "sleep", {"durationMs": 1500}),
    (PressKey("back"), "press_key", {"key": "back"}),
    (
        WaitForNavigation(expected_package="a", timeout=5),
        "wait_for_navigation",
        {"expectedPackage": "a", "timeoutMs": 5000},
    ),
    (ReadKeyValuePair(OK), "read_key_value_pair", {"labelMatcher": WIRE_OK}),
]

LABEL = NodeMatcher.of(text="Label", role="text")
WIRE_LABEL = {"role": "text", "textEquals": "Label"}
EVERY_RETRY = Retry(
    max_attempts=4, initial_delay=0.25, max_delay=8, backoff_multiplier=1.5, jitter_ratio=0.125
)
WIRE_EVERY_RETRY = {
    "maxAttempts": 4,
    "initialDelayMs": 250,
    "maxDelayMs": 8000,
    "backoffMultiplier": 1.5,
    "jitterRatio": 0.125,
}

# One instance of each class with nothing left out, and its whole wire form.
FILLED: list[tuple[TypedAction, dict[str, Any]]] = [
    (
        OpenApp("com.a", id="i", retry=RETRY),
        {"id": "i", "type": "open_app", "params": {"applicationId": "com.a", "retry": WIRE_RETRY}},
    ),
    (
        OpenUri("app://x", id="i", retry=RETRY),
        {"id": "i", "type": "open_uri", "params": {"uri": "app://x", "retry": WIRE_RETRY}},
    ),
    (
        CloseApp("com.a", id="i"),
        {"id": "i", "type": "close_app", "params": {"applicationId": "com.a"}},
    ),
    (
        StartRecording("s", id="i"),
        {"id": "i", "type": "start_recording", "params": {"sessionId": "s"}},
    ),
    (
        StopRecording("s", id="i"),
        {"id": "i", "type": "stop_recording", "params": {"sessionId": "s"}},
    ),
    (
        WaitForNode(OK, id="i", timeout=1.5, retry=RETRY),
        {
            "id": "i",
            "type": "wait_for_node",
            "params": {"matcher": WIRE_OK, "timeoutMs": 1500, "retry": WIRE_RETRY},
        },
    ),
    (
        Click(OK, id="i", coordinate=(7, 8), click_type="long_click", retry=RETRY),
        {
            "id": "i",
            "type": "click",
            "params": {
                "matcher": WIRE_OK,
                "coordinate": {"x": 7, "y": 8},
                "clickType": "long_click",
                "retry": WIRE_RETRY,
            },
        },
    ),
    (
        ScrollAndClick(
            OK,
            id="i",
            container=LABEL,
            direction="left",
            click_type="focus",
            max_swipes=11,
            distance_ratio=0.75,
            settle_delay=0.125,
            find_first_scrollable_child=True,
            click_after=False,
            scroll_retry=RETRY,
            click_retry=EVERY_RETRY,
        ),
        {
            "id": "i",
            "type": "scroll_and_click",
            "params": {
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
                "clickRetry": WIRE_EVERY_RETRY,
            },
        },
    ),
    (
        Scroll(
            "right",
            id="i",
            container=LABEL,
            distance_ratio=0.5,
            settle_delay=2,
            find_first_scrollable_child=False,
            retry=RETRY,
        ),
        {
            "id": "i",
            "type": "scroll",
            "params": {
                "direction": "right",
                "container": WIRE_LABEL,
                "distanceRatio": 0.5,
                "settleDelayMs": 2000,
                "findFirstScrollableChild": False,
                "retry": WIRE_RETRY,
            },
        },
    ),
    (
        ScrollUntil(
            OK,
            id="i",
            container=LABEL,
            direction="up",
            max_scrolls=12,
            max_duration=20,
            no_position_change_threshold=3,
            distance_ratio=0.25,
            settle_delay=0.5,
            find_first_scrollable_child=True,
            click_after=True,
            click_type="default",
        ),
        {
            "id": "i",
            "type": "scroll_until",
            "params": {
                "matcher": WIRE_OK,
                "container": WIRE_LABEL,
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
        },
    ),
    (
        ReadText(
            OK,
            id="i",
            container=LABEL,
            all=True,
            validator="regex",
            validator_pattern="^x$",
            retry=RETRY,
        ),
        {
            "id": "i",
            "type": "read_text",
            "params": {
                "matcher": WIRE_OK,
                "container": WIRE_LABEL,
                "all": True,
                "validator": "regex",
                "validatorPattern": "^x$",
                "retry": WIRE_RETRY,
            },
        },
    ),
    (
        EnterText(OK, "hi", id="i", submit=False, clear=True, retry=RETRY),
        {
            "id": "i",
            "type": "enter_text",
            "params": {
                "matcher": WIRE_OK,
                "text": "hi",
                "submit": False,
                "clear": True,
                "retry": WIRE_RETRY,
            },
        },
    ),
    (
        SnapshotUi(id="i", retry=EVERY_RETRY),
        {"id": "i", "type": "snapshot_ui", "params": {"retry": WIRE_EVERY_RETRY}},
    ),
    (
        TakeScreenshot("/x.png", id="i", retry=RETRY),
        {"id": "i", "type": "take_screenshot", "params": {"path": "/x.png", "retry": WIRE_RETRY}},
    ),
    (Sleep(0.29, id="i"), {"id": "i", "type": "sleep", "params": {"durationMs": 290}}),
    (PressKey("home", id="i"), {"id": "i", "type": "press_key", "params": {"key": "home"}}),
    (
        WaitForNavigation(id="i", timeout=3, expected_package="com.a", expected_node=OK),
        {
            "id": "i",
            "type": "wait_for_navigation",
            "params": {"timeoutMs": 3000, "expectedPackage": "com.a", "expectedNode": WIRE_OK},
        },
    ),
    (
        ReadKeyValuePair(LABEL, id="i", retry=RETRY),
        {
            "id": "i",
            "type": "read_key_value_pair",
            "params": {"labelMatcher": WIRE_LABEL, "retry": WIRE_RETRY},
        },
    ),
]


def test_every_field_travels() -> None:
    """With nothing left out each field has its place on the wire, under a name that exists."""
    for written, wire in FILLED:
        assert [
            each.name for each in fields(written) if getattr(written, each.name) is None
        ] == [], (written, wire)

        assert written.to_wire() == wire, (written, wire)
        assert len(wire["params"]) == len(fields(written)) - 1, (written, wire)
        assert set(wire["params"]) <= set(PARAMS), (written, wire)


@pytest.mark.parametrize(("written", "wire"), FILLED, ids=lambda value: type(value).__name__)
def test_every_field_is_accepted(written: TypedAction, wire: dict[str, Any]) -> None:
    """A payload takes every field as it is written; only a click has to choose its target."""
    if isinstance(written, Click):
        written, wire = (
            Click(OK, id="i"),
            {"id": "i", "type": "click", "params": {"matcher": WIRE_OK}},
        )

    assert complete_execution([written]).actions[0].to_wire() == wire


def test_every_class_is_filled() -> None:
    """No class is without its filled instance."""
    assert sorted(written.type for written, _ in FILLED) == sorted(ENOUGH)


def test_every_field_of_a_retry() -> None:
    """A retry has five fields, and what is not given is left out."""
    assert EVERY_RETRY.to_wire() == WIRE_EVERY_RETRY
    assert len(fields(Retry)) == len(WIRE_EVERY_RETRY)
    assert Retry().to_wire() == {}


@pytest.mark.parametrize(("written", "type", "params"), WRITTEN, ids=lambda v: str(v)[:40])
def test_each_class_writes_what_the_payload_accepts(
    written: TypedAction, type: str, params: dict[str, Any]
) -> None:
    """Each class writes its type and parameters, and the payload accepts them."""
    action = complete_execution([written]).actions[0]

    assert action.type == type
    assert (action.params.to_wire() if action.params else {}) == params


def test_every_type_has_a_class_and_a_written_form() -> None:
    """No action type is without its class, and the test above has them all."""
    classes = {
        cls
        for cls in vars(actions).values()
        if isinstance(cls, type) and issubclass(cls, TypedAction) and cls is not TypedAction
    }

    assert {cls.type for cls in classes} == set(ACTION_TYPES)
    assert {type(written) for written, _, _ in WRITTEN} == classes


def test_the_row_of_a_type_is_whole() -> None:
    """Each type takes some time, and its log may have an error; no key is printed twice."""
    for kind in ACTION_TYPES.values():
        assert kind.longest(ActionParams()) > 0, kind
        assert "error" in kind.logs, kind
        assert len(set(kind.logs)) == len(kind.logs), kind


def test_no_spelling_stands_for_two_types() -> None:
    """Accepted spellings and guesses are of one type each, and none is the name of a type."""
    spellings = [word for kind in ACTION_TYPES.values() for word in (*kind.aliases, *kind.guesses)]

    assert len(set(spellings)) == len(spellings)
    assert not set(spellings) & set(ACTION_TYPES)


def test_an_own_id_comes_first() -> None:
    """An id may be given, and comes first."""
    assert SnapshotUi(id="snap").to_wire() == {"id": "snap", "type": "snapshot_ui"}


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [(0, 0), (1, 1000), (0.1, 100), (0.29, 290), (1 / 3, 333), (0.0001, 1)],
)
def test_seconds_become_whole_milliseconds(seconds: float, milliseconds: float) -> None:
    """The Operator ignores fractions, so a third of a second is 333 ms, and never nothing."""
    converted = to_milliseconds(seconds)

    assert converted == milliseconds
    assert isinstance(converted, int)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (Sleep("5"), "durationMs"),  # type: ignore[arg-type]  # the point
        (Sleep(True), "durationMs"),
        (Sleep(math.nan), "durationMs"),
        (Sleep(math.inf), "durationMs"),
        (WaitForNode(OK, timeout=timedelta(1)), "timeoutMs"),  # type: ignore[arg-type]  # likewise
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
PARAM_SPELLINGS = {
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
    assert dict(pairs(PARAM_SPELLINGS)) == PARAM_ALIASES
    assert dict(pairs(FIELDS)) == MATCHER_ALIASES
    assert KEYS == EXECUTION_ALIASES
    assert set(MATCHERS) == set(MATCHER_PARAMS)


def test_action_type_aliases() -> None:
    """Each alias of an action type is understood in any case and padding."""
    for alias, canonical in TYPES.items():
        assert canonical_type(alias) == canonical, (alias, canonical)
        assert canonical_type(f" \ufeff{alias.upper()}\n") == canonical, (alias, canonical)


def test_white_space_is_that_of_the_reference() -> None:
    """A next-line character is not white space there, so it stays and will be refused."""
    assert canonical_type("\x85tap") == "\x85tap"


def test_each_alias_of_a_parameter_is_renamed() -> None:
    """Each alias of a parameter is renamed."""
    for alias, canonical in pairs(PARAM_SPELLINGS):
        assert canonical_params({alias: 1}) == {canonical: 1}, (alias, canonical)


def test_matcher_aliases_in_every_matcher() -> None:
    """Each alias of a matcher field is renamed, however the parameter with it is spelled."""
    for spelled, name in pairs(MATCHERS):
        for alias, canonical in pairs(FIELDS):
            assert canonical_params({spelled: {alias: "x"}}) == {name: {canonical: "x"}}, (
                spelled,
                name,
                alias,
                canonical,
            )


def test_names_that_stay() -> None:
    """Names without an alias, and aliases in another case, are left as they are."""
    for name in [
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
    ]:
        assert canonical_params({name: {"id": "x"}}) == {name: {"id": "x"}}, name


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
