"""The plugin's own hooks, as conftests implement them."""

from __future__ import annotations

import json

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

TWO_TESTS = "def test_one(clawperator): pass\ndef test_two(clawperator): pass\n"
PRINTS_SERIAL = "def test_it(clawperator):\n    print('on', clawperator.serial)\n"
QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


@pytest.mark.parametrize(
    "hook", ["list_devices", "simulator_scenario", "select_device", "processors"]
)
def test_a_hook_that_raises_is_named(
    pytester: pytest.Pytester, run: Run, run_plain: Run, hook: str
) -> None:
    """The error that all tests with a device share has the hook and the line."""
    name = f"pytest_clawperator_{hook}"
    pytester.makeconftest(f"def {name}():\n    raise RuntimeError('the farm is down')\n")
    pytester.makepyfile(TWO_TESTS)

    result = run_plain("--claw-device=sim") if hook == "simulator_scenario" else run()

    assert result.parseoutcomes() == {"errors": 1, "same": 1}
    result.stdout.fnmatch_lines(
        [
            f"E * CONFIGURATION_INVALID: the hook {name} raised RuntimeError: the farm is down",
            f'*File "*conftest.py", line 2, in {name}',
            "*raise RuntimeError('the farm is down')",
        ]
    )


@pytest.mark.parametrize(
    ("hook", "answer", "wanted"),
    [
        ("list_devices", "['nonsense']", "a list of pytest_clawperator.devices.pool.Candidate"),
        ("list_devices", "7", "a list of pytest_clawperator.devices.pool.Candidate"),
        ("simulator_scenario", "{}", "a pytest_clawperator.plugin.phones.SimulatorScenario"),
        ("processors", "['nonsense']", "a list of functions"),
        ("processors", "7", "a list of functions"),
        ("report_sinks", "5", "a list of objects with*"),
        ("report_sinks", "['nonsense']", "a list of objects with*"),
    ],
)
def test_a_wrong_result_is_shown_with_what_is_wanted(
    pytester: pytest.Pytester, run: Run, run_plain: Run, hook: str, answer: str, wanted: str
) -> None:
    """As an error of every test with a device."""
    pytester.makeconftest(f"def pytest_clawperator_{hook}():\n    return {answer}\n")
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")

    is_sim = hook == "simulator_scenario"
    result = run_plain("--claw-device", "sim", *QUICK) if is_sim else run(*QUICK)

    result.assert_outcomes(errors=1)
    said = f"*the hook pytest_clawperator_{hook} returned {answer}, wanted is {wanted}"
    result.stdout.fnmatch_lines([said.replace("[", "[[]")])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("raise NoDeviceError('the farm has no device')", "NO_DEVICES: the farm has no device"),
        ("return []", "NO_DEVICES: 1 worker needs 1 device, but there are 0: none"),
    ],
)
def test_a_farm_without_devices_is_an_error(
    pytester: pytest.Pytester, run_plain: Run, answer: str, message: str
) -> None:
    """An error of the package that a hook raises stays as it is."""
    pytester.makeconftest(
        "from pytest_clawperator import NoDeviceError\n\n"
        f"def pytest_clawperator_list_devices(): {answer}\n"
    )
    pytester.makepyfile(TWO_TESTS)

    result = run_plain()

    assert result.parseoutcomes() == {"errors": 1, "same": 1}
    result.stdout.fnmatch_lines([f"E * {message}"])


