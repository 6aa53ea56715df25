"""The phones that a run starts and ends: simulated ones, and emulators."""

from __future__ import annotations

import platform
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from typing import Any

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.simulator.apps.load  # noqa: F401
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.emulators import ProvisionedEmulator
from pytest_clawperator.errors import EmulatorError, ErrorCode
from pytest_clawperator.plugin import phones
from pytest_clawperator.simulator import Simulator
from tests.doubles.controller import Controller
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import Run

NO_EVIDENCE = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
LIKE = "--claw-emulator=api=34,abi=x86_64,image=google_apis"
USES = "def test_it(clawperator): print('on', clawperator.serial)"
Control = Callable[..., Controller]


class FleetDouble:
    """Stands in for the emulators of a run: they are phones of the simulator."""

    def __init__(self, serials: Sequence[str]) -> None:
        self.serials = list(serials)
        self.failing = "none"  # a pattern of names and devices
        self.made: list[EmulatorProfile] = []
        self.options: Any = None

    def __call__(self, host: object, *, options: object, **rest: object) -> FleetDouble:
        """Be made, as the real one."""
        self.options = options
        return self

    def provision(
        self, profiles: Sequence[EmulatorProfile]
    ) -> list[ProvisionedEmulator | EmulatorError]:
        """Return a phone for each profile, or an error."""
        first = len(self.made)
        self.made += profiles
        return [self._result(profile, place) for place, profile in enumerate(profiles, first)]

    def _result(self, profile: EmulatorProfile, place: int) -> ProvisionedEmulator | EmulatorError:
        if fnmatch(f"{place} {profile.api} {profile.device}", self.failing):
            return EmulatorError("the disk is full", code=ErrorCode.EMULATOR_START_FAILED)
        serial = self.serials[place % len(self.serials)]
        return ProvisionedEmulator(serial, serial, created=True, started=True, reused=False)

    def lost(self) -> dict[str, str]:
        """Report that the first one ended."""
        return {self.serials[0]: "emulator one ended while the run used it"}

    def close(self) -> None:
        """End them."""


@pytest.fixture
def fleet(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> FleetDouble:
    """Have runs of this process use phones as emulators."""
    double = FleetDouble(simulator.serials)
    monkeypatch.setattr(phones, "EmulatorFleet", double)
    return double


@pytest.fixture
def emulated(pytester: pytest.Pytester, run_plain: Run, fleet: FleetDouble, adb: str) -> Run:
    """Return the function that runs a suite on these emulators."""
    pytester.makepyfile(test_it=USES)
    return lambda *options: run_plain(LIKE, "--claw-adb", adb, "-s", *NO_EVIDENCE, *options)


@pytest.mark.parametrize(
    ("options", "made"),
    [
        (["-n", "2", "--claw-device=emulator"], [(34, "pixel_7", None)] * 2),
        (["-n", "2", "--claw-device=emulator:2"], [(34, "pixel_7", None)] * 2),
        (["-n", "1", "--claw-device=emulator:mine"], [(34, "pixel_7", "mine")]),
        (
            ["-n", "1", "--claw-device=emulator", f"{LIKE},name=ci", "--claw-spare-devices=1"],
            [(34, "pixel_7", "ci"), (34, "pixel_7", "ci-2")],
        ),
        (
            ["-n", "2", "--claw-device=emulator", f"{LIKE},name=ci", "--claw-matrix=api=33,35"],
            [(33, "pixel_7", "ci-api33"), (35, "pixel_7", "ci-api35")],
        ),
        (
            ["-n", "2", "--claw-device=emulator", "--claw-matrix=form=phone;per=2"],
            [(34, "pixel_7", None)] * 2,
        ),
        (
            ["-n", "2", "--claw-device=emulator", f"{LIKE},device=Nexus 5"],
            [(34, "Nexus 5", None)] * 2,
        ),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_emulators_are_made_for_the_workers(
    pytester: pytest.Pytester,
    control: Control,
    fleet: FleetDouble,
    adb: str,
    options: list[str],
    made: list[object],
) -> None:
    """One each, and one of each class of a matrix, with names of their own."""
    pytester.makepyfile(USES)

    with suppress(pytest.UsageError):  # the phones are not what the matrix wants
        control(LIKE, "--claw-adb", adb, *options).start()

    assert [(one.api, one.device, one.name) for one in fleet.made] == made


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--claw-device=emulator", "--claw-matrix=api=30,34,35"],
            "--claw-matrix has 3 classes with devices, and 2 workers can have 2 of them: run with"
            " -n 3, which needs 3 devices",
        ),
        (
            ["--claw-device=emulator", "--claw-matrix=api=30,34;per=2"],
            "--claw-matrix wants 4 devices, 2 of each class, and 2 workers can have 2 of them:",
        ),
        (
            ["--claw-device=emulator:1", "--claw-spare-devices=1"],
            "--claw-device emulator:1 is 1 emulator, and 3 are needed, one for each worker, 1 of"
            " them spare: run with fewer, or write --claw-device emulator, which starts as many",
        ),
        (["--claw-device=emulator:mine"], "emulator:mine is 1 emulator, and 2 are needed, "),
        (
            ["--claw-device=emulator:2", "--claw-matrix=api=34"],
            "sets the number of emulators, and so does --claw-matrix: ",
        ),
    ],
)
def test_too_few_emulators_are_reported_before_a_boot(
    pytester: pytest.Pytester,
    control: Control,
    fleet: FleetDouble,
    options: list[str],
    message: str,
) -> None:
    """Nothing is asked of the SDK."""
    pytester.makepyfile(USES)

    with pytest.raises(pytest.UsageError) as refused:
        control("-n", "2", LIKE, *options).start()

    assert message in str(refused.value)
    assert fleet.made == []


