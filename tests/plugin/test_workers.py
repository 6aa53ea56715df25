"""Workers of xdist: how many there are, the device of each, and its input."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

import pytest_clawperator.plugin as front
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.plugin import workers
from pytest_clawperator.plugin.device_needs import DeviceNeeds
from pytest_clawperator.plugin.stash import CHANNEL, DEVICE_NEEDS, STARTS_LATE
from pytest_clawperator.plugin.worker_input import LEASE
from pytest_clawperator.simulator import Simulator
from tests.doubles.controller import Controller, Farm, candidate, run_as_worker
from tests.doubles.leases import take
from tests.plugin.conftest import Run

NO_EVIDENCE = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
USES_DEVICE = "def test_it(clawperator): pass\ndef test_plain(): pass\n"
Control = Callable[..., Controller]


@pytest.fixture
def farm() -> Farm:
    """Return two phones that are equal but for their API level."""
    return Farm(candidate("A", api_level=33), candidate("B"))


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester) -> None:
    """Write a suite that uses devices."""
    pytester.makepyfile(test_it=USES_DEVICE)


@pytest.mark.parametrize(
    ("options", "serials"),
    [
        (["-n", "auto"], ["A", "B"]),
        (["-n", "auto", "--claw-device", "auto"], ["A", "B"]),
        (["-n", "auto", "--maxprocesses", "1"], ["A"]),
        (["-n", "auto", "--claw-require", "api=>=34"], ["B"]),
        (["-n", "auto", "--claw-spare-devices", "1"], ["A"]),
        (["-n", "2", "--claw-device", "auto"], ["A", "B"]),
        (["-n", "3"], ["A", "B", None]),
    ],
    ids=str,
)
def test_each_worker_has_its_own_device(
    control: Control, farm: Farm, options: list[str], serials: list[str | None]
) -> None:
    """With ``-n auto`` there are as many workers as free devices; devices not used stay free."""
    started = control(*options, farm=farm).start()

    assert started.serials == serials
    spare = {"B"} if "--claw-spare-devices" in options else set()
    assert started.held == {one for one in serials if one} | spare


def test_devices_are_named_before_the_workers_start(
    control: Control, farm: Farm, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each device has a line, unless the run is quiet."""
    control("-n", "2", farm=farm).start()
    shown = capsys.readouterr().out
    control("-n", "2", "-q", farm=farm).start()

    assert "clawperator: A (API 33), no Operator, adb 127.0.0.1:1\n" in shown
    assert "clawperator: B (API 36), no Operator, adb 127.0.0.1:1\n" in shown
    assert "clawperator: " not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["-n", "3", "--claw-device", "auto"],
            r"NO_DEVICES: 3 workers need 3 devices, one each, but there are 2: A .*, B .*"
            r"hint: Run with -n 2, connect more devices, or use simulated phones: ",
        ),
        (
            ["-n", "2", "--claw-spare-devices", "1"],
            r"NO_DEVICES: 2 workers need 2 devices, one each, and 1 more as spare devices, but .*"
            r"hint: Run with -n 1, lower --claw-spare-devices, connect more devices, ",
        ),
        (
            ["-n", "2", "--claw-matrix", "api=33,36", "--dist", "loadscope"],
            "--claw-matrix needs --dist load, and this run has --dist loadscope, which",
        ),
        (
            ["-n", "auto", "--maxprocesses", "1", "--claw-matrix", "api=33,36"],
            "--claw-matrix has 2 classes with devices, and 1 worker can have 1 of them: run with"
            " -n 2, which needs 2 devices$",
        ),
        (
            ["-n", "1", "--claw-matrix", "api=33,36", "--claw-spare-devices", "1"],
            "run with -n 2, which needs 3 devices as --claw-spare-devices keeps 1 from the workers",
        ),
        (
            ["-n", "1", "--claw-matrix", "form=phone;per=2"],
            "--claw-matrix wants 2 devices, 2 of each class, and 1 worker can have 1 of them",
        ),
    ],
)
def test_too_few_devices_or_workers_end_the_run(
    control: Control, options: list[str], message: str
) -> None:
    """The run ends before the first test, with what is there and what to do."""
    farm = Farm(
        candidate("A", api_level=33, size=(1080, 2400), density=420),
        candidate("B", size=(1080, 2400), density=420),
    )

    with pytest.raises(pytest.UsageError, match=f"(?s){message}"):
        control(*options, farm=farm).start()


