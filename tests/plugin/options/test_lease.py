"""``--claw-lease``: where it is kept who has which device."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.devices.redis_lease import RedisLeases
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.leases import take
from tests.doubles.redis_server import RedisServer
from tests.doubles.skill_repository import add_skill, make_repository
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator):\n    clawperator.home()\n"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs in this process not wait for a Redis that has just started."""
    monkeypatch.setitem(RedisLeases.__init__.__kwdefaults__ or {}, "settle", 0.0)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Start a Redis for the tests of this file."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


def test_devices_are_leased_in_redis(
    pytester: pytest.Pytester, run: Run, redis: RedisServer
) -> None:
    """And not in files, where others may have them."""
    pytester.makepyfile(
        f"""
        from pytest_clawperator.devices.lease import open_leases

        def test_leased(clawperator):
            clawperator.home()
            key = "127.0.0.1/" + clawperator.serial
            assert open_leases({redis.url!r}, run_id="looks").holder(key).pid != 0
            with open_leases(run_id="files").try_take(key):
                pass
        """
    )
    pytester.makeini(f"[pytest]\nclaw_lease = {redis.url}\n")

    result = run()

    result.assert_outcomes(passed=1)


def test_the_holder_of_a_device_is_named(
    pytester: pytest.Pytester, run: Run, redis: RedisServer, phone: AdbTransport
) -> None:
    """Who has a device there is told, and free it can be used."""
    pytester.makepyfile(USES_DEVICE)
    leases = open_leases(redis.url, run_id="rack 2")
    colleague = leases.try_take(f"127.0.0.1/{phone.serial}")
    assert colleague is not None

    refused = run("--claw-lease", redis.url)
    colleague.release()
    taken = run("--claw-lease", redis.url)
    with take(leases, f"127.0.0.1/{phone.serial}") as free:
        pass
    leases.close()

    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(
        [f"E *DEVICE_LEASED: the device is held by *(process {os.getpid()} on *, run rack 2)*"]
    )
    taken.assert_outcomes(passed=1)
    assert free.holder.run_id == "rack 2"


def test_an_unreachable_redis_says_what_to_do(
    pytester: pytest.Pytester, run: Run, redis: RedisServer
) -> None:
    """A Redis that cannot be reached is told, with what to do."""
    pytester.makepyfile(USES_DEVICE)

    result = run("--claw-lease", "redis://:secret@127.0.0.1:1/0")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *LeaseError: *127.0.0.1:1*", "*hint: *"])
    assert "secret" not in "".join(line for line in result.outlines if line.startswith("E "))


@pytest.mark.parametrize("host", ["0.0.0.0", socket.gethostname()])
def test_this_machine_by_another_name(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, phone: AdbTransport, host: str
) -> None:
    """A phone has one holder, whatever the host of its adb server is called."""
    pytester.makepyfile(USES_DEVICE)
    adb = f"{host}:{simulator.adb_port}"

    with take(open_leases(run_id="nightly"), f"127.0.0.1/{phone.serial}"):
        result = run_plain("--claw-device", phone.serial, "--claw-adb", adb)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *DEVICE_LEASED: the device is held by *run nightly)*"])


def test_a_device_that_is_leased_in_redis_is_lent_to_a_script(
    pytester: pytest.Pytester, run: Run, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its host program asks the same Redis whether the run still has the device."""
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY", raising=False)
    monkeypatch.delenv("CLAWPERATOR_BIN", raising=False)
    registry = make_repository(pytester.path)
    add_skill(registry, "com.a.home", script='"$CLAWPERATOR_BIN" press home --device "$1"')
    pytester.makepyfile(
        """
        def test_it(clawperator):
            assert "press_key" in clawperator.run_skill("com.a.home").output
        """
    )

    result = run("--claw-lease", f"redis://127.0.0.1:{redis.port}/0")

    result.assert_outcomes(passed=1)
