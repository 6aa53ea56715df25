"""The fixtures: what each gives, what is put back after it, and that a conftest can replace it."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest

from pytest_clawperator.devices import health, lease
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.plugin.conftest import QUICK, Run, kept, names

CHANGED = """
import dataclasses
import pytest

@pytest.fixture(scope="session")
def clawperator_settings(clawperator_settings):
    return dataclasses.replace(clawperator_settings, {changes})
"""
ELSEWHERE = (
    "output=clawperator_settings.output.parent / 'mine', snapshot='off', logcat='off', trace='off'"
)
ONE_SPARE = ("--claw-spare-devices", "1", "--claw-device", "auto")


def add_folder(pytester: pytest.Pytester, name: str, conftest: str, tests: str) -> None:
    """Add a folder of tests with its own conftest."""
    folder = pytester.mkdir(name)
    (folder / "conftest.py").write_text(dedent(conftest), encoding="utf-8")
    (folder / f"test_{name}.py").write_text(dedent(tests), encoding="utf-8")


def test_each_fixture_returns_its_type(run: Run) -> None:
    """All are about one device, which is connected once; what a fixture sets on a client stays."""
    result = run(
        "-s",
        suite="""
        import pytest
        from pytest_clawperator import Clawperator
        from pytest_clawperator.contracts.device_info import DeviceInfo
        from pytest_clawperator.devices.pool import Lease
        from pytest_clawperator.plugin.settings import Settings

        def test_types(
            clawperator_settings,
            clawperator_lease,
            clawperator_transport,
            clawperator_client,
            clawperator_device,
            clawperator,
        ):
            assert isinstance(clawperator_settings, Settings)
            assert isinstance(clawperator_lease, Lease)
            assert isinstance(clawperator_client, Clawperator)
            assert isinstance(clawperator_device, DeviceInfo)
            assert clawperator is clawperator_client
            assert clawperator_transport.shell("echo hi").stdout == "hi\\n"
            serials = {
                clawperator_lease.serial,
                clawperator_transport.serial,
                clawperator_client.serial,
                clawperator_device.serial,
            }
            assert len(serials) == 1
            assert clawperator_device.key == clawperator_lease.key
            assert (clawperator_device.api_level, clawperator_device.emulator) == (36, False)

        @pytest.fixture(scope="session")
        def shop(clawperator_client):
            clawperator_client.open_app("com.example.shop")
            clawperator_client.timeout = 30
            print("opened once")
            return clawperator_client

        @pytest.mark.parametrize("time", [1, 2])
        def test_it(shop, clawperator, time):
            assert shop is clawperator
            assert clawperator.timeout == 30
        """,
    )

    result.assert_outcomes(passed=3)
    assert result.stdout.str().count("opened once") == 1


@pytest.mark.parametrize(
    ("fixture", "gives", "wanted"),
    [
        ("clawperator_settings", "{'timeout': 3}", "Settings"),
        ("clawperator_lease", "'PH1'", "Lease"),
        ("clawperator_transport", "('127.0.0.1', 5037)", "Transport"),
        ("clawperator_client", "None", "Clawperator"),
    ],
)
def test_a_replaced_fixture_of_another_type_is_refused(
    pytester: pytest.Pytester, run: Run, fixture: str, gives: str, wanted: str
) -> None:
    """By its name, in each test, with the type that is wanted."""
    pytester.makeconftest(
        f"import pytest\n@pytest.fixture(scope='session')\ndef {fixture}(): return {gives}"
    )

    result = run(
        suite="""
        def test_it(clawperator): pass
        def test_device(clawperator_device): pass
        """
    )

    result.assert_outcomes(errors=2)
    why = f"E *: CONFIGURATION_INVALID: the fixture {fixture} gave {gives}, wanted a {wanted}"
    hint = f"*hint: Have the fixture *return or yield a pytest_clawperator.{wanted}; `pytest *"
    result.stdout.fnmatch_lines([why, hint, why, hint])


def test_an_impossible_setting_is_refused_at_its_line(pytester: pytest.Pytester, run: Run) -> None:
    """At the line that changes it, with what is allowed."""
    seconds = "timeout must be a number of seconds"
    cases = {
        "screenshot='maybe'": "screenshot: found 'maybe', allowed is off, on or only-on-failure",
        "video=True": "video: found True, allowed is off, on or only-on-failure",
        "timeout=-4": f"{seconds}, found -4",
        "timeout='3'": f"{seconds}, found '3'",
        "strict='no'": "strict: found 'no', allowed is True or False",
        "output='mine'": "output: found 'mine', allowed is a pathlib.Path of a folder",
        "operator_apk='x'": "operator_apk: found 'x', allowed is a pathlib.Path *",
    }
    for number, changes in enumerate(cases):
        conftest = CHANGED.format(changes=changes)
        add_folder(pytester, f"s{number}", conftest, "def test_it(clawperator): pass")

    result = run()

    result.assert_outcomes(errors=len(cases))
    for changes, why in cases.items():
        line = f"> *return dataclasses.replace(clawperator_settings, {changes})"
        result.stdout.fnmatch_lines([line, f"E *CONFIGURATION_INVALID: the setting {why}"])


def test_a_client_that_cannot_be_connected_leaves_the_transport(
    pytester: pytest.Pytester, run: Run
) -> None:
    """Tests that use only the transport pass."""
    pytester.makeconftest(
        CHANGED.format(changes="operator_apk=clawperator_settings.output / 'none'")
    )

    result = run(
        suite="""
        def test_client(clawperator): pass

        def test_transport(clawperator_transport):
            assert clawperator_transport.shell("echo hi").stdout.strip() == "hi"
        """
    )

    result.assert_outcomes(errors=1, passed=1)


# Settings of a folder


def test_settings_of_a_folder_decide_on_evidence(pytester: pytest.Pytester, run: Run) -> None:
    """What is kept and where, and whether to pause, in each phase of its tests."""
    pytester.makeconftest(CHANGED.format(changes=f"{ELSEWHERE}, pause=True"))

    result = run(
        suite="""
        import pytest

        @pytest.fixture
        def bad_start(clawperator_client):
            assert 0

        @pytest.fixture
        def bad_end(clawperator):
            yield
            assert 0

        def test_artifact(clawperator_artifacts): clawperator_artifacts.attach('a.bin', b'')
        def test_setup(bad_start): pass
        def test_call(clawperator): assert 0
        def test_teardown(bad_end): pass
        """
    )

    result.assert_outcomes(passed=2, failed=1, errors=2)
    assert {test: names(folder) for test, folder in kept(pytester, "mine").items()} == {
        "test_artifact": ["a.bin"],
        "test_call": ["screenshot.png"],
        "test_setup": ["setup-screenshot.png"],
        "test_teardown": ["teardown-screenshot.png"],
    }
    assert kept(pytester) == {}
    not_paused = "clawperator: *.py::test_{} *: not paused, because there is no terminal *"
    result.stdout.fnmatch_lines([not_paused.format("call"), not_paused.format("teardown")])


def test_settings_of_a_folder_are_those_of_its_tests_only(
    pytester: pytest.Pytester, run: Run
) -> None:
    """Whichever come first."""
    changed = CHANGED.format(changes=f"{ELSEWHERE}, screenshot='on', timeout=12.0")
    for name, timeout in {"a": 12, "b": 5, "c": 12, "d": 5}.items():
        conftest = changed if timeout == 12 else ""
        tests = f"def test_it(clawperator): assert clawperator.timeout == {timeout}"
        add_folder(pytester, name, conftest, tests)

    result = run("a", "b", "c", "d")

    result.assert_outcomes(passed=4)
    found = (pytester.path / "mine").glob("*/*/screenshot.png")
    assert sorted(path.parent.name.partition("-")[0] for path in found) == ["test_a", "test_c"]
    assert kept(pytester) == {}


@pytest.mark.parametrize(("given", "own", "videos"), [("off", "on", 2), ("on", "off", 0)])
def test_settings_of_a_folder_switch_the_video(
    pytester: pytest.Pytester, run: Run, given: str, own: str, videos: int
) -> None:
    """Of its tests, though the client is connected already."""
    pytester.makeconftest(
        """
        import pytest
        from pytest_clawperator.plugin import video

        class Video:
            def __init__(self, transport, *, on_problem): pass
            def stop(self): return [b"mp4"]
            def drop(self): pass

        @pytest.fixture(scope="session", autouse=True)
        def recorded():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(video, "Video", Video)
                yield
        """
    )
    tests = "def test_second(clawperator): pass\ndef test_third(clawperator): pass\n"
    add_folder(pytester, "z", CHANGED.format(changes=f"video={own!r}"), tests)

    result = run(
        *("--claw-video", given, "test_it.py", "z"), suite="def test_first(clawperator): pass"
    )

    result.assert_outcomes(passed=3)
    found = {test: names(folder) for test, folder in kept(pytester).items()}
    found.pop("test_first", None)
    assert found == {test: ["video.mp4"] for test in ["test_second", "test_third"][:videos]}


# What a test changes on the device


def test_changes_are_put_back(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """Those of a test after it, even if it fails; those of a wider fixture when its scope ends."""
    questions = (
        "settings get system user_rotation; cmd connectivity airplane-mode;"
        " cmd locale get-app-locales com.example.shop; settings get secure default_input_method"
    )
    before = phone.shell(questions).stdout
    pytester.makepyfile(
        test_1_module="""
        import pytest

        @pytest.fixture(scope="module")
        def lying(clawperator_client):
            with clawperator_client.device.restoring():
                clawperator_client.device.orientation = "landscape"
                yield

        @pytest.mark.parametrize("time", [1, 2])
        def test_module(lying, clawperator, time):
            assert clawperator.device.orientation == "landscape"
            clawperator.device.orientation = "reverse_portrait"
        """,
        test_2_function=f"""
        def test_changes(clawperator):
            device = clawperator.device
            assert device.orientation == "portrait"
            keyboards = device.shell("ime list -a -s").stdout.split()
            device.orientation = "landscape"
            device.airplane_mode = True
            device.set_app_locale("com.example.shop", "de-DE")
            device.keyboard = next(name for name in keyboards if name != device.keyboard)
            print("changed", device.shell({questions!r}).stdout)
            raise RuntimeError("on the way")

        def test_as_before(clawperator):
            assert clawperator.device.shell({questions!r}).stdout == {before!r}
        """,
        test_3_session="""
        import pytest

        @pytest.fixture(scope="session")
        def lying(clawperator_client):
            clawperator_client.device.orientation = "landscape"

        @pytest.mark.parametrize("time", [1, 2])
        def test_session(lying, clawperator, time):
            device = clawperator.device
            assert (device.orientation, device.airplane_mode) == ("landscape", False)
            device.orientation = "reverse_portrait"
            device.airplane_mode = True
        """,
    )

    result = run()

    result.assert_outcomes(passed=5, failed=1)
    assert before not in result.stdout.str()
    assert phone.shell(questions).stdout == before


def test_what_cannot_be_put_back_is_named(run: Run) -> None:
    """It is an error of the test; at the end of the run no test is to blame, so it fails none."""
    result = run(
        suite="""
        import pytest

        @pytest.fixture(scope="session")
        def german(clawperator_client):
            clawperator_client.device.set_app_locale("com.example.shop", "de-DE")

        def test_it(german, clawperator):
            clawperator.device.set_app_locale("com.example.shop", "fr-FR")
            clawperator.device.uninstall("com.example.shop")
        """
    )

    result.assert_outcomes(passed=1, errors=1)
    why = "*could not restore: locale of com.example.shop (*"
    result.stdout.fnmatch_lines([f"clawperator: {why}", f"E {why}", "*= devices =*", why])
    result.stdout.no_fnmatch_line("*contextlib*")  # the message has it all


# A device that is checked before each test


def test_a_service_that_is_off_is_switched_on(run: Run, phone: AdbTransport) -> None:
    """Before the first test and between tests, and the terminal shows it."""
    phone.shell("am force-stop com.clawperator.operator")

    result = run(
        *QUICK,
        suite="""
        def test_stops_it(clawperator):
            assert clawperator.home().success
            clawperator.device.shell("am force-stop com.clawperator.operator")

        def test_switches_it_off(clawperator):
            assert clawperator.home().success
            clawperator.device.shell("settings delete secure enabled_accessibility_services")

        def test_after(clawperator):
            assert clawperator.home().success
        """,
    )

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "clawperator: *was force-stopped; it is switched on",
            "clawperator: *the device failed its check: DEVICE_ACCESSIBILITY_NOT_RUNNING: *",
            "clawperator: *the device works again",
            "*= devices =*",
            "*] the device works again (2 times)",
        ]
    )


def test_an_execution_of_another_process_is_named(
    run: Run, phone: AdbTransport, adb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its command, if it does not end; nothing is healed."""
    monkeypatch.setattr(lease, "LANDING_GRACE", 0.1)
    host, port = adb.split(":")
    other = Flight(read_device(phone, server=AdbServer(host, int(port))).key)
    suite = "def test_it(clawperator): assert clawperator.home().success"

    with other.claim("nap", serial=phone.serial) as claim:
        claim.take_off(time.monotonic() + 0.5)
        busy = run(suite=suite)
        claim.land()
    free = run()

    busy.assert_outcomes(errors=1)
    busy.stdout.fnmatch_lines(["*EXECUTION_CONFLICT_IN_FLIGHT: *with command nap"])
    busy.stdout.no_fnmatch_line("*failed its check*")
    free.assert_outcomes(passed=1)


