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
# A Redis that has just started is left alone for a while; ours is known to nobody else.
AT_ONCE = """
from pytest_clawperator.devices.redis_lease import RedisLeases

RedisLeases.__init__.__kwdefaults__["settle"] = 0.0
"""


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
    pytester: pytest.Pytester, run_workers: Run, redis: RedisServer, adb: str
) -> None:
    """Workers use devices that their controller leased there, and nothing is left behind."""
    pytester.makeconftest(AT_ONCE)
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_clawperator.devices.lease import open_leases

        @pytest.mark.parametrize("number", range(4))
        def test_it(clawperator, number):
            clawperator.home()
            held = open_leases({redis.url!r}, run_id="looks").holder
            assert held("127.0.0.1/" + clawperator.serial).pid != 0
            # Nobody asks the files of this machine.
            with open_leases(run_id="files").try_take("127.0.0.1/" + clawperator.serial):
                pass
        """
    )
    pytester.makeini(f"[pytest]\nclaw_lease = {redis.url}\n")

    result = run_workers("-n", "2", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*= devices =*", "127.0.0.1:*  * passed", "127.0.0.1:*  * passed"])


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


def test_a_lost_lease_is_not_the_devices_fault(
    pytester: pytest.Pytester, run_workers: Run, redis: RedisServer, adb: str
) -> None:
    """A test whose run lost the device is an error at once: other devices are no better."""
    pytester.makeconftest(AT_ONCE)
    pytester.makepyfile(
        f"""
        import redis
        from pytest_clawperator.devices.holder import Holder

        def test_it(clawperator):
            with redis.Redis(port={redis.port}) as client:
                (name,) = client.keys(f"clawperator:lease:*/{{clawperator.serial}}")
                client.set(name, Holder.here("somebody").to_json())
            try:
                clawperator.home()
            finally:
                with redis.Redis(port={redis.port}) as client:
                    client.delete(name)
        """
    )

    result = run_workers(
        *("-n", "2", "--claw-device", "auto", "--claw-adb", adb, "--claw-lease", redis.url)
    )

    assert result.parseoutcomes() == {"errors": 1}
    result.stdout.fnmatch_lines(["*DEVICE_LEASED: the device is no longer leased by this run: *"])
    result.stdout.no_fnmatch_line("*flaky devices*")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://:abc/SECRET@127.0.0.1:6399/0", "its password must be encoded: write %2F *"),
        ("redis://127.0.0.1:6399/0?foo=SECRET", "foo is unknown; known: db. *"),
        ("redis://:SECRET@/0", "it names no host. *"),
    ],
)
def test_a_wrong_url(pytester: pytest.Pytester, run: Run, url: str, reason: str) -> None:
    """A url that cannot be meant ends the run before anything is asked for; passwords stay out."""
    pytester.makepyfile(USES_DEVICE)

    result = run(f"--claw-lease={url}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --claw-lease: * is not a place to keep leases: {reason}"])
    assert "SECRET" not in result.stderr.str()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("redis", "it begins with none of redis://, rediss://, unix://"),
        ("http://localhost", "it begins with none of redis://, rediss://, unix://"),
        ("/var/locks", "it begins with none of redis://, rediss://, unix://"),
        ("redis://", "it names no host"),
    ],
)
def test_an_impossible_place_for_leases_ends_the_run(
    pytester: pytest.Pytester, run: Run, text: str, reason: str
) -> None:
    """What is no place for leases ends the run, on the command line and in the ini file."""
    pytester.makepyfile(USES_DEVICE)
    said = (
        f"{text!r} is not a place to keep leases: {reason}. Allowed: redis://host:6379/0 (or"
        " rediss://, unix://), or nothing for lock files on this machine."
    )

    on_line = run(f"--claw-lease={text}")
    pytester.makeini(f"[pytest]\nclaw_lease = {text}\n")
    in_file = run()

    assert on_line.ret == in_file.ret == pytest.ExitCode.USAGE_ERROR
    on_line.stderr.fnmatch_lines([f"ERROR: --claw-lease: {said}"])
    in_file.stderr.fnmatch_lines([f"ERROR: the ini option claw_lease: {said}"])


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
