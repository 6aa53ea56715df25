"""What goes wrong in a round of chaos, and what that may cost at most."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.rack import Rack, RackPhone, freeze, send
from tests.acceptance.runs import Run, wait_for

ANY = float("inf")
#: How long runs may go on while a phone is frozen, in seconds.
PATIENCE = 60.0
#: What may end a run before its last test, in the words of its exit code.
ENDS = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT, 2, 129, 130, 143}


class Over(Exception):
    """There is nothing left to strike."""


@dataclass
class Scene:
    """A round under way: who can be struck, and what the strikes so far may cost."""

    rack: Rack
    random: random.Random
    locks: Path
    scratch: Path
    uses_redis: bool
    runs: list[Run] = field(default_factory=list)
    #: How many tests of a run may fail; runs that are not named here pass.
    may_fail: Counter[Run] = field(default_factory=Counter)
    #: Runs that were ended, so that some of their tests have no verdict.
    ended: set[Run] = field(default_factory=set)
    #: Runs that had no device yet when devices went away.
    may_refuse: set[Run] = field(default_factory=set)
    #: What went on for too long.
    overdue: list[str] = field(default_factory=list)
    #: Whether a process had no time to remove its files.
    was_killed: bool = False

    @property
    def is_over(self) -> bool:
        """Whether all runs have ended."""
        return all(run.process.poll() is not None for run in self.runs)

    def a_run(self) -> Run:
        """Pick a run that is under way, all its workers too; raise ``Over`` if there is none.

        Whether pytest and xdist can be struck before they know how to start is not the question.
        """
        wait_for(lambda: self.is_over or bool(self._ready))
        if not (ready := self._ready):
            raise Over
        return self.random.choice(ready)

    @property
    def _ready(self) -> list[Run]:
        return [run for run in self.runs if run.process.poll() is None and run.has_begun]

    def a_phone(self) -> RackPhone:
        """Pick a phone."""
        return self.random.choice(self.rack.phones)

    def some_seconds(self) -> float:
        """Pick how long a process is away: shorter than a lease lasts without being renewed."""
        return self.random.uniform(0.2, 4.0)

    def cost(self, tests: float) -> None:
        """Let so many tests of each run fail, because devices were away."""
        for run in self.runs:
            self.may_fail[run] += tests  # type: ignore[assignment]  # infinity is as good
            if not run.ended:
                self.may_refuse.add(run)


@dataclass(frozen=True)
class Trouble:
    """Something that goes wrong; ``is_slow`` says that getting over it takes long."""

    name: str
    strike: Callable[[Scene], None]
    needs_redis: bool = False
    is_slow: bool = False


# Processes of a run


def _worker(number: int) -> Callable[[Scene], None]:
    """Send the signal to a worker; it costs the test that the worker runs."""

    def strike(scene: Scene) -> None:
        run = scene.a_run()
        workers = run.workers
        if not workers:
            return _end(scene, run, number, run.process.pid)
        send(scene.random.choice(workers), number)
        scene.was_killed |= number == signal.SIGKILL
        scene.may_fail[run] += 1
        return None

    return strike


def _controller(number: int, *, whole_run: bool = False) -> Callable[[Scene], None]:
    """Send the signal to the process that was started, or to all of the run as a terminal does."""

    def strike(scene: Scene) -> None:
        run = scene.a_run()
        _end(scene, run, number, -run.process.pid if whole_run else run.process.pid)

    return strike


def _end(scene: Scene, run: Run, number: int, pid: int) -> None:
    scene.ended.add(run)
    scene.was_killed |= number == signal.SIGKILL
    send(pid, number)


def _freeze(pick: Callable[[Scene], int]) -> Callable[[Scene], None]:
    """Freeze the process that is picked for a moment."""
    return lambda scene: freeze(pick(scene), scene.some_seconds())


def _a_worker(scene: Scene) -> int:
    run = scene.a_run()
    return scene.random.choice(run.workers or [run.process.pid])


# Phones and the adb server


def _kill_phone(scene: Scene) -> None:
    phone = scene.a_phone()
    scene.cost(ANY)
    phone.kill()
    time.sleep(scene.some_seconds())  # so long it is away
    scene.rack.replace(phone)


def _freeze_phone_for_long(scene: Scene) -> None:
    """Freeze a phone until all runs have ended without it, which must not take long."""
    scene.cost(ANY)
    phone = scene.a_phone()
    send(phone.pid, signal.SIGSTOP)
    try:
        wait_for(lambda: scene.is_over, within=PATIENCE)
    except AssertionError:
        scene.overdue.append(f"runs still wait for {phone.serial} after {PATIENCE:.0f} s")
    finally:
        send(phone.pid, signal.SIGCONT)


def _phone(command: str) -> Callable[[Scene], None]:
    """Run a command on a phone after which it is away for a moment."""

    def strike(scene: Scene) -> None:
        scene.cost(1)
        milliseconds = round(scene.some_seconds() * 1000)
        scene.a_phone().shell(command.format(milliseconds=milliseconds))

    return strike


def _kill_adb(scene: Scene) -> None:
    scene.cost(len(scene.rack.phones))
    scene.rack.adb.kill()
    time.sleep(scene.random.choice([0.0, 0.5, 2.0]))  # so long it is away
    scene.rack.restart_adb()


# Leases


def _restart_redis(scene: Scene) -> None:
    scene.rack.redis.stop()
    scene.rack.redis.start()


def _redis_away(scene: Scene) -> None:
    scene.rack.redis.stop()
    time.sleep(3.0)  # so long it is away
    scene.rack.redis.start()


def _remove_lock_file(scene: Scene) -> None:
    scene.cost(ANY)
    with suppress(IndexError, FileNotFoundError):
        scene.random.choice(sorted(scene.locks.iterdir())).unlink()


def _remove_lock_folder(scene: Scene) -> None:
    scene.cost(ANY)
    shutil.rmtree(scene.locks, ignore_errors=True)


TROUBLES = (
    Trouble("worker-kill", _worker(signal.SIGKILL)),
    Trouble("worker-term", _worker(signal.SIGTERM)),
    Trouble("worker-hangup", _worker(signal.SIGHUP)),
    Trouble("worker-freeze", _freeze(_a_worker)),
    Trouble("controller-kill", _controller(signal.SIGKILL)),
    Trouble("controller-term", _controller(signal.SIGTERM)),
    Trouble("controller-hangup", _controller(signal.SIGHUP)),
    Trouble("controller-interrupt", _controller(signal.SIGINT)),
    Trouble("controller-freeze", _freeze(lambda scene: scene.a_run().process.pid)),
    Trouble("run-kill", _controller(signal.SIGKILL, whole_run=True)),
    Trouble("run-term", _controller(signal.SIGTERM, whole_run=True)),
    Trouble("run-hangup", _controller(signal.SIGHUP, whole_run=True)),
    Trouble("run-interrupt", _controller(signal.SIGINT, whole_run=True)),
    Trouble("phone-kill", _kill_phone, is_slow=True),
    Trouble("phone-freeze", _freeze(lambda scene: scene.a_phone().pid)),
    Trouble("phone-freeze-long", _freeze_phone_for_long, is_slow=True),
    Trouble("phone-offline", _phone("sim fault offline ms={milliseconds}")),
    Trouble("phone-disconnect", _phone("sim fault disconnect after=now times=1")),
    Trouble("phone-reboot", _phone("reboot"), is_slow=True),
    Trouble("adb-kill", _kill_adb),
    Trouble("adb-freeze", _freeze(lambda scene: scene.rack.adb.pid)),
    Trouble("redis-restart", _restart_redis, needs_redis=True, is_slow=True),
    Trouble("redis-away", _redis_away, needs_redis=True, is_slow=True),
    Trouble("redis-freeze", _freeze(lambda scene: scene.rack.redis.process.pid), needs_redis=True),
    Trouble("lock-file-removed", _remove_lock_file),
    Trouble("lock-folder-removed", _remove_lock_folder),
)
