"""Every kind of widget, drawn within its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.screen.accessibility import Bounds
from tests.simulator.picture.drawing import (
    BOX,
    KINDS_WITH_LABEL,
    app,
    changed,
    inside,
    node,
    picture,
    shown,
)


@pytest.mark.parametrize("kind", KINDS_WITH_LABEL)
@pytest.mark.parametrize(
    ("bounds", "dark"),
    [
        (BOX, False),
        (Bounds(100, 300, 148, 348), True),
        (Bounds(0, 500, 540, 760), False),
        (Bounds(7, 9, 40, 21), True),
    ],
)
def test_widgets_stay_in_their_bounds(kind: str, bounds: Bounds, dark: bool) -> None:
    """Whatever a widget says, every pixel of it lies inside the bounds that a snapshot gives."""
    widget = node(kind, bounds, text="A rather long label that cannot fit in here", selected=True)

    assert inside(shown(widget, dark=dark), bounds)


@pytest.mark.parametrize("kind", ["toolbar", "row", "divider", "tab_bar"])
def test_containers_stay_in_their_bounds(kind: str) -> None:
    """So does what holds other widgets."""
    assert inside(shown(node(kind, text="Label", focused=True)), BOX)


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("button", "enabled"),
        ("switch", "enabled"),
        ("text", "enabled"),
        ("textfield", "focused"),
        ("tab", "selected"),
        ("row", "selected"),
        ("chip", "selected"),
    ],
)
def test_disabled_focused_and_selected_widgets_look_so(kind: str, flag: str) -> None:
    """Disabled, focused and selected widgets look so."""
    states: list[dict[str, Any]] = [{flag: False}, {flag: True}]

    off, on = (picture(app(node(kind, text="Label", **state))) for state in states)

    assert inside(changed(off, on), BOX)
