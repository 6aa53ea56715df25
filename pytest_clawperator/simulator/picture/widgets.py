"""How each kind of widget looks on a drawn screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.icons import icon_name
from pytest_clawperator.simulator.picture.labels import label, paint_text, paint_title
from pytest_clawperator.simulator.picture.place import (
    Painter,
    Place,
    beyond_edge,
    ink_of,
    is_enabled,
    kind_of,
    says_itself,
    whole_box,
)
from pytest_clawperator.simulator.picture.text import text_width
from pytest_clawperator.simulator.picture.theme import Colour, mixed, tint
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def paint_node(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a node without its children; gives where these are painted."""
    painter = PAINTERS.get(kind_of(node))
    return place if painter is None else painter(canvas, node, place)


def _toolbar(canvas: Canvas, node: UiNode, place: Place) -> Place:
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, place.ink, size=22 if box.height < canvas.dp(90) else 32)
    return replace(place, inside="toolbar")


def _list(canvas: Canvas, node: UiNode, place: Place) -> Place:
    return replace(place, view=node.bounds.clipped(place.view))


def _row(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme = canvas.theme
    if node.selected or node.focused:
        place = replace(place, ground=theme.accent, ink=theme.on_accent, faint_ink=theme.on_accent)
        canvas.rounded(inset(node.bounds, canvas.dp(4), 0), canvas.dp(16), theme.accent)
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(20), 0)
        canvas.text(box, node.label, ink_of(canvas, node, place.ink), size=16, lines=2)
    return replace(place, inside="row")


