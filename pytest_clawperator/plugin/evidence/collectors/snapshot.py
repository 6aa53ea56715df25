"""What is on the screen, as XML, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece, Unavailable
from pytest_clawperator.visible_text import visible_in_xml

_WITHIN = 1.0
_STEP = "evidence"


def collect_snapshot(client: ClientActivity, *, is_broken: bool) -> Iterator[Piece]:
    """Yield what is on the screen now; where that fails, what the test saw last."""
    try:
        if is_broken:
            raise Unavailable("the device does not answer")
        yield _piece(_look(client))
    except (ClawperatorError, Unavailable) as exc:
        if client.snapshot is None:
            raise
        why = exc.message.splitlines()[0] if isinstance(exc, ClawperatorError) else str(exc)
        remark = f"the last that the test saw: {why}"
        yield _piece(client.snapshot.decode("utf-8", "surrogatepass"), remark)


def _piece(xml: str, remark: str = "") -> Piece:
    content = visible_in_xml(xml).encode("utf-8", "surrogatepass")
    return Piece("snapshot", "snapshot.xml", content, remark)


def _look(client: ClientActivity) -> str:
    payload = [{"id": _STEP, "type": "snapshot_ui"}]
    result = client.client.execute(payload, timeout=_WITHIN).raise_for_status()
    return result.step(_STEP).snapshot.xml
