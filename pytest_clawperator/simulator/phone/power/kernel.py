"""What the kernel tells in ``/proc``: which start it is, since when, and how busy it was."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable

from pytest_clawperator.simulator.android.state.hardware import CORES, FREE_KB, MEMORY_KB
from pytest_clawperator.simulator.files import FileSystem

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_TICKS = 100  # of a core in a second
# How much of its time a core spends on each: user, nice, system, idle, iowait, irq, softirq.
_SHARES = (0.06, 0.01, 0.05, 0.865, 0.005, 0.005, 0.005)
_TCP_TITLE = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"
    "   uid  timeout inode\n"
)
_DEVICES = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast"
    "|bytes    packets errs drop fifo colls carrier compressed\n"
)


class Kernel:
    """One phone's kernel; ``ports`` lists those on which something listens."""

    def __init__(
        self,
        files: FileSystem,
        *,
        clock: Callable[[], float],
        chance: random.Random,
        ports: Callable[[], list[int]],
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._ports = ports
        self._booted = 0.0
        self.boot_id = ""
        self.boot()
        files.provide_produced(_BOOT_ID, lambda: f"{self.boot_id}\n")
        files.provide_produced("/proc/uptime", self._uptime)
        files.provide_produced("/proc/stat", self._stat)
        files.provide_produced("/proc/meminfo", lambda: _MEMORY)
        files.provide_produced("/proc/net/dev", self._network)
        files.provide_produced("/proc/net/tcp", self._tcp)
        files.provide_produced("/proc/net/tcp6", lambda: _TCP_TITLE)
        for core in range(CORES):
            files.provide(f"/sys/devices/system/cpu/cpu{core}/online", b"1\n")

    def boot(self, boot_id: str | None = None) -> None:
        """Start anew, or go back to a start that was kept."""
        self._booted = self._clock()
        self.boot_id = boot_id or str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    def _seconds(self) -> float:
        # A phone that answers at all has been starting for some time.
        return max(0.0, self._clock() - self._booted) + 20

    def _uptime(self) -> str:
        seconds = self._seconds()
        return f"{seconds:.2f} {seconds * CORES * _SHARES[3]:.2f}\n"

    def _stat(self) -> str:
        ticks = self._seconds() * _TICKS
        core = " ".join(str(int(ticks * share)) for share in _SHARES)
        total = " ".join(str(int(ticks * share) * CORES) for share in _SHARES)
        cores = "".join(f"cpu{number} {core} 0 0 0\n" for number in range(CORES))
        return (
            f"cpu  {total} 0 0 0\n{cores}intr {int(ticks * 30)}\nctxt {int(ticks * 60)}\n"
            f"btime {int(self._booted)}\nprocesses {int(ticks)}\nprocs_running 1\n"
            "procs_blocked 0\n"
        )

    def _network(self) -> str:
        rows = (("lo", 40), ("wlan0", 900))
        return _DEVICES + "".join(_device(name, int(self._seconds()) * rate) for name, rate in rows)

    def _tcp(self) -> str:
        rows = (
            f"{number:4d}: 0100007F:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000"
            f" 00000000  2000        0 {30000 + number} 1 0000000000000000 100 0 0 10 0\n"
            for number, port in enumerate(self._ports())
        )
        return _TCP_TITLE + "".join(rows)


def _device(name: str, count: int) -> str:
    numbers = f"{count:>8} {count // 100:>7}    0    0    0     0          0         0"
    return f"{name:>6}: {numbers} {numbers}\n"


_MEMORY = "".join(
    f"{name + ':':<16}{kilobytes:>8} kB\n"
    for name, kilobytes in (
        ("MemTotal", MEMORY_KB),
        ("MemFree", FREE_KB // 4),
        ("MemAvailable", FREE_KB),
        ("Buffers", 5_120),
        ("Cached", FREE_KB // 2),
        ("SwapCached", 0),
        ("Active", MEMORY_KB // 3),
        ("Inactive", MEMORY_KB // 4),
        ("SwapTotal", 3_145_724),
        ("SwapFree", 3_145_724),
    )
)
