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