def test_listed_devices_are_used_and_no_others(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A hook that returns None leaves it to others."""
    serial = simulator.serials[1]
    pytester.makeconftest(
        f"""
        from pytest_clawperator.contracts.device_info import DeviceInfo
        from pytest_clawperator.devices.pool import Candidate

        def pytest_clawperator_list_devices(config):
            if config.getoption("claw_device"):
                return None
            info = DeviceInfo(serial={serial!r}, key="farm-7", model="Farm phone")
            return [Candidate(info=info, adb={adb!r})]
        """
    )
    pytester.makepyfile(PRINTS_SERIAL)

    farm = run_plain("-s")
    others = run_plain("-s", "--claw-device", simulator.serials[0], "--claw-adb", adb)

    farm.stdout.fnmatch_lines(
        [f"clawperator: {serial} (Farm phone), no Operator, adb {adb}", f"*on {serial}*"]
    )
    others.stdout.fnmatch_lines([f"*on {simulator.serials[0]}*"])


def test_a_conftest_chooses_among_the_candidates(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """It gets what both the run and the class of a matrix require."""
    pytester.makeconftest(
        """
        def pytest_clawperator_select_device(candidates, requirements, worker_id):
            print("chosen for", worker_id, "with", requirements)
            return max(candidates, key=lambda candidate: candidate.serial)
        """
    )
    pytester.makepyfile(PRINTS_SERIAL)
    options = ("--claw-device=auto", "--claw-adb", adb, "--claw-require=api=>=30;emulator=false")

    result = run_plain("-s", *options)
    of_class = run_plain("-s", *options, "--claw-matrix", "form=phone")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*chosen for main with *api='>=30'*emulator=False*", f"*on {max(simulator.serials)}*"]
    )
    of_class.stdout.fnmatch_lines(["*chosen for main *api='>=30'*form='phone', emulator=False*"])


def test_a_device_that_is_not_a_candidate_is_refused(pytester: pytest.Pytester, run: Run) -> None:
    """The hook can only return one of the candidates."""
    pytester.makeconftest("def pytest_clawperator_select_device(): return 'my phone'")
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*the device selected for main is none of the candidates: 'my phone'",
            "*hint: Have the hook pytest_clawperator_select_device return one of the candidates *",
        ]
    )


@pytest.mark.parametrize("passes", [True, False])
def test_a_device_is_prepared_and_released_once(
    pytester: pytest.Pytester, run: Run, passes: bool
) -> None:
    """Before the first test, and after the last, with whether a test failed."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_ready(device, client):
            assert device == client.device.info
            client.device.grant("com.example.shop", "android.permission.POST_NOTIFICATIONS")
            print("prepared", device.model)

        def pytest_clawperator_device_released(device, failed):
            print("released", device.model, failed)
        """
    )
    pytester.makepyfile(
        f"""
        def test_first(clawperator):
            dump = clawperator.device.shell("dumpsys package com.example.shop").stdout
            assert "POST_NOTIFICATIONS: granted=true" in dump and {passes}

        def test_last(clawperator):
            print("last test")
        """
    )

    result = run("-s", *QUICK)

    result.stdout.fnmatch_lines(
        ["*prepared Pixel 9*", "*last test*", f"*released Pixel 9 {not passes}"]
    )
    text = result.stdout.str()
    assert text.count("prepared Pixel") == text.count("released Pixel") == 1


def test_errors_in_these_hooks_are_errors_of_tests(pytester: pytest.Pytester, run: Run) -> None:
    """Of every test while the device is prepared, and of the last one when it is released."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_ready(device):
            if not hasattr(device, "_seen"):
                raise RuntimeError("no room for the app")

        def pytest_clawperator_device_released(device):
            print("released", device.serial)
        """
    )
    pytester.makepyfile("def test_it(clawperator): pass")
    unprepared = run("-s")
    pytester.makeconftest(
        "def pytest_clawperator_device_released(): raise RuntimeError('the shelf is full')"
    )
    unreleased = run()

    unprepared.assert_outcomes(errors=1)
    unprepared.stdout.fnmatch_lines(["*released 127.0.0.1:*", "*RuntimeError: no room for the app"])
    assert unreleased.ret == pytest.ExitCode.TESTS_FAILED
    unreleased.assert_outcomes(passed=1, errors=1)
    unreleased.stdout.fnmatch_lines(["*ERROR at teardown of test_it*", "E *the shelf is full"])


def test_processors_come_after_the_built_in_ones(pytester: pytest.Pytester, run: Run) -> None:
    """One that forgets to return the envelope is named, with its line."""
    pytester.makeconftest(
        """
        def remember(envelope, collected):
            text = envelope.step("snap").data.get("text", "")
            print("seen", text[:10], collected.serial)

        def pytest_clawperator_processors():
            return [remember]
        """
    )
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.execute([{"id": "snap", "type": "snapshot_ui"}])
        """
    )

    result = run("-s", *QUICK)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*seen <* 127.0.0.1:*",
            "E * the processor remember (*conftest.py:1) returned None, expected a ResultEnvelope",
            "E *hint: Have each function of the hook pytest_clawperator_processors return the *",
        ]
    )


