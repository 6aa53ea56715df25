"""The workers of a run as the scheduler sees them, and the devices that they have.

A device is a number with one bit, a set of devices the sum of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_clawperator.plugin.xdist.backlog import ANY


class Node(Protocol):
    """A worker of xdist, as its controller sees it.

    When the worker ended by itself, it has `workeroutput`; when it crashed, it has not.
    """

    gateway: Any

    @property
    def shutting_down(self) -> bool:
        """Whether it ended, or was told to."""

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Send it tests to run, by their numbers."""

    def shutdown(self) -> None:
        """Make it end after the tests it has."""


@dataclass(eq=False)
class Worker:
    """A worker that is there: what it has to do, and what it was told."""

    node: Node
    bit: int  # its device, in sets of devices
    collection: list[str] | None = None  # None: it still collects
    pending: list[int] = field(default_factory=list)  # the running test, and the next
    began: float | None = None  # when the running test did
    promised: int | None = None  # its running test will be run once more, elsewhere
    is_told: bool = False  # to end after what it has
    is_refused: bool = False  # it collected other tests
    is_lost: bool = False  # it did not take what was sent to it

    @property
    def is_ready(self) -> bool:
        """Whether tests can be sent to it."""
        return not (self.is_told or self.is_leaving or self.collection is None)

    @property
    def is_leaving(self) -> bool:
        """Whether it crashed, or xdist ends the run, and xdist did not report that yet."""
        return not self.is_told and (self.is_lost or self.node.shutting_down)


class Workforce:
    """The workers that are there, those that will come, and those that can be replaced.

    `device_of` returns the key of a worker's device, which is the same for its replacement.
    `replace_worker` asks for a new worker like one that has ended, and returns whether it will
    come.
    """

    def __init__(
        self,
        device_of: Callable[[Any], Hashable | None],
        replace_worker: Callable[[Any], bool],
    ) -> None:
        self._device_of = device_of
        self._replace_worker = replace_worker
        self._bits: dict[Hashable, int] = {}
        self._workers: dict[Any, Worker] = {}
        self._ended: dict[int, Any] = {}  # workers that ended as they were told, by device
        self._coming: list[int] = []  # devices whose workers are being replaced
        self._without_device = 0
        self._failed = 0

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there, as xdist knows them."""
        return list(self._workers)

    @property
    def workers(self) -> list[Worker]:
        """The workers that are there."""
        return list(self._workers.values())

    @property
    def failed(self) -> int:
        """The devices that were put aside."""
        return self._failed

    def get(self, node: Node) -> Worker | None:
        """Return a worker; None if it is gone."""
        return self._workers.get(node)

    def add(self, node: Node) -> None:
        """Add a worker that has started."""
        device = self._device_of(node)
        bit = self._bits.setdefault(
            ("worker", node.gateway.id) if device is None else device, 1 << len(self._bits)
        )
        self._without_device |= bit if device is None else 0
        self._workers[node] = Worker(node, bit)
        if self._coming:  # each that crashed has one successor, seldom with another device
            self._coming.remove(bit if bit in self._coming else self._coming[0])

    def remove(self, node: Node) -> Worker:
        """Remove a worker that ended or crashed, and return it."""
        return self._workers.pop(node)

    def await_successor(self, worker: Worker) -> None:
        """Expect that xdist replaces a worker that crashed."""
        self._coming.append(worker.bit)

    def allow_successor(self, worker: Worker) -> None:
        """Remember a worker that ended as it was told: it can be replaced if need be."""
        self._ended[worker.bit] = worker.node

    def device_failed(self, worker: Worker) -> None:
        """Note that the device of a worker was put aside."""
        self._failed |= worker.bit

    def devices(self, *, told: bool = True, leaving: bool = True) -> int:
        """Return the devices whose workers are there or will come.

        Without `told`, those that were told to end do not count; without `leaving`, those
        that are about to be reported as ended.
        """
        found = 0
        for worker in self._workers.values():
            is_in = (told or not worker.is_told) and (leaving or not worker.is_leaving)
            if is_in and not worker.is_refused:
                found |= worker.bit
        for bit in self._coming:
            found |= bit
        return found

    @property
    def anybody(self) -> int:
        """The devices whose workers can say why a test fits none: all with a device, if any."""
        with_device = ANY & ~self._without_device
        return with_device if with_device & self.devices() else ANY

    def is_reachable(self, devices: int) -> bool:
        """Whether one of these devices has a worker, or gets one that is asked for now."""
        if devices & self.devices(told=False) or self.revive(devices):
            return True
        return bool(devices & self.devices())  # a worker that was told can be replaced at its end

    def revive(self, devices: int) -> bool:
        """Ask for a worker in place of one that ended too early; return whether it will come."""
        for bit in [bit for bit in self._ended if bit & devices]:
            if self._replace_worker(self._ended.pop(bit)):
                self._coming.append(bit)
                return True
        return False
