"""What an object may hold, and in which order its problems are told."""

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


def backwards(given: dict[str, Any]) -> dict[str, Any]:
    """Turn the order of the keys round."""
    return dict(reversed(given.items()))


def is_accepted(given: dict[str, Any]) -> bool:
    """Whether a payload keeps the contract."""
    try:
        validate_execution(given)
    except ExecutionValidationError:
        return False
    return True


def test_what_a_parameter_holds() -> None:
    """Each parameter takes values of one kind; a retry object may hold anything."""
    for name, kind in PARAMS.items():
        accepted = {
            sample
            for sample, value in SAMPLES.items()
            if is_accepted(payload(action("snapshot_ui", **{name: value})))
        }

        assert accepted == ({"matcher", "point"} if kind == "object" else {kind}), (name, kind)


def test_what_a_matcher_holds() -> None:
    """Each field of each matcher is text."""
    for name in MATCHERS:
        for field in MATCHER_FIELDS:
            accepted = {
                sample
                for sample, value in SAMPLES.items()
                if is_accepted(payload(action("snapshot_ui", **{name: {field: value}})))
            }

            assert accepted == {"string"}, (name, field)


class TestOrder:
    """Problems come in the order of the contract, whatever the order of the keys."""

    def test_of_a_payload(self) -> None:
        """Top-level keys are checked in order, unknown ones last."""
        given = payload(
            extra=1,
            commandId=None,
            taskId=None,
            source=None,
            expectedFormat=None,
            timeoutMs=None,
            actions=None,
            mode=None,
        )

        assert paths(backwards(given)) == [
            "commandId",
            "taskId",
            "source",
            "expectedFormat",
            "timeoutMs",
            "actions",
            "mode",
            "",
        ]

    def test_of_what_is_missing(self) -> None:
        """All but the mode must be there."""
        assert paths({}) == [
            "commandId",
            "taskId",
            "source",
            "expectedFormat",
            "timeoutMs",
            "actions",
        ]

    def test_of_an_action(self) -> None:
        """An action's id comes before its type, the type before the parameters."""
        broken = {"extra": 1, "params": None, "type": None, "id": None}

        assert paths(payload(broken)) == [
            "actions.0.id",
            "actions.0.type",
            "actions.0.params",
            "actions.0",
        ]

    def test_parameters_are_checked_in_order_unknown_ones_last(self) -> None:
        """Parameters are checked in order, unknown ones last."""
        everything = dict.fromkeys(["extra", *reversed(PARAMS)])

        assert paths(payload(action("snapshot_ui", **everything))) == [
            "actions.0.params.applicationId",
            "actions.0.params.sessionId",
            "actions.0.params.uri",
            "actions.0.params.durationMs",
            "actions.0.params.path",
            "actions.0.params.matcher",
            "actions.0.params.coordinate",
            "actions.0.params.text",
            "actions.0.params.submit",
            "actions.0.params.clear",
            "actions.0.params.clickType",
            "actions.0.params.container",
            "actions.0.params.direction",
            "actions.0.params.maxSwipes",
            "actions.0.params.distanceRatio",
            "actions.0.params.settleDelayMs",
            "actions.0.params.maxScrolls",
            "actions.0.params.maxDurationMs",
            "actions.0.params.noPositionChangeThreshold",
            "actions.0.params.findFirstScrollableChild",
            "actions.0.params.clickAfter",
            "actions.0.params.validator",
            "actions.0.params.validatorPattern",
            "actions.0.params.key",
            "actions.0.params.retry",
            "actions.0.params.scrollRetry",
            "actions.0.params.clickRetry",
            "actions.0.params.expectedPackage",
            "actions.0.params.expectedNode",
            "actions.0.params.timeoutMs",
            "actions.0.params.labelMatcher",
            "actions.0.params.all",
            "actions.0.params",
        ]

    @pytest.mark.parametrize("name", MATCHERS)
    def test_of_a_matcher(self, name: str) -> None:
        """A matcher's fields are checked in order, unknown ones last."""
        fields = dict.fromkeys(["extra", *reversed(MATCHER_FIELDS)], 5)

        assert paths(payload(action("snapshot_ui", **{name: fields}))) == [
            f"actions.0.params.{name}.resourceId",
            f"actions.0.params.{name}.role",
            f"actions.0.params.{name}.textEquals",
            f"actions.0.params.{name}.textContains",
            f"actions.0.params.{name}.contentDescEquals",
            f"actions.0.params.{name}.contentDescContains",
            f"actions.0.params.{name}",
        ]

    def test_of_a_coordinate(self) -> None:
        """A point's x comes before its y, and a negative fraction is wrong twice."""
        point = {"z": 1, "y": None, "x": -1.5}

        assert paths(payload(action("snapshot_ui", coordinate=point))) == [
            "actions.0.params.coordinate.x",
            "actions.0.params.coordinate.x",
            "actions.0.params.coordinate.y",
            "actions.0.params.coordinate",
        ]

    def test_of_the_list(self) -> None:
        """The list's length comes before its entries, unknown types after them, needs last."""
        broken = [{"id": "", "type": "nope"}, {"id": "b", "type": "sleep"}]
        fine = [{"id": "c", "type": "scroll"}] * 49

        assert paths(payload(*broken, *fine)) == [
            "actions",
            "actions.0.id",
            "actions",
            "actions.1.params.durationMs",
        ]


