"""Drawn screens: what is where, in which state, light and dark, and always the same."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from pytest_clawperator.simulator.picture import shapes as render_shapes
from pytest_clawperator.simulator.picture import text as render_text
from pytest_clawperator.simulator.picture.render import black_screen, draw, encode_png
from pytest_clawperator.simulator.picture.text import (
    ELLIPSIS,
    fitted,
    text_mask,
    text_width,
    wrapped,
)
from pytest_clawperator.simulator.picture.widgets import PAINTERS
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode, Window

SIZE = (540, 1200)
BOX = Bounds(60, 400, 480, 464)
PACKAGE = "com.example"


def node(kind: str, bounds: Bounds = BOX, *, cls: str = "android.view.View", **more: Any) -> UiNode:
    """Make a node of a kind."""
    return UiNode(cls, PACKAGE, bounds, kind=kind, **more)


def app(*nodes: UiNode) -> Window:
    """Make an app's window that holds these nodes."""
    root = node("screen", Bounds(0, 0, *SIZE))
    for child in nodes:
        root.add(child)
    return Window("application", PACKAGE, root, active=True)


def png(
    *windows: Window, dark: bool = False, clock: str = "10:00", title: str | None = None
) -> bytes:
    """Draw windows."""
    return draw(windows, size=SIZE, dark=dark, clock_text=clock, title=title)


def picture(*windows: Window, dark: bool = False, title: str | None = None) -> Image.Image:
    """Draw windows and open the result."""
    return Image.open(io.BytesIO(png(*windows, dark=dark, title=title)))


def changed(before: Image.Image, after: Image.Image) -> Bounds | None:
    """Give the smallest box outside which two pictures are the same."""
    box = ImageChops.difference(before, after).getbbox()
    return None if box is None else Bounds(*box)


@lru_cache
def empty_screen(dark: bool) -> Image.Image:
    """Draw a screen with nothing on it."""
    return picture(app(), dark=dark)


def shown(*nodes: UiNode, dark: bool = False) -> Bounds | None:
    """Give the part of an empty screen that nodes change."""
    return changed(empty_screen(dark), picture(app(*nodes), dark=dark))


def inside(inner: Bounds | None, outer: Bounds) -> bool:
    """Tell whether something was drawn, and nothing outside."""
    return inner is not None and inner.clipped(outer) == inner


def brightness(image: Image.Image, box: Bounds | None = None) -> float:
    """Give the mean brightness of a part, from 0 to 255."""
    grey = image.convert("L").crop(box)
    return sum(level * count for level, count in enumerate(grey.histogram())) / (
        grey.width * grey.height
    )


SPEAKING = sorted(set(PAINTERS) - {"dialog", "list", "tab_bar", "divider", "toolbar", "row"})


@pytest.mark.parametrize("kind", SPEAKING)
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


@pytest.mark.parametrize("kind", ["text", "row_title", "row_summary", "title", "dialog_text"])
def test_text_uses_the_room_it_has(kind: str) -> None:
    """Long text is shortened near the right edge, not early and not beyond."""
    part = shown(node(kind, BOX._replace(bottom=BOX.top + 30), text="words " * 40))

    assert part is not None
    assert BOX.right - 30 < part.right <= BOX.right


@pytest.mark.parametrize("kind", ["switch", "checkbox", "radio", "chip"])
def test_checked_looks_different(kind: str) -> None:
    """On and off can be told apart, and the difference is the widget's own."""
    off, on = (picture(app(node(kind, text="Label", checked=state))) for state in (False, True))

    assert inside(changed(off, on), BOX)


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
def test_states_can_be_seen(kind: str, flag: str) -> None:
    """Disabled, focused and selected widgets look so."""
    states: list[dict[str, Any]] = [{flag: False}, {flag: True}]

    off, on = (picture(app(node(kind, text="Label", **state))) for state in states)

    assert inside(changed(off, on), BOX)


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


def test_passwords_are_not_drawn() -> None:
    """A password shows how long it is, nothing else."""

    def field(text: str) -> bytes:
        return png(app(node("textfield", text=text, hint="Password", password=True)))

    assert field("secret") == field("qwerty")
    assert field("secret") != field("secrets")
    assert field("Password") == field("")


def test_a_hint_is_fainter_than_text() -> None:
    """A field that tells its hint as its text is empty, and looks it."""
    hint = picture(app(node("textfield", text="Name", hint="Name")))
    text = picture(app(node("textfield", text="Name", hint="Other")))

    assert brightness(hint, BOX) > brightness(text, BOX)


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


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        ("android.widget.Button", "button"),
        ("android.widget.EditText", "textfield"),
        ("android.widget.Switch", "switch"),
        ("android.widget.CheckBox", "checkbox"),
        ("android.widget.RadioButton", "radio"),
        ("android.widget.TextView", "text"),
        ("android.widget.ProgressBar", "progress"),
        ("android.view.View", "text"),
    ],
)
def test_classes_stand_in_for_kinds(cls: str, kind: str) -> None:
    """A node of no kind is drawn as its class suggests."""
    assert png(app(node("", cls=cls, text="Label"))) == png(app(node(kind, cls=cls, text="Label")))