@pytest.mark.parametrize(("failing", "count"), [("*", 1), ("1 *", 2)])
def test_a_failed_start_ends_the_run_once(
    pytester: pytest.Pytester,
    control: Control,
    fleet: FleetDouble,
    adb: str,
    failing: str,
    count: int,
) -> None:
    """``-n auto`` boots before pytest's first line, and another try would end the same."""
    pytester.makepyfile(USES)
    fleet.failing = failing

    with pytest.raises(pytest.UsageError, match="EMULATOR_START_FAILED: the disk is full"):
        control("-n", "auto", LIKE, f"--claw-device=emulator:{count}", "--claw-adb", adb)

    assert len(fleet.made) == count


@pytest.mark.parametrize(
    ("matrix", "failing", "outcomes", "message"),
    [
        ("form=phone,tablet", "*tablet", (1, 1), "there is no emulator for tablet: *disk is full"),
        (
            "abi=mips,x86_64",
            "none",
            None,
            'there is no emulator for mips: "mips" is not allowed as abi *. Allowed: one of *',
        ),
        ("emulator=true,false", "none", None, "there is no emulator for real: it wants real *"),
        ("model=Pixel 9,Pixel 8", "none", "error", "the model of an emulator cannot be chosen*"),
        (
            "api=<21,34",
            "none",
            None,
            "there is no emulator for *: there is no Android with *",
        ),
    ],
)
@pytest.mark.parametrize("quiet", [[], ["-q"]], ids=["", "quiet"])
def test_a_class_without_an_emulator_is_reported_before_the_tests(
    emulated: Run,
    fleet: FleetDouble,
    matrix: str,
    failing: str,
    outcomes: tuple[int, int] | str | None,
    message: str,
    quiet: list[str],
) -> None:
    """The other classes have theirs; also a quiet run says why."""
    fleet.failing = failing

    result = emulated("--claw-device", "emulator", f"--claw-matrix={matrix}", *quiet)

    result.stdout.fnmatch_lines([f"*{message}"])
    if isinstance(outcomes, tuple):
        result.assert_outcomes(passed=outcomes[0], skipped=outcomes[1])
        assert len(fleet.made) == 2


