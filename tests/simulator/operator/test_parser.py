"""Payloads, parsed as the Operator does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.simulator.operator.command import (
    APP_LAUNCH,
    NO_RETRY,
    UI_READINESS,
    UI_SCROLL,
    Action,
    NodeMatcher,
    Retry,
)
from pytest_clawperator.simulator.operator.parser import (
    PayloadRefused,
    is_temperature,
    is_version,
    matches,
    parse_command,
)
from tests.simulator.operator.fakes import action, command


def test_a_temperature_is_a_number_with_an_optional_unit() -> None:
    """A version is numbers with dots in between."""
    for text in ("20.7°C", "75°F", "23.7", " -5 c ", "1e3", ".5F", "7 °c"):
        assert is_temperature(text), text
    for text in ("--°C", "", "Loading…", "20,5", "°C", "0x1p3", "1_000"):
        assert not is_temperature(text), text
    assert [is_version(text) for text in ("16", "1.0.0", "1.", "v1")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("ORD-123456", "^ORD-[0-9]{6}$", True),
        ("xORD-123456", "ORD-[0-9]{6}", False),
        ("a.b", r"\Qa.b\E", True),
        ("aXb", r"\Qa.b\E", False),
        ("2024-2024", r"(?<year>\d{4})-\k<year>", True),
        ("Größe", r"\p{L}+", True),
        ("Größe 7", r"[\p{L}\p{Nd} ]+", True),
        ("x", r"\P{L}", False),
        ("x\n", r"x\z", False),
        ("[a]", r"\[[a\]]+", True),
    ],
)
def test_a_pattern_must_match_the_whole_text(text: str, pattern: str, expected: bool) -> None:
    """The whole text has to fit, and Android's spellings are understood."""
    assert matches(text, pattern) is expected


TEXT = {"textEquals": "OK"}

ENOUGH: dict[str, dict[str, Any]] = {
    "open_uri": {"uri": "https://example.com"},
    "open_app": {"applicationId": "com.example"},
    "close_app": {"applicationId": "com.example"},
    "wait_for_node": {"matcher": TEXT},
    "click": {"matcher": TEXT},
    "scroll_and_click": {"matcher": TEXT},
    "scroll": {},
    "scroll_until": {},
    "wait_for_navigation": {"expectedPackage": "com.example", "timeoutMs": 500},
    "read_key_value_pair": {"labelMatcher": TEXT},
    "read_text": {"matcher": TEXT},
    "enter_text": {"matcher": TEXT, "text": "hello"},
    "snapshot_ui": {},
    "start_recording": {},
    "stop_recording": {},
    "take_screenshot": {},
    "doctor_ping": {},
    "press_key": {"key": "back"},
    "sleep": {"durationMs": 5},
}

PARAMETERS = (
    *("matcher", "container", "coordinate", "expectedNode", "labelMatcher", "retry"),
    *("text", "uri", "key", "validator", "validatorPattern", "direction", "clickType"),
    *("timeoutMs", "distanceRatio", "maxScrolls", "sessionId", "applicationId"),
)


def parsed(type: str, **params: Any) -> Any:
    """Parse one action."""
    return parse_command(command(action(type, **{**ENOUGH.get(type, {}), **params}))).actions[0]


def refusal(payload: str) -> str:
    """Return the reason why a payload is refused."""
    with pytest.raises(PayloadRefused) as caught:
        parse_command(payload)
    return caught.value.reason


def test_every_action_type_is_known() -> None:
    """Each of the nineteen types parses with its least parameters."""
    assert [parsed(name).type for name in ENOUGH] == list(ENOUGH)
    assert len(ENOUGH) == 19


