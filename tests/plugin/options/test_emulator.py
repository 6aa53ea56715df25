"""``--claw-emulator``: what the emulators of a run are like."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run


@pytest.mark.parametrize("source", ["option", "ini"])
def test_the_option_and_its_ini_twin_say_what_they_are_like(
    pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench, source: str
) -> None:
    """The values reach the tools of the SDK."""
    pytester.makepyfile("def test_it(clawperator): pass")
    like = "api=34,abi=x86_64,image=google_apis,device=tablet,ram=1024,gpu=host"
    pytester.makeini(f"[pytest]\nclaw_emulator = {'api=30' if source == 'option' else like}\n")
    options = ("--claw-emulator", like) if source == "option" else ()

    result = run_on_sdk("--claw-device", "emulator", *options)

    result.assert_outcomes(passed=1)
    made, started = bench.sdk.calls("avdmanager")[-2], bench.sdk.calls("emulator")[-1]
    assert made.arguments[-1] == "pixel_tablet"
    assert " -memory 1024 -gpu host" in " ".join(started.arguments)


class TestName:
    """``name=``: the virtual device of the run."""

    LIKE = "api=34,abi=x86_64,image=google_apis"

    def test_a_named_one_is_created_and_others_get_numbers(
        self, pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench
    ) -> None:
        """Each virtual device has a name of its own, also where a matrix wants several."""
        pytester.makepyfile("def test_it(clawperator): pass")
        wanted = ("--claw-device", "emulator", "--claw-emulator", f"{self.LIKE},name=ci")

        pair = run_on_sdk(*wanted, "--claw-spare-devices", "1")
        classes = run_on_sdk(*wanted, "--claw-matrix", "form=phone,tablet")

        pair.assert_outcomes(passed=1)
        classes.assert_outcomes(passed=2)
        made = [
            one.arguments[4] for one in bench.sdk.calls("avdmanager") if "create" in one.arguments
        ]
        assert sorted(made[-4:-2]) == ["ci", "ci-2"]
        assert sorted(made[-2:]) == ["ci-phone", "ci-tablet"]

    def test_one_that_fits_is_used(
        self, pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench
    ) -> None:
        """It is started rather than another one that fits as well, and is there afterwards."""
        pytester.makepyfile("def test_it(clawperator): pass")
        bench.create("another")
        bench.create("mine")

        result = run_on_sdk("--claw-device=emulator", f"--claw-emulator={self.LIKE},name=mine")

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["clawperator: emulator mine: ready after * s"])
        assert bench.avds() == ["another", "mine"]

    def test_one_that_does_not_fit_is_neither_used_nor_replaced(
        self, pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench
    ) -> None:
        """What it has otherwise is told, and what to do."""
        pytester.makepyfile("def test_it(clawperator): pass")
        bench.create("mine", device="pixel_tablet")

        result = run_on_sdk("--claw-device=emulator", f"--claw-emulator={self.LIKE},name=mine")

        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(
            [
                "E *EMULATOR_UNSUPPORTED: existing AVD mine is unsupported and cannot be"
                " auto-provisioned: device is pixel_tablet and not pixel_7",
                "*hint: Delete it so that it is created again, or ask for what it is, or for *",
            ]
        )
        assert bench.avds() == ["mine"]