def test_the_variable_of_xdist_wins(
    control: Control, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is compared with the devices there are."""
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "3")

    with pytest.raises(pytest.UsageError, match="NO_DEVICES: 3 workers need 3 devices"):
        control("-n", "auto", "--claw-device", "auto", farm=farm).start()


def test_a_device_held_by_another_run_is_left_out(
    control: Control, farm: Farm, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names its holder."""
    with take(open_leases(run_id="nightly"), "farm/A"):
        started = control("-n", "auto", "--claw-device", "auto", farm=farm).start()

    assert started.serials == ["B"]
    held = r"clawperator: A is held by .* \(process \d+ on .*, run nightly\) since .*, and left out"
    assert re.search(held, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "1 device is wanted, and 0 of 2 can be had: A is held by .*; B is held by .*"),
        (["--claw-lease-timeout", "0.02"], "1 device is wanted after 0.02 s of waiting, and 0 of"),
    ],
)
def test_every_device_is_held(
    pytester: pytest.Pytester, control: Control, farm: Farm, options: list[str], reason: str
) -> None:
    """A run that asked for devices ends; otherwise only the tests that need one fail."""
    store = open_leases(run_id="nightly")
    with take(store, "farm/A"), take(store, "farm/B"):
        for count in ("1", "auto"):
            with pytest.raises(pytest.UsageError, match=f"(?s)DEVICE_LEASED: {reason}.*hint: Wait"):
                control("-n", count, "--claw-device", "auto", *options, farm=farm).start()
        unasked = control("-n", "1", *options, farm=farm).start()
        result = unasked.run_worker(0)

    assert unasked.serials == [None]
    result.assert_outcomes(passed=1, errors=1)
    assert re.search(f"E .*DEVICE_LEASED: {reason}", result.stdout.str())


def test_too_few_free_devices_name_the_holder_of_the_others(control: Control, farm: Farm) -> None:
    """Workers that were asked for cannot do with fewer."""
    with (
        take(open_leases(run_id="nightly"), "farm/A"),
        pytest.raises(pytest.UsageError, match="2 devices are wanted, and 1 of 2 can be had: A is"),
    ):
        control("-n", "2", "--claw-device", "auto", farm=farm).start()


@pytest.mark.parametrize(
    ("ini", "options"),
    [
        ("", ["-n", "2"]),
        ("claw_matrix = api=33", ["-n", "2", "--dist", "loadfile"]),
        ("claw_device = auto", ["-n", "auto"]),
        ("", ["-n", "auto", "--claw-doctor", "--claw-device=auto"]),
    ],
)
def test_a_suite_without_devices_looks_for_none(
    pytester: pytest.Pytester, control: Control, farm: Farm, ini: str, options: list[str]
) -> None:
    """Devices of an ini file are for the tests that ask for one; xdist counts its own workers."""
    pytester.makepyfile(test_it="def test_it(tmp_path): pass")
    pytester.makeconftest("def pytest_xdist_auto_num_workers(config): return 3")
    pytester.makeini(f"[pytest]\n{ini}\n")

    started = control(*options, farm=farm)
    if "--claw-doctor" not in options:
        started.start()

    assert not farm.is_asked
    assert started.count == (3 if "auto" in options else 2)


