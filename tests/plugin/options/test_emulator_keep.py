"""``--claw-emulator-keep``: emulators that go on when the run is over."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run


@pytest.mark.parametrize(
    ("option", "ini"), [("--claw-emulator-keep", ""), ("-v", "claw_emulator_keep = true")]
)
def test_a_kept_one_is_used_by_the_next_run(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench, option: str, ini: str
) -> None:
    """The option and its ini twin leave the emulator running; the next run starts none."""
    pytester.makepyfile("def test_it(clawperator): pass")
    pytester.makeini(f"[pytest]\n{ini}\n")

    first = run_emulators("--claw-device", "emulator", option)
    kept = bench.running()
    second = run_emulators("--claw-device", "emulator")

    first.assert_outcomes(passed=1)
    second.assert_outcomes(passed=1)
    assert len(kept) == 1
    assert bench.running() == kept
    assert ": created with" not in second.stdout.str()
