"""Draw each kind of widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, Colour, inset, square
from pytest_clawperator.simulator.picture.paint import (
    PaintContext,
    Painter,
    box_behind_edge,
    icon_name,
    ink_of,
    is_enabled,
    label,
    paint_icon,
    paint_image,
    paint_symbol,
    paint_text,
    paint_title,
    shows_own_label,
    uncut_box,
)
from pytest_clawperator.simulator.picture.text import text_width
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode


def paint_button(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a button."""
    theme, box = canvas.theme, uncut_box(node, context, canvas.dp(48))
    height = min(box.height, canvas.dp(56))
    top = box.top + (box.height - height) // 2
    pill = Bounds(box.left, top, box.right, top + height)
    ground, ink = theme.primary, theme.on_primary
    if not node.enabled:
        ground, ink = theme.disabled, theme.disabled_ink
    if context.inside == "dialog":
        ground, ink = context.ground, theme.primary if node.enabled else theme.disabled_ink
    elif context.inside in ("row", "card", "toolbar") and node.enabled:
        ground, ink = theme.accent, theme.on_accent
    elif context.inside == "home":
        ground, ink = theme.background, theme.faint_ink
    canvas.rounded(pill, height // 2, ground)
    if shows_own_label(node):
        label = inset(pill, min(canvas.dp(12), box.width // 8), 0)
        name = icon_name(node) if not node.text or box.width <= canvas.dp(56) else None
        if name is not None:
            canvas.icon(name, square(box, min(height // 2, canvas.dp(24))), ink)
        else:
            canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return context.on(ground, ink, "button")


def paint_textfield(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a field with its text or hint, and the cursor."""
    theme, box = canvas.theme, uncut_box(node, context, canvas.dp(56))
    if "search" in f"{node.hint} {node.content_desc} {node.resource_id}".lower():
        canvas.rounded(box, box.height // 2, theme.surface)
        lens = Bounds(box.left + canvas.dp(16), box.top, box.left + canvas.dp(38), box.bottom)
        canvas.icon("search", lens, theme.faint_ink)
        inner = Bounds(box.left + canvas.dp(50), box.top, box.right - canvas.dp(16), box.bottom)
    else:
        line = ink_of(canvas, node, theme.primary if node.focused else theme.outline)
        width = 2 if node.focused else 1
        canvas.frame(box, canvas.dp(8), line, context.ground, width=width)
        inner = inset(box, min(canvas.dp(16), box.width // 8), 0)
    used = _typed(canvas, node, context, inner)
    if node.focused:
        # Beside what is typed, or before the hint, never on it.
        x = inner.left + used + canvas.dp(1) if used else inner.left - canvas.dp(4)
        height = min(inner.height, canvas.dp(24))
        top = inner.top + (inner.height - height) // 2
        canvas.rectangle(Bounds(x, top, x + canvas.dp(2), top + height), theme.primary)
    return replace(context, inside="textfield")


def _typed(canvas: Canvas, node: UiNode, context: PaintContext, box: Bounds) -> int:
    """Write the text of a field, or its hint; return where the cursor stands."""
    # An empty field reports its hint as its text.
    text = "" if node.text == node.hint else node.text
    if not text:
        hint = node.hint or node.content_desc
        canvas.text(box, hint, ink_of(canvas, node, context.faint_ink), size=16, lines=2)
        return 0
    ink = ink_of(canvas, node, context.ink)
    if node.password:
        return _bullets(canvas, box, len(text), ink)
    canvas.text(box, text, ink, size=16, lines=1 if box.height < canvas.dp(80) else 50)
    return min(box.width, int(text_width(text[:200], canvas.sp(16))))


def _bullets(canvas: Canvas, box: Bounds, count: int, colour: Colour) -> int:
    """Paint a password; return how wide it is."""
    side, step = canvas.dp(8), canvas.dp(12)
    count = min(count, box.width // step)
    for index in range(count):
        left = box.left + index * step
        canvas.disc(Bounds(left, box.top, left + side, box.bottom), colour)
    return count * step


def paint_switch(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a switch, with its text to the left."""
    theme, box = canvas.theme, uncut_box(node, context, canvas.dp(32))
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
    if wide and shows_own_label(node):
        label = Bounds(box.left, box.top, left - canvas.dp(8), box.bottom)
        canvas.text(label, node.label, ink_of(canvas, node, context.ink), size=16)
    return context


def _knob(track: Bounds, *, right: bool, inset_by: int) -> Bounds:
    side = track.height - 2 * inset_by
    left = track.right - inset_by - side if right else track.left + inset_by
    return Bounds(left, track.top + inset_by, left + side, track.top + inset_by + side)


def paint_choice(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a check box or radio button, with its text to the right."""
    theme, box = canvas.theme, uncut_box(node, context, canvas.dp(32))
    side = min(box.width, box.height, canvas.dp(20))
    wide = box.width > side * 3
    spot = square(Bounds(box.left, box.top, box.left + side, box.bottom) if wide else box, side)
    on = ink_of(canvas, node, theme.primary)
    off = ink_of(canvas, node, context.faint_ink)
    radius = side // 2 if node.kind == "radio" else canvas.dp(3)
    if node.kind == "radio":
        canvas.frame(spot, radius, on if node.checked else off, context.ground, width=2)
        if node.checked:
            canvas.disc(square(spot, side // 2), on)
    elif node.checked:
        canvas.rounded(spot, radius, on)
        canvas.icon("check", square(spot, side * 4 // 5), theme.on_primary, weight=0.14)
    else:
        canvas.frame(spot, radius, off, context.ground, width=2)
    if wide and shows_own_label(node):
        label = Bounds(spot.right + canvas.dp(12), box.top, box.right, box.bottom)
        canvas.text(label, node.label, ink_of(canvas, node, context.ink), size=16, lines=2)
    return context


def paint_toolbar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Let what is in a toolbar know where it is."""
    return replace(context, inside="toolbar")


def paint_list(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Set the view of a list; it is painted by its rows."""
    return replace(context, view=node.bounds.clipped(context.view))


def paint_row(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a row that is selected or focused."""
    theme = canvas.theme
    if node.selected or node.focused:
        context = context.on(theme.accent, theme.on_accent, "row")
        canvas.rounded(inset(node.bounds, canvas.dp(4), 0), canvas.dp(16), theme.accent)
    return replace(context, inside="row")


def paint_dialog(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a dialog."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(28), theme.raised)
    return context.on(theme.raised, theme.ink, "dialog", faint_ink=theme.faint_ink)


def paint_card(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a card."""
    theme, corner = canvas.theme, canvas.dp(16)
    canvas.rounded(box_behind_edge(node, context, corner), corner, theme.surface)
    if shows_own_label(node):
        box = inset(node.bounds, corner, canvas.dp(8))
        canvas.text(box, node.label, ink_of(canvas, node, theme.ink), size=16, lines=6)
    return context.on(theme.surface, theme.ink, "card", faint_ink=theme.faint_ink)


def paint_chip(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a chip."""
    theme = canvas.theme
    chosen = node.selected or node.checked
    ground = theme.accent if chosen else context.ground
    ink = ink_of(canvas, node, theme.on_accent if chosen else context.faint_ink)
    line = theme.accent if chosen else ink_of(canvas, node, theme.outline)
    canvas.frame(node.bounds, canvas.dp(8), line, ground)
    if shows_own_label(node):
        label = inset(node.bounds, canvas.dp(8), 0)
        canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return context.on(ground, ink, "chip")


def paint_divider(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a divider."""
    canvas.rectangle(node.bounds, canvas.theme.line)
    return context


def paint_progress(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint progress as a ring with a gap."""
    box = node.bounds
    spot = square(box, min(box.width, box.height, canvas.dp(48)))
    canvas.disc(spot, canvas.theme.primary)
    canvas.disc(inset(spot, canvas.dp(4)), context.ground)
    gap = Bounds(spot.centre[0], spot.top, spot.right, spot.centre[1])
    canvas.rectangle(gap, context.ground)
    return context


def paint_snackbar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a snackbar or a toast."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(6), theme.inverse)
    return context.on(theme.inverse, theme.on_inverse, "snackbar")


def paint_badge(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a badge."""
    theme, box = canvas.theme, node.bounds
    canvas.rounded(box, box.height // 2, theme.error)
    canvas.text(box, node.label, theme.on_error, size=12, align="centre", bold=True)
    return context.on(theme.error, theme.on_error, "badge")


def paint_tab_bar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a bar of tabs."""
    theme, box = canvas.theme, node.bounds
    if box.top > canvas.screen.height * 0.7:
        canvas.rectangle(box, theme.surface)
        return replace(context, ground=theme.surface, inside="bottom_bar")
    line = Bounds(box.left, box.bottom - canvas.dp(1), box.right, box.bottom)
    canvas.rectangle(line, theme.line)
    return replace(context, inside="tab_bar")


def paint_tab(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a tab."""
    if context.inside == "bottom_bar" and node.bounds.height >= canvas.dp(48):
        return _bottom_tab(canvas, node, context)
    theme, box = canvas.theme, node.bounds
    ink = theme.primary if node.selected else context.faint_ink
    if node.selected:
        width = min(box.width, canvas.dp(64))
        left = box.left + (box.width - width) // 2
        mark = Bounds(left, box.bottom - canvas.dp(3), left + width, box.bottom)
        canvas.rounded(mark, canvas.dp(3), theme.primary)
    return context.on(context.ground, ink, "tab")


def _bottom_tab(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a tab of a bottom bar: an icon above its label."""
    box = node.bounds
    labels = [below.bounds.top for below in node.walk() if below is not node and below.label]
    middle = labels[0] if labels else box.top + box.height * 3 // 5
    ink = context.ink if node.selected else context.faint_ink
    spot = square(Bounds(box.left, box.top, box.right, middle), canvas.dp(28))
    if node.selected:
        canvas.rounded(inset(spot, -canvas.dp(15), 0), spot.height // 2, canvas.theme.accent)
    paint_symbol(canvas, node, icon_name(node), square(spot, canvas.dp(21)), ink)
    return context.on(context.ground, ink, "bottom_tab")


_SHORT = {"symbol keyboard": "?123", "letter keyboard": "ABC"}


def paint_keyboard(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of the keyboard."""
    canvas.rectangle(node.bounds, canvas.theme.keyboard)
    return replace(context, ground=canvas.theme.keyboard, inside="keyboard")


def paint_key(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint one key: a letter, an icon, or the blank space bar."""
    theme, box, name = canvas.theme, node.bounds, node.label.lower()
    label = _SHORT.get(name, node.label)
    cap = inset(box, min(canvas.dp(3), box.width // 8), min(canvas.dp(5), box.height // 8))
    if name == "enter":
        canvas.rounded(cap, cap.height // 2, theme.primary)
        canvas.icon("enter", square(cap, canvas.dp(22)), theme.on_primary)
    elif name in ("shift", "delete"):
        canvas.rounded(cap, canvas.dp(8), theme.special_key)
        canvas.icon(name, square(cap, canvas.dp(22)), theme.ink)
    else:
        is_plain = name == "space" or (len(label) == 1 and label.isalnum())
        canvas.rounded(cap, canvas.dp(8), theme.key if is_plain else theme.special_key)
        if name != "space":
            size = 22 if len(label) == 1 else 14
            canvas.text(cap, label, theme.ink, size=size, align="centre")
    return context


def paint_node(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a node without its children; return the context for these."""
    painter = PAINTERS.get(node.kind)
    return context if painter is None else painter(canvas, node, context)


PAINTERS: Mapping[str, Painter] = {
    "badge": paint_badge,
    "button": paint_button,
    "card": paint_card,
    "checkbox": paint_choice,
    "chip": paint_chip,
    "dialog": paint_dialog,
    "dialog_text": label(16, faint=True),
    "dialog_title": paint_title,
    "divider": paint_divider,
    "icon": paint_icon,
    "image": paint_image,
    "key": paint_key,
    "keyboard": paint_keyboard,
    "list": paint_list,
    "progress": paint_progress,
    "radio": paint_choice,
    "row": paint_row,
    "row_summary": label(14, faint=True),
    "row_title": label(16),
    "snackbar": paint_snackbar,
    "switch": paint_switch,
    "tab": paint_tab,
    "tab_bar": paint_tab_bar,
    "text": paint_text,
    "textfield": paint_textfield,
    "title": paint_title,
    "toolbar": paint_toolbar,
}