def test_dark_is_dark() -> None:
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


def test_buttons_of_a_dialog_are_flat() -> None:
    """In a dialog a button is its text; on a screen it is a filled shape."""
    dialog = node("dialog", Bounds(40, 300, 500, 600))
    dialog.add(node("button", text="OK"))
    in_dialog = picture(app(), Window("application", PACKAGE, dialog, active=True))

    assert brightness(in_dialog, BOX) > brightness(picture(app(node("button", text="OK"))), BOX)


def test_the_uppermost_window_covers_the_others() -> None:
    """A whole screen hides what was open before it."""
    assert png(app(node("text", text="old")), app(node("text", text="new"))) == png(
        app(node("text", text="new"))
    )


def test_only_the_clock_shows_the_time() -> None:
    """Another time changes the left end of the status bar and nothing else."""
    early, late = (Image.open(io.BytesIO(png(app(), clock=clock))) for clock in ("09:41", "23:58"))

    assert inside(changed(early, late), Bounds(0, 0, 270, 40))


def keyboard(*labels: str) -> Window:
    """Make a keyboard's window with keys in one row."""
    root = node("keyboard", Bounds(0, 860, 540, 1200))
    for index, label in enumerate(labels):
        box = Bounds(index * 60, 900, index * 60 + 60, 970)
        root.add(node("key", box, content_desc=label))
    return Window("input_method", "com.example.keyboard", root)


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


def test_a_title_is_written_where_there_is_room() -> None:
    """The app's title shows on a bare screen, but not beside a title or above a full screen."""
    with_title = app(node("title", text="Own"))
    full = app(node("text", Bounds(0, 40, 540, 80), text="Top"))

    assert png(app(), title="Shop") != png(app())
    assert png(with_title, title="Shop") == png(with_title)
    assert png(full, title="Shop") == png(full)


def test_icons_speak_for_their_rows() -> None:
    """A row's icon is chosen by the row's title, with a letter where no word is known."""

    def row(title: str) -> bytes:
        parent = node("row")
        parent.add(node("icon", Bounds(70, 410, 110, 450)))
        parent.add(node("row_title", Bounds(130, 410, 400, 440), text=title))
        return Image.open(io.BytesIO(png(app(parent)))).crop((70, 410, 110, 450)).tobytes()

    assert len({row("Battery"), row("Wi-Fi"), row("Zebra"), row("Yak")}) == 4


def test_home_has_a_wallpaper() -> None:
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


@pytest.mark.parametrize(
    "letters", ["ée", "üu", "ño", "ÅA", "€C", "čc", "中国", "жш", "😀A", "✓x", "→x"]
)
def test_letters_beyond_ascii_can_be_told_apart(letters: str) -> None:
    """Accents, other scripts and symbols are drawn, and not as their neighbour."""
    first, second = (shown_text(letter) for letter in letters)

    assert first != second
    assert all(inside(shown(node("text", text=letter)), BOX) for letter in letters)


def shown_text(text: str) -> bytes:
    """Give the picture of a text."""
    return png(app(node("text", text=text)))


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
        for index, kind in enumerate(SPEAKING)
    ]
    dialog = node("dialog", Bounds(40, 300, 500, 600))
    dialog.add(node("dialog_title", Bounds(60, 320, 480, 360), text="Sure?"))
    return app(*nodes), Window("application", PACKAGE, dialog, active=True), keyboard("q", "Enter")


def test_the_same_screen_gives_the_same_bytes() -> None:
    """Pictures depend on their arguments alone: not on what was drawn before."""
    first = png(*full_screen())
    caches: list[Callable[..., Any]] = [*vars(render_text).values(), *vars(render_shapes).values()]
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


def test_encoding_keeps_every_pixel() -> None:
    """The fast encoder writes what Pillow reads back."""
    image = Image.effect_noise((61, 37), 80).convert("RGB")

    assert Image.open(io.BytesIO(encode_png(image))).tobytes() == image.tobytes()


@pytest.mark.parametrize("width", [0, 10, 60, 200, 1000])
def test_fitted_text_fits(width: int) -> None:
    """Shortened text is never wider than its room, and says that it was shortened."""
    text = "Connected devices and everything else"

    result = fitted(text, 30, width)

    assert text_mask(result, 30, room=width).width <= max(width, 2)
    assert text_width(result, 30) * 0.85 <= width
    assert result in ("", text) or result.endswith(ELLIPSIS)


def test_wrapped_text_keeps_its_words() -> None:
    """Lines fit and hold every word, unless there are too few of them."""
    text = "one two three four five six seven\neight"

    lines = wrapped(text, 30, 200, 20)

    assert " ".join(lines).split() == text.split()
    assert all(text_mask(line, 30, room=200).width <= 202 for line in lines)
    assert len(wrapped(text, 30, 200, 2)) == 2
    assert wrapped(text, 30, 200, 2)[-1].endswith(ELLIPSIS)


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
