"""The devices that a run leases: where leases are kept, how long it waits, spare devices."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.inventory import emulator_key
from pytest_clawperator.devices.lease import Hold, open_leases, take_each
from pytest_clawperator.devices.redis_lease import RedisLeases
from pytest_clawperator.emulators.boot import Boot, StartOptions
from pytest_clawperator.emulators.claims import AvdClaim, Traces
from pytest_clawperator.emulators.fleet import Ending
from pytest_clawperator.plugin.leasing import ReservedLeases
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.leases import take
from tests.doubles.redis_server import RedisServer
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.doubles.skill_repository import add_skill, make_repository
from tests.plugin.conftest import Run

USES = "def test_it(clawperator): print(clawperator.serial)"


@contextmanager
def leased(bench: SdkBench, serial: str) -> Iterator[None]:
    """Lease an emulator as a run does that uses what is connected."""
    key = emulator_key(serial, AdbServer("127.0.0.1", bench.sdk.adb_port))
    with FileLeases(run_id="another").try_take(key) as hold:  # type: ignore[union-attr]
        hold.check()
        yield
        hold.check()


def test_a_reserved_lease_is_taken_without_a_gap(tmp_path: Path) -> None:
    """Others see it as held all the time, the run itself as one that it can take."""
    mine = ReservedLeases(FileLeases(run_id="mine", folder=tmp_path))
    other = FileLeases(run_id="other", folder=tmp_path)

    release = mine.reserve("phone")
    before = mine.holder("phone"), other.try_take("phone"), other.holder("phone")
    hold = mine.try_take("phone")

    assert before[:2] == (None, None)
    assert before[2] is not None
    assert release is not None
    assert hold is not None
    release()
    hold.check()
    hold.release()
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_took_is_released_at_the_end(tmp_path: Path) -> None:
    """A device that somebody else has cannot be reserved; what was, is free afterwards."""
    mine = ReservedLeases(FileLeases(run_id="mine", folder=tmp_path))
    other = ReservedLeases(FileLeases(run_id="other", folder=tmp_path))

    reserved = mine.reserve("phone")
    refused = other.reserve("phone")
    mine.close()

    assert reserved is not None
    assert refused is None
    assert list(tmp_path.iterdir()) == []


def test_a_lease_that_was_released_is_not_released_again(tmp_path: Path) -> None:
    """The second emulator on a port keeps its lease when the first is given up once more."""
    mine = ReservedLeases(FileLeases(run_id="mine", folder=tmp_path))

    first = mine.reserve("phone")
    assert first is not None
    first()
    second = mine.reserve("phone")
    first()

    assert second is not None
    assert FileLeases(run_id="other", folder=tmp_path).holder("phone") is not None
    second()
    assert list(tmp_path.iterdir()) == []


def test_an_emulator_that_another_run_leased_is_not_used(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """A run that only took what is connected keeps it; this one gets another, and says so."""
    pytester.makepyfile(USES)
    bench.create("mine")
    serial = bench.boot("mine")

    with leased(bench, serial):
        result = run_emulators("-s", "--claw-device", "emulator")
        named = run_emulators("-s", "--claw-device", "emulator:mine")

    result.assert_outcomes(passed=1)
    assert serial not in result.stdout.str()
    named.assert_outcomes(errors=1)
    named.stdout.fnmatch_lines(["E *EMULATOR_ALREADY_RUNNING: emulator mine is used by another*"])
    assert (bench.avds(), len(bench.running())) == (["mine"], 1)


def test_an_emulator_of_a_run_is_leased_before_it_starts(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at what is connected finds its lease, from the start to the very end."""
    pytester.makepyfile(USES)
    start, end, seen = Boot.start, Ending.end, list[bool]()

    def look(port: int | None) -> None:
        key = emulator_key(f"emulator-{port}", AdbServer("127.0.0.1", bench.sdk.adb_port))
        seen.append(FileLeases(run_id="other").holder(key) is not None)

    def starting(self: Boot, options: StartOptions, **rest: Any) -> None:
        look(options.port)
        start(self, options, **rest)

    def ending(self: Ending, claim: AvdClaim, traces: Traces) -> None:
        end(self, claim, traces)
        look(traces.port)

    monkeypatch.setattr(Boot, "start", starting)
    monkeypatch.setattr(Ending, "end", ending)
    result = run_emulators("-s", "--claw-device", "emulator")

    result.assert_outcomes(passed=1)
    assert seen == [True, True]


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