class TestEmptyMatcher:
    """A matcher without any value matches nothing."""

    @pytest.mark.parametrize("name", MATCHERS)
    @pytest.mark.parametrize("fields", [{}, dict.fromkeys(MATCHER_FIELDS, "")])
    def test_a_matcher_without_a_value_is_refused(self, name: str, fields: dict[str, Any]) -> None:
        """No field, or only empty ones, is a problem of the matcher itself."""
        assert paths(payload(action("snapshot_ui", **{name: fields}))) == [
            f"actions.0.params.{name}"
        ]

    @pytest.mark.parametrize("value", [None, False, 0, [], {}])
    @pytest.mark.parametrize("rest", [{}, {"role": ""}])
    def test_is_not_told_beside_a_wrong_type(self, value: Any, rest: dict[str, Any]) -> None:
        """A field of the wrong type was meant to be a value: it is the only problem."""
        broken = {"textEquals": value, **rest}

        assert paths(payload(action("snapshot_ui", matcher=broken))) == [
            "actions.0.params.matcher.textEquals"
        ]

    def test_is_told_after_unknown_keys(self) -> None:
        """A matcher of unknown keys only is also empty."""
        error = paths(payload(action("snapshot_ui", matcher={"txt": "OK"})))

        assert error == ["actions.0.params.matcher", "actions.0.params.matcher"]

    @pytest.mark.parametrize("field", MATCHER_FIELDS)
    def test_one_value_is_enough(self, field: str) -> None:
        """Any one field will do, with empty ones beside it or without."""
        fields = {**dict.fromkeys(MATCHER_FIELDS, ""), field: "x"}
        given = payload(action("snapshot_ui", matcher=fields, container={field: "x"}))

        assert validate_execution(given).to_wire() == given


class TestWhatStopsLaterChecks:
    """A problem that leaves later checks nothing to work on stops them; another does not."""

    @pytest.mark.parametrize(
        ("broken", "path"),
        [
            ({"id": None, "type": "sleep"}, "actions.0.id"),
            ({"type": "sleep"}, "actions.0.id"),
            ({"id": "a", "type": None}, "actions.0.type"),
            ({"id": "a"}, "actions.0.type"),
            ({"id": "a", "type": "x" * 65}, "actions.0.type"),
            ({"id": "a", "type": "sleep", "params": None}, "actions.0.params"),
            (action("sleep", retry=5), "actions.0.params.retry"),
            (action("sleep", matcher={"role": 5}), "actions.0.params.matcher.role"),
            (action("sleep", coordinate={"x": 1}), "actions.0.params.coordinate.y"),
        ],
    )
    def test_in_an_action(self, broken: dict[str, Any], path: str) -> None:
        """Neither unknown types nor the needs of any action are told."""
        given = payload(broken, {"id": "b", "type": "nope"}, {"id": "c", "type": "sleep"})

        assert paths(given) == [path]

    @pytest.mark.parametrize(
        "changes",
        [
            {"commandId": None},
            {"taskId": ...},
            {"expectedFormat": "x"},
            {"timeoutMs": "x"},
            {"mode": "x"},
        ],
    )
    def test_at_the_top(self, changes: dict[str, Any]) -> None:
        """The needs of actions are not told."""
        given = payload({"id": "c", "type": "sleep"}, **changes)

        assert paths(given) == list(changes)

    @pytest.mark.parametrize(
        ("changes", "path"),
        [
            ({"commandId": ""}, "commandId"),
            ({"commandId": "x" * 129}, "commandId"),
            ({"timeoutMs": 1}, "timeoutMs"),
        ],
    )
    def test_length_and_range_do_not(self, changes: dict[str, Any], path: str) -> None:
        """A wrong length or range only comes first."""
        given = payload({"id": "c", "type": "sleep"}, **changes)

        assert paths(given) == [path, "actions.0.params.durationMs"]

    @pytest.mark.parametrize(
        ("params", "path"),
        [
            ({"text": "x" * 513}, "actions.0.params.text"),
            ({"extra": 1}, "actions.0.params"),
            ({"matcher": {}}, "actions.0.params.matcher"),
            ({"coordinate": {"x": -1, "y": 1}}, "actions.0.params.coordinate.x"),
            ({"coordinate": {"x": 1.5, "y": 1}}, "actions.0.params.coordinate.x"),
        ],
    )
    def test_nor_do_those_of_parameters(self, params: dict[str, Any], path: str) -> None:
        """The needs of the same action are told after them."""
        assert paths(payload(action("sleep", **params))) == [path, "actions.0.params.durationMs"]