def test_a_class_that_lacks_an_emulator_runs_with_the_others(
    pytester: pytest.Pytester,
    control: Control,
    fleet: FleetDouble,
    adb: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The reason is shown once, and the worker without one runs tests that need none."""
    pytester.makepyfile(USES)
    fleet.failing = "1 *"
    options = ("--claw-device=emulator", "--claw-matrix=form=phone;per=2", "--claw-adb", adb)

    started = control("-n", "2", LIKE, *options).start()

    line = "clawperator: 1 of 2 emulators are missing for phone: EMULATOR_START_FAILED: the disk"
    assert capsys.readouterr().out.count(line) == 1
    assert started.serials == [fleet.serials[0], None]


def test_options_of_emulators_reach_the_fleet(emulated: Run, fleet: FleetDouble) -> None:
    """How they start, how many at the same time, and whether they stay."""
    options = ("--claw-emulator-boot=snapshot", "--claw-emulator-boots=3", "--claw-emulator-keep")

    result = emulated("--claw-device", "emulator", *options)

    result.assert_outcomes(passed=1)
    given = fleet.options
    assert (given.boot, given.boots, given.keep) == ("snapshot", 3, True)
    # Reported at the end of the run, while the fleet knows.
    result.stdout.fnmatch_lines(["*= devices =*", "*] emulator one ended while the run used it"])


def test_one_process_uses_one_emulator_of_each_class(emulated: Run, fleet: FleetDouble) -> None:
    """Without workers a class is not shared: ``per=2`` makes no second one."""
    emulated("--claw-device", "emulator", "--claw-matrix=form=phone,tablet;per=2")

    assert [one.device for one in fleet.made] == ["pixel_7", "pixel_tablet"]


@pytest.mark.parametrize(("workers", "who"), [((), "one process"), (("-n", "1"), "-n 1")])
def test_emulators_that_are_not_used_are_reported(
    pytester: pytest.Pytester,
    emulated: Run,
    control: Control,
    adb: str,
    workers: tuple[str, ...],
    who: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the number of workers that would use all."""
    if workers:
        control(*workers, LIKE, "--claw-device", "emulator:2", "--claw-adb", adb).start()
    else:
        emulated("--claw-device", "emulator:2")

    assert (
        f"clawperator: --claw-device emulator:2 starts 2 emulators, and {who} uses 1 of them;"
        " all are used with -n 2"
    ) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "is_reported"),
    [
        (["--claw-emulator=api=34,image=google_apis"], True),
        ([], False),
        (["--claw-emulator=api=34,image=google_apis", "--claw-matrix=abi=x86_64"], False),
    ],
)
def test_the_processor_of_this_machine_is_reported_unless_it_was_chosen(
    emulated: Run, monkeypatch: pytest.MonkeyPatch, options: list[str], is_reported: bool
) -> None:
    """A machine that cannot run the documented one has another default."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")

    result = emulated("--claw-device", "emulator", *options)

    assert ("processor of this machine, x86_64, as" in result.stdout.str()) is is_reported


def test_two_named_emulators_are_used_together(emulated: Run, fleet: FleetDouble) -> None:
    """Each option names one; together they are enough for a run that needs two."""
    result = emulated(
        *("--claw-device=emulator:mine", "--claw-device=emulator:yours", "--claw-spare-devices=1")
    )

    result.assert_outcomes(passed=1)
    assert [(one.name, one.as_it_is) for one in fleet.made] == [("mine", True), ("yours", True)]


# What follows starts emulators of a simulated SDK.

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
    pytester: pytest.Pytester, run_on_sdk: Run, bench: SdkBench
) -> None:
    """The values of the ini twin reach the SDK, and nothing is left."""
    pytester.makepyfile(LEAVES_LINES)
    like = "api=34,abi=x86_64,image=google_apis,device=tablet,ram=1024,gpu=host"
    pytester.makeini(f"[pytest]\nclaw_emulator = {like}\n")

    result = run_on_sdk("--claw-device", "emulator")

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
    made, started = bench.sdk.calls("avdmanager")[-2], bench.sdk.calls("emulator")[-1]
    assert made.arguments[-1] == "pixel_tablet"
    assert " -memory 1024 -gpu host" in " ".join(started.arguments)
    assert (bench.avds(), bench.running()) == ([], [])


def test_the_operator_is_installed_on_the_emulator_of_each_worker(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
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

    result = run_emulators("-n2", "--claw-device=emulator", "--claw-operator-apk=operator.apk")

    result.assert_outcomes(passed=4)
    used = {serial for serial, _ in lines(pytester)}
    made = {line.split()[1] for line in result.outlines if ", no Operator, adb " in line}
    assert used == made
    assert len(used) == 2


@pytest.mark.parametrize(
    ("options", "behaviour", "messages"),
    [
        (
            ["--claw-device=emulator:pixel-test"],
            {},
            [
                "E *EMULATOR_NOT_FOUND: AVD pixel-test does not exist",
                "*hint: There are: other, pixel-tests. Did you mean pixel-tests? Else let the run"
                " create it: --claw-device emulator --claw-emulator name=pixel-test.",
            ],
        ),
        (
            ["--claw-device=emulator", f"{LIKE},name=other"],
            {},
            [
                "E *EMULATOR_UNSUPPORTED: existing AVD other is unsupported and cannot be"
                " auto-provisioned: device is pixel_tablet and not pixel_7",
                "*hint: Delete it so that it is created again, or ask for what it is, or for *",
            ],
        ),
        (
            ["--claw-device=emulator"],
            {"failure": "kvm_denied"},
            ["E *EMULATOR_START_FAILED: *; this user may not use /dev/kvm", "*hint: *"],
        ),
    ],
)
def test_tests_fail_with_the_reason_why_there_is_no_emulator(
    pytester: pytest.Pytester,
    run_emulators: Run,
    bench: SdkBench,
    options: list[str],
    behaviour: dict[str, object],
    messages: list[str],
) -> None:
    """Nothing is created or replaced, and nothing is tried twice."""
    pytester.makepyfile(LEAVES_LINES)
    bench.create("pixel-tests", device="pixel_tablet")
    bench.create("other", device="pixel_tablet")
    bench.behave(**behaviour)

    result = run_emulators(*options)

    assert result.parseoutcomes() == {"errors": 1, "same": 3}
    result.stdout.fnmatch_lines(messages)
    assert sorted(bench.avds()) == ["other", "pixel-tests"]


# Simulated phones.

HELLO = """\
package: com.example.hello
name: Hello
start: home
screens:
  home:
    title: Hello
    items:
      - {text: Good morning, id: greeting}
      - {button: Count, id: count, on_tap: {set: {total: "{typed}"}}}
