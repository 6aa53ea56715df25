"""Which devices a run can use: ``--claw-device``, ``--claw-adb`` and ``--claw-require``."""

from __future__ import annotations

import socket

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.adb_server import FakeAdb, block
from tests.doubles.host import SERIAL, running_host
from tests.plugin.conftest import Run

TELLS_SERIAL = "def test_it(clawperator):\n    print('on', clawperator.serial)\n"


def test_the_named_device_is_used(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """The named device is used, and named above the tests."""
    pytester.makepyfile(TELLS_SERIAL)
    serial = simulator.serials[1]

    result = run_plain("-s", "--claw-device", serial, "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {serial} (Google Pixel 8, API 36), Operator 0.5.3, adb {adb}",
            f"*on {serial}*",
        ]
    )


def test_auto_takes_the_first_connected_device(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Any connected device is the first of them."""
    pytester.makepyfile(TELLS_SERIAL)

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*on {min(simulator.serials)}*"])


def test_a_simulated_phone_lasts_as_long_as_the_run(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """A simulated phone is started, used, and gone with the run."""
    pytester.makepyfile(TELLS_SERIAL)

    result = run_plain("-s", "--claw-device", "sim")

    result.assert_outcomes(passed=1)
    line = next(line for line in result.outlines if line.startswith("clawperator: 127.0.0.1:"))
    port = int(line.rpartition(":")[2])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_executions_run_through_another_host(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Through another host executions run; what needs more is skipped, and says what it needs."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            assert clawperator.execute([{"type": "snapshot_ui"}]).ok

        def test_shell(clawperator):
            clawperator.device.shell("id")

        def test_transport(clawperator_transport):
            pass
        """
    )

    with running_host() as host:
        result = run_plain("--claw-device", host.url)

    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {SERIAL} behind {host.url}",
            "SKIPPED*device.shell is not possible here: * runs executions and nothing else",
            "SKIPPED*clawperator_transport: the device behind * cannot be reached directly",
        ]
    )


def test_none_chosen_among_several(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Several devices and no choice is an error with the options that choose."""
    pytester.makepyfile(TELLS_SERIAL)

    result = run_plain("--claw-adb", adb)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: 2 devices are connected and none was chosen: *",
            f"*hint: Choose one: --claw-device {min(simulator.serials)}; or any: --claw-device"
            " auto; or all, with one worker each: -n 2 --claw-device auto.",
        ]
    )


def test_the_serial_of_the_environment(
    pytester: pytest.Pytester,
    run_plain: Run,
    simulator: Simulator,
    adb: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the option, `ANDROID_SERIAL` chooses."""
    pytester.makepyfile(TELLS_SERIAL)
    monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[1])

    result = run_plain("-s", "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*on {simulator.serials[1]}*"])


@pytest.mark.parametrize("options", [[], ["--claw-device", "auto"]])
def test_without_a_device_the_option_for_simulated_ones_is_named(
    pytester: pytest.Pytester, run_plain: Run, options: list[str]
) -> None:
    """Without any device the error names the option for simulated ones, and none is started."""
    pytester.makepyfile(TELLS_SERIAL)
    answers = {"host:version": block("0029"), "host:devices": block("")}

    with FakeAdb(answers) as server:
        result = run_plain("--claw-adb", str(server.server), *options)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: no device is connected",
            "*hint: Plug one in with USB debugging *, or use simulated phones: --claw-device sim.",
        ]
    )
    assert "clawperator: " not in result.stdout.str()


