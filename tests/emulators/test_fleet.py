"""The emulators of a run, with the processes of a simulated SDK and the real adb."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.emulators import fleet
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import AdbHost, BootLimits, StartOptions, console_port
from pytest_clawperator.emulators.claims import AvdClaim, AvdClaims, Traces
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator
from pytest_clawperator.emulators.fleet import (
    EmulatorFleet,
    EmulatorFleetOptions,
    belongs_to,
    boots_at_once,
    check_memory,
    end_process,
    is_headless,
    most_emulators,
    read_pid,
)
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import EmulatorError, ErrorCode
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_bench import DEADLINE, PROFILE, SdkBench

OTHER = replace(PROFILE, device="pixel_tablet")

LIMITS = BootLimits(registration=DEADLINE, boot=DEADLINE, poll=0.02)


# A run that is killed: it provisions one emulator and prints its progress. At a given line it
# goes no further.
RUN = """
import sys
from pytest_clawperator.emulators.boot import BootLimits
from pytest_clawperator.emulators.avd import parse_profile
from pytest_clawperator.emulators.fleet import EmulatorFleet, EmulatorFleetOptions
from pytest_clawperator.emulators.boot import AdbHost
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.transport.wire import AdbServer

def notify(text):
    print(text, flush=True)
    if sys.argv[3] and sys.argv[3] in text:
        sys.stdin.read()

host = AdbHost(AdbServer("127.0.0.1", int(sys.argv[1])))
fleet = EmulatorFleet(
    host, sdk=Sdk(), options=EmulatorFleetOptions(limits=BootLimits(poll=0.02)), notify=notify
)
try:
    (found,) = fleet.provision([parse_profile(sys.argv[2])])
    notify(f"provisioned {found.serial}")
    sys.stdin.read()
finally:
    fleet.close()
"""

WANTED = "api=34,abi=x86_64,image=google_apis,device=pixel_7"


@contextmanager
def fleet_of(bench: SdkBench, **options: object) -> Iterator[EmulatorFleet]:
    """Give a fleet, and close it."""
    given = {name: options.pop(name) for name in ("notify", "take") if name in options}
    values: dict[str, object] = {"boots": 4, "limits": LIMITS, **options}
    fleet = EmulatorFleet(
        AdbHost(AdbServer("127.0.0.1", bench.sdk.adb_port)),
        sdk=Sdk(bench.sdk.environment),
        options=EmulatorFleetOptions(**values),  # type: ignore[arg-type]  # named by the caller
        **given,  # type: ignore[arg-type]  # named by the caller
    )
    try:
        yield fleet
    finally:
        fleet.close()


def free() -> None:
    """Release a port."""


def ready(found: ProvisionedEmulator | EmulatorError) -> ProvisionedEmulator:
    """Return an emulator that is ready."""
    assert isinstance(found, ProvisionedEmulator), str(found)
    return found


def start_run(bench: SdkBench, stops_at: str) -> subprocess.Popen[str]:
    """Start another run, which wants an emulator of the usual profile."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(bench.sdk.adb_port), WANTED, stops_at],
        env=bench.sdk.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@contextmanager
