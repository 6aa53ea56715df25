"""What Android itself adds to a drawn screen: status bar, gesture handle, wallpaper."""

from __future__ import annotations

from pytest_clawperator.simulator.picture.canvas import Canvas
from pytest_clawperator.simulator.picture.text import text_width
from pytest_clawperator.simulator.picture.theme import Colour, mixed
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds

_WALLPAPER_BANDS = 48
_CHARGE = "100%"


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
