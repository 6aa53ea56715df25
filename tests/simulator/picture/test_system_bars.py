"""Status bar and wallpaper."""

from __future__ import annotations

import io
from dataclasses import replace

from PIL import Image

from pytest_clawperator.simulator.screen.accessibility import Bounds, Window
from tests.simulator.picture.drawing import SIZE, app, changed, inside, node, picture, png


def test_only_the_clock_shows_the_time() -> None:
    """Another time changes the left end of the status bar and nothing else."""
    early, late = (Image.open(io.BytesIO(png(app(), clock=clock))) for clock in ("09:41", "23:58"))

    assert inside(changed(early, late), Bounds(0, 0, 270, 40))


def test_the_home_screen_has_a_wallpaper() -> None:
    """The launcher's screen is recognised by its ground, and its labels are below their icons."""
    root = node("screen", Bounds(0, 0, *SIZE))
    root.add(node("icon", Bounds(60, 400, 190, 530), text="Settings"))
    home = Window("application", "com.google.android.apps.nexuslauncher", root, active=True)

    image = picture(home)

    assert image.getpixel((5, 100)) != image.getpixel((5, 1100))
    assert inside(changed(picture(replace_root(home)), image), Bounds(60, 400, 190, 530))


def replace_root(window: Window) -> Window:
    """Give a window with nothing in it."""
    return replace(window, root=node("screen", window.root.bounds))