@pytest.mark.parametrize("listing", ["--fixtures", "--fixtures-per-test", "--setup-plan"])
@pytest.mark.parametrize("count", ["2", "auto"])
def test_a_listing_looks_for_no_devices(
    control: Control, farm: Farm, listing: str, count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether or not options ask for them."""
    options = ("--claw-device=auto", "--claw-matrix=api=33,36", "--claw-strict")

    started = control("-n", count, listing, *options, farm=farm).start()

    assert not farm.is_asked
    assert set(started.serials) == {None}
    assert "clawperator: " not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("count", "serials"), [("auto", ["{there}"]), ("1", ["{there}"]), ("2", None)]
)
def test_workers_have_the_named_phones_that_are_usable(
    control: Control, simulator: Simulator, adb: str, count: str, serials: list[str] | None
) -> None:
    """With too few of them, the error names the first that is not usable."""
    named = ("--claw-device", "ABSENT", "--claw-device", simulator.serials[1], "--claw-adb", adb)

    if serials is None:
        with pytest.raises(pytest.UsageError, match=r"\[ABSENT\] DEVICE_NOT_FOUND: no such device"):
            control("-n", count, *named).start()
    else:
        assert control("-n", count, *named).start().serials == [simulator.serials[1]]


@pytest.mark.parametrize("hook", ["list_devices", "simulator_scenario", "select_device"])
@pytest.mark.parametrize("device", [["--claw-device", "sim"], []], ids=["named", "not named"])
def test_a_hook_that_raises_ends_the_run(
    pytester: pytest.Pytester, control: Control, hook: str, device: list[str], farm: Farm
) -> None:
    """The hook is at fault, whether or not options ask for devices."""
    pytester.makeconftest(f"def pytest_clawperator_{hook}():\n    raise RuntimeError('no farm')\n")
    if hook == "simulator_scenario" and not device:
        return  # it is not called
    is_selecting = hook == "select_device"

    with pytest.raises(pytest.UsageError, match=r"(?s)raised RuntimeError: no farm.*conftest\.py"):
        control("-n", "1", *device, farm=farm if is_selecting else None).start()


def test_a_wrong_list_of_devices_ends_the_run(pytester: pytest.Pytester, control: Control) -> None:
    """Also while ``-n auto`` counts them."""
    pytester.makeconftest("def pytest_clawperator_list_devices():\n    return ['nonsense']\n")

    for count in ("1", "auto"):
        with pytest.raises(pytest.UsageError, match="list_devices returned"):
            control("-n", count).start()


def test_a_class_whose_devices_are_held_is_left_out(
    pytester: pytest.Pytester, control: Control, simulator: Simulator, adb: str
) -> None:
    """``-n auto`` does without it, and its tests are skipped with the reason."""
    first, second = (candidate(one, api_level=33 + i) for i, one in enumerate(simulator.serials))
    farm = Farm(*(type(one)(info=one.info, adb=adb) for one in (first, second)))
    with take(open_leases(run_id="nightly"), second.info.key):
        started = control("-n", "auto", "--claw-matrix", "api=33,34", farm=farm).start()
        result = started.run_worker(0)

    assert started.serials == [simulator.serials[0]]
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED * --claw-matrix: every device that is api34 is held by another run"]
    )


@pytest.mark.parametrize("count", ["2", "auto"])
def test_a_spare_device_is_of_a_class_that_has_several(control: Control, count: str) -> None:
    """The other classes still have one."""
    farm = Farm(candidate("A"), candidate("B", api_level=33), candidate("C", api_level=33))
    options = ("--claw-spare-devices", "1", "--claw-matrix", "api=33,36")

    started = control("-n", count, *options, farm=farm).start()

    assert len(started.serials) == 2
    assert "A" in started.serials


def needs(**about: object) -> DeviceNeeds:
    """Return what a test needs that has such a marker."""
    from pytest_clawperator.devices.requirements import requirements_of

    return DeviceNeeds(requires=(requirements_of(about),) if about else ())


def send_needs(node: Any, **tests: DeviceNeeds) -> Any:
    """Send what tests need as a worker does; return the answer."""
    packed = {
        "distinct": [asdict(one) for one in tests.values()],
        "tests": {name: number for number, name in enumerate(tests)},
    }
    channel = node.workerinput[CHANNEL]
    channel.receive_from_worker(("needs", packed))
    return channel.answers.popleft()[1]


@pytest.mark.parametrize(
    ("options", "before", "after", "held"),
    [
        (["-n", "2", "--claw-spare-devices", "1"], ["A", "B"], ["A", "C"], "ABC"),
        (["-n", "2", "--claw-device", "auto"], ["A", "B"], ["A", "C"], "AC"),
        (["-n", "3", "--claw-device", "auto"], ["A", "B", "C"], ["A", "B", "C"], "ABC"),
    ],
    ids=str,
)
def test_a_device_that_tests_need_goes_to_a_worker(
    control: Control,
    options: list[str],
    before: list[str],
    after: list[str],
    held: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Instead of being spare, or left to others; once, as all workers have the same tests."""
    farm = Farm(candidate("A"), candidate("B"), candidate("C", api_level=33))
    started = control(*options, farm=farm).start()
    at_first = started.serials
    capsys.readouterr()

    answers = [send_needs(node, old=needs(api=33), any=needs()) for node in started.nodes]
    for node in started.nodes:
        started.config.hook.pytest_xdist_node_collection_finished(node=node, ids=[])

    assert (at_first, started.serials) == (before, after)
    assert [answer[LEASE]["serial"] for answer in answers] == after
    assert started.held == set(held)
    lines = capsys.readouterr().out.splitlines()
    said = ["clawperator: gw1 uses C (API 33) instead of B (API 36): the markers of tests need it"]
    assert lines == (said if before != after else [])


def test_a_device_that_a_conftest_selects_is_not_exchanged(
    pytester: pytest.Pytester, control: Control
) -> None:
    """The conftest has its reasons."""
    pytester.makeconftest("def pytest_clawperator_select_device(candidates): return candidates[0]")
    farm = Farm(candidate("A"), candidate("B", api_level=33))
    started = control("-n", "1", "--claw-spare-devices", "1", farm=farm).start()

    send_needs(started.nodes[0], old=needs(api=33))

    assert started.serials == ["A"]


def test_a_worker_uses_the_device_that_it_was_given_last(
    pytester: pytest.Pytester, control: Control, simulator: Simulator, adb: str
) -> None:
    """It looks at the device that was spare before, which has another level than was said."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_device(api=33)
        def test_it(clawperator): pass
        """
    )
    first, second = sorted(simulator.serials)
    farm = Farm(
        *(
            Candidate(info=candidate(one, api_level=level, key=one).info, adb=adb)
            for one, level in ((first, 36), (second, 33))
        )
    )
    started = control("-n", "1", "--claw-spare-devices", "1", farm=farm).start()
    at_first = started.serials

    result = started.run_worker(0)

    assert at_first == [first]
    assert started.serials == [second]
    result.stdout.fnmatch_lines([f"SKIPPED*api=33 is required, the device has 36: {second} *"])


