"""Draw what the screen shows, as PNG."""

from __future__ import annotations

from pytest_clawperator.simulator.phone.camera import ScreenView
from pytest_clawperator.simulator.picture.png import PngEncoder
from pytest_clawperator.simulator.picture.render import black_screen, draw

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