TWO_TESTS = "def test_it(clawperator): pass\ndef test_plain(): pass\n"


@pytest.fixture
def colleague(simulator: Simulator) -> Iterator[Hold]:
    """Have somebody hold the first phone."""
    hold = open_leases(run_id="nightly").try_take(f"127.0.0.1/{simulator.serials[0]}")
    assert hold is not None
    with hold:
        yield hold


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "the device is held by"),
        (["--claw-lease-timeout", "0.2"], "after 0.2 s of waiting the device is still held by"),
    ],
)
def test_somebody_has_it(
    pytester: pytest.Pytester,
    run: Run,
    colleague: Hold,
    phone: AdbTransport,
    options: list[str],
    said: str,
) -> None:
    """The tests that need the device say who has it: at once, or after waiting."""
    pytester.makepyfile(TWO_TESTS)

    result = run(*options)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E *LeaseError: [[]{phone.serial}[]] DEVICE_LEASED: {said} *"
            f" (process {os.getpid()} on *, run nightly) since *",
            "*hint: Wait for it with --claw-lease-timeout SECONDS, choose another device, or end"
            " that process.",
        ]
    )


def test_it_is_given_back(
    pytester: pytest.Pytester,
    run: Run,
    colleague: Hold,
    phone: AdbTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is said who is waited for, and the run goes on as soon as that one is done."""
    pytester.makepyfile(TWO_TESTS)
    monkeypatch.setitem(
        take_each.__kwdefaults__ or {}, "pause", lambda seconds: colleague.release()
    )

    result = run("--claw-lease-timeout", "30")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: waiting for {phone.serial}, held by * (process {os.getpid()} on *, run"
            " nightly) since *; 30 s left",
            "clawperator: 127.0.0.1:* (Google Pixel *, API 36), *",
        ]
    )


def test_another_will_do(
    pytester: pytest.Pytester, run_plain: Run, colleague: Hold, simulator: Simulator, adb: str
) -> None:
    """Where any device will do, one that is free is taken."""
    pytester.makepyfile(TWO_TESTS)

    result = run_plain("--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"clawperator: {simulator.serials[1]} (Google Pixel *"])
    result.stdout.no_fnmatch_line(f"clawperator: {simulator.serials[0]} *")


TELLS_COUNT = """
def test_it(clawperator_devices):
    print("got", len(clawperator_devices(2)))
"""


@pytest.mark.parametrize(
    ("options", "ini"),
    [(["--claw-spare-devices", "1"], ""), ([], "claw_spare_devices = 1")],
)
def test_the_option_keeps_devices_from_workers(
    pytester: pytest.Pytester, run_plain: Run, adb: str, options: list[str], ini: str
) -> None:
    """The option and its ini twin keep devices for tests that want several."""
    pytester.makepyfile(TELLS_COUNT)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb, *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*got 2*"])


def test_more_spare_devices_than_there_are_is_an_error(
    pytester: pytest.Pytester, run_plain: Run, adb: str
) -> None:
    """More than there are besides the test's own is told with what is there."""
    pytester.makepyfile(TELLS_COUNT)

    result = run_plain("--claw-device", "auto", "--claw-adb", adb, "--claw-spare-devices", "2")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: 1 worker needs 1 device, and 2 more shall be spare, but there are 2: *",
            "*hint: Lower --claw-spare-devices, connect more devices, or use simulated phones: *",
        ]
    )
