"""``--claw-emulator``: what the emulators of a run are like."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run


def test_the_ini_twin_says_what_they_are_like(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """The values of an option or its ini twin reach the tools of the SDK."""
    pytester.makepyfile("def test_it(clawperator): pass")
    like = "api=34,abi=x86_64,image=google_apis,device=tablet,ram=1024,gpu=host"

    result = run_emulators("--claw-device", "emulator", "--claw-emulator", like)

    result.assert_outcomes(passed=1)
    made, started = bench.sdk.calls("avdmanager")[-2], bench.sdk.calls("emulator")[-1]
    assert made.arguments[-1] == "pixel_tablet"
    assert " -memory 1024 -gpu host" in " ".join(started.arguments)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("api=5", '"5" is not allowed as api of an emulator. Allowed: a whole number from 21 *'),
        ("apis=34", '"apis" is not allowed as a name of an emulator. * did you mean api=?*'),
        ("api=34,api=35", '"api=34,api=35" names api twice. Name each value once.'),
        ("abi=mips", '"mips" is not allowed as abi of an emulator. Allowed: one of arm64-v8a, *'),
    ],
)
def test_what_no_emulator_is_like_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, written: str, said: str
) -> None:
    """An impossible value ends the run before anything starts, with what is allowed."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_plain("--claw-device", "emulator", "--claw-emulator", written)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--claw-emulator: {said}"])


@pytest.mark.parametrize(
    "option",
    [
        "--claw-emulator=api=34",
        "--claw-emulator-boot=snapshot",
        "--claw-emulator-boots=2",
        "--claw-emulator-keep",
    ],
)
def test_an_option_without_emulators_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, option: str
) -> None:
    """A run that starts no emulators refuses what is said of them."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_plain("--claw-device", "sim", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--claw-emulator* has no effect: this run starts no emulators;*"])