@pytest.mark.parametrize("options", [[], ["--claw-strict"], ["--dist", "loadfile"]], ids=" ".join)
def test_tests_that_no_device_fits_are_shown_once(
    control: Control, farm: Farm, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The line has what each device lacks; a strict run calls it an error."""
    started = control("-n", "2", *options, farm=farm).start()
    tests = {f"test_it.py::test_{number}": needs(api=">=99") for number in range(4)}
    started.config.stash[DEVICE_NEEDS] = {**tests, "test_it.py::test_any": needs()}
    capsys.readouterr()

    for node in started.nodes:
        started.config.hook.pytest_xdist_node_collection_finished(node=node, ids=[])

    lines = capsys.readouterr().out.splitlines()
    error = "ERROR: " if "--claw-strict" in options else ""
    assert [line for line in lines if "no device of this run fits" in line] == [
        f"clawperator: {error}no device of this run fits 4 tests (claw_device: api='>=99' is"
        " required, the device has 33; api='>=99' is required, the device has 36):"
        " test_it.py::test_0, test_it.py::test_1, test_it.py::test_2 and 1 more"
    ]


@pytest.mark.parametrize(
    ("dist", "level", "is_shown"),
    [("loadfile", 33, True), ("loadfile", ">=30", False), ("load", 33, False)],
)
def test_another_distribution_is_mentioned_if_a_device_does_not_fit(
    control: Control,
    farm: Farm,
    dist: str,
    level: object,
    is_shown: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only ``--dist load`` brings tests to devices that fit."""
    started = control("-n", "2", "--dist", dist, farm=farm).start()
    started.config.stash[DEVICE_NEEDS] = {"test_it.py::test_it": needs(api=level)}

    for node in started.nodes:
        started.config.hook.pytest_xdist_node_collection_finished(node=node, ids=[])

    line = f"--dist {dist} assigns tests without regard to their claw_device markers"
    assert capsys.readouterr().out.count(line) == is_shown
    scheduler = started.config.hook.pytest_xdist_make_scheduler(config=started.config, log=None)
    assert ("DeviceScheduling" in repr(scheduler)) is (dist == "load")


def test_a_worker_whose_device_does_not_fit_skips_the_test(
    pytester: pytest.Pytester, control: Control, simulator: Simulator, adb: str
) -> None:
    """So ``--dist loadfile`` leaves the check to the worker; its notices reach the controller."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_device(api=33)
        def test_old(clawperator): pass

        def test_off(clawperator): clawperator.device.key_event("sleep")

        def test_on(clawperator): pass
        """
    )
    started = control("-n", "1", "--claw-device", simulator.serials[1], "--claw-adb", adb).start()

    result = started.run_worker(0)

    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            f"*[[]{simulator.serials[1]}] the screen is off, so it was *",
            "SKIPPED *claw_device: api=33 is required, the device has 36: *",
        ]
    )
    assert list(started.config.stash[DEVICE_NEEDS].values()) == [needs(api=33), needs(), needs()]


