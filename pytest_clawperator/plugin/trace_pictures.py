"""A small picture after each execution, taken while the test prepares the next one."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from hashlib import sha256
from typing import NamedTuple

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.result import PROTECTED, RunResult
from pytest_clawperator.pictures import smaller
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.evidence import (
    CurrentScreen,
    Unavailable,
    may_show_secret,
    photograph,
    without_secrets,
)
from pytest_clawperator.plugin.report_sinks import TraceOutput
from pytest_clawperator.report.trace import Noted, PictureTaken, now

_THREAD = "clawperator pictures"
# How long a picture of the screen after an execution may hold up the test, in seconds.
_WITHIN = 5.0
# Pictures that are under way at once; each needs some megabytes.
_AT_ONCE = 6
_REMEMBERED = 100


class _Kept(NamedTuple):
    """A small picture that is in the trace."""

    blob: str
    size: tuple[int, int]
    scale: float


class _Shot:
    """A picture under way: the next execution waits until it cannot show in it."""

    def __init__(self, client: ClientActivity, execution: int, *, shows_password: bool) -> None:
        self.client = client
        self.execution = execution
        self.is_captured, self.is_done = threading.Event(), threading.Event()
        self.is_late = False
        self._shows_password = shows_password
        self._needs_snapshot: bool | None = None
        self._deciding = threading.Lock()

    @property
    def needs_snapshot(self) -> bool:
        """Whether the screen must stay until a snapshot shows what to blacken: decided once."""
        with self._deciding:
            if self._needs_snapshot is None:
                self._needs_snapshot = self._shows_password or may_show_secret(self.client)
            return self._needs_snapshot

    def wait(self) -> None:
        """Wait until the screen may change; a picture that is not captured by then is late."""
        is_free = self.is_captured.wait(_WITHIN)
        if is_free and self.needs_snapshot:
            is_free = self.is_done.wait(_WITHIN)
        self.is_late = not is_free


class PictureTaker:
    """Takes pictures for a trace, in its own threads.

    The next execution waits until the screen before it is captured, and not until the device
    has compressed and sent the picture.
    """

    def __init__(self, writer: TraceOutput) -> None:
        self._writer = writer
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=_THREAD)
        self._room = threading.Semaphore(_AT_ONCE)
        self._shots: dict[ClientActivity, _Shot] = {}
        self._under_way: set[Future[None]] = set()
        self._kept: dict[bytes, _Kept] = {}
        self._keeping = threading.Lock()

    def take(self, client: ClientActivity, execution: int, result: RunResult | None) -> None:
        """Take a picture after an execution."""
        if not self._room.acquire(timeout=_WITHIN):
            self._say_why_not(execution, "those before it are still under way")
            return
        shot = _Shot(client, execution, shows_password=_shows_password(result))
        self._shots[client] = shot
        future = self._pool.submit(self._take, shot)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)

    def wait(self, client: ClientActivity) -> None:
        """Wait until the last picture of a client is captured."""
        shot = self._shots.pop(client, None)
        if shot is not None:
            shot.wait()

    def close(self) -> None:
        """Wait for the last pictures."""
        for client in list(self._shots):
            self.wait(client)
        wait(set(self._under_way), timeout=_WITHIN)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, shot: _Shot) -> None:
        shot.client.collecting_threads.add(threading.current_thread())
        try:
            picture = photograph(shot.client, on_captured=shot.is_captured.set)
            if shot.needs_snapshot:
                screen = CurrentScreen(shot.client, is_broken=False, is_wanted=True)
                picture = without_secrets(picture, screen, is_guarded=True)
            # The screen is free; the test need not wait for the rest.
            shot.is_captured.set()
            shot.is_done.set()
            self._keep(shot, picture)
        except (ClawperatorError, Unavailable, OSError, ValueError) as exc:
            self._say_why_not(shot.execution, str(exc))
        finally:
            shot.is_captured.set()
            shot.is_done.set()
            self._room.release()

    def _keep(self, shot: _Shot, picture: bytes) -> None:
        if shot.is_late:
            self._say_why_not(shot.execution, "the test went on before it was taken")
            return
        with self._keeping:  # the next one may be the same
            kept = self._small(picture)
        self._writer.write(
            PictureTaken(
                at=now(),
                serial=shot.client.client.serial,
                blob=kept.blob,
                size=kept.size,
                scale=kept.scale,
                execution=shot.execution,
            )
        )

    def _small(self, picture: bytes) -> _Kept:
        """Keep a small copy of a picture; many executions do not change the screen."""
        digest = sha256(picture).digest()
        known = self._kept.get(digest)
        if known is None:
            small, size, scale = smaller(picture)
            known = _Kept(self._writer.keep(small, ".webp"), size, scale)
            if len(self._kept) >= _REMEMBERED:
                self._kept.clear()
            self._kept[digest] = known
        return known

    def _say_why_not(self, execution: int, why: str) -> None:
        self._writer.write(Noted(at=now(), message=f"no picture: {why}", execution=execution))


def _shows_password(result: RunResult | None) -> bool:
    """Whether an execution saw a password field, which may not be recorded elsewhere yet."""
    steps = [] if result is None else [*result.steps, result.last_look]
    return any(PROTECTED in (step.data.get("text") or "") for step in steps if step is not None)
