"""What the other processes of a phone log all the time."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.android.log_buffer import LogBuffer

_OTHER_PID = 3377  # of a process that the phone does not list
_SHORTEST_NAP = 0.02  # finer steps than this only cost time; several lines come together instead
_LONGEST_DEBT = 1.0  # seconds' worth of lines that are made up for after the process was busy


@dataclass(frozen=True)
class Remark:
    """A line that a process logs again and again; ``{n}`` and the like vary."""

    process: str
    priority: str
    tag: str
    text: str
    buffer: str = "main"


REMARKS = (
    Remark("system_server", "D", "ConnectivityService", "NetReassign [no changes] [c {small}]"),
    Remark("system_server", "V", "WindowManager", "Relayout {{{hex} u0 StatusBar}}", "system"),
    Remark("system_server", "W", "AlarmManager", "Unrecognized alarm listener {hex}", "system"),
    Remark("surfaceflinger", "D", "SurfaceFlinger", "duration {n} us, {small} layers composed"),
    Remark("audioserver", "I", "AudioFlinger", "BUFFER TIMEOUT: remove(4097) from active list"),
    Remark("netd", "I", "netd", "tetherGetStats() -> {{[]}} <{n}ms>"),
    Remark("init", "I", "init", "Service 'idmap2d' (pid {n}) exited with status 0", "kernel"),
    Remark("com.android.phone", "D", "DcTracker-0", "onDataStateChanged: cid={small}", "radio"),
    Remark("com.android.systemui", "D", "NotifCollection", "Rebuilt {small} entries in {n} us"),
    Remark("com.google.android.gms.persistent", "W", "GCM", "Heartbeat in {n} s, 電波 📶 {small}"),
    Remark("com.google.android.gms.persistent", "E", "a", ""),
    # From here on, what naive readers of the log fall over.
    Remark(
        "com.google.android.gms.persistent",
        "W",
        "System.err",
        "java.io.IOException: read failed ({n})\n"
        "\tat com.example.Net.read(Net.java:{small})\n"
        "\tat com.example.Net.run(Net.java:{small})\n",
    ),
    Remark("system_server", "I", "Watch dog: x", "--------- beginning of main ({n})"),
    Remark("com.android.systemui", "D", "Markup", '  <node index="{small}" text="" />'),
    # A log viewer shows an envelope: not at the message's start, and not of this command.
    Remark(
        "com.example.logviewer",
        "D",
        "LogViewer",
        'row {n}: [Clawperator-Result] {{"commandId":"shown-{hex}","taskId":"shown",'
        '"status":"success","stepResults":[],"error":null}}',
    ),
)


class Chatter:
    """Logs other processes' lines at a rate that can change while it runs."""

    def __init__(
        self,
        log: LogBuffer,
        *,
        rng: random.Random,
        rate: float = 0.0,
        pid_of: Callable[[str], int | None] = lambda process: None,
    ) -> None:
        self._log = log
        self._rng = rng
        self._rate = rate
        self._pid_of = pid_of
        self._rate_changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def rate(self) -> float:
        """How many lines a second are logged; 0 is silence."""
        return self._rate

    @rate.setter
    def rate(self, value: float) -> None:
        self._rate = value
        self._rate_changed.set()

    def start(self) -> None:
        """Start to log, in the running event loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop logging."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def write_lines(self, count: int = 1) -> None:
        """Log so many lines now, whatever the rate is."""
        for _ in range(count):
            remark = self._rng.choice(REMARKS)
            pid = self._pid_of(remark.process) or _OTHER_PID
            self._log.write(
                remark.priority,
                remark.tag,
                remark.text.format(**self._values()),
                pid=pid,
                tid=pid + self._rng.choice((0, 0, 1, 7, 18, 42)),
                buffer=remark.buffer,
            )

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        owed, last = 0.0, loop.time()
        while True:
            rate = self._rate
            await self._nap(rate)
            now = loop.time()
            owed += min(now - last, _LONGEST_DEBT) * rate
            last = now
            due = int(owed)
            owed -= due
            self.write_lines(due)

    async def _nap(self, rate: float) -> None:
        """Sleep until the next line is due, or the rate was changed."""
        self._rate_changed.clear()
        delay = max(_SHORTEST_NAP, 1 / rate) if rate else None
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._rate_changed.wait(), delay)

    def _values(self) -> dict[str, object]:
        draw = self._rng.randrange
        return {"n": draw(10_000), "small": draw(1, 32), "hex": f"{draw(1 << 28):07x}"}
