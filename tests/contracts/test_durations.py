"""Pauses are counted as the Operator counts them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.durations import pauses_ms


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
