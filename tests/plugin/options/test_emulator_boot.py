"""``--claw-emulator-boot``: whether emulators start cold or from a snapshot."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run


@pytest.mark.parametrize(("boot", "is_cold"), [("cold", True), ("snapshot", False)])
def test_it_decides_how_emulators_start(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench, boot: str, is_cold: bool
) -> None:
    """A cold start loads no snapshot, and saves none."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_emulators("--claw-device", "emulator", "--claw-emulator-boot", boot)

    result.assert_outcomes(passed=1)
    arguments = bench.sdk.calls("emulator")[-1].arguments
    assert ("-no-snapshot-load" in arguments) is is_cold
    assert ("-no-snapshot-save" in arguments) is is_cold
