"""The devices that a run leases: where leases are kept, how long it waits, spare devices."""

from __future__ import annotations

import os
import re
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
from pytest_clawperator.plugin import leasing
from pytest_clawperator.plugin.leasing import ReservedLeases
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.leases import take
from tests.doubles.redis_server import RedisServer
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.doubles.skill_repository import add_skill, make_repository
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator):\n    clawperator.home()\ndef test_plain(): pass\n"


@pytest.fixture(autouse=True)
def no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs in this process not wait for a Redis that has just started."""
    monkeypatch.setitem(RedisLeases.__init__.__kwdefaults__ or {}, "settle", 0.0)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Start a Redis for the tests of this file."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def mine(tmp_path: Path) -> ReservedLeases:
    """Return the leases of a run."""
    return ReservedLeases(FileLeases(run_id="mine", folder=tmp_path))


@pytest.fixture
def other(tmp_path: Path) -> FileLeases:
    """Return the leases of another run."""
    return FileLeases(run_id="other", folder=tmp_path)


@pytest.fixture
def colleague(simulator: Simulator) -> Iterator[Hold]:
    """Have another run hold the first phone."""
    with take(open_leases(run_id="nightly"), f"127.0.0.1/{simulator.serials[0]}") as hold:
        yield hold


def test_a_reserved_lease_is_taken_without_a_gap(
    mine: ReservedLeases, other: FileLeases, tmp_path: Path
) -> None:
    """Others see it as held all the time, the run itself as one that it can take."""
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


def test_reserved_leases_that_were_not_taken_are_released_at_the_end(
    mine: ReservedLeases, other: FileLeases, tmp_path: Path
) -> None:
    """A device that another run has cannot be reserved."""
    reserved = mine.reserve("phone")
    refused = ReservedLeases(other).reserve("phone")
    mine.close()

    assert reserved is not None
    assert refused is None
    assert list(tmp_path.iterdir()) == []


def test_a_lease_that_was_released_is_not_released_again(
    mine: ReservedLeases, other: FileLeases, tmp_path: Path
) -> None:
    """The second emulator on a port keeps its lease when the first is given up once more."""
    first = mine.reserve("phone")
    assert first is not None
    first()
    second = mine.reserve("phone")
    first()

    assert second is not None
    assert other.holder("phone") is not None
    second()
    assert list(tmp_path.iterdir()) == []


@contextmanager
def leased(bench: SdkBench, serial: str) -> Iterator[None]:
    """Lease an emulator as a run does that uses what is connected."""
    key = emulator_key(serial, AdbServer("127.0.0.1", bench.sdk.adb_port))
    with take(FileLeases(run_id="another"), key) as hold:
        yield
        hold.check()


def test_an_emulator_that_another_run_leased_is_not_used(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """This run gets another one, and an error for one that it names."""
    pytester.makepyfile("def test_it(clawperator): print(clawperator.serial)")
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
    """Until after its end."""
    pytester.makepyfile(USES_DEVICE)
    start, end, seen = Boot.start, Ending.end, list[bool]()

    def check(port: int | None) -> None:
        key = emulator_key(f"emulator-{port}", AdbServer("127.0.0.1", bench.sdk.adb_port))
        seen.append(FileLeases(run_id="other").holder(key) is not None)

    def starting(self: Boot, options: StartOptions, **rest: Any) -> None:
        check(options.port)
        start(self, options, **rest)

    def ending(self: Ending, claim: AvdClaim, traces: Traces) -> None:
        end(self, claim, traces)
        check(traces.port)

    monkeypatch.setattr(Boot, "start", starting)
    monkeypatch.setattr(Ending, "end", ending)
    result = run_emulators("-s", "--claw-device", "emulator")

    result.assert_outcomes(passed=2)
    assert seen == [True, True]


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


def test_the_holder_of_a_device_in_redis_is_named(
    pytester: pytest.Pytester, run: Run, redis: RedisServer, phone: AdbTransport
) -> None:
    """Once it is free, it can be used, and is free again after the run."""
    pytester.makepyfile(USES_DEVICE)
    leases, key = open_leases(redis.url, run_id="rack 2"), f"127.0.0.1/{phone.serial}"

    with take(leases, key):
        refused = run("--claw-lease", redis.url)
    taken = run("--claw-lease", redis.url)
    with take(leases, key) as free:
        pass
    leases.close()

    refused.assert_outcomes(errors=1, passed=1)
    refused.stdout.fnmatch_lines(
        [f"E *DEVICE_LEASED: the device is held by *(process {os.getpid()} on *, run rack 2)*"]
    )
    taken.assert_outcomes(passed=2)
    assert free.holder.run_id == "rack 2"


def test_a_redis_that_cannot_be_reached_is_an_error(pytester: pytest.Pytester, run: Run) -> None:
    """Without its password."""
    pytester.makepyfile(USES_DEVICE)

    result = run("--claw-lease", "redis://:secret@127.0.0.1:1/0")

    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["E *LeaseError: *127.0.0.1:1*", "*hint: *"])
    assert "secret" not in "".join(line for line in result.outlines if line.startswith("E "))


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

    result = run("--claw-lease", redis.url)

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("host", ["0.0.0.0", socket.gethostname()])
@pytest.mark.usefixtures("colleague")
def test_this_machine_by_another_name(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, phone: AdbTransport, host: str
) -> None:
    """A phone has one holder, whatever the host of its adb server is called."""
    pytester.makepyfile(USES_DEVICE)

    result = run_plain("--claw-device", phone.serial, f"--claw-adb={host}:{simulator.adb_port}")

    result.stdout.fnmatch_lines(["E *DEVICE_LEASED: the device is held by *run nightly)*"])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "the device is held by"),
        (["--claw-lease-timeout", "0.02"], "after 0.02 s of waiting the device is still held by"),
    ],
)
@pytest.mark.usefixtures("colleague")
def test_tests_that_need_a_held_device_name_its_holder(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport, options: list[str], reason: str
) -> None:
    """Immediately, or after waiting."""
    pytester.makepyfile(USES_DEVICE)

    result = run(*options)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E *LeaseError: [[]{phone.serial}[]] DEVICE_LEASED: {reason} *"
            f" (process {os.getpid()} on *, run nightly) since *",
            "*hint: Wait for it with --claw-lease-timeout SECONDS, choose another device, or end"
            " that process.",
        ]
    )


def test_the_run_continues_when_the_device_is_free(
    pytester: pytest.Pytester,
    run: Run,
    colleague: Hold,
    phone: AdbTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until then it names the holder that it waits for."""
    pytester.makepyfile(USES_DEVICE)
    defaults = take_each.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "pause", lambda seconds: colleague.release())

    result = run("--claw-lease-timeout", "30")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: waiting for {phone.serial}, held by * (process {os.getpid()} on *, run"
            " nightly) since *; 30 s left",
            "clawperator: 127.0.0.1:* (Google Pixel *, API 36), *",
        ]
    )


