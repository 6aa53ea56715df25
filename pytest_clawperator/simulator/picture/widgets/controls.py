"""What the user operates: buttons, fields, switches, checkboxes and radio buttons."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.text import text_width
from pytest_clawperator.simulator.picture.theme import Colour
from pytest_clawperator.simulator.picture.widgets.icon_choice import icon_name
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    ink_of,
    is_enabled,
    kind_of,
    shows_own_label,
    uncut_box,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


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
    return replace(context, ground=ground, ink=ink, faint_ink=ink, inside="button")


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
    # A field that holds nothing tells its hint as its text.
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
    radius = side // 2 if kind_of(node) == "radio" else canvas.dp(3)
    if kind_of(node) == "radio":
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