def _icon(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, node.bounds
    if node.text and box.height > box.width // 2 and place.inside in ("", "home"):
        return _launcher_icon(canvas, node, place)
    name = icon_name(node)
    box = whole_box(node, place, min(box.width, canvas.dp(48)))
    if place.inside == "row":
        side = min(box.width, box.height, canvas.dp(40))
        spot = square(box, side)
        colour = tint(_row_name(node))
        canvas.disc(spot, colour if is_enabled(node) else theme.disabled)
        _symbol(canvas, node, name, square(spot, round(side * 0.62)), (255, 255, 255))
    else:
        side = min(box.width, box.height, canvas.dp(24))
        _symbol(canvas, node, name, square(box, side), ink_of(canvas, node, place.ink))
    return place


def _launcher_icon(canvas: Canvas, node: UiNode, place: Place) -> Place:
    left, top, right, bottom = node.bounds
    label_top = bottom - canvas.dp(24)
    side = min(right - left, label_top - top, canvas.dp(60))
    spot = square(Bounds(left, top, right, label_top), side)
    canvas.disc(spot, tint(node.label))
    _symbol(canvas, node, icon_name(node), square(spot, round(side * 0.5)), (255, 255, 255))
    label = Bounds(left, label_top, right, bottom)
    canvas.text(label, node.text, place.ink, size=13, align="centre")
    return place


def _symbol(canvas: Canvas, node: UiNode, name: str | None, box: Bounds, colour: Colour) -> None:
    if name is not None:
        canvas.icon(name, box, colour)
        return
    letter = _row_name(node).strip()[:1].upper()
    size = box.height / max(1, canvas.dp(100)) * 100 * 0.95
    canvas.text(inset(box, -box.width // 2), letter, colour, size=size, align="centre", bold=True)


def _row_name(node: UiNode) -> str:
    if node.label:
        return node.label
    above = node.parent
    if above is not None and kind_of(above) == "row":
        for below in above.walk():
            if below.label:
                return below.label
    return node.resource_id.rpartition("/")[2] or node.widget


def _image(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, node.bounds
    if max(box.width, box.height) <= canvas.dp(48) and (icon_name(node) or place.inside != ""):
        return _icon(canvas, node, place)
    colour = tint(_row_name(node))
    ground = mixed(colour, theme.background, 0.72)
    corner = canvas.dp(12) if box.width < canvas.screen.width else 0
    canvas.rounded(beyond_edge(node, place, corner), corner, ground)
    name = icon_name(node) or "image"
    side = round(min(box.width, box.height) * 0.5)
    canvas.icon(name, square(box, side), mixed(colour, theme.ink, 0.15), weight=0.06)
    return place


def _button(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, whole_box(node, place, canvas.dp(48))
    height = min(box.height, canvas.dp(56))
    top = box.top + (box.height - height) // 2
    pill = Bounds(box.left, top, box.right, top + height)
    ground, ink = theme.primary, theme.on_primary
    if not node.enabled:
        ground, ink = theme.disabled, theme.disabled_ink
    if place.inside == "dialog":
        ground, ink = place.ground, theme.primary if node.enabled else theme.disabled_ink
    elif place.inside in ("row", "card", "toolbar") and node.enabled:
        ground, ink = theme.accent, theme.on_accent
    elif place.inside == "home":
        ground, ink = theme.background, theme.faint_ink
    canvas.rounded(pill, height // 2, ground)
    if says_itself(node):
        label = inset(pill, min(canvas.dp(12), box.width // 8), 0)
        name = icon_name(node) if not node.text or box.width <= canvas.dp(56) else None
        if name is not None:
            canvas.icon(name, square(box, min(height // 2, canvas.dp(24))), ink)
        else:
            canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return replace(place, ground=ground, ink=ink, faint_ink=ink, inside="button")


def _textfield(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, whole_box(node, place, canvas.dp(56))
    if "search" in f"{node.hint} {node.content_desc} {node.resource_id}".lower():
        canvas.rounded(box, box.height // 2, theme.surface)
        lens = Bounds(box.left + canvas.dp(16), box.top, box.left + canvas.dp(38), box.bottom)
        canvas.icon("search", lens, theme.faint_ink)
        inner = Bounds(box.left + canvas.dp(50), box.top, box.right - canvas.dp(16), box.bottom)
    else:
        line = ink_of(canvas, node, theme.primary if node.focused else theme.outline)
        width = 2 if node.focused else 1
        canvas.frame(box, canvas.dp(8), line, place.ground, width=width)
        inner = inset(box, min(canvas.dp(16), box.width // 8), 0)
    used = _typed(canvas, node, place, inner)
    if node.focused:
        x = inner.left + used + canvas.dp(1)
        height = min(inner.height, canvas.dp(24))
        top = inner.top + (inner.height - height) // 2
        canvas.rectangle(Bounds(x, top, x + canvas.dp(2), top + height), theme.primary)
    return replace(place, inside="textfield")


def _typed(canvas: Canvas, node: UiNode, place: Place, box: Bounds) -> int:
    """Write what a field holds, or its hint; gives where the cursor stands."""
    # A field that holds nothing tells its hint as its text.
    text = "" if node.text == node.hint else node.text
    if not text:
        hint = node.hint or node.content_desc
        canvas.text(box, hint, ink_of(canvas, node, place.faint_ink), size=16, lines=2)
        return 0
    ink = ink_of(canvas, node, place.ink)
    if node.password:
        return _bullets(canvas, box, len(text), ink)
    canvas.text(box, text, ink, size=16, lines=1 if box.height < canvas.dp(80) else 50)
    return min(box.width, int(text_width(text[:200], canvas.dp(16))))


def _bullets(canvas: Canvas, box: Bounds, count: int, colour: Colour) -> int:
    """Paint a password; gives how wide it is."""
    side, step = canvas.dp(8), canvas.dp(12)
    count = min(count, box.width // step)
    for index in range(count):
        left = box.left + index * step
        canvas.disc(Bounds(left, box.top, left + side, box.bottom), colour)
    return count * step


def _switch(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, whole_box(node, place, canvas.dp(32))
    width, height = min(box.width, canvas.dp(52)), min(box.height, canvas.dp(32))
    height = min(height, width * 2 // 3)
    wide = box.width > width * 3 // 2
    left = box.right - width if wide else box.left + (box.width - width) // 2
    top = box.top + (box.height - height) // 2
    track = Bounds(left, top, left + width, top + height)
    if node.checked:
        ground = theme.primary if is_enabled(node) else theme.disabled
        knob = theme.on_primary if is_enabled(node) else theme.disabled_ink
        canvas.rounded(track, height // 2, ground)
        canvas.disc(_knob(track, right=True, inset_by=height // 8), knob)
    else:
        line = ink_of(canvas, node, theme.outline)
        canvas.frame(track, height // 2, line, theme.surface, width=2)
        canvas.disc(_knob(track, right=False, inset_by=height // 4), line)
    if wide and says_itself(node):
        label = Bounds(box.left, box.top, left - canvas.dp(8), box.bottom)
        canvas.text(label, node.label, ink_of(canvas, node, place.ink), size=16)
    return place


def _knob(track: Bounds, *, right: bool, inset_by: int) -> Bounds:
    side = track.height - 2 * inset_by
    left = track.right - inset_by - side if right else track.left + inset_by
    return Bounds(left, track.top + inset_by, left + side, track.top + inset_by + side)


def _choice(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a check box or radio button, with its text to the right."""
    theme, box = canvas.theme, whole_box(node, place, canvas.dp(32))
    side = min(box.width, box.height, canvas.dp(20))
    wide = box.width > side * 3
    spot = square(Bounds(box.left, box.top, box.left + side, box.bottom) if wide else box, side)
    on = ink_of(canvas, node, theme.primary)
    off = ink_of(canvas, node, place.faint_ink)
    radius = side // 2 if kind_of(node) == "radio" else canvas.dp(3)
    if kind_of(node) == "radio":
        canvas.frame(spot, radius, on if node.checked else off, place.ground, width=2)
        if node.checked:
            canvas.disc(square(spot, side // 2), on)
    elif node.checked:
        canvas.rounded(spot, radius, on)
        canvas.icon("check", square(spot, side * 4 // 5), theme.on_primary, weight=0.14)
    else:
        canvas.frame(spot, radius, off, place.ground, width=2)
    if wide and says_itself(node):
        label = Bounds(spot.right + canvas.dp(12), box.top, box.right, box.bottom)
        canvas.text(label, node.label, ink_of(canvas, node, place.ink), size=16, lines=2)
    return place


def _tab_bar(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, node.bounds
    if _at_bottom(canvas, box):
        canvas.rectangle(box, theme.surface)
        return replace(place, ground=theme.surface, inside="bottom_bar")
    line = Bounds(box.left, box.bottom - canvas.dp(1), box.right, box.bottom)
    canvas.rectangle(line, theme.line)
    return replace(place, inside="tab_bar")


def _at_bottom(canvas: Canvas, box: Bounds) -> bool:
    return box.top > canvas.screen.height * 0.7


def _tab(canvas: Canvas, node: UiNode, place: Place) -> Place:
    if place.inside == "bottom_bar" and node.bounds.height >= canvas.dp(48):
        return _bottom_tab(canvas, node, place)
    theme, box = canvas.theme, node.bounds
    ink = theme.primary if node.selected else place.faint_ink
    if says_itself(node):
        canvas.text(box, node.label, ink, size=14, align="centre", bold=True)
    if node.selected:
        width = min(box.width, canvas.dp(64))
        left = box.left + (box.width - width) // 2
        mark = Bounds(left, box.bottom - canvas.dp(3), left + width, box.bottom)
        canvas.rounded(mark, canvas.dp(3), theme.primary)
    return replace(place, ink=ink, faint_ink=ink, inside="tab")


def _bottom_tab(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a tab of a bottom bar: an icon above its label."""
    box = node.bounds
    labels = [below.bounds.top for below in node.walk() if below is not node and below.label]
    middle = labels[0] if labels else box.top + box.height * 3 // 5
    ink = place.ink if node.selected else place.faint_ink
    spot = square(Bounds(box.left, box.top, box.right, middle), canvas.dp(28))
    if node.selected:
        canvas.rounded(inset(spot, -canvas.dp(15), 0), spot.height // 2, canvas.theme.accent)
    _symbol(canvas, node, icon_name(node), square(spot, canvas.dp(21)), ink)
    if says_itself(node):
        label = Bounds(box.left, middle, box.right, min(box.bottom, middle + canvas.dp(19)))
        canvas.text(label, node.label, ink, size=12, align="centre", bold=True)
    return replace(place, ink=ink, faint_ink=ink, inside="bottom_tab")


def _dialog(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(28), theme.raised)
    return replace(
        place, ground=theme.raised, ink=theme.ink, faint_ink=theme.faint_ink, inside="dialog"
    )


def _card(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, corner = canvas.theme, canvas.dp(16)
    canvas.rounded(beyond_edge(node, place, corner), corner, theme.surface)
    if says_itself(node):
        box = inset(node.bounds, corner, canvas.dp(8))
        canvas.text(box, node.label, ink_of(canvas, node, theme.ink), size=16, lines=6)
    return replace(
        place, ground=theme.surface, ink=theme.ink, faint_ink=theme.faint_ink, inside="card"
    )


def _chip(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme = canvas.theme
    chosen = node.selected or node.checked
    ground = theme.accent if chosen else place.ground
    ink = ink_of(canvas, node, theme.on_accent if chosen else place.faint_ink)
    line = theme.accent if chosen else ink_of(canvas, node, theme.outline)
    canvas.frame(node.bounds, canvas.dp(8), line, ground)
    if says_itself(node):
        label = inset(node.bounds, canvas.dp(8), 0)
        canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return replace(place, ground=ground, ink=ink, faint_ink=ink, inside="chip")


def _divider(canvas: Canvas, node: UiNode, place: Place) -> Place:
    canvas.rectangle(node.bounds, canvas.theme.line)
    return place


def _progress(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, node.bounds
    if box.width > box.height * 2:
        height = min(box.height, canvas.dp(5))
        top = box.top + (box.height - height) // 2
        canvas.rounded(Bounds(box.left, top, box.right, top + height), height, theme.accent)
        filled = Bounds(box.left, top, box.left + box.width * 2 // 5, top + height)
        canvas.rounded(filled, height, theme.primary)
    else:
        spot = square(box, min(box.width, box.height, canvas.dp(48)))
        canvas.disc(spot, theme.primary)
        canvas.disc(inset(spot, canvas.dp(4)), place.ground)
        gap = Bounds(spot.centre[0], spot.top, spot.right, spot.centre[1])
        canvas.rectangle(gap, place.ground)
    return place


def _snackbar(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(6), theme.inverse)
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, theme.on_inverse, size=15, lines=2)
    ink = theme.on_inverse
    return replace(place, ground=theme.inverse, ink=ink, faint_ink=ink, inside="snackbar")


def _badge(canvas: Canvas, node: UiNode, place: Place) -> Place:
    theme, box = canvas.theme, node.bounds
    canvas.rounded(box, box.height // 2, theme.error)
    canvas.text(box, node.label, theme.on_error, size=12, align="centre", bold=True)
    return replace(place, ground=theme.error, ink=theme.on_error, inside="badge")


PAINTERS: Mapping[str, Painter] = {
    "badge": _badge,
    "button": _button,
    "card": _card,
    "checkbox": _choice,
    "chip": _chip,
    "dialog": _dialog,
    "dialog_text": label(16, faint=True),
    "dialog_title": paint_title,
    "divider": _divider,
    "icon": _icon,
    "image": _image,
    "list": _list,
    "progress": _progress,
    "radio": _choice,
    "row": _row,
    "row_summary": label(14, faint=True),
    "row_title": label(16),
    "snackbar": _snackbar,
    "switch": _switch,
    "tab": _tab,
    "tab_bar": _tab_bar,
    "text": paint_text,
    "textfield": _textfield,
    "title": paint_title,
    "toolbar": _toolbar,
}