def test_executions_are_observed_with_their_envelopes(pytester: pytest.Pytester, run: Run) -> None:
    """A search that missed is the failure that the test gets, though the Operator succeeded."""
    pytester.makeconftest(
        """
        def pytest_clawperator_execution_finished(execution, envelope, device):
            first = execution.actions[0].type
            print("ran", first, envelope.status, envelope.code, device.model)
        """
    )
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.open_app("com.android.settings")
            clawperator.wait_for_node(text="Connections")
            clawperator.scroll_until(text="Nowhere", max_scrolls=1)
        """
    )

    result = run("-s", "--claw-output", "out")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ran wait_for_node success None Pixel 9",
            "*ran scroll_until failed TARGET_NOT_FOUND Pixel 9",
        ]
    )
    (written,) = (pytester.path / "out").rglob("envelopes.json")
    written_runs = json.loads(written.read_bytes())
    search = next(each for each in written_runs if "TARGET_NOT_FOUND" in json.dumps(each))
    assert search["envelope"]["status"] == "failed"


def test_an_observer_that_fails_is_a_warning(pytester: pytest.Pytester, run: Run) -> None:
    """No test is harmed."""
    pytester.makeconftest(
        "def pytest_clawperator_execution_finished(): raise RuntimeError('my report is full')"
    )
    pytester.makepyfile("def test_it(clawperator):\n    assert clawperator.home().success\n")

    result = run("-W", "default")

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*ClawperatorWarning: the observer pytest_clawperator_execution_finished failed on"
            " ExecutionFinished: RuntimeError('my report is full')"
        ]
    )


FAILS = "def test_passes(clawperator): pass\ndef test_fails(clawperator): assert 0\n"


def test_files_of_a_hook_are_kept_of_failures(pytester: pytest.Pytester, run: Run) -> None:
    """A hook that fails is named, and the test's own failure stays."""
    pytester.makepyfile(FAILS)
    pytester.makeconftest(
        """
        from pathlib import Path

        def pytest_clawperator_collect_artifacts(item, report, client):
            path = Path("battery.txt")
            path.write_text(client.device.shell("dumpsys battery").stdout)
            print("collected for", item.name, report.when)
            return [path]
        """
    )
    result = run("-s")
    pytester.makeconftest(
        "def pytest_clawperator_collect_artifacts(): raise RuntimeError('no network')"
    )
    broken = run()

    (path,) = pytester.path.glob("claw-results/*/*/battery.txt")
    assert "test_fails" in path.parent.name
    assert path.read_text().startswith("Current Battery Service state")
    result.stdout.fnmatch_lines(["*collected for test_fails call", "  battery.txt"])
    result.stdout.no_fnmatch_line("*collected for test_passes*")
    broken.stdout.fnmatch_lines(
        [
            "E * assert 0",
            "pytest_clawperator_collect_artifacts failed: RuntimeError('no network')",
        ]
    )


DIARY = """
    from pathlib import Path

    from pytest_clawperator import ReportSink

    class Diary(ReportSink):
        def write(self, event):
            self.note(event.kind, getattr(event, "title", ""), event)

        def attach(self, attachment):
            self.note("file", attachment.kind, attachment.name)

        def complete(self, report):
            self.note("phase", report.when)

        def note(self, *words):
            with Path("diary.txt").open("a") as file:
                print(*words, file=file)

    def pytest_clawperator_report_sinks(config):
        return [Diary()]
"""


@pytest.mark.parametrize("trace", ["off", "retain-on-failure"])
def test_a_sink_gets_all_that_happens(pytester: pytest.Pytester, run: Run, trace: str) -> None:
    """As it happens, whether traces are kept or not, and without secrets."""
    pytester.makeconftest(DIARY)
    pytester.makepyfile(
        """
        def test_it(clawperator):
            with clawperator.step("go home"):
                clawperator.home()
            clawperator.open_app("com.android.settings")
            clawperator.click(desc="Search settings")
            clawperator.enter_text("swordfish-42", role="textfield", secret=True)
            assert 0
        """
    )

    run("--claw-snapshot=off", "--claw-logcat=off", f"--claw-trace={trace}")

    text = (pytester.path / "diary.txt").read_text()
    lines = text.splitlines()
    for wanted in (
        *("device ", "phase setup", "step go home", "execution press_key 'home'"),
        *("execution-end ", "step-end ", "error ", "phase call", "outcome "),
    ):
        assert any(line.startswith(wanted) for line in lines), wanted
    assert lines[0].startswith("trace ")
    assert lines[-1] == "phase teardown"
    assert "enter_text" in text
    assert "swordfish" not in text


def test_a_sink_that_fails_fails_no_test(pytester: pytest.Pytester, run: Run) -> None:
    """It is named in a line, and others go on."""
    pytester.makeconftest(
        """
        class Broken:
            def write(self, event): raise ValueError("full disk")
            attach = complete = write

        def pytest_clawperator_report_sinks(config):
            return [Broken()]
        """
    )
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")

    result = run(*QUICK, "--junitxml=junit.xml")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*the report sink Broken failed: ValueError('full disk')*"])
    assert "clawperator_model" in (pytester.path / "junit.xml").read_text()