def test_the_app_knows_three_aliases_and_none_of_the_hosts() -> None:
    """Types are taken in any case; what only the host translates, the app refuses."""
    assert parsed("find_node", matcher=TEXT).type == "wait_for_node"
    assert parsed("type_text", matcher=TEXT, text="x").type == "enter_text"
    assert parsed("key_press", key="home").type == "press_key"
    assert parsed("CLICK", matcher=TEXT).type == "click"
    for name in ("tap", "snapshot", "open_url", " click", "toString"):
        reason = refusal(command(action(name, **TEXT)))
        assert reason == f"unsupported action type at index=0: {name}"


@pytest.mark.parametrize(
    ("given", "used"),
    [(None, 30000), (1, 1000), (999999, 120000), ("2000", 2000), (2500.0, 30000), ("x", 30000)],
)
def test_the_root_of_a_command(given: Any, used: int) -> None:
    """Ids and source are read, a timeout is moved into its range, other keys are ignored."""
    found = parse_command(command(action("doctor_ping"), timeoutMs=given, expectedFormat="x"))

    assert (found.command_id, found.task_id, found.source) == ("c1", "t1", "test")
    assert found.timeout_ms == used


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ({"commandId": ""}, "commandId must not be blank"),
        ({"commandId": "x" * 129}, "commandId exceeds max length of 128"),
        ({"taskId": " \n"}, "taskId must not be blank"),
        ({"taskId": {}}, "taskId is required"),
        ({"source": "s" * 65}, "source exceeds max length of 64"),
        ({"actions": []}, "actions must not be empty"),
        ({"actions": [1] * 65}, "actions exceeds max size of 64"),
        (
            {"actions": None},
            "Element class class kotlinx.serialization.json.JsonNull is not a JsonArray",
        ),
        (
            {"actions": ["x"]},
            "Element class class kotlinx.serialization.json.JsonLiteral is not a JsonObject",
        ),
        ({"actions": [{"type": "scroll"}]}, "id is required"),
        ({"actions": [{"id": "a"}]}, "type is required"),
    ],
)
def test_a_malformed_root_is_refused(root: dict[str, Any], reason: str) -> None:
    """What the app throws at, is refused with its words."""
    assert refusal(command(action("doctor_ping"), **root)) == reason


@pytest.mark.parametrize("payload", ["{", "[]", "nothing", '{"a":1,}', "[" * 60000])
def test_what_is_no_json_object_is_refused(payload: str) -> None:
    """Broken JSON, other JSON and a bomb are all refused."""
    assert refusal(payload)


