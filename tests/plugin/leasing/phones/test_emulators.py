"""``--claw-device emulator``: emulators that are started for a run, on a simulated SDK."""

from __future__ import annotations

import platform
import zipfile

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


def test_an_emulator_that_ends_in_the_run_is_told(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """At its end the run tells which emulator died, and the last that it printed."""
    pytester.makepyfile(
        """
        import os
        import signal
        from pathlib import Path

        def test_it(clawperator):
            claims = Path(os.environ["ANDROID_AVD_HOME"], "clawperator-claims")
            (pid,) = [int(path.read_text()) for path in claims.glob("*.pid")]
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        """
    )

    result = run_emulators("--claw-device", "emulator")

    result.stdout.fnmatch_lines(
        [
            "*= devices =*",
            "[[]emulator-*] emulator clawperator-* ended while the run used it; its last line:"
            " *Boot completed*",
        ]
    )
    assert (bench.avds(), bench.running()) == ([], [])


@pytest.mark.parametrize(("workers", "said"), [((), "one process"), (("-n", "1"), "-n 1")])
def test_emulators_that_boot_for_nothing_are_told(
    workers: tuple[str, ...], said: str, pytester: pytest.Pytester, run_emulators: Run
) -> None:
    """A run that has fewer workers than emulators says how many it uses."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_emulators(*workers, "--claw-device", "emulator:2")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: --claw-device emulator:2 starts 2 emulators, and {said} uses 1 of them;"
            " all are used with -n 2"
        ]
    )


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_class_that_cannot_be_had_is_told_before_the_tests(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench, quiet: tuple[str, ...]
) -> None:
    """Other classes have their emulators, and the reason is given, also where the run is quiet."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(images=(IMAGE,))

    result = run_emulators(*quiet, "--claw-device", "emulator", "--claw-matrix", "api=30,34")

    result.assert_outcomes(passed=4, skipped=4)
    assert {level for _, level in lines(pytester)} == {"34"}
    result.stdout.fnmatch_lines(
        ["*there is no emulator for api30: *Failed to find package*", "*[[]100%[]]"]
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


def test_two_named_ones_are_used_together(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Each option names one emulator; together they are enough for a run that needs two."""
    pytester.makepyfile(LEAVES_LINES)
    bench.create("mine")
    bench.create("yours")

    result = run_emulators(
        *("--claw-device=emulator:mine", "--claw-device=emulator:yours", "--claw-spare-devices=1")
    )

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(
        [f"clawperator: emulator {name}: ready after * s" for name in ("mine", "yours")]
    )


def test_a_name_that_no_virtual_device_has_is_not_found(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Nothing is created; those that there are, the nearest, and the way to have one are told."""
    pytester.makepyfile(LEAVES_LINES)
    bench.create("pixel-tests")
    bench.create("other")

    result = run_emulators("--claw-device", "emulator:pixel-test")

    assert result.parseoutcomes() == {"errors": 1, "same": 3}
    result.stdout.fnmatch_lines(
        [
            "E *EMULATOR_NOT_FOUND: AVD pixel-test does not exist",
            "*hint: There are: other, pixel-tests. Did you mean pixel-tests? Else let the run"
            " create it: --claw-device emulator --claw-emulator name=pixel-test.",
        ]
    )
    assert bench.avds() == ["other", "pixel-tests"]


@pytest.mark.parametrize(
    ("like", "matrix", "is_told"),
    [
        ("api=34,image=google_apis", (), True),
        ("api=34,image=google_apis,abi=x86_64", (), False),
        ("api=34,image=google_apis", ("--claw-matrix=abi=x86_64",), False),
    ],
)
def test_the_processor_of_this_machine_is_told_unless_it_was_chosen(
    pytester: pytest.Pytester,
    run_on_sdk: Run,
    monkeypatch: pytest.MonkeyPatch,
    like: str,
    matrix: tuple[str, ...],
    is_told: bool,
) -> None:
    """On a machine that cannot run the documented one, the default is another."""
    pytester.makepyfile("def test_it(clawperator): pass")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")

    result = run_on_sdk("--claw-device", "emulator", "--claw-emulator", like, *matrix)

    result.assert_outcomes(passed=1)
    told = [line for line in result.outlines if "processor of this machine, x86_64, as" in line]
    assert bool(told) is is_told


def test_none_can_be_had(pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench) -> None:
    """Where the only one does not start, the tests say why."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(failure="kvm_denied")

    result = run_emulators("--claw-device", "emulator")

    assert result.parseoutcomes() == {"errors": 1, "same": 3}
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
    result.stderr.fnmatch_lines(["*sets the number of emulators, and so does --claw-matrix: *"])


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            ("--claw-device=emulator", "--claw-matrix=api=30,34,35"),
            "*--claw-matrix has 3 classes with devices, and 2 workers can have 2 of them: run with"
            " -n 3, which needs 3 devices",
        ),
        (
            ("--claw-device=emulator", "--claw-matrix=api=30,34;per=2"),
            "*--claw-matrix wants 4 devices, 2 of each class, and 2 workers can have 2 of them:*",
        ),
        (
            ("--claw-device=emulator:1", "--claw-spare-devices=1"),
            "*--claw-device emulator:1 is 1 emulator, and 3 are needed, one for each worker, 1 of"
            " them spare: run with fewer, or write --claw-device emulator, which starts as many *",
        ),
        (("--claw-device=emulator:mine",), "*emulator:mine is 1 emulator, and 2 are needed, *"),
    ],
)
def test_too_few_for_the_workers_is_told_before_a_boot(
    pytester: pytest.Pytester,
    run_emulators: Run,
    bench: SdkBench,
    wanted: tuple[str, ...],
    said: str,
) -> None:
    """Where workers and emulators cannot match, no tool of the SDK is even asked."""
    pytester.makepyfile(LEAVES_LINES)
    before = len(bench.sdk.calls())

    result = run_emulators("-n", "2", *wanted)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])
    assert len(bench.sdk.calls()) == before


def test_one_process_uses_one_emulator_of_each_class(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Without workers nobody shares a class: ``per=2`` makes no second one."""
    pytester.makepyfile(LEAVES_LINES)
    matrix = "--claw-matrix=form=phone,tablet;per=2"

    result = run_emulators("--claw-device", "emulator", matrix)

    result.assert_outcomes(passed=8)
    assert len([line for line in result.outlines if ": created with" in line]) == 2


def test_a_class_that_failed_is_told_once_and_the_others_run(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """The reason comes once before the tests, though two emulators of the class failed."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(emulators={"*tablet*": {"failure": "kvm_denied"}})
    matrix = "--claw-matrix=form=phone,tablet;per=2"

    result = run_emulators("-n", "auto", "--claw-device", "emulator", matrix)

    result.assert_outcomes(passed=4, skipped=4)
    told = [line for line in result.outlines if "for tablet: EMULATOR_START_FAILED" in line]
    assert len([line for line in told if line.startswith("clawperator: there is no ")]) == 1
    assert len(lines(pytester)) == 2


def test_a_class_that_lacks_one_is_told_and_runs(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """A class has the emulators that did start, and the reason for the other one is told."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(emulators={"*-2": {"failure": "no_space"}})

    result = run_emulators("-n", "2", "--claw-device", "emulator", "--claw-matrix=api=34;per=2")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["clawperator: 1 of 2 emulators are missing for api34: *; the disk is full"]
    )


def test_a_class_with_an_impossible_value_is_told(
    pytester: pytest.Pytester, run_emulators: Run
) -> None:
    """What no emulator can be like concerns its class alone."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_emulators("--claw-device", "emulator", "--claw-matrix=abi=mips,x86_64")

    result.assert_outcomes(passed=4, skipped=4)
    result.stdout.fnmatch_lines(
        ['*there is no emulator for mips: "mips" is not allowed as abi *. Allowed: one of *']
    )


def test_boots_are_told_while_workers_are_counted(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """With ``-n auto`` emulators boot before pytest's own first line, and are told at once."""
    pytester.makepyfile(LEAVES_LINES)
    bench.behave(failure="no_memory")

    result = run_emulators("-n", "auto", "--claw-device", "emulator:1")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "test session starts" not in result.stdout.str()
    result.stdout.fnmatch_lines(["clawperator: emulator *: started after 0 s"])
    result.stderr.fnmatch_lines(["*EMULATOR_START_FAILED: *; there is not enough memory"])


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "load")])
def test_the_operator_is_installed_and_granted_on_each(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench, workers: tuple[str, ...]
) -> None:
    """An emulator that was just made has no Operator: ``--claw-operator-apk`` installs it."""
    bench.behave(operator="absent")
    with zipfile.ZipFile(pytester.path / "operator.apk", "w") as archive:
        archive.writestr("AndroidManifest.xml", "\0".join([*"com.clawperator.operator", ""]))
    pytester.makepyfile(
        LEAVES_LINES + "    assert clawperator.home().success\n"
        "    services = 'settings get secure enabled_accessibility_services'\n"
        "    assert 'com.clawperator.operator/' in clawperator.device.shell(services).stdout\n"
    )

    result = run_emulators(*workers, "--claw-device=emulator", "--claw-operator-apk=operator.apk")

    result.assert_outcomes(passed=4)
    used = {serial for serial, _ in lines(pytester)}
    made = {line.split()[1] for line in result.outlines if ", no Operator, adb " in line}
    assert used == made
    assert len(used) == (2 if workers else 1)
