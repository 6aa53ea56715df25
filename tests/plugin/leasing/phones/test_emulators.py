"""``--claw-device emulator``: emulators that are started for a run, on a simulated SDK."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import IMAGE, SdkBench
from tests.plugin.conftest import Run

# Each test leaves its device, and the API level of it.
LEAVES_LINES = """
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(clawperator, clawperator_device, number):
    with Path(__file__).with_name("lines").open("a") as file:
        file.write(f"{clawperator.serial} {clawperator_device.api_level}\\n")
"""


def lines(pytester: pytest.Pytester) -> set[tuple[str, ...]]:
    """Read the device of each test, with its API level."""
    text = (pytester.path / "lines").read_text(encoding="utf-8")
    return {tuple(line.split()) for line in text.splitlines()}


def test_an_emulator_is_made_used_and_removed(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """One emulator is made for a run, its boot is told, and nothing is left of it."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_emulators("--claw-device", "emulator")

    result.assert_outcomes(passed=4)
    ((serial, level),) = lines(pytester)
    assert level == "34"
    result.stdout.fnmatch_lines(
        [
            "clawperator: emulator clawperator-api34-*: created with *",
            f"clawperator: emulator *: known to adb as {serial} after * s",
            "clawperator: emulator *: ready after * s",
        ]
    )
    assert (bench.avds(), bench.running()) == ([], [])


def test_each_worker_has_its_own(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Two workers have two emulators, which are started before the workers are."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_emulators("-n", "2", "--claw-device", "emulator:2", "--dist", "load")

    result.assert_outcomes(passed=4)
    assert len(lines(pytester)) == 2
    assert bench.avds() == []


def test_a_class_that_cannot_be_had_is_told_before_the_tests(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Other classes have their emulators, and the reason is given."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(images=(IMAGE,))

    result = run_emulators("--claw-device", "emulator", "--claw-matrix", "api=30,34")

    result.assert_outcomes(passed=4, skipped=4)
    assert {level for _, level in lines(pytester)} == {"34"}
    result.stdout.fnmatch_lines(
        ["*there is no emulator for api30: *Failed to find package*", "*test_*.py *"]
    )


def test_each_class_has_as_many_as_are_wanted(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """``per=2`` makes two emulators of a class, and as many workers."""
    pytester.makepyfile(LEAVES_LINES)
    wanted = ("--claw-device", "emulator", "--claw-matrix", "form=phone;per=2")

    result = run_emulators("-n", "auto", *wanted)

    result.assert_outcomes(passed=4)
    assert len(lines(pytester)) == 2
    assert bench.avds() == []


def test_the_named_one_is_used_as_it_is(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """A virtual device that is named is used whatever it is like, and there afterwards."""
    pytester.makepyfile(LEAVES_LINES)
    bench.create("mine", device="pixel_tablet")

    result = run_emulators("--claw-device", "emulator:mine")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["clawperator: emulator mine: ready after * s"])
    assert (bench.avds(), bench.running()) == (["mine"], [])


def test_none_can_be_had(pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench) -> None:
    """Where the only one does not start, the tests say why."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(failure="kvm_denied")

    result = run_emulators("--claw-device", "emulator")

    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        ["E *EMULATOR_START_FAILED: *; this user may not use /dev/kvm", "*hint: *"]
    )
    assert bench.avds() == []
    assert len([line for line in result.outlines if ": created with" in line]) == 1


def test_a_number_and_a_matrix_contradict_each_other(
    pytester: pytest.Pytester, run_emulators: Run
) -> None:
    """Both would say how many; what to write is told."""
    pytester.makepyfile(LEAVES_LINES)
    wanted = ("--claw-device", "emulator:2", "--claw-matrix", "api=34")

    result = run_emulators("-n", "1", *wanted)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*says how many emulators, and so does --claw-matrix: write *"])
