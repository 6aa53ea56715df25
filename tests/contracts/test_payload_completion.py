"""What is missing is filled in; what was given stays."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.actions import Click, OpenApp, Retry, Sleep, SnapshotUi
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import (
    complete_actions,
    complete_execution,
    override_timeout,
    waiting_ms,
)
from pytest_clawperator.errors import (
    ErrorCode,
    ExecutionValidationError,
    PayloadError,
    PayloadTooLargeError,
)


def test_a_bare_list_of_actions() -> None:
    """A list of actions becomes a whole payload."""
    execution = complete_execution([{"type": "snapshot"}])

    assert execution.source == "pytest-clawperator"
    assert execution.expected_format == "android-ui-automator"
    assert execution.timeout_ms == 30_000
    assert execution.command_id.startswith("cmd-")
    assert execution.task_id.startswith("task-")
    assert execution.actions[0].to_wire() == {"id": "snapshot_ui-1", "type": "snapshot_ui"}


def test_ids_are_unique() -> None:
    """Two completions never share a command id."""
    first, second = (complete_execution([SnapshotUi()]) for _ in range(2))

    assert first.command_id != second.command_id


@pytest.mark.parametrize("key", ["timeout_ms", "timeoutMs"])
def test_given_values_are_never_overridden(key: str) -> None:
    """A value under an alias counts as given."""
    execution = complete_execution({key: 5000, "task_id": "t", "actions": [SnapshotUi()]})

    assert execution.timeout_ms == 5000
    assert execution.task_id == "t"


def test_explicit_null_is_not_missing() -> None:
    """None was given, and is refused."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution({"commandId": None, "actions": [SnapshotUi()]})

    assert refused.value.path == "commandId"


def test_typed_actions_and_matchers() -> None:
    """Typed actions, matchers and retries may stand anywhere in Python code."""
    execution = complete_execution(
        [
            OpenApp("com.example", id="open"),
            {"type": "click", "params": {"matcher": NodeMatcher.of(text="OK")}},
            {"type": "tap", "params": {"node": {"id": "x"}, "retry": Retry(max_attempts=2)}},
        ]
    )

    assert [action.to_wire() for action in execution.actions] == [
        {"id": "open", "type": "open_app", "params": {"applicationId": "com.example"}},
        {"id": "click-2", "type": "click", "params": {"matcher": {"textEquals": "OK"}}},
        {
            "id": "click-3",
            "type": "click",
            "params": {"matcher": {"resourceId": "x"}, "retry": {"maxAttempts": 2}},
        },
    ]


def test_checked_actions_may_be_used_again() -> None:
    """The actions of one execution can be put into another, objects and all."""
    first = complete_execution([Click(NodeMatcher.of(text="OK"), id="k")])
    again = {"type": "click", "params": first.actions[0].params}

    second = complete_execution([*first.actions, again])

    assert second.actions[0] == first.actions[0]
    assert second.actions[1].params == first.actions[0].params


def test_made_up_ids_avoid_given_ones() -> None:
    """An id that the caller uses is not used again."""
    execution = complete_execution(
        [{"type": "snapshot"}, {"type": "snapshot", "id": "snapshot_ui-1"}]
    )

    assert len({action.id for action in execution.actions}) == 2


@pytest.mark.parametrize(
    ("actions", "timeout_ms"),
    [
        ([Sleep(10), SnapshotUi()], 30_000),
        ([Sleep(40), SnapshotUi()], 45_000),
        ([Sleep(60), Sleep(60)], 120_000),
        ([Sleep(120)], 120_000),
        ([Sleep(45 + 1 / 3)], 50_333),
        ([{"type": "scroll_until", "params": {"maxDurationMs": 120_000}}], 120_000),
    ],
)
def test_timeout_covers_declared_waiting(actions: Any, timeout_ms: int) -> None:
    """A run that says it will wait gets the time for it, within the limit."""
    assert complete_execution(actions).timeout_ms == timeout_ms