MATRIX_SUITE = """
import pytest

@pytest.mark.claw_device(api=33)
def test_old(clawperator): pass

@pytest.mark.claw_device(api=99)
def test_never(clawperator): pass

def test_it(clawperator): pass
"""


@pytest.mark.parametrize("strict", [[], ["--claw-strict"]], ids=["", "strict"])
def test_a_worker_skips_tests_of_other_classes(
    pytester: pytest.Pytester, control: Control, simulator: Simulator, adb: str, strict: list[str]
) -> None:
    """A strict run fails only those that no class fits, and the classes without a device."""
    pytester.makepyfile(test_it=MATRIX_SUITE)
    phones = [candidate(one, api_level=33 + 3 * i) for i, one in enumerate(simulator.serials)]
    farm = Farm(*(type(one)(info=one.info, adb=adb) for one in phones))
    matrix = ("--claw-matrix", "api=33,36,40", *strict)

    started = control("-n", "2", *matrix, farm=farm).start()
    result = started.run_worker(1, *matrix, "-rsE", "-k", "api36 or api40 or never")

    few = {"passed": 1, "skipped": 1, "errors": 5}
    assert result.parseoutcomes() == {
        **(few if strict else {"passed": 1, "skipped": 6}),
        "deselected": 2,
    }
    assert "api=33 is required, the device has 36" in result.stdout.str()
    assert "--claw-matrix: no device is api40" in result.stdout.str()
    # It runs on the device of this worker, so the class of the other is only skipped.
    started.run_worker(0, *matrix, "-k", "old and api36").assert_outcomes(skipped=1, deselected=8)


def test_a_worker_that_starts_late_leaves_allure_results_alone(
    pytester: pytest.Pytester, control: Control, farm: Farm
) -> None:
    """Others have written to the folder that it would clean."""
    started = control("-n", "1", farm=farm).start()
    xdist: Any = started.config.pluginmanager.get_plugin("dsession")
    xdist.sched = object()
    started.config.hook.pytest_testnodedown(node=started.nodes[0], error=None)
    late = started.add_node("gw1")
    options = SimpleNamespace(clean_alluredir=True, claw_doctor=None)

    for node in (started.nodes[0], late):
        config = SimpleNamespace(workerinput=node.workerinput, option=options, getini=lambda _: 0)
        front.pytest_cmdline_main(config)  # type: ignore[arg-type]
        assert options.clean_alluredir is (node is not late)

    assert late.workerinput[STARTS_LATE]
    assert started.serials == ["A", "A"]


