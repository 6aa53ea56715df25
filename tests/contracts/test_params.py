"""What each action type needs: the message, the path, what was found, what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.params import pauses_ms
from pytest_clawperator.contracts.payload import validate_execution
from tests.contracts.builders import NOT_WHITE_SPACE, WHITE_SPACE, action, enough, payload, refusal

MATCHER = {"textEquals": "OK"}
POINT = {"x": 1, "y": 2}
BLANKS = ["", " ", "\ufeff\u00a0"]


@pytest.mark.parametrize("type", ["open_app", "close_app"])
@pytest.mark.parametrize("value", [..., *BLANKS])
def test_apps_need_a_package(type: str, value: Any) -> None:
    """Opening and closing need an application id that is not blank."""
    error = refusal(payload(enough(type, applicationId=value)))

    assert error.message == f"{type} requires params.applicationId"
    assert error.path == "actions.0.params.applicationId"


@pytest.mark.parametrize("value", [..., *BLANKS])
def test_open_uri_needs_a_uri(value: Any) -> None:
    """A link needs an address."""
    error = refusal(payload(enough("open_uri", uri=value)))

    assert error.message == "open_uri requires params.uri"
    assert error.path == "actions.0.params.uri"


@pytest.mark.parametrize("type", ["start_recording", "stop_recording"])
@pytest.mark.parametrize("value", BLANKS)
def test_recording_session_is_not_blank(type: str, value: str) -> None:
    """A session id may be left out, but not be blank."""
    error = refusal(payload(action(type, sessionId=value)))

    assert error.message == f"{type} params.sessionId must not be blank"
    assert error.path == "actions.0.params.sessionId"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (..., "sleep requires params.durationMs >= 0"),
        (-1, "sleep requires params.durationMs >= 0"),
        (120_001, "sleep.durationMs must not exceed 120000 ms"),
    ],
)
def test_a_sleep_lasts_at_most_two_minutes(value: Any, message: str) -> None:
    """A sleep says how long, within two minutes."""
    error = refusal(payload(enough("sleep", durationMs=value)))

    assert error.message == message
    assert error.path == "actions.0.params.durationMs"


@pytest.mark.parametrize("value", [0, 120_000, 0.5])
def test_sleep_bounds_are_inclusive(value: float) -> None:
    """Zero and the limit are allowed, and the execution's own timeout is not compared."""
    validate_execution(payload(enough("sleep", durationMs=value), timeoutMs=1000))


@pytest.mark.parametrize(
    ("params", "path", "message"),
    [
        ({}, "params", "click requires params.matcher or params.coordinate"),
        (
            {"matcher": MATCHER, "coordinate": POINT},
            "params",
            "click params.matcher and params.coordinate are mutually exclusive",
        ),
        (
            {"coordinate": POINT, "clickType": "focus"},
            "params.clickType",
            "click params.coordinate does not support clickType='focus'",
        ),
    ],
)
def test_click_has_one_target(params: dict[str, Any], path: str, message: str) -> None:
    """A click has a matcher or a point, and only nodes take the focus."""
    error = refusal(payload(action("click", **params)))

    assert error.message == message
    assert error.path == f"actions.0.{path}"


@pytest.mark.parametrize(
    "params", [{"coordinate": POINT, "clickType": "Focus"}, {"matcher": MATCHER}]
)
def test_a_click_accepts_a_matcher_or_another_click_type(params: dict[str, Any]) -> None:
    """Only the exact word is refused, and a matcher alone will do."""
    validate_execution(payload(action("click", **params)))


@pytest.mark.parametrize(
    ("type", "name"),
    [
        ("wait_for_node", "matcher"),
        ("scroll_and_click", "matcher"),
        ("read_text", "matcher"),
        ("enter_text", "matcher"),
        ("read_key_value_pair", "labelMatcher"),
    ],
)
def test_matcher_is_required(type: str, name: str) -> None:
    """Actions on a node say which."""
    error = refusal(payload(enough(type, **{name: ...})))

    assert error.message == f"{type} requires params.{name}"
    assert error.path == f"actions.0.params.{name}"


def test_two_needs_are_both_told() -> None:
    """Without matcher and without text both are named."""
    messages = [problem.message for problem in refusal(payload(action("enter_text"))).problems]

    assert messages == [
        "enter_text requires params.matcher",
        "enter_text requires non-empty params.text",
    ]


def test_blank_text_may_be_typed() -> None:
    """Only no text at all is refused."""
    validate_execution(payload(enough("enter_text", text=" ")))

    assert refusal(payload(enough("enter_text", text=""))).path == "actions.0.params.text"


@pytest.mark.parametrize("value", [..., *BLANKS])
def test_regex_needs_a_pattern(value: Any) -> None:
    """The regex validator has something to match."""
    error = refusal(payload(enough("read_text", validator="regex", validatorPattern=value)))

    assert error.message == "read_text with validator='regex' requires params.validatorPattern"