def test_every_kind_of_waiting_counts() -> None:
    """Sleeping, waiting and scrolling add up, and five seconds come on top."""
    rows: list[tuple[list[float], int]] = [
        ([24_000], 30_000),
        ([25_000], 30_000),
        ([25_001], 30_001),
        ([40_000], 45_000),
        ([15_000, 15_000], 35_000),
        ([40_000.5], 45_001),
        ([60_000, 55_000], 120_000),
        ([60_000, 55_001], 120_000),
        ([119_999], 120_000),
        ([120_001], 120_000),
        ([-5_000, 40_000], 45_000),
    ]
    for name in ["durationMs", "timeoutMs", "maxDurationMs"]:
        for waits, timeout_ms in rows:
            actions = [{"type": "snapshot", "params": {name: wait}} for wait in waits]

            assert complete_execution(actions).timeout_ms == timeout_ms, (name, waits, timeout_ms)


def test_kinds_of_waiting_add_up() -> None:
    """One action may wait in several ways, and aliases count too."""
    waiting = {"duration_ms": 10_000, "timeout_ms": 20_000, "max_duration_ms": 30_000}

    assert complete_execution([{"type": "snapshot", "params": waiting}]).timeout_ms == 65_000


def test_other_numbers_are_no_waiting() -> None:
    """Pauses between swipes are not declared waiting."""
    pauses = {"settleDelayMs": 50_000, "maxSwipes": 50_000, "retry": {"maxDelayMs": 50_000}}

    assert complete_execution([{"type": "snapshot", "params": pauses}]).timeout_ms == 30_000


def test_a_long_type_makes_no_long_id() -> None:
    """The made-up id of an action with an absurd type is not a problem of its own."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution([{"type": "x" * 200}])

    assert [problem.path for problem in refused.value.problems] == ["actions.0.type"]
    assert refused.value.details["actionId"] == "x" * 40 + "-1"


def test_problems_name_the_callers_action() -> None:
    """An action without an id is named by the one it was given."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution([Click()])

    assert refused.value.path == "actions.0.params"
    assert refused.value.details["actionId"] == "click-1"


@pytest.mark.parametrize("value", [None, 5, "5", b"\xff", [], [5], {"actions": 5}, "[[]]"])
def test_what_cannot_be_completed_is_refused(value: Any) -> None:
    """What cannot be completed is refused like any payload."""
    with pytest.raises(ExecutionValidationError):
        complete_execution(value)


def test_input_is_never_changed() -> None:
    """The caller's own objects stay as they were."""
    given = {"actions": [{"type": "tap", "params": {"node": {"id": "x"}}}]}

    complete_execution(given)

    assert given == {"actions": [{"type": "tap", "params": {"node": {"id": "x"}}}]}


def test_an_execution_is_itself() -> None:
    """There is nothing to complete in a checked payload."""
    execution = complete_execution([SnapshotUi()])

    assert complete_execution(execution) is execution


@pytest.mark.parametrize(("seconds", "timeout_ms"), [(1, 1000), (2.5, 2500), (120, 120_000)])
def test_a_timeout_in_seconds_replaces_that_of_the_payload(seconds: float, timeout_ms: int) -> None:
    """The caller's timeout is seconds and replaces the payload's own."""
    execution = complete_execution({"timeoutMs": 5000, "actions": [SnapshotUi()]})

    changed = override_timeout(execution, seconds)

    assert changed.timeout_ms == timeout_ms
    assert changed.actions == execution.actions
    assert execution.timeout_ms == 5000


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (float("nan"), "timeoutMs must be a finite number"),
        (float("inf"), "timeoutMs must be a finite number"),
        ("5", "timeoutMs must be a finite number"),
        (True, "timeoutMs must be a finite number"),
        (0.999, "timeoutMs must be between 1000 and 120000"),
        (-5, "timeoutMs must be between 1000 and 120000"),
        (120.001, "timeoutMs must be between 1000 and 120000"),
        pytest.param(10**5000, "timeoutMs must be between 1000 and 120000", id="huge"),
    ],
)
def test_timeouts_that_cannot_be(seconds: Any, message: str) -> None:
    """A timeout out of range is refused in the reference host's words."""
    execution = complete_execution([SnapshotUi()])

    with pytest.raises(PayloadError) as refused:
        override_timeout(execution, seconds)

    assert refused.value.message == message
    assert refused.value.code is ErrorCode.EXECUTION_VALIDATION_FAILED
    assert refused.value.details == {}
    assert "seconds" in str(refused.value.hint)


