"""Gestures on a simulated phone: by adb, to an app that listens for them."""

from __future__ import annotations

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.client import Clawperator


@pytest.fixture
def gallery(claw: Clawperator) -> Clawperator:
    """Open the gallery."""
    claw.open_app("com.example.gallery")
    claw.wait_for_node(text="0 likes, 3 photos, 0 archived")
    return claw


def test_two_taps_are_a_double_tap(gallery: Clawperator) -> None:
    """What listens for a double tap gets one, and a single tap is none."""
    favourite = gallery.node(id="favourite")

    favourite.double_click()
    expect(gallery.node(id="summary")).to_have_text("1 likes, 3 photos, 0 archived")

    gallery.click(at=favourite.bounds().center)
    expect(gallery.node(id="summary")).to_have_text("1 likes, 3 photos, 0 archived")


def test_a_row_is_swiped_both_ways(gallery: Clawperator) -> None:
    """The direction is that of the finger."""
    gallery.node(text="Hill").swipe("right")
    expect(gallery.node(id="summary")).to_have_text("0 likes, 3 photos, 1 archived")

    gallery.node(text="Hill").swipe("left")

    expect(gallery.node(id="summary")).to_have_text("0 likes, 2 photos, 1 archived")
    expect(gallery.node(text="Hill")).not_to_be_visible()


def test_a_row_is_dragged_into_the_bin(gallery: Clawperator) -> None:
    """What is dropped on the bin is gone, and only that."""
    gallery.node(text="Sea").drag_to(gallery.node(id="bin"), duration=0.3)

    expect(gallery.node(id="summary")).to_have_text("0 likes, 2 photos, 0 archived")
    expect(gallery.node(text="Sea")).not_to_be_visible()
    expect(gallery.node(text="Hill")).to_be_visible()
