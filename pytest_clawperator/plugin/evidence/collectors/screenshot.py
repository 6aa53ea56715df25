"""The screenshot that is kept of a failure; what shows a secret is black."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.execution.display import take_picture
from pytest_clawperator.execution.screenshots import is_png, no_picture
from pytest_clawperator.execution.typed_texts import PROTECTED
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece, Unavailable, why
from pytest_clawperator.plugin.evidence.collectors.look import Look
from pytest_clawperator.redaction.redaction import SECRETS
from pytest_clawperator.report.blackening import blackened
from pytest_clawperator.snapshot.secret_places import secret_places

# How long the picture may take, and the question whether the device is still there.
_WITHIN, _ALIVE_WITHIN = 4.0, 1.0


def collect_screenshot(client: ClientActivity, look: Look) -> Iterator[Piece]:
    """Yield a picture of the screen as it is now."""
    picture = _take(client)
    if not is_png(picture):
        raise Unavailable(no_picture(picture))
    yield Piece("screenshot", "screenshot.png", _without_secrets(picture, client, look))


def _take(client: ClientActivity) -> bytes:
    transport = client.transport
    if transport is None:
        return client.client.screenshot()
    picture = take_picture(transport, timeout=_WITHIN).content
    if not picture:  # a device that went away in the middle says nothing; this does
        transport.shell("true", timeout=_ALIVE_WITHIN)
    return picture


def _without_secrets(picture: bytes, client: ClientActivity, look: Look) -> bytes:
    is_guarded = SECRETS.secrets.on_screen or client.typed_secret or _showed_password(client)
    if not is_guarded and not look.is_wanted:
        return picture
    try:
        places = secret_places(look.snapshot())
        return blackened(picture, places) if places else picture
    except Exception as exc:
        if not is_guarded:  # nothing says that there is anything to hide
            return picture
        raise Unavailable(f"it may show a secret, and nothing tells where: {why(exc)}") from exc


def _showed_password(client: ClientActivity) -> bool:
    return PROTECTED.encode() in (client.snapshot or b"")
