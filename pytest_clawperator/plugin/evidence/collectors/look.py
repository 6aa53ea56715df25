"""One look at the screen, which several kinds of evidence share."""

from __future__ import annotations

from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Unavailable
from pytest_clawperator.snapshot.tree import Snapshot

_WITHIN = 1.0
_STEP = "evidence"


class Look:
    """Looks at the screen of a client when it is first asked, unless its device ``is_broken``.

    ``is_wanted`` says that there will be a look anyway.
    """

    def __init__(self, client: ClientActivity, *, is_broken: bool, is_wanted: bool) -> None:
        self._client = client
        self._is_broken = is_broken
        self._seen: Snapshot | Exception | None = None
        self.is_wanted = is_wanted

    def snapshot(self) -> Snapshot:
        """Return what is on the screen; raise what the first look raised."""
        if self._seen is None:
            try:
                self._seen = self._look()
            except Exception as exc:
                self._seen = exc
        if isinstance(self._seen, Exception):
            raise self._seen
        return self._seen

    def _look(self) -> Snapshot:
        if self._is_broken:
            raise Unavailable("the device does not answer")
        payload = [{"id": _STEP, "type": "snapshot_ui"}]
        result = self._client.client.execute(payload, timeout=_WITHIN).raise_for_status()
        return result.step(_STEP).snapshot
