"""The painter of each kind of widget."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.picture.canvas import Canvas
from pytest_clawperator.simulator.picture.widgets.controls import (
    paint_button,
    paint_choice,
    paint_switch,
    paint_textfield,
)
from pytest_clawperator.simulator.picture.widgets.icons import paint_icon, paint_image
from pytest_clawperator.simulator.picture.widgets.labels import label, paint_text, paint_title
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    Painter,
    kind_of,
)
from pytest_clawperator.simulator.picture.widgets.surfaces import (
    paint_badge,
    paint_card,
    paint_chip,
    paint_dialog,
    paint_divider,
    paint_list,
    paint_progress,
    paint_row,
    paint_snackbar,
    paint_toolbar,
)
from pytest_clawperator.simulator.picture.widgets.tabs import paint_tab, paint_tab_bar
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode


def paint_node(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a node without its children; return the context for these."""
    painter = PAINTERS.get(kind_of(node))
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
