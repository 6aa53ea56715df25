"""Several runs that share phones, while runs, workers and servers die."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.connect import connect
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.execution.lock_file import lock_path
from pytest_clawperator.simulator import Simulator
from tests.acceptance.lab import OwnAdbServer, nap
from tests.acceptance.runs import Lab, Run, files_with_content, lease_at_once, wait_for
from tests.doubles.redis_server import RedisServer

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
PHONES = 4 if IS_SOAK else 2
RUNS = 3 if IS_SOAK else 2
TESTS = 40 if IS_SOAK else 8
LONGEST = 4000 if IS_SOAK else 500
# What is killed, in a random order.
DEATHS = (
    ["worker", "worker", "controller", "run"] * 10 if IS_SOAK else ["worker", "controller", "run"]
)

ALL = ("-n", str(PHONES), "--claw-device", "auto", "--claw-lease-timeout", "200")
TWO = ("-n", "2", "--claw-device", "auto", "--claw-lease-timeout", "200")
# A crashed test is reported by xdist, which then starts another worker.
RESTARTS = ("--max-worker-restart", "100")

# Some executions are still under way when others want the device of who was killed.
MIXED = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_it(clawperator, number):
    for milliseconds in (40, 40 if number % 4 else {longest}):
        sleep = {{"type": "sleep", "params": {{"durationMs": milliseconds}}}}
        clawperator.execute([sleep]).raise_for_status()
"""
NAPS = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_it(clawperator, number):
    for _ in range(2):
        sleep = {{"type": "sleep", "params": {{"durationMs": {milliseconds}}}}}
        clawperator.execute([sleep]).raise_for_status()
"""
LONG = """
import time
from pathlib import Path

def test_long(clawperator):
    while not Path("go").exists():
        time.sleep(0.01)
    sleep = {"type": "sleep", "params": {"durationMs": 1500}}
    clawperator.execute({"commandId": "long", "actions": [sleep]}, timeout=60)
"""
NEXT = """
def test_next(clawperator):
    sleep = {"type": "sleep", "params": {"durationMs": 10}}
    clawperator.execute({"commandId": "next", "actions": [sleep]}).raise_for_status()
"""
# Some more of the old run's executions, which meet those of another run.
MORE = """
    sleep = {"type": "sleep", "params": {"durationMs": 20}}
    for _ in range(20):
        clawperator.execute([sleep]).raise_for_status()
"""
# Once it is refused it tries a few times more, and ends sooner than execnet would end it.
STUBBORN = """
import os
from pathlib import Path

from pytest_clawperator.errors import LeaseError

def test_stubborn(clawperator):
    refusals = 0
    while refusals < 50:
        try:
            clawperator.execute([{"type": "sleep", "params": {"durationMs": 0}}])
        except LeaseError as error:
            if refusals == 0:
                Path("refusing").write_text(str(error))
                Path("refusing").rename("refused")
            refusals += 1
    os._exit(0)
"""
# Leases that end soon, and a Redis that is not waited for because it is new.
QUICK_REDIS = """
from pytest_clawperator.devices.redis_lease import RedisLeases

RedisLeases.__init__.__kwdefaults__.update(ttl={ttl}, settle=0.0)
"""
# Workers collect only when the file `go` appears.
LATE = """
import os
import time
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    Path(os.environ["PYTEST_XDIST_WORKER"]).touch()
    while not Path("go").exists():
        time.sleep(0.01)
"""
# Where the processes of a run cannot write: as on a disk that is full.
FULL_DISK = """
import errno
import os

def pwrite(descriptor, data, offset):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

if ("PYTEST_XDIST_WORKER" in os.environ) is {in_workers}:
    os.pwrite = pwrite
"""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Start the phones that the runs share."""
    with Simulator(devices=PHONES, seed=1) as simulator:
        yield simulator


@pytest.fixture
def lab(simulator: Simulator, tmp_path: Path) -> Iterator[Lab]:
    """Return the lab after a reset of its phones, and kill what is left of its runs."""
    lab = Lab(tmp_path, f"{simulator.adb_host}:{simulator.adb_port}", simulator.serials)
    for phone in lab.phones:
        phone.wait_for_state("device")
        phone.sim("reset")
        phone.sim("stats reset")
    yield lab
    lab.close()


@pytest.fixture
def locks() -> Path:
    """Return the folder of the leases."""
    return Path(os.environ["CLAWPERATOR_LEASE_DIR"])


