"""The kinds of widgets as Android builds them: their classes, and their measures in dp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget


@dataclass(frozen=True)
class Style:
    """The measures of a kind, in density-independent units."""

    cls: str
    drawn: str
    size: float = 16
    pad_x: float = 0
    margin_x: float = 0
    margin_y: float = 0
    width: float | None = None
    height: float = 0
    fills: bool = False
    wraps: bool = False
    inset_x: float = 0
    inset_y: float = 0


STYLES: Mapping[str, Style] = {
    "text": Style("android.widget.TextView", "text", margin_x=16, margin_y=6, wraps=True),
    "title": Style("android.widget.TextView", "title", 22, margin_x=16, margin_y=8, wraps=True),
    "button": Style("android.widget.Button", "button", 14, 24, 16, 4, height=48, fills=True),
    "icon_button": Style("android.widget.ImageButton", "icon", width=48, height=48),
    "field": Style("android.widget.EditText", "textfield", 16, 16, 16, 6, height=56, fills=True),
    "switch": Style("android.widget.Switch", "switch", 16, 32, 16, 4, height=48, fills=True),
    "checkbox": Style("android.widget.CheckBox", "checkbox", 16, 24, 16, 4, height=48, fills=True),
    "radio": Style("android.widget.RadioButton", "radio", 16, 24, 16, 4, height=48, fills=True),
    "row": Style("android.widget.LinearLayout", "row", height=56, fills=True),
    "image": Style("android.widget.ImageView", "image", height=160, fills=True),
    "icon": Style(
        "android.widget.ImageView", "icon", width=24, height=24, margin_x=12, margin_y=12
    ),
    "chip": Style("com.google.android.material.chip.Chip", "chip", 14, 12, 4, 8, height=32),
    "badge": Style("android.widget.TextView", "badge", 12, 6, 4, 4, height=20),
    "divider": Style("android.view.View", "divider", height=1, fills=True),
    "space": Style("android.widget.Space", "", width=16, height=16),
    "progress": Style("android.widget.ProgressBar", "progress", 16, 0, 16, 16, 48, 48),
    "list": Style("androidx.recyclerview.widget.RecyclerView", "list", fills=True),
    "scroll": Style("android.widget.ScrollView", "list", fills=True),
    "column": Style("android.widget.LinearLayout", "", fills=True),
    "line": Style("android.widget.LinearLayout", "", fills=True),
    "card": Style("androidx.cardview.widget.CardView", "card", fills=True, inset_x=20, inset_y=14),
    "tabs": Style("com.google.android.material.tabs.TabLayout", "tab_bar", fills=True),
    "tab": Style("android.widget.LinearLayout", "tab", 14, fills=True),
}
BOTTOM_TABS = "com.google.android.material.bottomnavigation.BottomNavigationView"
ICON_WITH_LABEL = Style("android.widget.TextView", "icon", 12, width=None, height=96, fills=True)
CARD_MARGIN_X, CARD_MARGIN_Y = 8, 4

_TAPPABLE = frozenset({"button", "icon_button", "field", "switch", "checkbox", "radio", "tab"})


def style_of(widget: Widget) -> Style:
    """Return the style of a widget."""
    if widget.kind == "icon" and widget.text is not None:
        return ICON_WITH_LABEL
    return STYLES[widget.kind]


def row_check(widget: Widget) -> str | None:
    """Return what stands at the end of a row: ``switch``, ``checkbox``, or None."""
    if widget.switch is not None:
        return "switch"
    return "checkbox" if widget.checkbox is not None else None


def is_clickable(widget: Widget) -> bool:
    """Whether the node of a widget is clickable."""
    if widget.clickable is not None:
        return widget.clickable
    has_taps = bool(widget.on_tap or widget.on_double_tap)
    return has_taps or widget.kind in _TAPPABLE or row_check(widget) is not None
