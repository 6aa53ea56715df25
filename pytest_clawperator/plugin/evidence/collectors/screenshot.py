"""The screenshot that is kept of a failure."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.execution.screenshots import is_png, no_picture
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece, Unavailable

# How long the picture may take, and the question whether the device is still there.
_WITHIN, _ALIVE_WITHIN = 4.0, 1.0


def collect_screenshot(client: ClientActivity) -> Iterator[Piece]:
    """Yield a picture of the screen as it is now."""
    transport = client.transport
    if transport is None:
        picture = client.client.screenshot()
    else:
        picture = transport.exec_out("screencap -p", timeout=_WITHIN)
        if not picture:  # a device that went away in the middle says nothing; this does
            transport.shell("true", timeout=_ALIVE_WITHIN)
    if not is_png(picture):
        raise Unavailable(no_picture(picture))
    yield Piece("screenshot", "screenshot.png", picture)
