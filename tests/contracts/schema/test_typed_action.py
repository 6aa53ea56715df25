"""Typed actions convert seconds, points and matchers to wire form."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from pytest_clawperator.contracts.actions import (
    Click,
    Sleep,
    SnapshotUi,
    TypedAction,
    WaitForNode,
    to_milliseconds,
)
from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.contracts.params import Coordinate
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import ExecutionValidationError

OK = NodeMatcher.of(text="OK")


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