def test_size_is_checked_after_the_override() -> None:
    """A payload that only just fits may not, with a longer number in it."""

    def payload(path: str) -> dict[str, Any]:
        ids = {"commandId": "c", "taskId": "t", "timeoutMs": 1000}
        return {**ids, "actions": [{"type": "snapshot", "params": {"path": path}}]}

    room = 64_000 - len(complete_execution(payload("")).to_json())
    execution = complete_execution(payload("x" * room))

    with pytest.raises(PayloadTooLargeError):
        override_timeout(execution, 100)


def test_typed_actions_are_completed_as_the_same_execution() -> None:
    """The short way for typed actions fills in and validates what the long way does."""
    actions = [Click(NodeMatcher.of(text="Tea")), Sleep(0.5), Sleep(20)]

    short, long = complete_actions(actions), complete_execution(actions)

    assert short.actions == long.actions
    assert [action.id for action in short.actions] == ["click-1", "sleep-2", "sleep-3"]
    assert short.timeout_ms == long.timeout_ms
    assert short.command_id.startswith("cmd-")


def test_typed_actions_are_validated() -> None:
    """What breaks the contract is refused on the short way, too."""
    with pytest.raises(ExecutionValidationError):
        complete_actions([Sleep(-1)])
    with pytest.raises(ExecutionValidationError):
        complete_actions([])


FIVE_SECONDS = {"maxAttempts": 6, "initialDelayMs": 1000}


@pytest.mark.parametrize(
    ("kind", "params", "total"),
    [
        ("click", {"retry": FIVE_SECONDS}, 5_000),
        ("wait_for_node", {"retry": FIVE_SECONDS, "timeoutMs": 6_000}, 6_000),
        ("wait_for_node", {"retry": FIVE_SECONDS, "timeoutMs": 1_000}, 5_000),
        ("scroll_until", {"maxDurationMs": 20_000}, 20_000),
        ("scroll_until", {"maxDurationMs": 20_000, "matcher": {}}, 27_500),
        ("scroll_and_click", {"maxSwipes": 1, "settleDelayMs": 100}, 2_000),
        ("scroll_and_click", {"scrollRetry": FIVE_SECONDS, "clickRetry": FIVE_SECONDS}, 22_650),
        ("sleep", {"durationMs": 3_000}, 3_000),
        ("sleep", {"durationMs": float("nan")}, 0),
        ("sleep", {"durationMs": 10**400}, 120_000),
    ],
)
def test_pauses_sleeping_and_scrolling_count_as_waiting(
    kind: str, params: dict[str, Any], total: float
) -> None:
    """Pauses, sleeping and scrolling count; a timeout and the retries it ends count once."""
    assert waiting_ms({"type": kind, "params": params}) == total


@pytest.mark.parametrize("nonsense", [None, 5, [], {}, {"params": 5}, {"params": None}])
def test_what_is_no_action_waits_for_nothing(nonsense: Any) -> None:
    """A value of a wrong type is refused elsewhere; here it is no error."""
    assert waiting_ms(nonsense) == 0


def test_an_execution_lasts_as_long_as_its_retries() -> None:
    """The derived timeout leaves time for retry objects, too."""
    retry = {"maxAttempts": 2, "initialDelayMs": 30_000}
    click = {"type": "click", "params": {"matcher": {"text": "OK"}, "retry": retry}}

    execution = complete_execution([click, click])

    assert execution.timeout_ms == 65_000