def test_a_pattern_that_no_dialect_compiles_is_refused() -> None:
    """A pattern that no dialect compiles is refused where it stands."""
    error = refusal(payload(enough("read_text", validator="regex", validatorPattern="(")))

    assert error.message == "read_text params.validatorPattern is not a valid regex pattern"
    assert error.path == "actions.0.params.validatorPattern"


@pytest.mark.parametrize("validator", ["Regex", "version", "anything"])
def test_other_validators_are_the_operators_business(validator: str) -> None:
    """Only the exact word asks for a pattern."""
    validate_execution(payload(enough("read_text", validator=validator, validatorPattern="(")))


@pytest.mark.parametrize("type", ["scroll", "scroll_until"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("direction", "sideways", "must be one of: down, up, left, right"),
        ("direction", "", "must be one of: down, up, left, right"),
        ("distanceRatio", -0.1, "must be in [0.0, 1.0]"),
        ("distanceRatio", 1.1, "must be in [0.0, 1.0]"),
        ("settleDelayMs", -1, "must be in [0, 10000]"),
        ("settleDelayMs", 10_001, "must be in [0, 10000]"),
    ],
)
def test_both_scrolls_check_direction_distance_and_pause(
    type: str, name: str, value: Any, message: str
) -> None:
    """Both scrolls check direction, distance and pause."""
    error = refusal(payload(action(type, **{name: value})))

    assert error.message == f"{type} params.{name} {message}"
    assert error.path == f"actions.0.params.{name}"


@pytest.mark.parametrize("direction", ["down", " UP ", "Left", "\ufeffright"])
def test_direction_is_trimmed_and_case_does_not_matter(direction: str) -> None:
    """The word is understood as people write it, and sent as written."""
    execution = validate_execution(payload(action("scroll", direction=direction)))

    assert execution.to_wire()["actions"][0]["params"] == {"direction": direction}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("maxScrolls", 0, "must be an integer in [1, 200]"),
        ("maxScrolls", 201, "must be an integer in [1, 200]"),
        ("maxScrolls", 1.5, "must be an integer in [1, 200]"),
        ("maxScrolls", float("inf"), "must be an integer in [1, 200]"),
        ("maxDurationMs", -1, "must be in [0, 120000]"),
        ("maxDurationMs", 120_001, "must be in [0, 120000]"),
        ("noPositionChangeThreshold", 0, "must be an integer in [1, 20]"),
        ("noPositionChangeThreshold", 21, "must be an integer in [1, 20]"),
        ("noPositionChangeThreshold", 2.5, "must be an integer in [1, 20]"),
    ],
)
def test_scroll_until_bounds(name: str, value: Any, message: str) -> None:
    """The loop's limits are whole numbers within bounds."""
    error = refusal(payload(action("scroll_until", **{name: value})))

    assert error.message == f"scroll_until params.{name} {message}"


def test_click_after_needs_a_target() -> None:
    """Clicking what was found needs something to find, and is told first."""
    error = refusal(payload(action("scroll_until", clickAfter=True, direction="x")))

    assert error.message == "scroll_until params.clickAfter=true requires params.matcher"
    assert error.path == "actions.0.params.matcher"
    validate_execution(payload(action("scroll_until", clickAfter=False)))


@pytest.mark.parametrize(
    "params", [{"direction": "x"}, {"maxSwipes": 99}, {"distanceRatio": 7}, {"settleDelayMs": -1}]
)
def test_scroll_and_click_is_clamped_by_the_operator(params: dict[str, Any]) -> None:
    """The host does not check the shape of this scroll."""
    validate_execution(payload(enough("scroll_and_click", **params)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (..., "press_key requires params.key"),
        (" ", "press_key requires params.key"),
        ("enter", "press_key params.key must be one of: back, home, recents"),
    ],
)
def test_only_three_keys_can_be_pressed(value: Any, message: str) -> None:
    """One of three keys is pressed; a blank one counts as none."""
    error = refusal(payload(enough("press_key", key=value)))

    assert [problem.message for problem in error.problems] == [message]
    assert error.path == "actions.0.params.key"


def test_near_key_is_suggested() -> None:
    """A slip of the pen is recognised."""
    assert refusal(payload(enough("press_key", key="bakc"))).problems[0].suggestion == "back"


@pytest.mark.parametrize("value", BLANKS)
def test_the_path_of_a_screenshot_is_not_blank(value: str) -> None:
    """A path may be left out, but not be blank."""
    error = refusal(payload(action("take_screenshot", path=value)))

    assert error.message == "take_screenshot params.path must be a non-empty string"


@pytest.mark.parametrize("value", [..., " "])
def test_navigation_needs_a_target(value: Any) -> None:
    """A package or a node is waited for."""
    error = refusal(payload(enough("wait_for_navigation", expectedPackage=value)))

    assert error.message == (
        "wait_for_navigation requires at least one of params.expectedPackage or params.expectedNode"
    )
    assert error.path == "actions.0.params"


