"""The screen of a phone, drawn."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pytest_clawperator.simulator.picture import icons
from pytest_clawperator.simulator.picture import text as render_text
from pytest_clawperator.simulator.picture.canvas import LIGHT, Canvas
from pytest_clawperator.simulator.picture.controls import PAINTERS
from pytest_clawperator.simulator.picture.render import black_screen, draw
from pytest_clawperator.simulator.picture.text import fitted, line_height
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, Window
from tests.doubles.simulator.screen_phone import SETTINGS, Phone
from tests.simulator.picture.drawing import (
    BOX,
    KINDS_WITH_LABEL,
    PACKAGE,
    SIZE,
    app,
    brightness,
    changed,
    inside,
    keyboard,
    node,
    picture,
    png,
    shown,
)


def test_only_the_clock_shows_the_time() -> None:
    """Another time changes the left end of the status bar and nothing else."""
    early, late = (picture(app(), clock=clock) for clock in ("09:41", "23:58"))

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


def test_hidden_nodes_are_not_drawn() -> None:
    """What the user cannot see is not in the picture, nor what it holds."""
    hidden = node("card", visible_to_user=False)
    hidden.add(node("text", text="secret"))

    assert png(app(hidden)) == png(app())
    assert png(app(node("text", Bounds(9, 9, 9, 50), text="no width"))) == png(app())


def test_children_are_cut_at_their_parents_edge() -> None:
    """A child that is larger than its parent does not stick out."""
    parent = node("card")
    parent.add(node("button", Bounds(0, 300, 540, 900), text="Large"))

    assert inside(shown(parent), BOX)


def test_the_dark_theme_is_darker_than_the_light_one() -> None:
    """The two themes differ as day and night."""
    button = node("button", text="OK")

    assert brightness(picture(app(button))) > 200
    assert brightness(picture(app(button), dark=True)) < 60


def test_a_dialog_stands_out_from_a_dimmed_screen() -> None:
    """Everything below a dialog is darker than without it, the status bar too."""
    below = app(node("text", text="Below"))
    dialog = Window("application", PACKAGE, node("dialog", Bounds(80, 600, 460, 800)), active=True)
    plain, dimmed = picture(below), picture(below, dialog)

    for box in (Bounds(0, 0, 540, 60), BOX, Bounds(0, 900, 540, 1200)):
        assert brightness(dimmed, box) < 0.7 * brightness(plain, box)
    assert brightness(dimmed, Bounds(100, 650, 440, 750)) > 200


def test_the_uppermost_window_covers_the_others() -> None:
    """A whole screen hides what was open before it."""
    assert png(app(node("text", text="old")), app(node("text", text="new"))) == png(
        app(node("text", text="new"))
    )


@pytest.mark.parametrize("size", [(1080, 2400), (2400, 1080), (320, 480), (17, 1), (0, 0)])
def test_pictures_have_the_screens_size(size: tuple[int, int]) -> None:
    """Any screen can be drawn, lying ones and tiny ones too."""
    root = node("screen", Bounds(0, 0, *size))
    root.add(node("button", Bounds(0, 0, *size), text="Press"))

    data = draw([Window("application", PACKAGE, root)], size=size, dark=False, clock_text="1:00")

    image = Image.open(io.BytesIO(data))
    image.load()
    assert (image.format, image.mode) == ("PNG", "RGB")
    assert image.size == (max(1, size[0]), max(1, size[1]))


def test_no_window_is_a_picture_too() -> None:
    """A phone that shows nothing still has its status bar."""
    assert brightness(picture()) > 200


def test_a_screen_that_is_off_is_black() -> None:
    """Nothing can be seen on it, but it has its size."""
    image = Image.open(io.BytesIO(black_screen((54, 120))))

    assert (image.size, image.getextrema()) == ((54, 120), ((0, 0),) * 3)


def full_screen() -> tuple[Window, ...]:
    """Give a screen with one widget of every kind, a dialog and a keyboard."""
    nodes = [
        node(kind, Bounds(20, 60 + index * 44, 500, 100 + index * 44), text=f"{kind} Größe 1 €")
        for index, kind in enumerate(KINDS_WITH_LABEL)
    ]
    dialog = node("dialog", Bounds(40, 300, 500, 600))
    dialog.add(node("dialog_title", Bounds(60, 320, 480, 360), text="Sure?"))
    return app(*nodes), Window("application", PACKAGE, dialog, active=True), keyboard("q", "Enter")


def test_the_same_screen_gives_the_same_bytes() -> None:
    """Pictures depend on their arguments alone: not on what was drawn before."""
    first = png(*full_screen())
    caches: list[Callable[..., Any]] = [*vars(render_text).values(), *vars(icons).values()]
    for function in caches:
        if hasattr(function, "cache_clear"):
            function.cache_clear()

    assert png(*full_screen()) == first


def test_several_threads_can_draw_at_once() -> None:
    """Eight drawings side by side come out as one alone does."""
    alone = png(*full_screen())

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: png(*full_screen()), range(8)))

    assert together == [alone] * 8


SIDES = st.integers(-300, 1500)

NODES = st.builds(
    lambda kind, box, text, flags: node(
        kind,
        Bounds(*box),
        text=text,
        hint=text[::-1],
        checked=flags[0],
        selected=flags[1],
        enabled=flags[2],
        focused=flags[3],
        password=flags[4],
        heading=flags[0],
    ),
    st.sampled_from(["", "unknown", "key", "keyboard", *PAINTERS]),
    st.tuples(SIDES, SIDES, SIDES, SIDES),
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.tuples(*[st.booleans()] * 5),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(NODES, max_size=6), st.booleans())
def test_any_tree_can_be_drawn(nodes: list[UiNode], nested: bool) -> None:
    """Odd bounds, odd text and odd nesting are drawn somehow, and nothing breaks."""
    parent = node("row")
    for child in nodes if nested else []:
        parent.add(child)

    data = png(app(parent) if nested else app(*nodes))

    assert Image.open(io.BytesIO(data)).size == SIZE


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
    for each in titles:
        pixels = canvas.sp(SIZES[each.kind])
        # In so large letters some titles are wider than the screen, as on a phone.
        widest = each.bounds.left + each.bounds.width >= size[0] - canvas.dp(25)
        if not widest and fitted(each.text, pixels, each.bounds.width) != each.text:
            cut.append(each.text)
        if line_height(round(pixels * 0.86)) > each.bounds.height:
            cut.append(f"{each.text} (height)")
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
