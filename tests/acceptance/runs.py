"""Runs of pytest in their own processes, which can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from pytest_clawperator.devices.lease import open_leases, take_each
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.wire import AdbServer
from tests.acceptance.lab import Witness

DEADLINE = 240.0

_ROOT = Path(__file__).parents[2]
# Other plugins that happen to be installed make every worker start later; one that has
# something to say when a worker crashes stays.
_KEPT = ("pytest_clawperator.plugin", "xdist", "xdist.looponfail", "rerunfailures")
_OTHERS = {entry.name for entry in entry_points(group="pytest11")}.difference(_KEPT)
_WITHOUT = [f"-pno:{name}" for name in ["cacheprovider", *sorted(_OTHERS)]]
# The process that reports writes down each end of a test, while it goes on; SIGUSR1 makes each
# process write down where it is.
_CONFTEST = """
import faulthandler
import os
import signal
from pathlib import Path

HERE = Path(__file__).parent
faulthandler.register(signal.SIGUSR1, (HERE / f"stacks-{os.getpid()}").open("w"), True)

def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if report.outcome != "passed" or report.when == "call":
        with (HERE / "outcomes").open("a") as file:
            file.write(f"{report.nodeid} {report.when} {report.outcome}\\n")
"""


class Run:
    """One run of pytest over a suite, in its own folder."""

    def __init__(self, folder: Path, suite: str, *options: str, preload: str = "") -> None:
        self._size = int(options[options.index("-n") + 1] if "-n" in options else 0)
        folder.mkdir()
        (folder / "conftest.py").write_text(_CONFTEST + preload, encoding="utf-8")
        (folder / "test_suite.py").write_text(suite, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        self.folder = folder
        self.was_killed = False
        self._output = folder / "output"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *_WITHOUT, *options],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # All its processes are one group, and can be distinguished from others.
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        """Its output so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    @property
    def ends(self) -> dict[str, list[tuple[str, str]]]:
        """The phase and the outcome of each test, one for each time that it ended."""
        found: dict[str, list[tuple[str, str]]] = {}
        with contextlib.suppress(FileNotFoundError):
            text = (self.folder / "outcomes").read_text(encoding="utf-8")
            for line in text.splitlines():
                test, phase, outcome = line.rsplit(" ", 2)
                found.setdefault(test.rpartition("::")[2], []).append((phase, outcome))
        return found

    @property
    def outcomes(self) -> dict[str, list[str]]:
        """The outcomes of each test, one for each time that it ended."""
        return {test: [outcome for _, outcome in ends] for test, ends in self.ends.items()}

    @property
    def ended(self) -> int:
        """How many tests have ended."""
        return len(self.outcomes)

    @property
    def has_begun(self) -> bool:
        """Whether its first processes have all read the conftest."""
        return len([*self.folder.glob("stacks-*")]) > self._size

    @property
    def has_workers(self) -> bool:
        """Whether its tests run in other processes."""
        return self._size > 0

    @property
    def workers(self) -> list[int]:
        """The processes of its workers, while the controller lives."""
        return [pid for pid, parent, _ in processes() if parent == self.process.pid]

    @property
    def group(self) -> list[int]:
        """All its living processes, orphaned workers included."""
        return [pid for pid, _, group in processes() if group == self.process.pid]

    @property
    def is_gone(self) -> bool:
        """Whether none of its processes is left, not even one that has not been waited for."""
        return all(group != self.process.pid for _, _, group in processes(zombies=True))

    def kill_controller(self) -> None:
        """Kill the controller alone, which makes its workers orphans."""
        self.was_killed = True
        self.process.kill()
        self.process.wait()

    def kill(self) -> None:
        """Kill all its processes together."""
        self.was_killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self) -> int:
        """Wait for its end, and return its exit code."""
        try:
            return self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the run did not end; its output:\n{self.output}") from None


class Lab:
    """Simulated phones, and the runs that share them."""

    def __init__(self, folder: Path, simulator: Simulator) -> None:
        server = AdbServer(simulator.adb_host, simulator.adb_port)
        self.adb = str(server)
        self.runs: list[Run] = []
        self.phones = [Witness(server, serial) for serial in simulator.serials]
        self._folder = folder

    def start(self, suite: str, *options: str, preload: str = "") -> Run:
        """Start a run on these phones."""
        folder = self._folder / f"run-{len(self.runs)}"
        run = Run(folder, suite, *options, "--claw-adb", self.adb, preload=preload)
        self.runs.append(run)
        return run

    def stats(self) -> dict[str, int]:
        """Return the sums of the counters of all phones."""
        stats = [phone.stats() for phone in self.phones]
        return {name: sum(one[name] for one in stats) for name in ("executions", "overlaps")}

    def close(self) -> None:
        """Kill the runs that are still going on."""
        for run in self.runs:
            run.kill()


def wait_for(
    what: Callable[[], bool], *, within: float = DEADLINE, about: Run | None = None
) -> None:
    """Poll until a condition holds, for what has no event."""
    deadline = time.monotonic() + within
    while not what():
        said = about.output if about is not None else ""
        assert time.monotonic() < deadline, f"it did not happen in time; the output:\n{said}"
        assert about is None or about.process.poll() is None or what(), f"it ended:\n{said}"
        time.sleep(0.02)


def lease_at_once(keys: list[str], where: str | None = None) -> None:
    """Lease all these devices and release them; raise if one is held."""
    store = open_leases(where, run_id="afterwards")
    for hold in take_each(store, [[key] for key in keys]):
        hold.release()
    store.close()


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name not in ("CI", "ANDROID_SERIAL")
    }
    path = os.pathsep.join([str(_ROOT), *filter(None, [kept.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": path, "COLUMNS": "200"}


def processes(*, zombies: bool = False) -> list[tuple[int, int, int]]:
    """Return process, parent and group of each living process, and of zombies if wanted."""
    asked = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, check=True, text=True
    )
    rows = [line.split() for line in asked.stdout.splitlines()]
    wanted = [row for row in rows if zombies or not row[3].startswith("Z")]
    return [(int(pid), int(parent), int(group)) for pid, parent, group, _ in wanted]
