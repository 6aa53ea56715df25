"""Pictures of other sizes, densities and font scales: nothing is cut that has room."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.picture.canvas import LIGHT, Canvas
from pytest_clawperator.simulator.picture.fonts import readable
from pytest_clawperator.simulator.picture.text import fitted, line_height
from tests.doubles.simulator.screen_phone import SETTINGS, Phone

SIZES = {"title": 22, "row_title": 16}


@pytest.mark.parametrize("font_scale", [0.85, 1.0, 1.3, 2.0])
@pytest.mark.parametrize(
    ("size", "density"),
    [
        ((1080, 2400), 420),
        ((1600, 2560), 320),
        ((720, 1280), 320),
        ((720, 1280), 280),
        ((1080, 2400), 560),
        ((1440, 3120), 560),
    ],
)
def test_titles_are_not_cut(size: tuple[int, int], density: int, font_scale: float) -> None:
    """Whatever the screen, a title is drawn whole in the box that it was laid out in."""
    phone = Phone(start=SETTINGS, size=size, density=density)
    phone.ui.display.font_scale = font_scale
    canvas = Canvas(size, LIGHT, density=density, font_scale=font_scale)
    bottom = phone.scrollable().bounds.bottom
    titles = [
        node
        for node in phone.root.walk()
        if node.kind in SIZES and node.bounds.bottom < bottom and node.bounds.width
    ]

    cut = []
    for node in titles:
        pixels = canvas.sp(SIZES[node.kind])
        # In so large letters some titles are wider than the screen, as on a phone.
        widest = node.bounds.left + node.bounds.width >= size[0] - canvas.dp(25)
        if not widest and fitted(readable(node.text), pixels, node.bounds.width) != node.text:
            cut.append(node.text)
        if line_height(round(pixels * 0.86)) > node.bounds.height:
            cut.append(f"{node.text} (height)")
    assert len(titles) > 3
    assert cut == []


def test_font_scale_makes_rows_higher() -> None:
    """Rows have room for their letters."""
    phone = Phone(start=SETTINGS)
    before = phone.node("Connections").bounds

    phone.ui.display.font_scale = 2.0

    after = phone.node("Connections").bounds
    assert after.height == pytest.approx(2 * before.height, abs=2)
    assert after.width == pytest.approx(2 * before.width, abs=2)
