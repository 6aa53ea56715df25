"""Videos of the screen during a test: segments, because a device ends each by itself."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pytest_clawperator.errors import ClawperatorError, ErrorCode, ShellError
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.failures import first_line
from pytest_clawperator.transport.interface import Transport

# The longest that screenrecord takes, and what it may need to begin and to finish.
SEGMENT = 180
_MARGIN = 20.0
_BIT_RATE = 4_000_000
_FOLDER = "/data/local/tmp"
# How long a device may take to finish a segment, and how soon to try again to interrupt it.
_FINISHING, _AGAIN = 5.0, 0.1


class Video:
    """Records the screen of a device from its creation until it is stopped.

    A segment lasts ``segment`` seconds, and ``finishing`` is what the last one may take to be
    written once it was interrupted.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_problem: Callable[[str], None] = lambda _: None,
        segment: int = SEGMENT,
        finishing: float = _FINISHING,
    ) -> None:
        self._transport = transport
        self._on_problem = on_problem
        self._segment = segment
        self._finishing = finishing
        self._token = secrets.token_hex(4)
        self._stopping = threading.Event()
        self._segments = 0
        self._whole: list[str] = []
        self._problem: ClawperatorError | None = None
        self._thread = threading.Thread(
            target=self._record, name=f"video of {transport.serial}", daemon=True
        )
        self._thread.start()

    def stop(self) -> list[bytes]:
        """End the recording and return its segments; none is left on the device."""
        self._end()
        try:
            segments = [data for path in self._whole if (data := self._pulled(path))]
        finally:
            self._remove()
        if segments:
            return segments
        raise self._problem or ShellError(
            "the recording holds no picture",
            serial=self._transport.serial,
            hint="A test that takes less than a second may be over before screenrecord begins.",
        )

    def drop(self) -> None:
        """End the recording and forget it."""
        self._end()
        with suppress(ClawperatorError):
            self._remove()

    def _path(self, number: int) -> str:
        return f"{_FOLDER}/clawperator-{self._token}-{number}.mp4"

    def _record(self) -> None:
        while not self._stopping.is_set() and self._problem is None:
            self._segments += 1
            path = self._path(self._segments)
            # A shell that becomes screenrecord knows its number, so that this process can be
            # ended and no other; and it ends by itself where the connection is lost.
            command = (
                f"exec sh -c 'echo $$ > {path}.pid;"
                f" exec screenrecord --bit-rate {_BIT_RATE} --time-limit {self._segment} {path}'"
            )
            try:
                result = self._transport.shell(command, timeout=self._segment + _MARGIN)
            except ClawperatorError as error:
                self._fail(error)
                return
            if result.ok:
                self._whole.append(path)
            elif not self._stopping.is_set():
                output = f"{result.stdout}{result.stderr}".strip() or "nothing"
                self._fail(
                    ShellError(
                        f"screenrecord ended with {result.exit_code}; it printed: {output}",
                        serial=self._transport.serial,
                        hint="Some devices record no video: leave --claw-video off there.",
                    )
                )

    def _fail(self, error: ClawperatorError) -> None:
        self._problem = error
        if not self._stopping.is_set():
            self._on_problem(f"no video: {error.message}")

    def _end(self) -> None:
        """Interrupt the current segment; it is complete only when screenrecord has ended."""
        self._stopping.set()
        deadline = time.monotonic() + self._finishing
        interrupted = False
        try:
            while self._thread.is_alive() and time.monotonic() < deadline:
                # Only once: a second interrupt would end screenrecord in the middle of the file.
                interrupted = interrupted or self._signal("INT")
                self._thread.join(self._finishing if interrupted else _AGAIN)
            if self._thread.is_alive():
                self._give_up()
        except ClawperatorError as error:
            self._problem = self._problem or error

    def _signal(self, name: str) -> bool:
        """Signal the current segment; return whether it is running."""
        pid = f"$(cat {self._path(self._segments)}.pid)"
        return self._transport.shell(f"kill -{name} {pid}", timeout=self._finishing).ok

    def _give_up(self) -> None:
        self._problem = ShellError(
            f"screenrecord did not end within {self._finishing:g} s after it was interrupted",
            serial=self._transport.serial,
            hint="Leave --claw-video off on this device.",
        )
        # The next test would wait for nothing as well.
        self._on_problem(f"no video: {self._problem.message}")
        self._signal("KILL")

    def _pulled(self, path: str) -> bytes:
        try:
            return self._transport.pull(path)
        except ClawperatorError as error:
            if error.code != ErrorCode.FILE_UNAVAILABLE:
                self._problem = self._problem or error
            return b""

    def _remove(self) -> None:
        self._transport.shell(f"rm -f {_FOLDER}/clawperator-{self._token}-*", timeout=_MARGIN / 4)


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
        self._running: dict[ClientActivity, Video] = {}
        self._segments: dict[ClientActivity, list[bytes]] = {}

    def begin(self, client: ClientActivity) -> None:
        """Begin to record a client's device, if that is wanted and possible."""
        transport = client.transport
        if not self._is_on() or client.video_refused or transport is None:
            return

        def refuse(why: str) -> None:
            client.video_refused = True
            self._notice(client.client.serial, why)

        self._running[client] = Video(transport, on_problem=refuse)

    def begin_or_drop(self, client: ClientActivity) -> None:
        """Follow the settings, which may have changed."""
        if not self._is_on():
            self.drop(client)
        elif client not in self._running:
            self.begin(client)

    @contextmanager
    def pausing(self, client: ClientActivity) -> Iterator[None]:
        """Record nothing in the block; what was recorded before it is kept."""
        video = self._running.pop(client, None)
        if video is not None:
            with suppress(ClawperatorError):  # of less than a second there may be no picture
                self._segments.setdefault(client, []).extend(video.stop())
        try:
            yield
        finally:
            if video is not None:
                self.begin(client)

    def end(self, client: ClientActivity) -> None:
        """End the recording of a client's device, and keep it until it is taken."""
        video = self._running.pop(client, None)
        if video is not None:
            segments = self._segments.setdefault(client, [])
            try:
                segments += video.stop()
            except ClawperatorError as exc:
                part = " of the end" if segments else ""
                self._on_missing(f"no video{part}: {first_line(exc)}")

    def take(self, client: ClientActivity) -> list[bytes]:
        """End the recording of a client's device, and return its segments."""
        self.end(client)
        return self._segments.pop(client, [])

    def drop(self, client: ClientActivity) -> list[bytes]:
        """End the recording of a client's device, and forget it; nothing is returned of it."""
        video = self._running.pop(client, None)
        if video is not None:
            video.drop()
        self._segments.pop(client, None)
        return []

    def has(self, client: ClientActivity) -> bool:
        """Whether there is a recording of a client's device that was not taken yet."""
        return client in self._running or bool(self._segments.get(client))
