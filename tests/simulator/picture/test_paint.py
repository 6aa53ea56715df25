"""Labels and icons of widgets."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from tests.simulator.picture.drawing import (
    BOX,
    app,
    brightness,
    changed,
    inside,
    node,
    picture,
    png,
    shown,
)


def test_a_disabled_row_greys_its_parts() -> None:
    """What is in a greyed row is greyed with it."""

    def row(enabled: bool) -> UiNode:
        parent = node("row", enabled=enabled)
        parent.add(node("row_title", Bounds(100, 405, 300, 430), text="Wi-Fi")).parent = parent
        parent.add(node("icon", Bounds(65, 410, 95, 440)))
        return parent

    enabled, disabled = picture(app(row(True))), picture(app(row(False)))

    assert inside(changed(enabled, disabled), BOX)
    assert brightness(disabled, BOX) > brightness(enabled, BOX)


def list_of_rows(offset: int) -> UiNode:
    """Make a list scrolled by so many pixels, its nodes cut at its edges as Android does it."""
    view = Bounds(0, 300, 540, 700)
    container = node("list", view)
    for index in range(-1, 9):
        top = 300 + index * 74 - offset
        row = container.add(node("row", Bounds(0, top, 540, top + 74).clipped(view)))
        parts = (
            node("icon", Bounds(32, top + 21, 64, top + 53).clipped(view)),
            node(
                "row_title", Bounds(96, top + 12, 400, top + 40).clipped(view), text=f"No {index}"
            ),
            node("row_summary", Bounds(96, top + 40, 400, top + 65).clipped(view), text="More"),
            node("switch", Bounds(440, top + 16, 508, top + 58).clipped(view), checked=True),
        )
        for part in parts:
            row.add(part)
    return container


@pytest.mark.parametrize("offset", range(1, 74, 9))
def test_rows_slide_under_the_edges_of_a_list(offset: int) -> None:
    """A scrolled list shows the same rows, moved and cut, not squeezed."""
    still, moved = picture(app(list_of_rows(0))), picture(app(list_of_rows(offset)))

    assert (
        changed(still.crop((0, 300 + offset, 540, 700)), moved.crop((0, 300, 540, 700 - offset)))
        is None
    )


def test_the_icon_of_a_row_is_chosen_by_its_title() -> None:
    """A row's icon is chosen by the row's title, with a letter where no word is known."""

    def row(title: str) -> bytes:
        parent = node("row")
        parent.add(node("icon", Bounds(70, 410, 110, 450)))
        parent.add(node("row_title", Bounds(130, 410, 400, 440), text=title))
        return Image.open(io.BytesIO(png(app(parent)))).crop((70, 410, 110, 450)).tobytes()

    assert len({row("Battery"), row("Wi-Fi"), row("Zebra"), row("Yak")}) == 4


@pytest.mark.parametrize("kind", ["text", "row_title", "row_summary", "title", "dialog_text"])
def test_text_uses_the_room_it_has(kind: str) -> None:
    """Long text is shortened near the right edge, not early and not beyond."""
    part = shown(node(kind, BOX._replace(bottom=BOX.top + 30), text="words " * 40))

    assert part is not None
    assert BOX.right - 30 < part.right <= BOX.right
