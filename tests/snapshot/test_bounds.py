"""Rectangles on the screen."""

from __future__ import annotations

import pytest

from pytest_clawperator.snapshot.bounds import Bounds


def test_printed_bounds_are_read() -> None:
    """The printed form comes back, with what can be computed from it."""
    bounds = Bounds.parse("[10,20][110,70]")

    assert bounds == (10, 20, 110, 70)
    assert str(bounds) == "[10,20][110,70]"
    assert (bounds.width, bounds.height, bounds.area) == (100, 50, 5000)
    assert bounds.center == (60, 45)


def test_bounds_inside_out_are_turned() -> None:
    """A node that is scrolled away may be printed with its end before its beginning."""
    bounds = Bounds.parse("[0,2400][1080,2300]")

    assert bounds == (0, 2300, 1080, 2400)


@pytest.mark.parametrize(
    "text", ["", "[1,2]", "[a,0][1,1]", "[0,0][1,1] ", "[0,0][1,1" + "0" * 5000]
)
def test_anything_else_is_no_bounds(text: str) -> None:
    """What is not printed bounds is nothing, however long."""
    assert Bounds.parse(text) is None


@pytest.mark.parametrize(
    ("other", "is_inside"),
    [
        ((0, 0), True),
        ((99, 49), True),
        ((100, 0), False),
        ((0, 50), False),
        ((-1, 0), False),
        (Bounds(0, 0, 100, 50), True),
        (Bounds(1, 1, 101, 50), False),
        (Bounds(-1, 0, 10, 10), False),
    ],
)
def test_right_and_bottom_are_just_outside(
    other: tuple[int, int] | Bounds, is_inside: bool
) -> None:
    """Left and top are inside, right and bottom just outside."""
    assert Bounds(0, 0, 100, 50).contains(other) is is_inside


def test_rectangles_share_what_lies_in_both() -> None:
    """Two rectangles share what lies in both; those that only touch share nothing."""
    bounds = Bounds(0, 0, 100, 50)

    assert bounds.intersection(Bounds(90, 40, 200, 200)) == (90, 40, 100, 50)
    assert bounds.intersects(Bounds(90, 40, 200, 200))
    assert not bounds.intersects(Bounds(100, 0, 200, 50))
