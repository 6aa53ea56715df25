"""The videos of an attempt at a test, and their pauses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pytest_clawperator.plugin.video import AttemptVideos
from tests.plugin.evidence.test_video import DEADLINE, Recording


def test_what_was_recorded_before_a_pause_is_kept() -> None:
    """In the block nothing records; after it another segment does."""
    first, second = Recording(content=b"first"), Recording(content=b"second")
    client: Any = SimpleNamespace(
        transport=first, video_refused=False, client=SimpleNamespace(serial="PH1")
    )
    missing: list[str] = []
    videos = AttemptVideos(is_on=lambda: True, notice=print, on_missing=missing.append)
    videos.begin(client)
    assert first.recording.wait(DEADLINE)

    with videos.pausing(client):
        client.transport = second
        is_paused = not second.recording.is_set()
    assert second.recording.wait(DEADLINE)

    assert is_paused
    assert videos.take(client) == [b"first1", b"second1"]
    assert (missing, videos.has(client)) == ([], False)