# Several devices


def test_two_phones_are_two_clients(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Both are checked, put back and given back; a mistake does not harm the next test."""
    result = run_plain(
        *(*ONE_SPARE, "--claw-adb", adb, "--claw-logcat=off", "--claw-snapshot=off"),
        suite="""
        import pytest
        from pytest_clawperator import expect

        def test_both(clawperator, clawperator_devices):
            alice, bob = clawperator_devices(2)
            assert alice is clawperator and alice.serial != bob.serial
            alice.open_app("com.example.shop")
            bob.open_app("com.android.settings")
            expect(alice).to_be_in_app("com.example.shop")
            expect(bob).to_be_in_app("com.android.settings")
            bob.device.orientation = "landscape"

        def test_fails(clawperator_devices):
            alice, bob = clawperator_devices(2)
            assert bob.device.orientation != "landscape"
            bob.home()
            assert alice is bob

        def test_many(clawperator_devices): clawperator_devices(4)

        def test_twice(clawperator_devices):
            clawperator_devices(2)
            clawperator_devices(2)

        @pytest.mark.parametrize("count", [0, "2", True, None])
        def test_nonsense(clawperator_devices, count): clawperator_devices(count)

        def test_one(clawperator, clawperator_devices):
            assert clawperator_devices(1) == [clawperator]

        def test_again(clawperator_devices):
            assert len(clawperator_devices(2)) == 2
        """,
    )

    result.assert_outcomes(passed=3, failed=7)
    assert len(list(kept(pytester)["test_fails"].glob("*screenshot.png"))) == 2
    result.stdout.fnmatch_lines(
        [
            "E *4 devices are wanted by one test: its own and 3 more, and this run keeps 1 spare",
            "E *hint: Keep more of the devices from the workers: --claw-spare-devices 3.",
            "E *this test was given other devices before, and has them still",
            "E *hint: Ask once, for all the devices that the test needs.",
            "E *clawperator_devices(0) is not a number of devices",
            "E *hint: Allowed is a number from 1 on: clawperator_devices(2).",
            *(
                f"E *clawperator_devices({count}) is not a number of devices"
                for count in ("'2'", "True", "None")
            ),
        ]
    )
    for serial in simulator.serials:
        result.stdout.fnmatch_lines([f"clawperator: {serial} (Google Pixel *"])
        with open_leases(run_id="after").try_take(f"127.0.0.1/{serial}") as hold:  # type: ignore[union-attr]
            assert hold.key


def test_without_spare_devices_the_option_is_named(run: Run) -> None:
    """With how many to keep."""
    result = run(suite="def test_it(clawperator_devices): clawperator_devices(2)")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *2 devices are wanted by one test: its own and 1 more, and this run keeps no spare"
            " devices",
            "E *hint: Keep more of the devices from the workers: --claw-spare-devices 1.",
        ]
    )


def test_workers_take_turns_with_a_spare_device(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """Whatever happens in their tests."""
    pytester.makepyfile(
        """
        import os
        from pathlib import Path

        import pytest

        LINES = Path(__file__).with_name("lines")

        def leave(*words):
            with LINES.open("a") as file:
                file.write(" ".join(words) + "\\n")

        @pytest.mark.parametrize("number", range(4))
        def test_pair(clawperator_devices, number):
            alice, bob = clawperator_devices(2)
            leave("begin", alice.serial, bob.serial)
            bob.home()
            leave("end", alice.serial, bob.serial)
            assert number % 2, "every other fails"

        def test_crash(clawperator_devices):
            clawperator_devices(2)
            os._exit(1)

        def test_many(clawperator_devices): clawperator_devices(3)

        def test_twice(clawperator_devices):
            clawperator_devices(2)
            clawperator_devices(2)
        """
    )

    result = run_workers("-n", "2", "--claw-device", "sim:3", "--claw-spare-devices", "1", *QUICK)

    result.assert_outcomes(passed=2, failed=5)
    text = (pytester.path / "lines").read_text(encoding="utf-8")
    steps, own, spare = zip(*(line.split() for line in text.splitlines()), strict=True)
    assert list(steps) == ["begin", "end"] * 4
    assert len({*spare}) == 1
    assert spare[0] not in own
    result.stdout.fnmatch_lines_random(
        [
            "E *3 devices are wanted by one test: its own and 2 more, and this run keeps 1 spare",
            "E *this test was given other devices before, and has them still",
        ]
    )


def test_a_spare_that_breaks_is_put_aside(
    pytester: pytest.Pytester, run_plain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the test's own device is not."""
    impatient = {**(health.await_return.__kwdefaults__ or {}), "timeout": 0.1}
    monkeypatch.setattr(health.await_return, "__kwdefaults__", impatient)

    result = run_plain(
        *("--claw-device", "sim:2", "--claw-sim-time-scale=0.05", "--claw-spare-devices=1", "-rE"),
        suite="""
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_breaks(clawperator_devices):
            _, bob = clawperator_devices(2)
            bob.device.shell("sim fault offline")
            with pytest.raises(ClawperatorError):
                while True:
                    bob.home()

        def test_next(clawperator_devices): clawperator_devices(2)

        def test_later(clawperator_devices): clawperator_devices(2)

        def test_alone(clawperator): pass
        """,
    )

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*= devices =*",
            "[[]127.0.0.1:*[]] the spare device is put aside",
            "ERROR *::test_next - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_later - infrastructure: *2 devices are wanted by one test: its own and"
            " 1 more, and this run has 0 spare: 1 did not work and was put aside",
        ]
    )
    result.stdout.no_fnmatch_line("*flaky devices*")
