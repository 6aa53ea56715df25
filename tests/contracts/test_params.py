"""What each action type needs: the message, the path, what was found, what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.params import pauses_ms
from pytest_clawperator.contracts.payload import validate_execution
from tests.contracts.builders import NOT_WHITE_SPACE, WHITE_SPACE, action, enough, payload, refusal

MATCHER = {"textEquals": "OK"}
POINT = {"x": 1, "y": 2}
SIDES = "must be one of: down, up, left, right"
NOWHERE = (
    "wait_for_navigation requires at least one of params.expectedPackage or params.expectedNode"
)

# The type, a parameter with its value, and the words of the reference host after the type.
# ``...`` takes a parameter away that the action needs.
REFUSED: list[tuple[str, str, Any, str]] = [
    *(
        (kind, "applicationId", ..., "requires params.applicationId")
        for kind in ("open_app", "close_app")
    ),
    ("open_uri", "uri", ..., "requires params.uri"),
    ("wait_for_node", "matcher", ..., "requires params.matcher"),
    ("scroll_and_click", "matcher", ..., "requires params.matcher"),
    ("read_text", "matcher", ..., "requires params.matcher"),
    ("enter_text", "matcher", ..., "requires params.matcher"),
    ("enter_text", "text", ..., "requires non-empty params.text"),
    ("enter_text", "text", "", "requires non-empty params.text"),
    ("read_key_value_pair", "labelMatcher", ..., "requires params.labelMatcher"),
    ("sleep", "durationMs", ..., "requires params.durationMs >= 0"),
    ("sleep", "durationMs", -0.001, "requires params.durationMs >= 0"),
    ("press_key", "key", ..., "requires params.key"),
    ("press_key", "key", " ", "requires params.key"),
    ("press_key", "key", "enter", "params.key must be one of: back, home, recents"),
    ("wait_for_navigation", "timeoutMs", ..., "requires params.timeoutMs > 0"),
    ("wait_for_navigation", "timeoutMs", 0, "requires params.timeoutMs > 0"),
    ("wait_for_navigation", "timeoutMs", 30_000.001, "params.timeoutMs must not exceed 30000"),
    *(
        (kind, name, value, f"params.{name} {demand}")
        for kind in ("scroll", "scroll_until")
        for name, values, demand in (
            ("direction", ("sideways", ""), SIDES),
            ("distanceRatio", (-0.001, 1.001), "must be in [0.0, 1.0]"),
            ("settleDelayMs", (-0.001, 10_000.001), "must be in [0, 10000]"),
        )
        for value in values
    ),
    *(
        ("scroll_until", name, value, f"params.{name} {demand}")
        for name, values, demand in (
            ("maxScrolls", (0, 201, 1.5, float("inf")), "must be an integer in [1, 200]"),
            ("maxDurationMs", (-0.001, 120_000.001), "must be in [0, 120000]"),
            ("noPositionChangeThreshold", (0, 21, 2.5), "must be an integer in [1, 20]"),
        )
        for value in values
    ),
]
# What must not be blank, and the words of the refusal.
NOT_BLANK = [
    ("open_app", "applicationId", "requires params.applicationId"),
    ("close_app", "applicationId", "requires params.applicationId"),
    ("open_uri", "uri", "requires params.uri"),
    ("start_recording", "sessionId", "params.sessionId must not be blank"),
    ("stop_recording", "sessionId", "params.sessionId must not be blank"),
    ("take_screenshot", "path", "params.path must be a non-empty string"),
]


def test_each_action_type_demands_what_it_needs() -> None:
    """A missing or impossible parameter is the only problem, in the reference's words."""
    for kind, name, value, words in REFUSED:
        error = refusal(payload(enough(kind, **{name: value})))

        messages = [(problem.path, problem.message) for problem in error.problems]
        assert messages == [(f"actions.0.params.{name}", f"{kind} {words}")], (kind, name, value)


PATTERN_NEEDED = "read_text with validator='regex' requires params.validatorPattern"
# An action whose parameters make no sense together, the end of the path, and the message.
DEPENDING: list[tuple[dict[str, Any], str, str]] = [
    (
        enough("sleep", durationMs=120_000.001),
        ".durationMs",
        "sleep.durationMs must not exceed 120000 ms",
    ),
    (action("click"), "", "click requires params.matcher or params.coordinate"),
    (
        action("click", matcher=MATCHER, coordinate=POINT),
        "",
        "click params.matcher and params.coordinate are mutually exclusive",
    ),
    (
        action("click", coordinate=POINT, clickType="focus"),
        ".clickType",
        "click params.coordinate does not support clickType='focus'",
    ),
    *(
        (
            enough("read_text", validator="regex", validatorPattern=pattern),
            ".validatorPattern",
            PATTERN_NEEDED,
        )
        for pattern in (..., "", " ", "\ufeff\u00a0")
    ),
    (
        enough("read_text", validator="regex", validatorPattern="("),
        ".validatorPattern",
        "read_text params.validatorPattern is not a valid regex pattern",
    ),
    (
        action("scroll_until", clickAfter=True, direction="x"),
        ".matcher",
        "scroll_until params.clickAfter=true requires params.matcher",
    ),
    (enough("wait_for_navigation", expectedPackage=...), "", NOWHERE),
    (enough("wait_for_navigation", expectedPackage=" "), "", NOWHERE),
]


