"""``--claw-emulator-boots``: how many emulators boot at the same time."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run


def test_one_at_a_time_is_ready_before_the_next_starts(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """With 1, an emulator starts when the one before is ready."""
    pytester.makepyfile("def test_it(clawperator): pass")
    bench.create("one")
    bench.create("two")

    result = run_emulators("--claw-device", "emulator:2", "--claw-emulator-boots", "1")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*emulator one: started *", "*emulator one: ready *", "*emulator two: started *"]
    )


@pytest.mark.parametrize("written", ["all", "0", "-1", "1.5"])
def test_what_is_no_number_of_boots_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, written: str
) -> None:
    """What is no number, or not even one boot, is refused with an example."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_plain("--claw-device", "emulator", f"--claw-emulator-boots={written}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --claw-emulator-boots: found '{written}', allowed is a number from 1 on, as in 2"]
    )
