"""The drawn keyboard."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.accessibility import Bounds
from tests.simulator.picture.drawing import app, changed, inside, keyboard, picture


def test_a_keyboard_covers_its_part_of_the_screen() -> None:
    """The keyboard's window changes its own bounds, all of them."""
    part = changed(picture(app()), picture(app(), keyboard("q", "Shift", "Enter", "Space")))

    assert part == Bounds(0, 860, 540, 1200)


def test_a_keyboard_without_nodes_has_keys_all_the_same() -> None:
    """Where the tree holds no keys, usual ones are drawn."""
    bare = picture(app(), keyboard())
    letters = Bounds(0, 920, 540, 1150)

    assert len(bare.crop(letters).convert("RGB").getcolors(1 << 20) or []) > 20


@pytest.mark.parametrize("label", ["q", "Shift", "Delete", "Enter", "Symbol keyboard", "?"])
def test_keys_show_what_they_do(label: str) -> None:
    """Each key differs from the space bar, inside its bounds."""
    part = changed(picture(app(), keyboard("Space")), picture(app(), keyboard(label)))

    assert inside(part, Bounds(0, 900, 60, 970))