def test_a_payload_may_be_64000_bytes() -> None:
    """The limit counts bytes, not characters."""
    fixed = len(command(action("doctor_ping"), note="").encode())
    parse_command(command(action("doctor_ping"), note="x" * (64000 - fixed)))

    filler = "ä" * ((64000 - fixed) // 2 + 1)
    assert refusal(command(action("doctor_ping"), note=filler)) == "payload exceeds 64000 bytes"


def test_scalars_pass_as_text() -> None:
    """Numbers and booleans are text as they were written, and null is the word."""
    given = {"textEquals": None, "role": True, "resourceId": 1.50, "textContains": 7}
    matcher = parsed("click", matcher=given).matcher
    payload = command(action("open_app")).replace(
        '"params": {}', '"params": {"applicationId": 1.0e2}'
    )

    assert matcher == NodeMatcher(
        {"textEquals": "null", "role": "true", "resourceId": "1.5", "textContains": "7"}
    )
    assert parse_command(payload).actions[0].package == "1.0e2"


@pytest.mark.parametrize(
    ("type", "key"),
    [
        *(("read_text", key) for key in ("matcher", "retry", "container")),
        *(("click", "coordinate"), ("scroll", "params")),
    ],
)
def test_null_for_an_object_is_refused(type: str, key: str) -> None:
    """An object that is null is not the same as none."""
    entry = action(type, **ENOUGH[type])
    (entry if key == "params" else entry["params"])[key] = None

    assert refusal(command(entry)).endswith("JsonNull is not a JsonObject")


@pytest.mark.parametrize(
    ("matcher", "reason"),
    [
        ({}, "matcher must include at least one matcher field"),
        ({"text": "x"}, "matcher must include at least one matcher field"),
        ({"textEquals": "x" * 513}, "textEquals exceeds max length of 512"),
        ({"textEquals": "😀" * 257}, "textEquals exceeds max length of 512"),
    ],
)
def test_matchers_are_checked(matcher: dict[str, str], reason: str) -> None:
    """A matcher needs a known field, and lengths count UTF-16 units."""
    assert refusal(command(action("click", matcher=matcher))) == reason


def test_a_matcher_may_hold_empty_text_and_unknown_keys() -> None:
    """The app is less strict than the host."""
    found = parsed("click", matcher={"textContains": "", "index": 3}).matcher

    assert found == NodeMatcher({"textContains": ""})
    assert str(found) == (
        "NodeMatcher(resourceId=null, role=null, textEquals=null, textContains=, "
        "contentDescEquals=null, contentDescContains=null)"
    )


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({}, Retry()),
        (
            {"maxAttempts": 99, "initialDelayMs": 99999, "maxDelayMs": 1, "backoffMultiplier": 9},
            Retry(max_attempts=10, initial_delay=30000, max_delay=30000, multiplier=5.0),
        ),
        (
            {"maxAttempts": 0, "initialDelayMs": -5, "jitterRatio": 7, "backoffMultiplier": 0.5},
            Retry(max_attempts=1, jitter=1.0),
        ),
        (
            {"maxAttempts": "3", "initialDelayMs": 200, "maxDelayMs": 99999, "jitterRatio": "0.5"},
            Retry(max_attempts=3, initial_delay=200, max_delay=60000, jitter=0.5),
        ),
        ({"maxAttempts": 2.0, "initialDelayMs": 250}, Retry(initial_delay=250, max_delay=250)),
    ],
)
def test_retry_objects_are_clamped(given: dict[str, Any], used: Retry) -> None:
    """Every number of a retry object is moved into its range."""
    assert parsed("click", retry=given).retry == used


def test_each_type_has_its_own_retry_preset() -> None:
    """Without a retry object each type has its own preset."""
    assert parsed("open_app").retry == parsed("open_uri").retry == APP_LAUNCH
    assert parsed("click").retry == parsed("snapshot_ui").retry == UI_READINESS
    assert parsed("scroll").retry == parsed("sleep").retry == NO_RETRY
    assert parsed("scroll_and_click").retry == UI_SCROLL
    assert parsed("scroll_and_click").click_retry == UI_READINESS


@pytest.mark.parametrize(
    ("type", "params", "attribute", "used"),
    [
        ("wait_for_node", {"timeoutMs": 0}, "timeout_ms", 1),
        ("wait_for_node", {"timeoutMs": 1e9}, "timeout_ms", None),
        ("wait_for_node", {"timeoutMs": "1e9"}, "timeout_ms", 120000),
        ("wait_for_navigation", {"timeoutMs": 99999}, "timeout_ms", 30000),
        ("sleep", {"durationMs": 999999}, "duration_ms", 120000),
        ("sleep", {"durationMs": "7"}, "duration_ms", 7),
        ("scroll_until", {"maxScrolls": 0}, "max_scrolls", 1),
        ("scroll_until", {"maxScrolls": 999}, "max_scrolls", 200),
        ("scroll_until", {"maxDurationMs": -1}, "max_duration_ms", 0),
        ("scroll_until", {"noPositionChangeThreshold": 99}, "no_position_change_threshold", 20),
        ("scroll_until", {"clickAfter": "TRUE"}, "click_after", True),
        ("scroll_and_click", {"maxSwipes": 99}, "max_scrolls", 50),
        ("scroll_and_click", {"clickAfter": False}, "click_after", False),
        ("click", {"clickType": "LongClick"}, "click_type", "long_click"),
        ("press_key", {"key": "RECENTS"}, "key", "recents"),
        ("read_text", {"validator": "Version"}, "validator", "version"),
        (
            "wait_for_navigation",
            {"expectedNode": TEXT, "expectedPackage": " "},
            "package",
            "",
        ),
    ],
)
def test_parameters_are_clamped(
    type: str, params: dict[str, Any], attribute: str, used: Any
) -> None:
    """Numbers are moved into their ranges and words are taken in any case."""
    assert getattr(parsed(type, **params), attribute) == used


