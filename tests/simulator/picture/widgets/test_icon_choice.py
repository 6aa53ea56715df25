"""Which icon stands for a node."""

from __future__ import annotations

import io

from PIL import Image

from pytest_clawperator.simulator.screen.accessibility import Bounds
from tests.simulator.picture.drawing import app, node, png


def test_the_icon_of_a_row_is_chosen_by_its_title() -> None:
    """A row's icon is chosen by the row's title, with a letter where no word is known."""

    def row(title: str) -> bytes:
        parent = node("row")
        parent.add(node("icon", Bounds(70, 410, 110, 450)))
        parent.add(node("row_title", Bounds(130, 410, 400, 440), text=title))
        return Image.open(io.BytesIO(png(app(parent)))).crop((70, 410, 110, 450)).tobytes()

    assert len({row("Battery"), row("Wi-Fi"), row("Zebra"), row("Yak")}) == 4
