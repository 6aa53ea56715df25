"""Draw the screen of a phone."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from pytest_clawperator.simulator.picture.canvas import DARK, LIGHT, Canvas, Colour, mixed
from pytest_clawperator.simulator.picture.controls import paint_node
from pytest_clawperator.simulator.picture.paint import PaintContext
from pytest_clawperator.simulator.picture.png import PngEncoder
from pytest_clawperator.simulator.picture.text import text_width
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, Window

_SHADE = 0.45
_DEEPEST = 200  # nodes nested deeper than this are not painted
_WALLPAPER_BANDS = 48
_CHARGE = "100%"


def draw(
    windows: Sequence[Window],
    *,
    size: tuple[int, int],
    dark: bool,
    clock_text: str,
    density: int | None = None,
    font_scale: float = 1.0,
    encoder: PngEncoder | None = None,
) -> bytes:
    """Draw the windows, the last on top, and return the picture as PNG.

    The same arguments give the same bytes. Without a ``density`` the screen is as many dp wide
    as that of a usual phone. An ``encoder`` that had the picture before is quicker.
    """
    canvas = Canvas(
        (max(1, size[0]), max(1, size[1])),
        DARK if dark else LIGHT,
        density=density,
        font_scale=font_scale,
    )
    picture = _Picture(canvas, clock_text)
    for window in windows:
        picture.add(window)
    if not windows:
        picture.finish_window(canvas.theme.ink)
    return (encoder or PngEncoder()).encode(canvas.image)


def black_screen(size: tuple[int, int]) -> bytes:
    """Return the picture of a screen that is off."""
    return PngEncoder().encode(Image.new("RGB", (max(1, size[0]), max(1, size[1]))))


class _Picture:
    """Adds windows to a canvas, one above the other."""

    def __init__(self, canvas: Canvas, clock_text: str) -> None:
        self._canvas = canvas
        self._clock_text = clock_text
        self._covered = False

    def add(self, window: Window) -> None:
        """Paint a window above those that are there."""
        canvas, theme, root = self._canvas, self._canvas.theme, window.root
        canvas.clip = canvas.screen
        context = PaintContext(theme.background, theme.ink, theme.faint_ink, view=canvas.screen)
        if not self._fills_screen(window):
            self._paint(root, context, root.bounds, 0)
            return
        if "launcher" in window.package:
            paint_wallpaper(canvas, root.bounds)
            context = context.on(theme.background, (255, 255, 255), "home")
        elif self._covered:
            canvas.rectangle(root.bounds, theme.background)
        self._covered = True
        self._paint(root, context, root.bounds, 0)
        self.finish_window(context.ink)

    def finish_window(self, ink: Colour) -> None:
        """Paint the status bar and the gesture handle, which lie above every full window."""
        self._canvas.clip = self._canvas.screen
        paint_status_bar(self._canvas, self._clock_text, ink)
        paint_handle(self._canvas, ink)

    def _fills_screen(self, window: Window) -> bool:
        """Whether a window is an app's whole screen, and not a dialog or the like above one."""
        root, screen = window.root, self._canvas.screen
        if window.type == "input_method" or root.bounds.height * 2 < screen.height:
            return False
        has_dialog = root.kind == "dialog" or any(child.kind == "dialog" for child in root.children)
        return not (has_dialog and self._covered)

    def _paint(self, node: UiNode, context: PaintContext, clip: Bounds, depth: int) -> None:
        bounds = node.bounds.clipped(clip)
        if not node.visible_to_user or not bounds.width or not bounds.height or depth > _DEEPEST:
            return
        canvas = self._canvas
        if node.kind == "dialog":
            canvas.clip = canvas.screen
            canvas.shade(_SHADE)
        canvas.clip = bounds.clipped(canvas.screen)
        context = paint_node(canvas, node, context)
        for child in node.children:
            self._paint(child, context, bounds, depth + 1)


def paint_status_bar(canvas: Canvas, clock_text: str, ink: Colour) -> None:
    """Paint the clock at the left; charge, battery, Wi-Fi and signal at the right."""
    top, height = canvas.dp(3), canvas.dp(22)
    clock = Bounds(canvas.dp(22), top, canvas.screen.right // 2, top + height)
    plain = 1 / canvas.font_scale  # the bar keeps its size
    canvas.text(clock, clock_text, ink, size=14 * plain, bold=True)
    right = canvas.screen.right - canvas.dp(22)
    width = int(text_width(_CHARGE, canvas.dp(13))) + 2
    charge = Bounds(right - width, top, right, top + height)
    canvas.text(charge, _CHARGE, ink, size=13 * plain, bold=True)
    right = _paint_battery(canvas, charge.left - canvas.dp(4), top + height // 2, ink)
    right -= canvas.dp(6)
    wifi = Bounds(right - canvas.dp(15), top, right, top + height)
    canvas.icon("wifi", wifi, ink, weight=0.13)
    _paint_signal(canvas, wifi.left - canvas.dp(5), top + height // 2, ink)


def paint_handle(canvas: Canvas, ink: Colour) -> None:
    """Paint the line at the bottom that gestures begin at."""
    width, height = canvas.dp(108), canvas.dp(4)
    left = (canvas.screen.width - width) // 2
    top = canvas.screen.bottom - canvas.dp(11)
    canvas.rounded(Bounds(left, top, left + width, top + height), height // 2, ink)


def paint_wallpaper(canvas: Canvas, bounds: Bounds) -> None:
    """Paint the ground of the home screen."""
    top, bottom = canvas.theme.wallpaper
    for band in range(_WALLPAPER_BANDS):
        start = bounds.top + bounds.height * band // _WALLPAPER_BANDS
        end = bounds.top + bounds.height * (band + 1) // _WALLPAPER_BANDS
        colour = mixed(top, bottom, band / (_WALLPAPER_BANDS - 1))
        canvas.rectangle(Bounds(bounds.left, start, bounds.right, end), colour)


def _paint_battery(canvas: Canvas, right: int, middle: int, ink: Colour) -> int:
    half, left, nub = canvas.dp(6), right - canvas.dp(8), canvas.dp(2)
    canvas.rounded(Bounds(left, middle - half, right, middle + half), canvas.dp(1), ink)
    canvas.rectangle(Bounds(left + nub, middle - half - nub, right - nub, middle - half), ink)
    return left


def _paint_signal(canvas: Canvas, right: int, middle: int, ink: Colour) -> None:
    bottom = middle + canvas.dp(6)
    for step in range(4):
        left = right - (4 - step) * canvas.dp(4)
        top = bottom - canvas.dp(3 + step * 3)
        canvas.rectangle(Bounds(left, top, left + canvas.dp(3), bottom), ink)
