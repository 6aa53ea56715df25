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


def test_a_device_with_a_space_has_a_name_without(
    pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench
) -> None:
    """The SDK gets the device as it calls it, and a name for the virtual device as it allows."""
    pytester.makepyfile("def test_it(clawperator): pass")
    like = "api=34,abi=x86_64,image=google_apis,device=Nexus 5"

    result = run_on_sdk("--claw-device", "emulator", "--claw-emulator", like)

    result.assert_outcomes(passed=1)
    made = bench.sdk.calls("avdmanager")[-2].arguments
    assert made[-1] == "Nexus 5"
    assert made[4] == "clawperator-api34-google_apis-x86_64-Nexus-5"


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


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("device=../x", '"../x" is not allowed as device of an emulator. Allowed: up to 100 *'),
        ("as_it_is=1", 'unknown emulator property "as_it_is". *'),
        ("api=5", '"5" is not allowed as api of an emulator. Allowed: a whole number from 21 *'),
        ("apis=34", 'unknown emulator property "apis". * did you mean api=?*'),
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
