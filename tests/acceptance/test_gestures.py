"""Gestures on a simulated phone: by adb, to an app that listens for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connect import connect
from pytest_clawperator.simulator import Simulator

GALLERY = "com.example.gallery"
APP = """
package: com.example.gallery
name: Gallery
start: home
state: {likes: 0, photos: [Sea, Hill, Town], archived: 0}
screens:
  home:
    title: Gallery
    items:
      - {text: "{likes} likes, {photos.count} photos, {archived} archived", id: summary}
      - {image: Favourite, id: favourite, height: 120, on_double_tap: {add: {likes: 1}}}
      - row: "{item}"
        repeat: photos
        drag: "{index}"
        on_swipe_left: {remove: {photos: index}}
        on_swipe_right: {add: {archived: 1}}
      - card: [{text: Bin}]
        id: bin
        on_drop: {remove: {photos: dropped}}
"""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clawperator]:
    """Start a phone with the gallery, and connect to it."""
    app = tmp_path_factory.mktemp("apps") / "gallery.yaml"
    app.write_text(APP, encoding="utf-8")
    with Simulator(devices=1, seed=1, time_scale=0.05, apps=[app]) as simulator:
        address = f"{simulator.adb_host}:{simulator.adb_port}"
        with connect(simulator.serials[0], adb=address) as claw:
            yield claw


@pytest.fixture(params=["documented", "0.5.3"])
def claw(gallery: Clawperator, request: pytest.FixtureRequest) -> Clawperator:
    """Return a client of the freshly opened gallery, with either Operator."""
    gallery.device.shell("sim reset")
    gallery.device.shell(f"sim profile {request.param}")
    gallery.open_app(GALLERY)
    gallery.wait_for_node(text="0 likes, 3 photos, 0 archived")
    return gallery


def test_two_taps_are_a_double_tap(claw: Clawperator) -> None:
    """What listens for a double tap gets one, and a single tap is none."""
    favourite = claw.node(id="favourite")

    favourite.double_click()
    expect(claw.node(id="summary")).to_have_text("1 likes, 3 photos, 0 archived")

    claw.click(at=favourite.bounds().center)
    expect(claw.node(id="summary")).to_have_text("1 likes, 3 photos, 0 archived")


def test_a_row_is_swiped_both_ways(claw: Clawperator) -> None:
    """The direction is that of the finger."""
    claw.node(text="Hill").swipe("right")
    expect(claw.node(id="summary")).to_have_text("0 likes, 3 photos, 1 archived")

    claw.node(text="Hill").swipe("left")

    expect(claw.node(id="summary")).to_have_text("0 likes, 2 photos, 1 archived")
    expect(claw.node(text="Hill")).not_to_be_visible()


def test_a_row_is_dragged_into_the_bin(claw: Clawperator) -> None:
    """What is dropped on the bin is gone, and only that."""
    claw.node(text="Sea").drag_to(claw.node(id="bin"), duration=0.3)

    expect(claw.node(id="summary")).to_have_text("0 likes, 2 photos, 0 archived")
    expect(claw.node(text="Sea")).not_to_be_visible()
    expect(claw.node(text="Hill")).to_be_visible()