@pytest.mark.parametrize("package", [..., *BLANKS])
@pytest.mark.parametrize("name", ["expectedNode", "expected_node", "wait_for"])
def test_navigation_to_a_node(name: str, package: Any) -> None:
    """A node alone is enough to wait for, without a package or with a blank one."""
    params = {name: MATCHER, "expectedPackage": package}

    execution = validate_execution(payload(enough("wait_for_navigation", **params)))

    assert execution.to_wire()["actions"][0]["params"]["expectedNode"] == MATCHER


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (..., "wait_for_navigation requires params.timeoutMs > 0"),
        (0, "wait_for_navigation requires params.timeoutMs > 0"),
        (30_001, "wait_for_navigation params.timeoutMs must not exceed 30000"),
    ],
)
def test_a_wait_for_navigation_is_bounded(value: Any, message: str) -> None:
    """The wait is bounded."""
    error = refusal(payload(enough("wait_for_navigation", timeoutMs=value)))

    assert error.message == message
    assert error.path == "actions.0.params.timeoutMs"


TEXTS_THAT_MUST_NOT_BE_BLANK = [
    ("open_app", "applicationId"),
    ("close_app", "applicationId"),
    ("open_uri", "uri"),
    ("start_recording", "sessionId"),
    ("stop_recording", "sessionId"),
    ("take_screenshot", "path"),
]


def test_all_white_space_is_blank() -> None:
    """Each character that the reference trims is nothing, alone and repeated."""
    for blank in WHITE_SPACE:
        for kind, name in TEXTS_THAT_MUST_NOT_BE_BLANK:
            for value in (blank, blank * 3):
                path = refusal(payload(enough(kind, **{name: value}))).path
                assert path == f"actions.0.params.{name}", (blank, kind)


def test_other_invisible_characters_are_text() -> None:
    """What only other languages trim is a value, and travels unchanged."""
    for text in NOT_WHITE_SPACE:
        for kind, name in TEXTS_THAT_MUST_NOT_BE_BLANK:
            execution = validate_execution(payload(enough(kind, **{name: text})))

            assert execution.to_wire()["actions"][0]["params"][name] == text, (kind, name)


def test_white_space_around_words() -> None:
    """Types, directions and keys are understood with any white space around them."""
    for blank in WHITE_SPACE:
        spelled = [
            {
                "id": "a",
                "type": f"{blank}SCROLL{blank}",
                "params": {"direction": f"{blank}Up{blank}"},
            },
            action("press_key", key=f"{blank}Back{blank}"),
        ]

        execution = validate_execution(payload(*spelled))

        assert execution.actions[0].type == "scroll", blank


@pytest.mark.parametrize("text", NOT_WHITE_SPACE, ids=ascii)
def test_other_invisible_characters_around_words(text: str) -> None:
    """With anything else around it a word is another word."""
    assert refusal(payload(action(f"{text}scroll"))).path == "actions"
    assert refusal(payload(action("scroll", direction=f"up{text}"))).path == (
        "actions.0.params.direction"
    )
    assert refusal(payload(action("press_key", key=f"{text}back"))).path == "actions.0.params.key"


def test_every_rule_says_what_was_found_and_allowed() -> None:
    """No refusal leaves a person guessing."""
    broken = [
        action("open_app"),
        action("sleep"),
        action("click"),
        action("read_text", validator="regex"),
        action("enter_text"),
        action("scroll", direction="x", distanceRatio=2, settleDelayMs=-1),
        action("scroll_until", clickAfter=True, maxScrolls=0, maxDurationMs=-1),
        action("press_key"),
        action("press_key", key="x"),
        action("take_screenshot", path=""),
        action("wait_for_navigation"),
        action("start_recording", sessionId=""),
    ]

    problems = refusal(payload(*broken)).problems

    assert len(problems) > len(broken)
    assert all(problem.found and problem.allowed for problem in problems)


@pytest.mark.parametrize(
    ("attempts", "first", "longest", "factor", "total"),
    [
        (5, 500, 3000, 2, 6500),
        (3, 500, None, None, 1000),
        (3, 100, None, 2, 200),
        (3, 100, 150, 9, 250),
        (99, 10, None, None, 90),
        (2, 99_000, None, None, 30_000),
        (3, 20_000, 99_000, 5, 80_000),
        (3, 100, 10, 0.5, 200),
        ("3", 100, None, None, 0),
        (True, 100, None, None, 0),
        (None, 100, None, None, 0),
    ],
)
def test_pauses_are_held_within_the_bounds_of_the_operator(
    attempts: Any, first: Any, longest: Any, factor: Any, total: float
) -> None:
    """The pauses of a retry object sum up to what the Operator makes of it."""
    given = {
        "maxAttempts": attempts,
        "initialDelayMs": first,
        "maxDelayMs": longest,
        "backoffMultiplier": factor,
    }

    retry = {key: value for key, value in given.items() if value is not None}

    assert pauses_ms(retry) == total


@pytest.mark.parametrize("nonsense", [None, "often", 5, [], {}])
def test_no_retry_object_pauses_for_nothing(nonsense: Any) -> None:
    """Without a retry object there are no pauses."""
    assert pauses_ms(nonsense) == 0
