"""Drawing what the screen shows, as PNG or as a frame of a film."""

from __future__ import annotations

from pytest_clawperator.simulator.phone.screen_view import ScreenView
from pytest_clawperator.simulator.picture.png import PngEncoder
from pytest_clawperator.simulator.picture.render import black_screen, draw, fitted_jpeg

CLOCK_TEXT = "10:00"
"""What the drawn clock shows; it stands still, so that equal screens give equal pictures."""


def draw_screen(view: ScreenView, encoder: PngEncoder) -> bytes:
    """Return the picture as PNG."""
    if view.windows is None:
        return black_screen(view.size)
    return draw(
        view.windows,
        size=view.size,
        dark=view.dark,
        clock_text=CLOCK_TEXT,
        title=view.title,
        density=view.density,
        font_scale=view.font_scale,
        encoder=encoder,
    )


def draw_frame(view: ScreenView, frame: tuple[int, int]) -> bytes:
    """Return the picture as JPEG, fitted into that size."""
    return fitted_jpeg(draw_screen(view, PngEncoder()), frame)
