"""What is on the screen, as XML, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece, Unavailable, why
from pytest_clawperator.plugin.evidence.collectors.look import Look
from pytest_clawperator.text import visible_in_xml


def collect_snapshot(client: ClientActivity, look: Look) -> Iterator[Piece]:
    """Yield what is on the screen now; where that fails, what the test saw last."""
    try:
        yield _piece(look.snapshot().xml)
    except (ClawperatorError, Unavailable) as exc:
        if client.snapshot is None:
            raise
        remark = f"the last that the test saw: {why(exc)}"
        yield _piece(client.snapshot.decode("utf-8", "surrogatepass"), remark)


def _piece(xml: str, remark: str = "") -> Piece:
    content = visible_in_xml(xml).encode("utf-8", "surrogatepass")
    return Piece("snapshot", "snapshot.xml", content, remark)
