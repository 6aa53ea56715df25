"""The emulators of a run, with the processes of a simulated SDK and the real adb."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.emulators import fleet as fleet_module
from pytest_clawperator.emulators.boot import AdbHost, BootLimits, StartOptions
from pytest_clawperator.emulators.claims import AvdClaim
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator
from pytest_clawperator.emulators.fleet import EmulatorFleet, EmulatorFleetOptions
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import EmulatorError, ErrorCode
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_bench import DEADLINE, PROFILE, SdkBench

OTHER = replace(PROFILE, device="pixel_tablet")
LIMITS = BootLimits(registration=DEADLINE, boot=DEADLINE, poll=0.02)

# A run that is killed: it provisions one emulator, and says what is going on. At the moment that
# it is given it goes no further.
RUN = """
import sys
from pytest_clawperator.emulators.boot import BootLimits
from pytest_clawperator.emulators.avd import parse_profile
from pytest_clawperator.emulators.fleet import EmulatorFleet, EmulatorFleetOptions
from pytest_clawperator.emulators.boot import AdbHost
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.transport.wire import AdbServer

def say(text):
    print(text, flush=True)
    if sys.argv[3] and sys.argv[3] in text:
        sys.stdin.read()

host = AdbHost(AdbServer("127.0.0.1", int(sys.argv[1])))
fleet = EmulatorFleet(
    host, sdk=Sdk(), options=EmulatorFleetOptions(limits=BootLimits(poll=0.02)), say=say
)
try:
    (found,) = fleet.provision([parse_profile(sys.argv[2])])
    say(f"provisioned {found.serial}")
    sys.stdin.read()
finally:
    fleet.close()