state: {typed: ten, total: 0}
"""


def test_simulated_phones_are_as_the_options_say(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Options win over the hook, whose other values stay; the header names the profile."""
    pytester.makeconftest(
        """
        from pytest_clawperator.plugin.phones import SimulatorScenario

        def pytest_clawperator_simulator_scenario(config):
            faults = ["step_error type=press_key code=GESTURE_FAILED"]
            return SimulatorScenario(api=33, faults=faults, profile="documented", time_scale=0.5)
        """
    )
    (pytester.path / "hello.yaml").write_text(HELLO, encoding="utf-8")
    pytester.makeini("[pytest]\nclaw_sim_profile = 0.5.3\nclaw_sim_app = hello.yaml\n")
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import StepFailedError
        from pytest_clawperator.plugin.stash import SIMULATED_PHONES

        def test_hook(clawperator, clawperator_device):
            assert clawperator_device.api_level == 33
            with pytest.raises(StepFailedError, match="GESTURE_FAILED"):
                clawperator.home()

        def test_profile(clawperator):  # as published, a hard failure loses earlier steps
            wrong = {"type": "click", "params": {"matcher": {"textEquals": "Nowhere"}}}
            assert clawperator.execute([{"type": "snapshot_ui"}, wrong]).steps == ()

        def test_scale(request):
            (simulator,) = request.config.stash[SIMULATED_PHONES].simulators
            options = simulator._options
            assert options[options.index("--time-scale") + 1] == "0.02"

        def test_app(clawperator):
            clawperator.open_app("com.example.hello")
            clawperator.click(id="com.example.hello:id/count")
            assert False, "as it should"
        """
    )

    result = run_plain("--claw-device", "sim", "--claw-sim-time-scale", "0.02")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["clawperator: *, Operator 0.5.3 (simulated, profile 0.5.3), *", "E * as it should*"]
    )
    # What an app file cannot do shows only while the app runs, and is in the log.
    (log,) = pytester.path.rglob("log.txt")
    assert "hello.yaml:9:45: `set` does nothing: a whole number is wanted" in log.read_text("utf-8")


def test_phones_start_their_adb_server_again(pytester: pytest.Pytester, run_plain: Run) -> None:
    """And the tests after that find them."""
    pytester.makepyfile(
        """
        import socket

        def test_end(clawperator_lease, clawperator):
            host, _, port = clawperator_lease.adb.partition(":")
            with socket.create_connection((host, int(port)), timeout=30) as adb:
                adb.sendall(b"0009host:kill")
                while adb.recv(4096): pass

        def test_after(clawperator):
            clawperator.home()
        """
    )

    result = run_plain("--claw-device=sim", *NO_EVIDENCE)

    result.assert_outcomes(passed=2)


def test_the_end_of_simulated_phones_is_named(pytester: pytest.Pytester, run_plain: Run) -> None:
    """No test waits for phones whose process is gone, and no internals are shown."""
    pytester.makepyfile(
        """
        import os
        import signal
        from pytest_clawperator.plugin.stash import SIMULATED_PHONES

        def kill_phones(pid):
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

        def test_kill(request, clawperator):
            phones = request.config.stash[SIMULATED_PHONES]
            kill_phones(phones.simulators[0].pid)
            clawperator.home()

        def test_after(clawperator): pass

        def test_last(clawperator): pass
        """
    )

    result = run_plain("--claw-device=sim", "-rE", *NO_EVIDENCE)

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "clawperator: the simulated phones' process ended (signal 9)",
            "*_ ERROR at call of test_kill _*",
            ">       clawperator.home()",
            "E  *: the simulated phones' process ended (signal 9): *",
            "E *hint: See what ended it *",
            "*_ ERROR at setup of test_after _*",
            "E *the device was put aside, because the simulated phones' process ended (signal 9)",
            "*hint: See what ended it *",
            "*= devices =*",
            "127.0.0.1:*  3 errors",
            "the simulated phones' process ended (signal 9)",
            "ERROR *::test_kill - infrastructure: *: the simulated phones' process ended*",
            "ERROR *::test_last - infrastructure: *: the device was put aside*",
        ]
    )
    for inner in ("*warm_shell.py*", "*contextlib.py*", "*direct cause*", "*waiting up to*"):
        result.stdout.no_fnmatch_line(inner)
