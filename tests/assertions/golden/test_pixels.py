"""Which pixels of two pictures differ."""

from __future__ import annotations

from PIL import Image, ImageDraw

from pytest_clawperator.assertions.golden.pixels import compare
from tests.doubles.camera import WHITE


def test_smoothed_edges_are_no_difference() -> None:
    """A line whose edge is smoothed differently counts as the same."""
    golden, actual = WHITE.copy(), WHITE.copy()
    ImageDraw.Draw(golden).polygon([(0, 50), (120, 60), (120, 200), (0, 200)], fill="black")
    for x in range(120):
        y = 50 + x * 10 // 120
        for below in range(200):
            shade = 0 if below > y else 255
            actual.putpixel((x, below), (shade, shade, shade))
        actual.putpixel((x, y), (128, 128, 128))

    found = compare(golden, actual, threshold=0.1)

    assert found.pixels < 12


def test_many_differences_are_counted_roughly() -> None:
    """If very much differs, smoothed edges are not told apart."""
    golden, actual = Image.new("RGB", (400, 400)), Image.new("RGB", (400, 400), "white")

    comparison = compare(golden, actual, threshold=0.1)

    assert comparison.is_rough
    assert str(comparison).startswith("up to 160000 pixels")
