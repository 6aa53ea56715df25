"""The videos of one attempt at a test, one for each of its clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.video import Video


class AttemptVideos:
    """Records the devices of a test.

    ``is_on`` returns whether videos are wanted now; ``notice`` is called with the serial of a
    device that cannot record and the reason, ``on_missing`` with why there is no video.
    """

    def __init__(
        self,
        *,
        is_on: Callable[[], bool],
        notice: Callable[[str, str], None],
        on_missing: Callable[[str], None],
    ) -> None:
        self._is_on = is_on
        self._notice = notice
        self._on_missing = on_missing
        self._running: dict[int, Video] = {}
        self._earlier: dict[int, list[bytes]] = {}
        self._ended: dict[int, list[bytes]] = {}

    def begin(self, client: ClientActivity) -> None:
        """Begin to record a client's device, if that is wanted and it can."""
        transport = client.transport
        if not self._is_on() or client.video_refused or transport is None:
            return

        def refuse(why: str) -> None:
            client.video_refused = True
            self._notice(client.client.serial, why)

        self._running[id(client)] = Video(transport, on_problem=refuse)

    def begin_or_drop(self, client: ClientActivity) -> None:
        """Do as the settings say, which may have changed."""
        if not self._is_on():
            self.drop(client)
        elif id(client) not in self._running:
            self.begin(client)

    @contextmanager
    def pausing(self, client: ClientActivity) -> Iterator[None]:
        """Record nothing in the block; what was recorded before it is kept."""
        video = self._running.pop(id(client), None)
        if video is not None:
            with suppress(ClawperatorError):  # of less than a second there may be no picture
                self._earlier.setdefault(id(client), []).extend(video.stop())
        try:
            yield
        finally:
            if video is not None:
                self.begin(client)

    def end(self, client: ClientActivity) -> None:
        """End the recording of a client's device, and keep it until it is taken."""
        video = self._running.pop(id(client), None)
        segments = self._earlier.pop(id(client), [])
        if video is not None:
            try:
                segments += video.stop()
            except ClawperatorError as exc:
                part = " of the end" if segments else ""
                self._on_missing(f"no video{part}: {exc.message.splitlines()[0]}")
        if segments:
            self._ended[id(client)] = segments

    def take(self, client: ClientActivity) -> list[bytes]:
        """End the recording of a client's device, and return its segments."""
        self.end(client)
        return self._ended.pop(id(client), [])

    def drop(self, client: ClientActivity) -> list[bytes]:
        """End the recording of a client's device, and forget it; nothing is returned of it."""
        video = self._running.pop(id(client), None)
        if video is not None:
            video.drop()
        self._ended.pop(id(client), None)
        self._earlier.pop(id(client), None)
        return []

    def has(self, client: ClientActivity) -> bool:
        """Whether a client's device is being recorded, or was and nobody took it yet."""
        return any(id(client) in known for known in (self._running, self._earlier, self._ended))
