"""A small picture after each execution, taken while the test prepares the next one."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Unavailable
from pytest_clawperator.plugin.evidence.collectors.look import Look
from pytest_clawperator.plugin.evidence.collectors.screenshot import collect_screenshot
from pytest_clawperator.plugin.evidence.tracing.output import TraceOutput
from pytest_clawperator.report.small_picture import smaller
from pytest_clawperator.report.trace.clock import now
from pytest_clawperator.report.trace.events import Noted, PictureTaken

_THREAD = "clawperator pictures"
# How long the next execution waits for a picture of the screen before it, in seconds.
_WITHIN = 5.0


class PictureTaker:
    """Takes pictures for a trace, one at a time, in a thread of its own.

    The next execution waits for the picture, which shows what the one before left.
    """

    def __init__(self, writer: TraceOutput) -> None:
        self._writer = writer
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=_THREAD)
        self._pending: Future[None] | None = None

    def take(self, client: ClientActivity, execution: int) -> None:
        """Take a picture after an execution; one that is overdue is not waited for again."""
        if self._pending is None or self._pending.done():
            self._pending = self._pool.submit(self._take, client, execution)

    def wait(self) -> None:
        """Wait for the picture that is being taken, unless this is the thread that takes it."""
        is_own = threading.current_thread().name.startswith(_THREAD)
        if self._pending is not None and not is_own:
            wait([self._pending], timeout=_WITHIN)

    def close(self) -> None:
        """Wait for the last picture."""
        self.wait()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, client: ClientActivity, execution: int) -> None:
        client.collecting_threads.add(threading.current_thread())
        look = Look(client, is_broken=False, is_wanted=False)
        try:
            (piece,) = collect_screenshot(client, look)
            small, size, scale = smaller(piece.content)
        except (ClawperatorError, Unavailable, OSError, ValueError) as exc:
            self._writer.write(Noted(at=now(), message=f"no picture: {exc}", execution=execution))
            return
        self._writer.write(
            PictureTaken(
                at=now(),
                serial=client.client.serial,
                blob=self._writer.keep(small, ".webp"),
                size=size,
                scale=scale,
                execution=execution,
            )
        )
