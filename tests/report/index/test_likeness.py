"""Failures that differ only in what varies are alike, others are not."""

from __future__ import annotations

import pytest

from pytest_clawperator.report.index import groups_of, likeness
from tests.report.index.made_runs import ended, error


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected node(text='Cart') to be visible", "expected node(text='Pay now') to be visible"),
        ('no node with text "it\'s 5"', 'no node with text "so"'),
        ("no answer within 5 s", "no answer within 12.5 s"),
        ("found 1,204 nodes", "found 3 nodes"),
        ("emulator-5554 is gone", "emulator-5556 is gone"),
        ("[emulator-5554] NO_ANSWER: gone", "[127.0.0.1:4001] NO_ANSWER: gone"),
        ("command 3f2a9c01 failed", "command 99bb00ff failed"),
        (
            "run 123e4567-e89b-12d3-a456-426614174000 was lost",
            "run 00000000-e89b-12d3-a456-42661417400f was lost",
        ),
        ("total was $12.00,\n wanted $13.00", "total was $1.00, wanted $2.50"),
    ],
)
def test_what_varies_makes_no_difference(one: str, other: str) -> None:
    """Quoted texts, numbers, ids, serials and line ends do not count."""
    assert likeness(error(one)) == likeness(error(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (error("no match"), error("two matches")),
        (error("no match"), error("no match", code=None)),
        (error("defaced facade"), error("deadbeef facade")),
    ],
)
def test_another_reason_is_not_alike(one: object, other: object) -> None:
    """Other words or another code are another failure."""
    assert likeness(one) != likeness(other)  # type: ignore[arg-type]


def test_the_largest_group_comes_first() -> None:
    """Tests that passed are in no group."""
    tests = [
        ended("a", error=error("gone for 3 s")),
        ended("b"),
        ended("c", error=error("no 'x'")),
        ended("d", error=error("no 'y'")),
    ]

    assert groups_of(tests) == [[2, 3], [0]]


def test_a_message_that_is_made_to_be_slow_is_not() -> None:
    """Quotes without an end are read once."""
    assert likeness(error("'" * 100_000 + '"' * 100_000)).startswith("NODE_NOT_FOUND: ")
