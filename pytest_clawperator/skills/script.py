"""Run a script without a shell, and stop it together with everything that it started."""

from __future__ import annotations

import codecs
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

#: What is kept of each of the two outputs, in bytes: half of it from the end.
MOST_KEPT = 1_000_000
#: How long a script has to end itself when its time is over, in seconds.
GRACE = 2.0
_CHUNK = 65_536
# A pipe holds no more than so many chunks.
_MOST_LEFT = 32
Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[str, Stream], None]


@dataclass
class Output:
    """The text of one output; the middle of a very long one is left out."""

    wanted: bytes = b""
    is_wanted_found: bool = False
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)
    _left_out: int = 0
    _seam: bytes = b""

    def add(self, chunk: bytes) -> None:
        """Add a piece of output."""
        self._search_wanted(chunk)
        room = MOST_KEPT // 2 - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > MOST_KEPT:
            much = len(self._tail) - MOST_KEPT // 2
            del self._tail[:much]
            self._left_out += much

    def text(self) -> str:
        """Return the output as text."""
        much = self._left_out + max(len(self._tail) - MOST_KEPT // 2, 0)
        if not much:
            return (self._head + self._tail).decode("utf-8", "replace")
        head, tail = self._head, self._tail[-MOST_KEPT // 2 :]
        between = f"\n... {much} bytes left out ...\n"
        return f"{head.decode('utf-8', 'replace')}{between}{tail.decode('utf-8', 'replace')}"

    def _search_wanted(self, chunk: bytes) -> None:
        """Search for the wanted text in the whole output, including what is left out."""
        if not self.is_wanted_found:
            seen = self._seam + chunk
            self.is_wanted_found = self.wanted in seen
            self._seam = seen[-len(self.wanted) + 1 :] if len(self.wanted) > 1 else b""


@dataclass(frozen=True)
class Ended:
    """How a script ended; ``code`` is None if it timed out."""

    code: int | None
    stdout: Output
    stderr: Output


def run_script(
    words: Sequence[str],
    *,
    timeout: float,
    environment: Mapping[str, str],
    wanted: str = "",
    on_output: OnOutput | None = None,
) -> Ended:
    """Run a program until it ends or times out; raise OSError if it cannot be started.

    ``on_output`` is called with each piece of output. In any case, the process and its group
    are gone afterwards.
    """
    process = subprocess.Popen(  # noqa: S603 - a script that the owner of the machine registered
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        start_new_session=True,
    )
    running = _Running(process, wanted.encode("utf-8", "surrogatepass"), on_output)
    try:
        is_over = running.pump(time.monotonic() + timeout)
        if not is_over:
            running.signal(signal.SIGTERM)
            running.pump(time.monotonic() + GRACE)
    finally:
        running.end()
    return Ended(process.returncode if is_over else None, running.outputs[0], running.outputs[1])


class _Running:
    """A process and its outputs."""

    def __init__(
        self, process: subprocess.Popen[bytes], wanted: bytes, on_output: OnOutput | None
    ) -> None:
        self._process = process
        self._on_output = on_output
        self.outputs = (Output(wanted), Output())
        self._selector = selectors.DefaultSelector()
        names: tuple[Stream, Stream] = ("stdout", "stderr")
        decoder = codecs.getincrementaldecoder("utf-8")
        for name, output in zip(names, self.outputs, strict=True):
            pipe = getattr(process, name)
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, (name, output, decoder("replace")))
        # A pipe that closes when the process ends: waiting for both needs no polling.
        self._ended, signal_end = os.pipe()
        self._selector.register(self._ended, selectors.EVENT_READ)
        self._waiter = threading.Thread(target=self._wait, args=(signal_end,), daemon=True)
        self._waiter.start()

    def pump(self, deadline: float) -> bool:
        """Read the output until the process ends; return False if the deadline comes first."""
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.fileobj == self._ended:
                    return True
                self._read(key)
        return self._process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its group."""
        with suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(self._process.pid, number)

    def end(self) -> None:
        """Stop the process and its group, and read the remaining output."""
        self.signal(signal.SIGKILL)
        self._waiter.join()
        for key in list(self._selector.get_map().values()):
            if key.fileobj != self._ended:
                for _ in range(_MOST_LEFT):  # one that escaped may print for ever
                    if not self._read(key):
                        break
        self._selector.close()
        os.close(self._ended)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, key: selectors.SelectorKey) -> bool:
        """Read the available output; return False if there is none."""
        name, output, decoder = key.data
        try:
            chunk = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._selector.unregister(key.fileobj)
        output.add(chunk)
        text = decoder.decode(chunk, not chunk)
        if text and self._on_output is not None:
            self._on_output(text, name)
        return bool(chunk)

    def _wait(self, signal_end: int) -> None:
        self._process.wait()
        os.close(signal_end)
