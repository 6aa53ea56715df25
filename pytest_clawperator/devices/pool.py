"""The devices of a run, each in the hands of one worker at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.errors import ConfigurationError, NoDeviceError


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A device that a run could use: what it is, and the adb server or url it is reached by."""

    info: DeviceInfo
    adb: str | None = None
    url: str | None = None

    @property
    def serial(self) -> str:
        """What the device is called."""
        return self.info.serial


@dataclass(frozen=True, kw_only=True)
class Lease:
    """Which device a process may use, and how it is reached.

    ``serial`` is what adb calls the device, ``key`` what it is: one phone seen twice has one
    key. ``adb`` is the address of its adb server, or ``url`` that of a host that runs
    ``clawperator serve``.
    """

    serial: str
    key: str
    adb: str | None = None
    url: str | None = None

    @classmethod
    def of(cls, candidate: Candidate) -> Lease:
        """Give the lease of a device that was chosen."""
        info = candidate.info
        return cls(serial=info.serial, key=info.key, adb=candidate.adb, url=candidate.url)


Select = Callable[[Sequence[Candidate], str], Candidate | None]


class DevicePool:
    """Hands devices out, one to a worker, and takes them back.

    ``select`` picks one of those that are free for the worker with that id. A device that
    was given back is the next to be picked from, so that the replacement of a crashed
    worker goes on with its phone.
    """

    def __init__(self, candidates: Sequence[Candidate], *, select: Select) -> None:
        self.candidates = tuple(candidates)
        self._free = list(candidates)
        self._select = select
        self._taken: dict[str, Candidate] = {}

    @property
    def taken(self) -> dict[str, Candidate]:
        """Who has which device."""
        return dict(self._taken)

    def take(self, worker_id: str) -> Lease:
        """Give this worker a device of its own."""
        if not self._free:
            raise too_few(len(self._taken) + 1, self.candidates)
        chosen = self._select(tuple(self._free), worker_id)
        if chosen not in self._free:
            raise ConfigurationError(
                f"pytest_clawperator_select_device gave {chosen!r} for {worker_id}, which is none"
                " of the candidates",
                hint="Return one of the candidates that it was given.",
            )
        self._free.remove(chosen)
        self._taken[worker_id] = chosen
        return Lease.of(chosen)

    def give_back(self, worker_id: str) -> None:
        """Take the device back from a worker that ended; one that has none changes nothing."""
        device = self._taken.pop(worker_id, None)
        if device is not None:
            self._free.insert(0, device)


def too_few(workers: int, candidates: Sequence[Candidate]) -> NoDeviceError:
    """Give the error that says that there are more workers than devices."""
    count = len(candidates)
    there = ", ".join(str(candidate.info) for candidate in candidates) or "none"
    needed = f"{workers} workers need {workers} devices"
    if workers == 1:
        needed = "1 worker needs 1 device"
    fewer = f"run with -n {count}, " if count else ""
    return NoDeviceError(
        f"{needed}, but there {'is' if count == 1 else 'are'} {count}: {there}",
        hint=f"Each worker has a device of its own: {fewer}connect more devices, or use"
        " --claw-device sim for as many simulated phones as workers.",
        details={"workers": workers, "devices": [candidate.serial for candidate in candidates]},
    )
