"""What is missing is filled in; what was given stays."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.contracts.actions import Click, OpenApp, Retry, Sleep, SnapshotUi
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import (
    complete_actions,
    complete_execution,
    override_timeout,
    waiting_ms,
)
from pytest_clawperator.errors import ErrorCode


def test_a_bare_list_of_actions() -> None:
    """A list of actions becomes a whole payload."""
    execution = complete_execution([{"type": "snapshot"}])

    assert execution.source == "pytest-clawperator"
    assert execution.expected_format == "android-ui-automator"
    assert execution.timeout_ms == 30_000
    assert execution.command_id.startswith("cmd-")
    assert execution.task_id.startswith("task-")
    assert execution.actions[0].to_wire() == {"id": "snapshot_ui-1", "type": "snapshot_ui"}


def test_made_up_ids_are_unique_and_short() -> None:
    """Two completions share no command id, and the id of an action avoids those in use."""
    first, second = (complete_execution([SnapshotUi()]) for _ in range(2))
    assert first.command_id != second.command_id

    taken = complete_execution([{"type": "snapshot"}, {"type": "snapshot", "id": "snapshot_ui-1"}])
    assert len({action.id for action in taken.actions}) == 2

    for given, path, name in (
        ([{"type": "x" * 200}], "actions.0.type", "x" * 40 + "-1"),
        ([Click()], "actions.0.params", "click-1"),
    ):
        with pytest.raises(errors.ExecutionValidationError) as refused:
            complete_execution(given)
        assert [problem.path for problem in refused.value.problems] == [path]
        assert refused.value.details["actionId"] == name


def test_given_values_are_never_overridden() -> None:
    """A value under an alias counts as given, and so does None, which is refused."""
    for key in ("timeout_ms", "timeoutMs"):
        execution = complete_execution({key: 5000, "task_id": "t", "actions": [SnapshotUi()]})

        assert (execution.timeout_ms, execution.task_id) == (5000, "t")
    with pytest.raises(errors.ExecutionValidationError) as refused:
        complete_execution({"commandId": None, "actions": [SnapshotUi()]})

    assert refused.value.path == "commandId"


def test_typed_actions_and_matchers() -> None:
    """Typed actions, matchers and retries may be mixed with plain dicts."""
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


def test_the_timeout_covers_declared_waiting() -> None:
    """Waiting adds up with five seconds on top, from 30 s to the limit; pauses of swipes do not."""
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
            assert complete_execution(actions).timeout_ms == timeout_ms, (name, waits)
    retry = {"maxAttempts": 2, "initialDelayMs": 30_000}
    click = {"type": "click", "params": {"matcher": {"text": "OK"}, "retry": retry}}
    assert complete_execution([Sleep(45 + 1 / 3)]).timeout_ms == 50_333
    assert complete_execution([click, click]).timeout_ms == 65_000
    together = {"duration_ms": 10_000, "timeout_ms": 20_000, "max_duration_ms": 30_000}
    pauses = {"settleDelayMs": 50_000, "maxSwipes": 50_000, "retry": {"maxDelayMs": 50_000}}
    for params, timeout_ms in ((together, 65_000), (pauses, 30_000)):
        assert complete_execution([{"type": "snapshot", "params": params}]).timeout_ms == timeout_ms


@pytest.mark.parametrize("value", [None, 5, "5", b"\xff", [], [5], {"actions": 5}, "[[]]"])
def test_what_cannot_be_completed_is_refused(value: Any) -> None:
    """What cannot be completed is refused like any payload."""
    with pytest.raises(errors.ExecutionValidationError):
        complete_execution(value)


def test_the_input_is_never_changed() -> None:
    """The caller's own objects stay as they were; a checked payload is returned as it is."""
    given = {"actions": [{"type": "tap", "params": {"node": {"id": "x"}}}]}

    execution = complete_execution(given)

    assert given == {"actions": [{"type": "tap", "params": {"node": {"id": "x"}}}]}
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
        *(
            (value, "timeoutMs must be a finite number")
            for value in (math.nan, math.inf, "5", True)
        ),
        *(
            (value, "timeoutMs must be between 1000 and 120000")
            for value in (0.999, -5, 120.001, 10**400)
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_timeout_out_of_range_is_refused(seconds: Any, message: str) -> None:
    """A timeout out of range is refused in the reference host's words."""
    execution = complete_execution([SnapshotUi()])

    with pytest.raises(errors.PayloadError) as refused:
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

    with pytest.raises(errors.PayloadTooLargeError):
        override_timeout(execution, 100)


def test_typed_actions_are_completed_as_the_same_execution() -> None:
    """The short way for typed actions fills in and validates what the long way does."""
    actions = [Click(NodeMatcher.of(text="Tea")), Sleep(0.5), Sleep(20)]

    short, long = complete_actions(actions), complete_execution(actions)

    assert short.actions == long.actions
    assert [action.id for action in short.actions] == ["click-1", "sleep-2", "sleep-3"]
    assert short.timeout_ms == long.timeout_ms
    assert short.command_id.startswith("cmd-")
    for broken in ([Sleep(-1)], []):
        with pytest.raises(errors.ExecutionValidationError):
            complete_actions(broken)


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


def test_anything_but_an_action_waits_for_nothing() -> None:
    """A value of a wrong type is refused elsewhere; here it is not an error."""
    values: tuple[Any, ...] = (None, 5, [], {}, {"params": 5}, {"params": None})
    assert [waiting_ms(value) for value in values] == [0] * len(values)
