"""A video of the screen: segments, one after the other, because a device ends each by itself."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable

from pytest_clawperator.errors import ClawperatorError, ErrorCode, ShellError
from pytest_clawperator.transport.interface import Transport

# The longest that screenrecord takes, and what it may need to begin and to finish.
SEGMENT = 180
_MARGIN = 20.0
_BIT_RATE = 4_000_000
_FOLDER = "/data/local/tmp"
# How often, and how long each time, to wait for a segment to be finished.
_TRIES, _TRY = 10, 0.3


class Video:
    """Records the screen of a device from its making until it is stopped."""

    def __init__(
        self, transport: Transport, *, on_problem: Callable[[str], None] = lambda _: None
    ) -> None:
        self._transport = transport
        self._on_problem = on_problem
        self._token = secrets.token_hex(4)
        self._stopping = threading.Event()
        self._segments = 0
        self._problem: ClawperatorError | None = None
        self._thread = threading.Thread(
            target=self._record, name=f"video of {transport.serial}", daemon=True
        )
        self._thread.start()

    @property
    def problem(self) -> ClawperatorError | None:
        """What ended the recording early."""
        return self._problem

    def stop(self) -> list[bytes]:
        """End the recording and give its segments; none is left on the device."""
        self._end()
        try:
            paths = [self._path(number) for number in range(1, self._segments + 1)]
            segments = [data for path in paths if (data := self._pulled(path))]
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
        with contextlib.suppress(ClawperatorError):
            self._remove()

    def _path(self, number: int) -> str:
        return f"{_FOLDER}/clawperator-{self._token}-{number}.mp4"

    def _record(self) -> None:
        while not self._stopping.is_set() and self._problem is None:
            self._segments += 1
            path = self._path(self._segments)
            # The shell tells which process it is, so that this one can be ended and no other.
            command = (
                f"screenrecord --bit-rate {_BIT_RATE} --time-limit {SEGMENT} {path} &"
                f" echo $! > {path}.pid; wait $!"
            )
            try:
                result = self._transport.shell(command, timeout=SEGMENT + _MARGIN)
            except ClawperatorError as error:
                self._fail(error)
                return
            if not result.ok and not self._stopping.is_set():
                said = f"{result.stdout}{result.stderr}".strip() or "nothing"
                self._fail(
                    ShellError(
                        f"screenrecord ended with {result.exit_code}; it said: {said}",
                        serial=self._transport.serial,
                        hint="Some devices record no video: leave --claw-video off there.",
                    )
                )

    def _fail(self, error: ClawperatorError) -> None:
        self._problem = error
        if not self._stopping.is_set():
            self._on_problem(f"no video: {error.message}")

    def _end(self) -> None:
        """Interrupt the segment in work; it is whole only once screenrecord is done with it."""
        self._stopping.set()
        for _ in range(_TRIES):
            if not self._thread.is_alive():
                return
            pid = f"$(cat {self._path(self._segments)}.pid)"
            try:
                self._transport.shell(f"kill -INT {pid}", timeout=_TRY * _TRIES)
            except ClawperatorError as error:
                self._problem = self._problem or error
                return
            self._thread.join(_TRY)

    def _pulled(self, path: str) -> bytes:
        try:
            return self._transport.pull(path)
        except ClawperatorError as error:
            if error.code != ErrorCode.FILE_UNAVAILABLE:
                self._problem = self._problem or error
            return b""

    def _remove(self) -> None:
        self._transport.shell(f"rm -f {_FOLDER}/clawperator-{self._token}-*", timeout=_MARGIN / 4)