@pytest.mark.parametrize(
    ("is_free", "is_stopped", "is_replaced"),
    [(True, False, True), (False, False, False), (True, True, False)],
)
def test_a_worker_is_replaced_if_its_device_is_free(
    control: Control, farm: Farm, is_free: bool, is_stopped: bool, is_replaced: bool
) -> None:
    """And the run goes on."""
    started = control("-n", "2", farm=farm).start()
    scheduler, node = started.schedule("test_it"), started.nodes[0]
    xdist: Any = started.config.pluginmanager.get_plugin("dsession")
    cloned: list[object] = []
    xdist._clone_node, xdist.shuttingdown, xdist.shouldstop = cloned.append, False, is_stopped
    if is_free:
        started.config.hook.pytest_testnodedown(node=node, error=None)

    assert scheduler._workforce._replace_worker(node) is is_replaced
    assert cloned == ([node] if is_replaced else [])


def test_a_worker_without_a_device_runs_only_tests_that_need_none(
    control: Control, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest tests of earlier runs go first."""
    known = {"test_a": 1.0, "test_b": 9.0}
    monkeypatch.setattr(workers, "load_durations", lambda config: known)
    started = control("-n", "3", farm=farm).start()
    tests = ("test_a", "test_b", "test_c", "test_d")
    started.config.stash[DEVICE_NEEDS] = dict.fromkeys(tests, needs())

    started.schedule(*tests, "test_plain")

    assert started.nodes[0].sent[0] == 1
    assert started.nodes[2].sent == [4]


def test_a_worker_connects_before_its_first_test(
    pytester: pytest.Pytester, control: Control, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it has a device, and a test that needs it."""
    connected: list[object] = []
    monkeypatch.setattr(workers, "connect_early", connected.append)
    started = control("-n", "3", farm=farm).start()

    for number, options in ((0, ["--co"]), (0, ["--co", "-k", "plain"]), (2, ["--co"])):
        started.run_worker(number, *options)

    assert len(connected) == 1


def test_costly_checks_are_not_repeated_in_workers(
    pytester: pytest.Pytester, control: Control
) -> None:
    """An app file is read by the controller only."""
    app = pytester.path / "a.yaml"
    app.write_text("nonsense", encoding="utf-8")
    options = ("--claw-device=sim", "--claw-sim-app=a.yaml")

    with pytest.raises(pytest.UsageError, match=r"--claw-sim-app: .*a\.yaml:1:1"):
        control("-n", "1", *options)
    result = run_as_worker(pytester, {"workerid": "gw0"}, *options, "-k", "plain")

    result.assert_outcomes(passed=1, deselected=1)


# What follows needs xdist itself.

LEAVES_LINES = """
import os
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("lines")

@pytest.fixture
def line(request, clawperator):
    worker, info = os.environ["PYTEST_XDIST_WORKER"], clawperator.device.info
    with LINES.open("a") as file:
        file.write(f"{request.node.name} {worker} {info.api_level} {clawperator.serial}\\n")
"""


def lines(pytester: pytest.Pytester) -> list[list[str]]:
    """Read what the tests left: name, worker, API level and serial."""
    text = (pytester.path / "lines").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


def test_tests_run_where_they_fit(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Each worker has its device, tests go to those that fit, and the summary counts both."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_device(api="<30")
        def test_ancient(line): pass

        @pytest.mark.claw_device(form="tablet", api=30)
        @pytest.mark.parametrize("number", range(3))
        def test_old(line, number): pass

        @pytest.mark.claw_device(api=">=34")
        @pytest.mark.parametrize("number", range(3))
        def test_new(line, number): pass

        def test_any(line): pass

        def test_plain(): pass
        """
    )

    result = run_workers("-n", "auto", "--claw-device=sim:phone,tablet+api=30", "-v", *NO_EVIDENCE)

    result.assert_outcomes(passed=8, skipped=1)
    left = lines(pytester)
    assert len({(worker, serial) for _, worker, _, serial in left}) == 2
    levels = {name.partition("[")[0]: level for name, _, level, _ in left}
    assert (levels["test_old"], levels["test_new"]) == ("30", "36")
    result.stdout.fnmatch_lines(
        [
            "clawperator: 127.0.0.1:* (*, API 3?), Operator * (simulated, profile documented), *",
            "clawperator: 127.0.0.1:* (*, API 3?), Operator * (simulated, profile documented), *",
            "clawperator: no device of this run fits 1 test *: test_it.py::test_ancient",
            "*PASSED*",
            "*= devices =*",
            "127.0.0.1:*  * passed*",
            "127.0.0.1:*  * passed*",
            "SKIPPED *claw_device: api='<30' is required, the device has 3*: 127.0.0.1:* API 3*",
        ]
    )


def test_the_replacement_of_a_crashed_worker_has_its_device(
    pytester: pytest.Pytester, run_workers: Run, adb: str, simulator: Simulator
) -> None:
    """The device counts the test in which the worker crashed, and an error is one for all."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        test_it="""
        import os

        import pytest

        def test_first(line): pass

        def test_crash(line): os._exit(1)

        @pytest.mark.xfail  # does not cover errors of the device
        def test_error(line, clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )
    serial = simulator.serials[1]
    device = ("--claw-device", serial, "--claw-adb", adb, *NO_EVIDENCE)

    result = run_workers("-n", "1", *device, "--junitxml", "junit.xml")

    result.assert_outcomes(passed=1, failed=1, errors=1)
    left = {name: (worker, on) for name, worker, _, on in lines(pytester)}
    assert left["test_first"] == ("gw0", serial)
    assert left["test_error"] == ("gw1", serial)
    result.stdout.fnmatch_lines(["*= devices =*", f"{serial}  1 passed, 1 failed, 1 error"])
    xml = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert '<error message="infrastructure: OPERATOR_CRASHED: ' in xml


# Lets a test in a worker kill the controller's phones; it returns once they are gone.
KILLS_PHONES = """
import os
import signal
import socket
from pathlib import Path

from pytest_clawperator.plugin.stash import SIMULATED_PHONES

PID = Path(__file__).with_name("pid")

def pytest_configure_node(node):
    phones = node.config.stash[SIMULATED_PHONES]
    PID.write_text(f"{phones.simulators[0].pid} {phones.simulators[0].adb_port}")

def kill_phones():
    pid, port = map(int, PID.read_text().split())
    with socket.create_connection(("127.0.0.1", port), timeout=30) as adb:
        os.kill(pid, signal.SIGKILL)
        try:
            adb.recv(1)
        except ConnectionResetError:
            pass
"""


def test_a_worker_learns_that_the_simulated_phones_ended(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """The controller, which started them, knows how; no worker waits for them."""
    pytester.makeconftest(KILLS_PHONES)
    pytester.makepyfile(
        test_it="""
        from conftest import kill_phones

        def test_kill(clawperator):
            kill_phones()
            clawperator.home()

        def test_after(clawperator): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", "sim", "-rE", *NO_EVIDENCE)

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "clawperator: the simulated phones' process ended (signal 9)",
            "E  *: the simulated phones' process ended (signal 9): *",
            "E *hint: See what ended it *",
            "*_ ERROR at setup of test_after _*",
            "E *the device was put aside, because the simulated phones' process ended (signal 9)",
            "*hint: See what ended it *",
            "*= devices =*",
            "127.0.0.1:*  2 errors",
            "the simulated phones' process ended (signal 9)",
            "ERROR *::test_kill - infrastructure: *: the simulated phones' process ended (signal*",
        ]
    )
    for wrong in ("*start-server*", "*waiting up to*"):
        result.stdout.no_fnmatch_line(wrong)