def other_run(
    bench: SdkBench, until: str, *, stops: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Start another run, and wait until it prints something."""
    with start_run(bench, until if stops else "") as process:
        assert process.stdout is not None
        heard = any(until in line for line in iter(process.stdout.readline, ""))
        assert heard, f"it never printed {until!r}"
        yield process
        process.kill()


class TestProvision:
    """The emulators that a run gets."""

    def test_several_are_made_side_by_side_and_removed(self, bench: SdkBench) -> None:
        """Each profile has its emulator, two that are alike have two; nothing is left of them."""
        with fleet_of(bench) as fleet:
            found = [ready(one) for one in fleet.provision([PROFILE, OTHER, PROFILE])]
            names = bench.avds()
            booted = [bench.has_booted(one.serial) for one in found]

        assert [one.created for one in found] == booted == [True] * 3
        assert sorted(one.avd_name for one in found) == names
        assert len({one.serial for one in found}) == 3
        assert found[2].avd_name == f"{found[0].avd_name}-2"
        assert (bench.running(), bench.avds()) == ([], [])

    def test_one_is_created_while_another_boots(self, bench: SdkBench) -> None:
        """A download takes minutes and needs no core, so it does not wait for a boot to end."""
        bench.create("mine")
        created, known = threading.Event(), threading.Event()

        def notify(text: str) -> None:
            if "created with" in text:
                created.set()
            if "emulator mine: known to adb" in text and created.wait(DEADLINE):
                known.set()

        with fleet_of(bench, boots=1, notify=notify) as fleet:
            found = fleet.provision([PROFILE, replace(PROFILE, api=33)])

        assert [ready(one).created for one in found] == [False, True]
        assert known.is_set()

    def test_kept_ones_are_found_by_the_next_run(self, bench: SdkBench) -> None:
        """With ``keep`` an emulator goes on, and the next run uses it and leaves it running."""
        with fleet_of(bench, keep=True) as fleet:
            made = ready(fleet.provision([PROFILE])[0])
        with fleet_of(bench) as fleet:
            again = ready(fleet.provision([PROFILE])[0])

        assert made.created
        assert (again.serial, again.started, again.reused) == (made.serial, False, True)
        assert (len(bench.running()), bench.avds()) == (1, [made.avd_name])

    @pytest.mark.parametrize("keep", [False, True])
    def test_a_stopped_one_is_started_and_stopped_again(self, bench: SdkBench, keep: bool) -> None:
        """Only its own files are left afterwards; with ``keep`` it runs on and writes its log."""
        bench.create("mine")

        with fleet_of(bench, keep=keep) as fleet:
            found = ready(fleet.provision([PROFILE])[0])

        assert (found.avd_name, found.started, found.created) == ("mine", True, False)
        assert len(bench.running()) == keep
        assert sorted(path.name for path in bench.home.iterdir()) == ["mine.avd", "mine.ini"]
        assert len([*(bench.home / "mine.avd").glob("clawperator*")]) == keep

    def test_a_failed_boot_is_a_result_and_ends_its_process(self, bench: SdkBench) -> None:
        """An emulator that never boots is ended before the run continues, also with ``keep``."""
        bench.behave(never="boots")
        limits = BootLimits(registration=DEADLINE, boot=0.3, poll=0.02)

        with fleet_of(bench, keep=True, limits=limits) as fleet:
            (failed,) = fleet.provision([PROFILE])
            left = bench.running(), bench.avds()

        assert isinstance(failed, EmulatorError)
        assert failed.code == ErrorCode.EMULATOR_BOOT_TIMEOUT
        assert left == ([], [])

    def test_one_that_another_run_has_is_not_given(self, bench: SdkBench) -> None:
        """One asked for by name is refused; otherwise the second run gets one of its own."""
        bench.create("mine")
        with fleet_of(bench) as first, fleet_of(bench) as second, fleet_of(bench) as third:
            mine = ready(first.provision([PROFILE])[0])
            other = ready(second.provision([PROFILE])[0])
            with pytest.raises(EmulatorError, match="is used by another run") as refused:
                third.provision([replace(PROFILE, name="mine")])

        assert mine.avd_name == "mine"
        assert other.created
        assert refused.value.code == ErrorCode.EMULATOR_ALREADY_RUNNING

    def test_one_that_ended_meanwhile_is_not_given(
        self, bench: SdkBench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What another run had and removed before it could be claimed is made again."""
        with fleet_of(bench) as first, fleet_of(bench) as second:
            first.provision([PROFILE])
            take = second._claim

            def take_late(name: str) -> AvdClaim | None:
                first.close()
                return take(name)

            monkeypatch.setattr(second, "_claim", take_late)
            found = ready(second.provision([PROFILE])[0])

        assert found.created

    def test_too_little_memory_is_an_error_before_anything_starts(
        self, bench: SdkBench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The error states what is needed; nothing was made."""
        monkeypatch.setattr(fleet, "free_memory", lambda: 3000)

        with fleet_of(bench) as made, pytest.raises(EmulatorError, match="need about 5120 MB"):
            made.provision([PROFILE, OTHER])

        assert (bench.running(), bench.avds()) == ([], [])


class TestOtherPrograms:
    """Emulators that others have leased without claiming them."""

    def test_one_that_is_leased_is_not_chosen(self, bench: SdkBench) -> None:
        """Another one is made; one asked for by name is refused."""
        bench.create("mine")
        serial = bench.boot("mine")
        taken: list[str] = []

        def take(asked: str) -> Callable[[], None] | None:
            return None if asked == serial else partial(taken.append, asked)

        with fleet_of(bench, take=take) as fleet:
            found = ready(fleet.provision([PROFILE])[0])
        with fleet_of(bench, take=take) as fleet, pytest.raises(EmulatorError, match="is used by"):
            fleet.provision([replace(PROFILE, name="mine")])

        assert found.created
        assert set(taken) == {found.serial}
        assert (len(bench.running()), bench.avds()) == (1, ["mine"])


class TestPorts:
    """Ports that others take."""

    @pytest.mark.parametrize("stays", [True, False])
    def test_a_port_that_is_taken_meanwhile_is_not_the_end(
        self, bench: SdkBench, monkeypatch: pytest.MonkeyPatch, stays: bool
    ) -> None:
        """A program that reserves nothing may be quicker, be it only to see if a port is free."""
        start, said, taken = Emulators.start, list[str](), socket.socket()
        ports: list[int | None] = []

        def late(self: Emulators, name: str, options: StartOptions, **rest: Any) -> object:
            monkeypatch.setattr(Emulators, "start", start)
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", options.port or 0))
            taken.listen()
            ports.append(options.port)
            try:
                return start(self, name, options, **rest)
            finally:
                if not stays:
                    taken.close()

        monkeypatch.setattr(Emulators, "start", late)
        with taken, fleet_of(bench, notify=said.append) as fleet:
            found = ready(fleet.provision([PROFILE])[0])

        assert not stays or found.serial != f"emulator-{ports[0]}"
        assert any("another program took its port" in line for line in said)
        assert (bench.running(), bench.avds()) == ([], [])


class TestOtherRuns:
    """Runs at the same moment, and runs that were killed."""

    def test_two_at_the_same_moment_share_nothing(self, bench: SdkBench) -> None:
        """Each has emulators and ports of its own."""
        found: list[ProvisionedEmulator] = []
        begin, end = threading.Barrier(2), threading.Barrier(2)

        def run() -> None:
            with fleet_of(bench) as fleet:
                begin.wait(DEADLINE)
                found.extend(ready(one) for one in fleet.provision([PROFILE]))
                end.wait(DEADLINE)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len({one.avd_name for one in found}) == len({one.serial for one in found}) == 2
        assert (bench.running(), bench.avds()) == ([], [])

    @pytest.mark.parametrize("moment", ["created", "provisioned"])
    def test_a_run_ends_what_a_killed_one_left(self, bench: SdkBench, moment: str) -> None:
        """A run that does not need it ends it, but not while another program has leased it."""
        with other_run(bench, moment, stops=True) as killed:
            killed.kill()
            killed.wait(DEADLINE)
        running, serials, said = bench.running(), [*bench.devices()], list[str]()

        if running:
            with fleet_of(bench, take=lambda asked: None if asked in serials else free) as fleet:
                fleet.provision([])
        leased = bench.running()
        with fleet_of(bench, notify=said.append) as fleet:
            fleet.provision([])

        assert leased == running
        assert len(running) == (moment == "provisioned")
        assert (bench.running(), [*bench.home.iterdir()]) == ([], [])
        assert "ended, a run that was killed had left it" in said[0]

    def test_what_a_killed_run_left_on_a_port_of_this_run_is_ended(self, bench: SdkBench) -> None:
        """A tool of it that had just started is found at the end; the port is ours by then."""
        held: set[str] = set()

        def take(serial: str) -> Callable[[], None] | None:
            if serial in held:
                return None
            held.add(serial)
            return lambda: None  # the run has it until all is over

        claims = AvdClaims(bench.home / "clawperator-claims")
        with fleet_of(bench, take=take) as fleet:
            found = ready(fleet.provision([PROFILE])[0])
            killed = claims.take("left")
            assert killed is not None
            killed.write(Traces("left", created=True, port=console_port(found.serial)))
            killed._file.close()
            bench.create("left")

        assert (bench.running(), bench.avds()) == ([], [])

    def test_what_a_killed_run_left_running_is_taken_over(self, bench: SdkBench) -> None:
        """A run that wants such an emulator uses it, and ends it as its own."""
        with other_run(bench, "provisioned") as killed:
            before = bench.running()
            killed.kill()
            killed.wait(DEADLINE)

        with fleet_of(bench) as fleet:
            found = ready(fleet.provision([PROFILE])[0])
            now = bench.running()

        assert (now, found.started) == (before, False)
        assert (bench.running(), bench.avds()) == ([], [])

    def test_an_interrupted_run_ends_what_boots(self, bench: SdkBench) -> None:
        """An interrupt ends the wait for a boot, and the emulator."""
        bench.behave(never="boots")

        with other_run(bench, "known to adb") as interrupted:
            interrupted.send_signal(signal.SIGINT)
            interrupted.wait(DEADLINE)
            left = bench.running(), bench.avds()

        assert left == ([], [])


SMALL = EmulatorProfile(ram=1024)


@pytest.mark.parametrize(
    ("count", "available", "texts"),
    [
        (
            3,
            3500,
            [
                "3 emulators need about 4608 MB of memory, and 3500 MB are free",
                "Start at most 2, or give each less memory: ram=1024.",
            ],
        ),
        (
            1,
            1000,
            [
                "1 emulator needs about 1536 MB of memory, and 1000 MB are free",
                "End other programs, or give each less memory",
            ],
        ),
    ],
)
def test_too_little_memory_is_an_error(count: int, available: int, texts: list[str]) -> None:
    """It states what is needed, what there is, and how many fit."""
    with pytest.raises(EmulatorError) as raised:
        check_memory([SMALL] * count, available=available)

    assert all(text in str(raised.value) for text in texts)
    check_memory([SMALL] * 2, available=3072)
    check_memory([SMALL] * 9, available=None)  # unknown


@pytest.mark.parametrize(
    ("environment", "headless"),
    [({"CI": "true", "DISPLAY": ":0"}, True), ({"DISPLAY": ":0"}, False), ({}, True),
     ({"WAYLAND_DISPLAY": "wayland-0"}, False)],
)  # fmt: skip
def test_there_is_a_window_only_if_it_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], headless: bool
) -> None:
    """There is none in CI and without a display."""
    monkeypatch.setattr(sys, "platform", "linux")

    assert is_headless(environment) is headless


@pytest.mark.parametrize(
    ("cores", "memory", "boots", "most"),
    [(8, 100_000, 4, 4), (8, 3200, 4, 2), (1, 100_000, 1, 1), (8, 0, 4, 1), (None, None, 1, 1)],
)
def test_cores_and_memory_limit_how_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
    cores: int | None,
    memory: int | None,
    boots: int,
    most: int,
) -> None:
    """A boot keeps two cores busy; there is always one emulator."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(fleet, "free_memory", lambda: memory)

    assert (boots_at_once(), most_emulators(SMALL)) == (boots, most)


# A process that ends on request, or only when it is killed.
WAITS = "import sys; print(flush=True); sys.stdin.read()"

STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"


@pytest.fixture(params=[WAITS, STUBBORN])
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process with the command line of an emulator."""
    with subprocess.Popen(
        [sys.executable, "-c", request.param, "@mine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("words", "is_its"),
    [
        (["@mine"], True),
        (["create", "avd", "--name", "mine"], True),
        (["@mine2"], False),
        (["--name", "other", "mine"], False),
    ],
)
def test_a_process_is_known_by_its_command_line(words: list[str], is_its: bool) -> None:
    """Emulators and avdmanager name the virtual device, each in its own way."""
    command = [sys.executable, "-c", WAITS, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()  # at its very start a process has no command line yet
        found = belongs_to(started.pid, "mine")

    assert found is is_its


@pytest.mark.parametrize(
    ("text", "pid"), [("42\n", 42), ("", None), ("x", None), ("1", None), ("-5", None)]
)
def test_only_a_process_id_is_read(tmp_path: Path, text: str, pid: int | None) -> None:
    """Other content, or a missing file, names no process."""
    (tmp_path / "pid").write_text(text, encoding="ascii")

    assert read_pid(tmp_path / "pid") == pid
    assert read_pid(tmp_path / "none") is None


def test_only_the_emulators_own_process_is_ended(process: subprocess.Popen[bytes]) -> None:
    """Ids are reused, so another process is left alone; a deaf one is killed in the end."""
    ticks = iter(range(1000))

    def ask() -> bool:
        raise AssertionError("it was asked to end")

    end_process(process.pid, "min", ask=ask)
    lives = process.poll() is None and belongs_to(process.pid, "mine")
    end_process(process.pid, "mine", ask=lambda: False, clock=lambda: float(next(ticks)))

    assert lives
    assert not belongs_to(process.pid, "mine")
