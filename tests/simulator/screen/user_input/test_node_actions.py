"""Accessibility actions on single nodes."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import COUNTER


def test_a_click_needs_a_node_that_takes_it() -> None:
    """A node that is not clickable, or has gone, cannot be clicked."""
    phone = demo(COUNTER)
    add, text = phone.node("Add"), phone.node("Count 0, best 0")
    assert not phone.ui.nodes.click(text)
    assert phone.ui.nodes.click(add)
    assert phone.ui.nodes.click(add)
    assert phone.has("Count 2, best 2")

    phone.tap("Next")

    assert not phone.ui.nodes.click(add)