def test_every_scroll_option_is_read_and_clamped() -> None:
    """All that is said of a swipe is read and clamped."""
    found = parsed(
        "scroll",
        direction="UP",
        distanceRatio=1.5,
        settleDelayMs=99999,
        findFirstScrollableChild=False,
        container=TEXT,
    )

    assert found == Action(
        id="a1",
        type="scroll",
        container=NodeMatcher(TEXT),
        direction="Up",
        distance_ratio=1.0,
        settle_delay_ms=10000,
        find_first_scrollable_child=False,
    )


@pytest.mark.parametrize(
    ("type", "params", "reason"),
    [
        ("click", {"coordinate": {"x": 1, "y": 1}}, "mutually exclusive"),
        ("click", {"matcher": TEXT, "clickType": "double"}, "unsupported clickType: double"),
        ("enter_text", {"text": " "}, "text must not be blank"),
        ("enter_text", {"text": "x" * 513}, "text exceeds max length of 512"),
        ("open_uri", {"uri": "x" * 2049}, "uri exceeds max length of 2048"),
        ("press_key", {"key": " back"}, "unsupported key:  back"),
        ("press_key", {"key": "k" * 33}, "key exceeds max length of 32"),
        ("read_text", {"validator": "email"}, "unsupported validator: email"),
        ("read_text", {"validator": "regex"}, "validatorPattern is required"),
        ("read_text", {"validator": "regex", "validatorPattern": "("}, "near index"),
        ("scroll", {"direction": "down "}, "unsupported direction: down "),
        ("start_recording", {"sessionId": " "}, "sessionId must not be blank"),
        ("wait_for_navigation", {"timeoutMs": 500.0}, "timeoutMs is required"),
        ("wait_for_navigation", {"expectedPackage": ""}, "at least one of"),
    ],
)
def test_what_the_app_throws_at(type: str, params: dict[str, Any], reason: str) -> None:
    """A parameter that is invalid refuses the whole payload."""
    assert reason in refusal(command(action(type, **{**ENOUGH[type], **params})))


def test_a_click_needs_a_target() -> None:
    """Neither a node nor a point is too little, and a point needs two whole numbers."""
    assert refusal(command(action("click"))) == "click requires matcher or coordinate"
    assert refusal(command(action("click", coordinate={"x": 1}))) == "coordinate.y is required"
    assert "non-negative" in refusal(command(action("click", coordinate={"x": -1, "y": 0})))
    point = parse_command(command(action("click", coordinate={"x": "3", "y": 4}))).actions[0]
    assert point.coordinate == (3, 4)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_json_is_parsed_or_refused(value: Any) -> None:
    """No payload makes the parser fail in another way."""
    for payload in (json.dumps(value), command(action("click", **TEXT), actions=value)):
        try:
            found = parse_command(payload)
        except PayloadRefused:
            continue
        assert all(isinstance(entry, Action) for entry in found.actions)


@given(
    st.sampled_from(sorted(ENOUGH)),
    st.dictionaries(
        st.sampled_from(PARAMETERS),
        st.none()
        | st.integers()
        | st.floats()
        | st.text(max_size=20)
        | st.dictionaries(st.sampled_from(["textEquals", "x", "y", "maxAttempts"]), st.integers()),
    ),
)
def test_any_parameters_are_parsed_or_refused(type: str, params: dict[str, Any]) -> None:
    """No parameters make the parser fail in another way."""
    try:
        parse_command(command(action(type, **params)))
    except PayloadRefused:
        return
