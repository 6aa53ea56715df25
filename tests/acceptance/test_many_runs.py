"""Several runs that share phones, while runs, workers and servers die."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.connecting import connect
from pytest_clawperator.devices.lease import open_leases
from tests.acceptance.lab import OwnAdbServer, nap
from tests.acceptance.runs import Lab, lease_at_once, wait_for
from tests.doubles.redis_server import RedisServer

TWO = ("-n", "2", "--claw-device", "auto", "--claw-lease-timeout", "200")
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
# More executions of the old run, which would meet those of the new one.
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


def keys_of(lab: Lab) -> list[str]:
    """Use every phone once, and return the key of each."""
    keys = []
    for phone in lab.phones:
        with connect(phone.serial, adb=lab.adb) as claw:
            claw.execute(nap(0)).raise_for_status()
            keys.append(claw.device.info.key)
    return keys


ONLY_ON_LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="by design: only Linux has names without files"
)


@pytest.mark.parametrize(
    "end", ["killed", pytest.param("locks removed", marks=[pytest.mark.soak, ONLY_ON_LINUX])]
)
def test_the_phone_of_a_run_that_lost_it(lab: Lab, locks: Path, end: str) -> None:
    """A waiting run gets the phone immediately, and sends nothing before the phone is done."""
    phone = lab.phones[0]
    serial = ("--claw-device", phone.serial)
    old = lab.start(LONG + MORE, "-n", "1", *serial)
    wait_for(lambda: bool(phone.stats()["broadcasts"]), about=old)
    new = lab.start(NEXT + MORE, "-n", "0", *serial, "--claw-lease-timeout", "200")
    wait_for(lambda: "waiting for" in new.output, about=new)

    phone.look()
    (old.folder / "go").touch()
    while phone.next_start() != "long":
        pass
    if end == "killed":
        old.kill()
    else:
        shutil.rmtree(locks)
        assert old.wait() == pytest.ExitCode.TESTS_FAILED, old.output
        assert "the device is no longer leased" in old.output
    code = new.wait()

    assert code == pytest.ExitCode.OK, new.output
    assert "held by" in new.output
    assert phone.stats()["overlaps"] == 0
    log = phone.log()
    begins = [log.index(f"start commandId={name}") for name in ("long", "next")]
    assert begins[0] < log.index('"commandId":"long"') < begins[1]


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


@pytest.mark.soak
def test_an_adb_server_that_stays_away_ends_the_run(lab: Lab, tmp_path: Path) -> None:
    """Each test fails, and the run says that the adb server is gone."""
    (home := tmp_path / "home").mkdir()
    with OwnAdbServer(home) as own:
        own.start_alone()
        for phone in lab.phones:
            own.connect(phone.serial)
        lab.adb = str(own.server)
        run = lab.start(NAPS.format(tests=20, milliseconds=100), *TWO)
        wait_for(lambda: run.ended >= 3, about=run)
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
        store = open_leases(server.url, run_id="afterwards")
        assert [store.holder(key) for key in keys_of(lab)] == [None, None]
        store.close()


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