def keys_of(lab: Lab) -> list[str]:
    """Use every phone once, and return the key of each."""
    keys = []
    for phone in lab.phones:
        with connect(phone.serial, adb=lab.adb) as claw:
            claw.execute(nap(0)).raise_for_status()
            keys.append(claw.device.info.key)
    return keys


class Chaos:
    """Kills something at random, each time after some executions."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab = lab
        self._random = random.Random(seed)
        self.strikes: list[str] = []
        self.killed_workers = 0

    def reign(self) -> None:
        """Start runs and kill parts of them, until all of ``DEATHS`` have happened."""
        victims = [*DEATHS]
        self._random.shuffle(victims)
        runs = [self._start() for _ in range(RUNS)]
        for victim in victims:
            self._await_work(self._random.randrange(2, TESTS * 2))
            active = [run for run in runs if run.workers]
            run = self._random.choice(active if active and self._random.random() < 0.8 else runs)
            if self._strike(victim, run):
                runs[runs.index(run)] = self._start()

    def _strike(self, victim: str, run: Run) -> bool:
        """Kill the victim; return whether that ended the run."""
        self.strikes.append(f"{victim} of {run.folder.name} after {run.ended} tests")
        if victim == "worker":
            self.killed_workers += run.kill_worker(self._random.randrange(4))
        elif victim == "controller":
            run.kill_controller()
        else:
            run.kill()
        return run.was_killed

    def _start(self) -> Run:
        return self._lab.start(MIXED.format(tests=TESTS, longest=LONGEST), "-q", *ALL, *RESTARTS)

    def _await_work(self, executions: int) -> None:
        """Wait for so many more executions, or for the end of all runs."""
        begin = self._lab.stats()["executions"]
        wait_for(
            lambda: (
                self._lab.stats()["executions"] >= begin + executions
                or all(run.process.poll() is not None for run in self._lab.runs)
            )
        )


def check_survivor(run: Run) -> int:
    """Check that each test of a run ended once; return how many crashed with their worker."""
    code = run.wait()
    ends = run.outcomes
    crashed = [test for test, outcomes in ends.items() if "failed" in outcomes]
    assert len(ends) == TESTS, run.output
    # A worker may die between its test's end and the report of the end of its fixtures.
    assert all(
        outcomes in (["passed"], ["failed"], ["passed", "failed"]) for outcomes in ends.values()
    ), run.output
    assert len(set(re.findall(r"crashed while running '\S+::(\S+)'", run.output))) == len(crashed)
    assert code == (pytest.ExitCode.TESTS_FAILED if crashed else pytest.ExitCode.OK), run.output
    return len(crashed)


@pytest.mark.soak
def test_runs_that_are_killed(lab: Lab, locks: Path) -> None:
    """The other runs end all their tests, no phone has two executions at once, nothing is left."""
    seed = random.randrange(1_000_000)
    chaos = Chaos(lab, seed)

    try:
        chaos.reign()
        survivors = [run for run in lab.runs if not run.was_killed]
        crashed = sum(map(check_survivor, survivors))
        wait_for(lambda: not any(run.group for run in lab.runs))
        counted = lab.stats()
        lease_at_once(keys_of(lab))
    except BaseException:
        print(f"seed {seed}:", *chaos.strikes, sep="\n")
        raise

    assert len(survivors) >= RUNS
    assert crashed <= chaos.killed_workers
    assert counted["executions"] >= len(survivors) * 2 * (TESTS - crashed)
    assert counted["overlaps"] == 0
    assert files_with_content(locks) == []


def test_the_phone_of_a_killed_run(lab: Lab) -> None:
    """A waiting run gets the phone at once, and sends nothing before the phone is done."""
    phone = lab.phones[0]
    phone.sim("stats reset")
    serial = ("--claw-device", phone.serial)
    old = lab.start(LONG, "-n", "1", *serial)
    wait_for(lambda: bool(phone.stats()["broadcasts"]), about=old)
    new = lab.start(NEXT, "-n", "0", *serial, "--claw-lease-timeout", "200")
    wait_for(lambda: "waiting for" in new.output, about=new)

    phone.look()
    (old.folder / "go").touch()
    while phone.next_start() != "long":
        pass
    old.kill()
    code = new.wait()

    assert code == pytest.ExitCode.OK, new.output
    assert "held by" in new.output
    assert phone.stats()["overlaps"] == 0
    log = phone.log()
    begins = [log.index(f"start commandId={name}") for name in ("long", "next")]
    assert begins[0] < log.index('"commandId":"long"') < begins[1]


@pytest.mark.soak
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="by design: only Linux has names without files"
)
def test_a_folder_of_locks_that_is_removed(lab: Lab, locks: Path) -> None:
    """Another run gets the phone when its last execution has ended; the first sends no more."""
    phone = lab.phones[0]
    phone.sim("stats reset")
    serial = ("--claw-device", phone.serial)
    old = lab.start(LONG + MORE, "-n", "1", *serial)
    wait_for(lambda: bool(phone.stats()["broadcasts"]), about=old)
    new = lab.start(NEXT + MORE, "-n", "0", *serial, "--claw-lease-timeout", "200")
    wait_for(lambda: "waiting for" in new.output, about=new)

    phone.look()
    (old.folder / "go").touch()
    while phone.next_start() != "long":
        pass
    shutil.rmtree(locks)
    codes = old.wait(), new.wait()

    assert codes == (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK), new.output
    assert "the device is no longer leased" in old.output
    assert phone.stats()["overlaps"] == 0
    log = phone.log()
    begins = [log.index(f"start commandId={name}") for name in ("long", "next")]
    assert begins[0] < log.index('"commandId":"long"') < begins[1]


@pytest.mark.soak
def test_lock_files_with_malformed_contents(lab: Lab, locks: Path) -> None:
    """A worker that connects early is not stopped by them, and the run says what it found."""
    for key in keys_of(lab):
        for kind in ("flight", "lease", "holder"):
            lock_path(key, kind, folder=locks).write_bytes(b"[" * 1500)

    run = lab.start(NEXT, "-n", "1", "--claw-device", lab.phones[0].serial)
    code = run.wait()

    assert code == pytest.ExitCode.OK, run.output
    assert "had contents that no run wrote" in run.output


def test_a_worker_without_a_controller(lab: Lab) -> None:
    """An orphaned worker is kept from sending anything to the phone."""
    phone = lab.phones[0]
    run = lab.start(STUBBORN, "-n", "1", "--claw-device", phone.serial)
    wait_for(lambda: phone.stats()["executions"] > 5, about=run)

    run.kill_controller()
    refused = run.folder / "refused"
    wait_for(lambda: refused.exists() or not run.group)
    sent = phone.stats()["broadcasts"]
    wait_for(lambda: not run.group)

    assert phone.stats()["broadcasts"] == sent
    assert "the device is no longer leased by this run" in refused.read_text(encoding="utf-8")
    assert phone.stats()["overlaps"] == 0
    lease_at_once(keys_of(lab))


class TestAdbServer:
    """The adb server dies in the middle of a run."""

    @pytest.fixture
    def own(self, lab: Lab, tmp_path: Path) -> Iterator[OwnAdbServer]:
        """Return a server that may be killed, with two of the phones."""
        home = tmp_path / "home"
        home.mkdir()
        own = OwnAdbServer(home)
        own.start_alone()
        for phone in lab.phones[:2]:
            own.connect(phone.serial)
        yield own
        own.kill()

    @pytest.mark.soak
    def test_it_comes_back(self, lab: Lab, own: OwnAdbServer) -> None:
        """The run goes on, and at most the tests that were running fail."""
        lab.adb = str(own.server)
        run = lab.start(NAPS.format(tests=20, milliseconds=100), *TWO)
        wait_for(lambda: run.ended >= 3, about=run)

        own.kill()
        before = run.ended
        own.start_alone()
        for phone in lab.phones[:2]:
            own.connect(phone.serial)
        run.wait()

        assert before < 20
        ends = [outcomes[-1] for outcomes in run.outcomes.values()]
        assert len(ends) == 20, run.output
        assert ends.count("failed") <= 2, run.output
        assert lab.stats()["overlaps"] == 0

    @pytest.mark.soak
    def test_it_stays_away(self, lab: Lab, own: OwnAdbServer) -> None:
        """The run ends, and says that the adb server is gone."""
        lab.adb = str(own.server)
        run = lab.start(NAPS.format(tests=20, milliseconds=100), *TWO)
        wait_for(lambda: run.ended >= 3, about=run)

        own.kill()
        code = run.wait()

        assert code == pytest.ExitCode.TESTS_FAILED, run.output
        assert len(run.outcomes) == 20, run.output
        assert "ADB_SERVER_FAILED" in run.output


class TestRedis:
    """The Redis that keeps the leases dies in the middle of a run."""

    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[RedisServer]:
        """Return a Redis that may be stopped."""
        folder = tmp_path / "redis"
        folder.mkdir()
        server = RedisServer(folder)
        yield server
        server.stop()

    def test_it_comes_back(self, lab: Lab, server: RedisServer) -> None:
        """The run goes on without it, and has its leases again when it is back."""
        suite = NAPS.format(tests=24, milliseconds=100)
        quick = QUICK_REDIS.format(ttl=10.0)
        run = lab.start(suite, *TWO, "--claw-lease", server.url, preload=quick)
        wait_for(lambda: run.ended >= 4, about=run)

        server.stop()
        wait_for(lambda: run.ended >= 8, about=run)
        server.start()
        code = run.wait()

        assert code == pytest.ExitCode.OK, run.output
        assert [*run.outcomes.values()] == [["passed"]] * 24
        assert lab.stats()["overlaps"] == 0
        self.nothing_left(server, lab)

    @pytest.mark.soak
    @pytest.mark.parametrize("away", [0.0, 3.0])
    def test_it_is_away_when_workers_begin(
        self, lab: Lab, server: RedisServer, away: float
    ) -> None:
        """A Redis that is away or empty at a worker's first command costs no test."""
        suite, quick = NAPS.format(tests=4, milliseconds=10), QUICK_REDIS.format(ttl=10.0)
        run = lab.start(LATE + suite, *TWO, "--claw-lease", server.url, preload=quick)
        wait_for(lambda: all((run.folder / name).exists() for name in ("gw0", "gw1")), about=run)

        server.stop()
        (run.folder / "go").touch()
        back = time.monotonic() + away
        wait_for(lambda: run.ended == 4 or time.monotonic() >= back)
        server.start()
        code = run.wait()

        assert code == pytest.ExitCode.OK, run.output
        assert [*run.outcomes.values()] == [["passed"]] * 4
        assert lab.stats()["overlaps"] == 0

    @pytest.mark.soak
    def test_it_comes_back_while_a_run_waits(self, lab: Lab, server: RedisServer) -> None:
        """A run that waits for a phone waits for Redis as well, and has the phone in the end."""
        quick = QUICK_REDIS.format(ttl=10.0)
        where = ("--claw-lease", server.url, "--claw-device", lab.phones[0].serial)
        old = lab.start(LONG, *where, preload=quick)
        wait_for(lambda: bool(lab.phones[0].stats()["broadcasts"]), about=old)
        wary = quick.replace("settle=0.0", "settle=3.0")  # the holder renews within a second
        new = lab.start(NEXT, *where, "--claw-lease-timeout", "200", preload=wary)
        wait_for(lambda: "held by" in new.output, about=new)

        server.stop()
        wait_for(lambda: "keeps the leases and does not work" in new.output, about=new)
        server.start()
        (old.folder / "go").touch()
        codes = [old.wait(), new.wait()]

        assert codes == [pytest.ExitCode.OK] * 2, old.output + new.output
        assert "just restarted" in new.output.partition("does not work")[2]
        assert lab.stats()["overlaps"] == 0

    @pytest.mark.soak
    def test_it_stays_away_too_long(self, lab: Lab, server: RedisServer) -> None:
        """Once the leases have run out nothing is sent, and the run ends and says why."""
        suite = NAPS.format(tests=200, milliseconds=20)
        quick = QUICK_REDIS.format(ttl=2.0)
        run = lab.start(suite, *TWO, "--claw-lease", server.url, "-x", preload=quick)
        wait_for(lambda: run.ended >= 4, about=run)

        server.stop()
        code = run.wait()

        assert code != pytest.ExitCode.OK, run.output
        assert "the device is no longer leased by this run" in run.output
        assert "did not renew it in time" in run.output
        assert lab.stats()["overlaps"] == 0
        server.start()
        self.nothing_left(server, lab)

    def nothing_left(self, server: RedisServer, lab: Lab) -> None:
        """Check that no phone is leased."""
        store = open_leases(server.url, run_id="afterwards")
        held = [key for key in keys_of(lab) if store.holder(key) is not None]
        store.close()
        assert held == []


@pytest.mark.parametrize("in_workers", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_full_disk(lab: Lab, *, in_workers: bool) -> None:
    """If leases or flight locks cannot be written, nothing is sent, and the run says why."""
    full = FULL_DISK.format(in_workers=in_workers)
    suite = NAPS.format(tests=4, milliseconds=10)

    run = lab.start(suite, *TWO, preload=full)
    code = run.wait()

    if in_workers:
        assert code == pytest.ExitCode.TESTS_FAILED, run.output
        assert "what is sent to the device cannot be written down: No space left" in run.output
    else:
        assert code == pytest.ExitCode.USAGE_ERROR, run.output
        assert re.search(r"the lock file .* cannot be written: No space left", run.output)
    assert "Make room on" in run.output
    assert lab.stats()["executions"] == 0
    lease_at_once(keys_of(lab))
