"""What an object may hold, in which order its problems are reported, and what stops the checks."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.errors import ExecutionValidationError
from tests.contracts.builders import MATCHER_FIELDS, PARAMS, action, paths, payload

SAMPLES: dict[str, Any] = {
    "null": None,
    "boolean": False,
    "number": 1.5,
    "string": "x",
    "array": [],
    "matcher": {"role": "x"},
    "point": {"x": 1, "y": 2},
}
MATCHERS = ("matcher", "container", "expectedNode", "labelMatcher")
TOP = ["commandId", "taskId", "source", "expectedFormat", "timeoutMs", "actions"]
IN_ACTION = "actions.0.params"
# A matcher with nothing right in it, backwards, and the ends of the paths of its problems.
FIVES = dict.fromkeys(["extra", *reversed(MATCHER_FIELDS)], 5)
FIELD_ENDS = [f".{field}" for field in MATCHER_FIELDS]


def is_accepted(given: dict[str, Any]) -> bool:
    """Whether a payload keeps the contract."""
    try:
        validate_execution(given)
    except ExecutionValidationError:
        return False
    return True


def test_a_parameter_holds_values_of_one_kind() -> None:
    """Each parameter takes values of one kind, each field of each matcher text."""
    for name, kind in PARAMS.items():
        accepted = {
            sample
            for sample, value in SAMPLES.items()
            if is_accepted(payload(action("snapshot_ui", **{name: value})))
        }
        assert accepted == ({"matcher", "point"} if kind == "object" else {kind}), name
    for name in MATCHERS:
        for field in MATCHER_FIELDS:
            accepted = {
                sample
                for sample, value in SAMPLES.items()
                if is_accepted(payload(action("snapshot_ui", **{name: {field: value}})))
            }
            assert accepted == {"string"}, (name, field)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, TOP),
        (dict.fromkeys(["extra", "mode", *reversed(TOP)]), [*TOP, "mode", ""]),
        (
            payload({"extra": 1, "params": None, "type": None, "id": None}),
            ["actions.0.id", "actions.0.type", "actions.0.params", "actions.0"],
        ),
        (
            payload(action("snapshot_ui", **dict.fromkeys(["extra", *reversed(PARAMS)]))),
            [*(f"{IN_ACTION}.{name}" for name in PARAMS), IN_ACTION],
        ),
        *(
            (
                payload(action("snapshot_ui", **{name: FIVES})),
                [f"{IN_ACTION}.{name}{end}" for end in (*FIELD_ENDS, "")],
            )
            for name in MATCHERS
        ),
        # A negative fraction is wrong twice.
        (
            payload(action("snapshot_ui", coordinate={"z": 1, "y": None, "x": -1.5})),
            [f"{IN_ACTION}.coordinate{end}" for end in (".x", ".x", ".y", "")],
        ),
        # The length of the list, its entries, unknown types, what actions need.
        (
            payload(
                {"id": "", "type": "nope"},
                {"id": "b", "type": "sleep"},
                *[{"id": "c", "type": "scroll"}] * 49,
            ),
            ["actions", "actions.0.id", "actions", "actions.1.params.durationMs"],
        ),
        (
            payload(
                {"id": "", "type": "click", "params": {"zzz": 1, "matcher": {}}},
                {"id": "b", "type": "sleep"},
                timeoutMs=5,
                extra=1,
            ),
            [
                *("timeoutMs", "actions.0.id", "actions.0.params.matcher", "actions.0.params", ""),
                "actions.1.params.durationMs",
            ],
        ),
        # A matcher of unknown keys only is also empty.
        (payload(action("snapshot_ui", matcher={"txt": "OK"})), [f"{IN_ACTION}.matcher"] * 2),
    ],
)
def test_problems_come_in_the_order_of_the_contract(
    given: dict[str, Any], expected: list[str]
) -> None:
    """Problems come in the order of the contract whatever the order of the keys, unknown last."""
    assert paths(given) == expected


def test_a_matcher_without_a_value_is_refused() -> None:
    """A matcher has at least one value; a wrong type in it is the only problem."""
    for name in MATCHERS:
        for fields in ({}, dict.fromkeys(MATCHER_FIELDS, "")):
            broken = payload(action("snapshot_ui", **{name: fields}))
            assert paths(broken) == [f"{IN_ACTION}.{name}"], fields
    wrong: tuple[Any, ...] = (None, False, 0, [], {})
    for value in wrong:
        for rest in ({}, {"role": ""}):
            broken = payload(action("snapshot_ui", matcher={"textEquals": value, **rest}))
            assert paths(broken) == [f"{IN_ACTION}.matcher.textEquals"], (value, rest)
    for field in MATCHER_FIELDS:
        fields = {**dict.fromkeys(MATCHER_FIELDS, ""), field: "x"}
        given = payload(action("snapshot_ui", matcher=fields, container={field: "x"}))
        assert validate_execution(given).to_wire() == given, field


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"id": None, "type": "sleep"}, "actions.0.id"),
        ({"type": "sleep"}, "actions.0.id"),
        ({"id": "a", "type": None}, "actions.0.type"),
        ({"id": "a"}, "actions.0.type"),
        ({"id": "a", "type": "x" * 65}, "actions.0.type"),
        ({"id": "a", "type": "sleep", "params": None}, IN_ACTION),
        (action("sleep", retry=5), f"{IN_ACTION}.retry"),
        (action("sleep", matcher={"role": 5}), f"{IN_ACTION}.matcher.role"),
        (action("sleep", coordinate={"x": 1}), f"{IN_ACTION}.coordinate.y"),
    ],
)
def test_a_wrong_type_in_an_action_stops_later_checks(broken: dict[str, Any], path: str) -> None:
    """Neither unknown types nor the needs of any action are reported after it."""
    given = payload(broken, {"id": "b", "type": "nope"}, {"id": "c", "type": "sleep"})

    assert paths(given) == [path]


def test_what_stops_later_checks_and_what_does_not() -> None:
    """A wrong type or word stops the checks; a wrong length, range or key only comes first."""
    sleep = {"id": "c", "type": "sleep"}
    needed = f"{IN_ACTION}.durationMs"
    fatal: list[dict[str, Any]] = [{"commandId": None}, {"taskId": ...}, {"timeoutMs": "x"}]
    for changes in (*fatal, {"expectedFormat": "x"}, {"mode": "x"}):
        assert paths(payload(sleep, **changes)) == list(changes), changes
    mild: list[dict[str, Any]] = [{"commandId": ""}, {"commandId": "x" * 129}, {"timeoutMs": 1}]
    for changes in mild:
        assert paths(payload(sleep, **changes)) == [*changes, needed], changes
    in_params: list[tuple[dict[str, Any], str]] = [
        ({"text": "x" * 513}, ".text"),
        ({"extra": 1}, ""),
        ({"matcher": {}}, ".matcher"),
        ({"coordinate": {"x": -1, "y": 1}}, ".coordinate.x"),
        ({"coordinate": {"x": 1.5, "y": 1}}, ".coordinate.x"),
    ]
    for params, end in in_params:
        assert paths(payload(action("sleep", **params))) == [f"{IN_ACTION}{end}", needed], params