def test_a_run_that_waits_for_devices_also_waits_for_the_store(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may just have been restarted."""
    pytester.makepyfile(USES_DEVICE)
    waits: list[float] = []
    monkeypatch.setattr(leasing, "await_store", lambda *_, wait, notify: waits.append(wait))

    run()
    run("--claw-lease-timeout", "30")

    assert waits == [30.0]


@pytest.mark.usefixtures("colleague")
def test_a_free_device_is_taken_if_any_will_do(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """The other one is not mentioned."""
    pytester.makepyfile(USES_DEVICE)

    result = run_plain("--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=2)
    assert re.findall(r"clawperator: (\S+) \(", result.stdout.str()) == [simulator.serials[1]]


@pytest.mark.parametrize("spare", [1, 2])
def test_spare_devices_are_for_tests_with_several(
    pytester: pytest.Pytester, run_plain: Run, adb: str, spare: int
) -> None:
    """More than there are besides the test's own is an error."""
    pytester.makepyfile("def test_it(clawperator_devices): assert len(clawperator_devices(2)) == 2")
    pytester.makeini(f"[pytest]\nclaw_spare_devices = {spare}\n")

    result = run_plain("--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(**{"passed" if spare == 1 else "errors": 1})
    if spare == 2:
        result.stdout.fnmatch_lines(
            [
                "E *NO_DEVICES: 1 worker needs 1 device, and 2 more as spare devices, but there are"
                " 2: *",
                "*hint: Lower --claw-spare-devices, connect more devices, or use simulated *",
            ]
        )