def test_parameters_that_depend_on_each_other() -> None:
    """A combination that makes no sense is reported first, at its place."""
    for broken, end, message in DEPENDING:
        error = refusal(payload(broken))

        assert (error.path, error.message) == (f"actions.0.params{end}", message)


def test_needs_are_listed_together_with_a_suggestion() -> None:
    """Two missing parameters are both reported, and a misspelt key gets a suggestion."""
    messages = [problem.message for problem in refusal(payload(action("enter_text"))).problems]

    assert messages == [
        "enter_text requires params.matcher",
        "enter_text requires non-empty params.text",
    ]
    assert refusal(payload(enough("press_key", key="bakc"))).problems[0].suggestion == "back"


def test_what_the_host_leaves_to_the_operator_is_accepted_as_written() -> None:
    """Bounds are inclusive, only exact words count, and other values are the Operator's."""
    for accepted in (
        *(enough("sleep", durationMs=value) for value in (0, 120_000, 0.5)),
        action("click", coordinate=POINT, clickType="Focus"),
        action("click", matcher=MATCHER),
        enough("enter_text", text=" "),
        *(
            enough("read_text", validator=validator, validatorPattern="(")
            for validator in ("Regex", "version", "anything")
        ),
        *(action("scroll", direction=side) for side in ("down", " UP ", "Left", "\ufeffright")),
        action("scroll_until", clickAfter=False),
        *(
            enough("scroll_and_click", **params)
            for params in ({"direction": "x"}, {"maxSwipes": 99}, {"distanceRatio": 7})
        ),
        enough("scroll_and_click", settleDelayMs=-1),
    ):
        wire = validate_execution(payload(accepted, timeoutMs=1000)).to_wire()

        assert wire["actions"] == [accepted]


def test_navigation_to_a_node_needs_no_package() -> None:
    """A node alone is enough to wait for, without a package or with a blank one."""
    for name in ("expectedNode", "expected_node", "wait_for"):
        for package in (..., "", " ", "\ufeff\u00a0"):
            params = {name: MATCHER, "expectedPackage": package}

            execution = validate_execution(payload(enough("wait_for_navigation", **params)))

            assert execution.to_wire()["actions"][0]["params"]["expectedNode"] == MATCHER, name


def test_white_space_is_that_of_the_reference() -> None:
    """Each character that the reference trims is blank, and is trimmed around words."""
    for blank in WHITE_SPACE:
        for kind, name, words in NOT_BLANK:
            for value in ("", blank, blank * 3):
                error = refusal(payload(enough(kind, **{name: value})))

                assert error.message == f"{kind} {words}", (blank, kind)
                assert error.path == f"actions.0.params.{name}", (blank, kind)
        scroll = action(f"{blank}SCROLL{blank}", direction=f"{blank}Up{blank}")
        press = action("press_key", key=f"{blank}Back{blank}")
        assert validate_execution(payload(scroll, press)).actions[0].type == "scroll", blank


def test_other_invisible_characters_are_text() -> None:
    """What only other languages trim is a value, and around a word it makes another word."""
    for text in NOT_WHITE_SPACE:
        for kind, name, _ in NOT_BLANK:
            execution = validate_execution(payload(enough(kind, **{name: text})))

            assert execution.to_wire()["actions"][0]["params"][name] == text, (kind, name)
        for broken, path in (
            (action(f"{text}scroll"), "actions"),
            (action("scroll", direction=f"up{text}"), "actions.0.params.direction"),
            (action("press_key", key=f"{text}back"), "actions.0.params.key"),
        ):
            assert refusal(payload(broken)).path == path, text


def test_every_rule_reports_what_was_found_and_allowed() -> None:
    """Each problem has both, for a person to act on."""
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
    names = ("maxAttempts", "initialDelayMs", "maxDelayMs", "backoffMultiplier")
    given = zip(names, (attempts, first, longest, factor), strict=True)

    assert pauses_ms({name: value for name, value in given if value is not None}) == total


def test_anything_but_a_retry_object_has_no_pauses() -> None:
    """Without a retry object there are no pauses."""
    values: tuple[Any, ...] = (None, "often", 5, [], {})
    assert [pauses_ms(value) for value in values] == [0] * 5
