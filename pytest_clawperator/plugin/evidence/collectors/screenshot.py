"""The screenshot that is kept of a failure; what shows a secret is black."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_clawperator.execution.pictures.display import take_picture
from pytest_clawperator.execution.pictures.screenshots import is_png, no_picture
from pytest_clawperator.execution.typed_texts import PROTECTED
from pytest_clawperator.pictures import blackened
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece, Unavailable, why
from pytest_clawperator.plugin.evidence.collectors.look import Look
from pytest_clawperator.redaction.redaction import SECRETS
from pytest_clawperator.snapshot.secret_places import secret_places

# How long the picture may take, and the question whether the device is still there.
_WITHIN, _ALIVE_WITHIN = 4.0, 1.0


def collect_screenshot(client: ClientActivity, look: Look) -> Iterator[Piece]:
    """Yield a picture of the screen as it is now."""
    picture = photograph(client)
    is_guarded = may_show_secret(client)
    if is_guarded or look.is_wanted:
        picture = without_secrets(picture, look, is_guarded=is_guarded)
    yield Piece("screenshot", "screenshot.png", picture)


def photograph(client: ClientActivity, *, on_captured: Callable[[], None] = lambda: None) -> bytes:
    """Return a picture of the screen, secrets included.

    ``on_captured`` is called if it is known before that the screen may change again.
    """
    transport = client.transport
    if transport is None:
        picture = client.client.screenshot()
    else:
        picture = take_picture(transport, timeout=_WITHIN, on_captured=on_captured).content
        if not picture:  # a device that went away in the middle says nothing; this does
            transport.shell("true", timeout=_ALIVE_WITHIN)
    if not is_png(picture):
        raise Unavailable(no_picture(picture))
    return picture


def may_show_secret(client: ClientActivity) -> bool:
    """Whether there is anything to hide on the screens of a test."""
    return SECRETS.secrets.on_screen or client.typed_secret or _showed_password(client)


def without_secrets(picture: bytes, look: Look, *, is_guarded: bool) -> bytes:
    """Return a picture in which the places of secrets are black, which a look tells.

    ``is_guarded`` says that there is something to hide; without a look there is no picture then.
    """
    try:
        places = secret_places(look.snapshot())
        return blackened(picture, places) if places else picture
    except Exception as exc:
        if not is_guarded:  # nothing says that there is anything to hide
            return picture
        raise Unavailable(f"it may show a secret, and nothing tells where: {why(exc)}") from exc


def _showed_password(client: ClientActivity) -> bool:
    return PROTECTED.encode() in (client.snapshot or b"")
