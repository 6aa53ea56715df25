"""Leases of emulators, taken before the run knows its devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.inventory import emulator_key
from pytest_clawperator.emulators.boot import Boot, StartOptions
from pytest_clawperator.emulators.claims import AvdClaim, Traces
from pytest_clawperator.emulators.fleet import Ending
from pytest_clawperator.plugin.leasing import ReservedLeases
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_bench import SdkBench
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