"""
WANTED = "api=34,abi=x86_64,image=google_apis,device=pixel_7"


@contextmanager
def fleet_of(bench: SdkBench, **options: object) -> Iterator[EmulatorFleet]:
    """Give a fleet, and close it."""
    given = {name: options.pop(name) for name in ("say", "take") if name in options}
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
    """Release what nobody else wants."""


def ready(found: ProvisionedEmulator | EmulatorError) -> ProvisionedEmulator:
    """Return an emulator that there is."""
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
    """Start another run, and wait until it says something."""
    with start_run(bench, until if stops else "") as process:
        assert process.stdout is not None
        heard = any(until in line for line in iter(process.stdout.readline, ""))
        assert heard, f"it never said {until!r}"
        yield process
        process.kill()


class TestProvision:
    """What a run gets."""

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
        """A download takes minutes, and needs no core: no boot has to end before it begins."""
        bench.create("mine")
        created, known = threading.Event(), threading.Event()

        def say(text: str) -> None:
            if "created with" in text:
                created.set()
            if "emulator mine: known to adb" in text and created.wait(DEADLINE):
                known.set()

        with fleet_of(bench, boots=1, say=say) as fleet:
            found = fleet.provision([PROFILE, replace(PROFILE, api=33)])

        assert [ready(one).created for one in found] == [False, True]
        assert known.is_set()

    def test_a_running_one_is_used_and_left_running(self, bench: SdkBench) -> None:
        """What was found running goes on when the run is over."""
        bench.create("mine")
        serial = bench.boot("mine")

        with fleet_of(bench) as fleet:
            found = ready(fleet.provision([PROFILE])[0])

        assert (found.serial, found.started, found.reused) == (serial, False, True)
        assert (len(bench.running()), bench.avds()) == (1, ["mine"])

    def test_a_stopped_one_is_started_and_stopped_again(self, bench: SdkBench) -> None:
        """A virtual device that was there before is there afterwards."""
        bench.create("mine")

        with fleet_of(bench) as fleet:
            found = ready(fleet.provision([PROFILE])[0])

        assert (found.avd_name, found.started, found.created) == ("mine", True, False)
        assert (bench.running(), bench.avds()) == ([], ["mine"])

    def test_kept_ones_are_found_by_the_next_run(self, bench: SdkBench) -> None:
        """With ``keep`` an emulator goes on, and the next run uses it and leaves it running."""
        with fleet_of(bench, keep=True) as fleet:
            made = ready(fleet.provision([PROFILE])[0])
        with fleet_of(bench) as fleet:
            again = ready(fleet.provision([PROFILE])[0])

        assert made.created
        assert (again.serial, again.reused) == (made.serial, True)
        assert (len(bench.running()), bench.avds()) == (1, [made.avd_name])

    @pytest.mark.parametrize("keep", [False, True])
    def test_a_failed_boot_is_a_result_and_ends_its_process(
        self, bench: SdkBench, keep: bool
    ) -> None:
        """Others are ready all the same; what never boots is ended before the run goes on."""
        bench.behave(never="boots")
        limits = BootLimits(registration=DEADLINE, boot=0.3, poll=0.02)

        with fleet_of(bench, keep=keep, limits=limits) as fleet:
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
        """What another run had and removed before it could be claimed is made anew."""
        with fleet_of(bench) as first, fleet_of(bench) as second:
            first.provision([PROFILE])
            take = second._claim

            def take_late(name: str) -> AvdClaim | None:
                first.close()
                return take(name)

            monkeypatch.setattr(second, "_claim", take_late)
            found = ready(second.provision([PROFILE])[0])

        assert found.created

    def test_too_little_memory_is_told_before_anything_starts(
        self, bench: SdkBench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The error says what is needed; nothing was made."""
        monkeypatch.setattr(fleet_module, "free_memory", lambda: 3000)

        with fleet_of(bench) as fleet, pytest.raises(EmulatorError, match="need about 5120 MB"):
            fleet.provision([PROFILE, OTHER])

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

    def test_what_a_killed_run_left_is_not_ended_while_it_is_leased(self, bench: SdkBench) -> None:
        """A run may use it that took what is connected; the next one ends it."""
        with other_run(bench, "provisioned") as killed:
            killed.kill()
            killed.wait(DEADLINE)
        (left,) = bench.running()
        (serial,) = bench.devices()

        with fleet_of(bench, take=lambda asked: None if asked == serial else free) as fleet:
            ready(fleet.provision([PROFILE])[0])
        then = bench.running()
        with fleet_of(bench) as fleet:
            fleet.provision([])

        assert then == [left]
        assert (bench.running(), [*bench.home.iterdir()]) == ([], [])


class TestFiles:
    """What is left on the disk."""

    @pytest.mark.parametrize("keep", [False, True])
    def test_nothing_is_left_but_the_virtual_device(self, bench: SdkBench, keep: bool) -> None:
        """No claim, no process id; a log only of an emulator that goes on and writes it."""
        bench.create("mine")

        with fleet_of(bench, keep=keep) as fleet:
            fleet.provision([PROFILE])

        assert sorted(path.name for path in bench.home.iterdir()) == ["mine.avd", "mine.ini"]
        assert len([*(bench.home / "mine.avd").glob("clawperator*")]) == keep


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
        with taken, fleet_of(bench, say=said.append) as fleet:
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
                found.extend(ready(one) for one in fleet.provision([PROFILE, OTHER]))
                end.wait(DEADLINE)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len({one.avd_name for one in found}) == len({one.serial for one in found}) == 4
        assert (bench.running(), bench.avds()) == ([], [])

    @pytest.mark.parametrize("moment", ["created", "provisioned"])
    def test_what_a_killed_run_left_is_ended(self, bench: SdkBench, moment: str) -> None:
        """A run that has no use for it ends it, and removes the virtual device."""
        with other_run(bench, moment, stops=True) as killed:
            killed.kill()
            killed.wait(DEADLINE)
        said: list[str] = []

        with fleet_of(bench, say=said.append) as fleet:
            found = ready(fleet.provision([OTHER])[0])
            left = bench.avds()

        assert left == [found.avd_name]
        assert (bench.running(), bench.avds()) == ([], [])
        assert "ended, a run that was killed had left it" in said[0]

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