def test_a_device_without_permission(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A device that does not trust this computer yet is told with what to do on it."""
    pytester.makepyfile(TELLS_SERIAL)
    answers = {"host:version": block("0029"), "host:devices": block("PH1\tunauthorized\n")}

    with FakeAdb(answers) as server:
        result = run_plain("--claw-adb", str(server.server))

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: no connected device is usable: PH1 (unauthorized)",
            "*hint: *Allow USB debugging?* Or use simulated phones: --claw-device sim.",
        ]
    )


def test_a_device_that_is_not_there(
    pytester: pytest.Pytester, run_plain: Run, phone: AdbTransport, adb: str
) -> None:
    """A serial that nobody has is told with those that are there."""
    pytester.makepyfile(TELLS_SERIAL)

    result = run_plain("--claw-device", "PH404", "--claw-adb", adb)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E *[[]PH404] DEVICE_NOT_FOUND: no such device *; connected: *{phone.serial}*",
            "*hint: Correct --claw-device, or connect the device: `adb devices` must list it.",
        ]
    )


def test_too_many_simulated_phones(pytester: pytest.Pytester, run_plain: Run) -> None:
    """What the simulator refuses is told in its words."""
    pytester.makepyfile(TELLS_SERIAL)

    result = run_plain("--claw-device", "sim:65")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*the simulator refused its options: *65 devices*", "*hint: Ask for 1 to 64 phones*"]
    )


def test_simulated_phones_of_several_kinds(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Each class of a matrix finds its phone among simulated ones of these kinds."""
    pytester.makepyfile("def test_it(clawperator_device): print('on', clawperator_device.model)")
    kinds = "api=30,34;form=phone,tablet"

    result = run_plain("-v", f"--claw-device=sim:{kinds}", f"--claw-matrix={kinds}")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(
        ["*test_it[[]api30-phone[]]*PASSED*", "*test_it[[]api34-tablet[]]*PASSED*"]
    )


PRINTS_SERIAL = "def test_it(clawperator):\n    print('on', clawperator.serial)\n"


def test_a_device_is_found_on_whichever_server_has_it(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A device is found on whichever server has it."""
    pytester.makepyfile(PRINTS_SERIAL)
    answers = {"host:version": block("0029"), "host:devices": block("")}
    serial = simulator.serials[1]

    with FakeAdb(answers) as empty:
        servers = ["--claw-adb", str(empty.server), "--claw-adb", adb]
        result = run_plain("-s", *servers, "--claw-device", serial)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*on {serial}*"])


def test_a_named_server_that_does_not_answer_is_an_error(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """A server that was named and does not answer is told; none is started in its place."""
    pytester.makepyfile(PRINTS_SERIAL)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        result = run_plain("--claw-adb", address)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*ADB_SERVER_FAILED: no adb server answers at {address}, and*"])


TELLS_MODEL = """
def test_it(clawperator):
    print("on", clawperator.device.info.model, clawperator.serial)
"""


@pytest.mark.parametrize(
    ("options", "ini", "model"),
    [
        (["--claw-require", "model=Pixel 8"], "", "Pixel 8"),
        (["--claw-require", "model=*9; api=>=30; emulator=false; form=phone"], "", "Pixel 9"),
        ([], "claw_require = model=Pixel 8", "Pixel 8"),
        (["--claw-require", "model=Pixel 9"], "claw_require = model=Pixel 8", "Pixel 9"),
    ],
)
def test_only_a_device_that_meets_the_requirements_is_used(
    pytester: pytest.Pytester, run_plain: Run, adb: str, options: list[str], ini: str, model: str
) -> None:
    """Only a device that is like that is used; the option wins over the ini twin."""
    pytester.makepyfile(TELLS_MODEL)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb, *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"clawperator: *(Google {model}, *", f"*on {model} *"])


def test_nobody_will_do(
    pytester: pytest.Pytester, run_plain: Run, adb: str, simulator: Simulator
) -> None:
    """Where no device is like that, it is said of each why."""
    pytester.makepyfile(TELLS_MODEL)
    devices = ("--claw-device", "auto", "--claw-adb", adb)

    result = run_plain(*devices, "--claw-require", "api=<30; form=tablet")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: no device meets --claw-require: *",
            "*hint: Connect one that does, or ask for less.",
        ]
    )
    lacks = "api='<30' is required, the device has 36, form='tablet' is required, the device has"
    for serial in simulator.serials:
        result.stdout.fnmatch_lines([f"E *{serial}: {lacks} 'phone'*"])


USES_A_PHONE = """
def test_it(clawperator):
    print("used:", clawperator.serial)
"""


def test_a_named_phone_that_is_not_usable_is_left_out(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A run without workers uses the named phone that is usable, and says what the other lacks."""
    pytester.makepyfile(USES_A_PHONE)
    there = simulator.serials[1]

    result = run_plain("--claw-adb", adb, "--claw-device", "ABSENT", "--claw-device", there, "-rP")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"clawperator: left out: [[]ABSENT[]] DEVICE_NOT_FOUND: *{there}*", f"used: {there}"]
    )


def test_no_named_phone_is_usable(pytester: pytest.Pytester, run_plain: Run, adb: str) -> None:
    """Where no named phone is usable, the test's error says why of the first."""
    pytester.makepyfile(USES_A_PHONE)

    result = run_plain("--claw-adb", adb, "--claw-device", "ABSENT", "--claw-device", "GONE")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*[[]ABSENT[]] DEVICE_NOT_FOUND: no such device is connected*"])
