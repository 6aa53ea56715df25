"""Which devices a run can use: ``--claw-device``, ``--claw-adb`` and ``--claw-require``."""

from __future__ import annotations

import socket

import pytest

from pytest_clawperator.devices.spec import parse_device_spec
from pytest_clawperator.plugin import candidates
from pytest_clawperator.plugin.stash import WORKER_COUNT
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import FakeAdb, block
from tests.doubles.host import SERIAL, running_host
from tests.plugin.conftest import Run

PRINTS = "def test_it(clawperator):\n    print('on', clawperator.serial, 'as asked')\n"


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester) -> None:
    """Write a test that prints its device."""
    pytester.makepyfile(PRINTS)


@pytest.mark.parametrize(
    ("options", "ini", "environment", "used"),
    [
        (["--claw-device", "{second}"], "", "", "{second}"),
        ([], "claw_device = {second} {first}", "", "{second}"),
        (["--claw-device", "auto"], "", "", "{least}"),
        ([], "", "{second}", "{second}"),
        (["--claw-device", "auto", "--claw-require", "model=Pixel 8"], "", "", "{pixel8}"),
        (
            ["--claw-device", "auto", "--claw-require", "model=*9; api=>=30; form=phone"],
            "claw_require = model=Pixel 8",
            "",
            "{pixel9}",
        ),
        (["--claw-device", "auto"], "claw_require = model=Pixel 8", "", "{pixel8}"),
        (["--claw-device", "ABSENT", "--claw-device", "{second}"], "", "", "{second}"),
    ],
)
def test_the_chosen_device_is_used(
    pytester: pytest.Pytester,
    run_plain: Run,
    simulator: Simulator,
    adb: str,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    ini: str,
    environment: str,
    used: str,
) -> None:
    """And named above the tests; one that is not there is left out if another one will do."""
    first, second = simulator.serials
    names = {"first": first, "second": second, "least": min(first, second)}
    names |= {"pixel9": first, "pixel8": second}
    pytester.makeini(f"[pytest]\n{ini.format(**names)}\nclaw_adb = {adb}\n")
    if environment:
        monkeypatch.setenv("ANDROID_SERIAL", environment.format(**names))

    result = run_plain("-s", *(option.format(**names) for option in options))

    serial = used.format(**names)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {serial} (Google Pixel *, API 36), Operator 0.5.3, adb {adb}",
            f"*on {serial} as asked*",
        ]
    )
    if "ABSENT" in options:
        left_out = "clawperator: left out: [[]ABSENT[]] DEVICE_NOT_FOUND: no such device *"
        result.stdout.fnmatch_lines([left_out, "*hint: Correct --claw-device*"])


def test_a_device_is_found_on_whichever_server_has_it(
    run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Servers without devices do no harm."""
    answers = {"host:version": block("0029"), "host:devices": block("")}
    serial = simulator.serials[1]

    with FakeAdb(answers) as empty:
        servers = ["--claw-adb", str(empty.server), "--claw-adb", adb]
        result = run_plain("-s", *servers, "--claw-device", serial)

    result.stdout.fnmatch_lines([f"*on {serial} as asked*"])


def test_a_simulated_phone_lasts_as_long_as_the_run(run_plain: Run) -> None:
    """It is started, used, and gone with the run."""
    result = run_plain("-s", "--claw-device", "sim")

    result.assert_outcomes(passed=1)
    line = next(line for line in result.outlines if line.startswith("clawperator: 127.0.0.1:"))
    port = int(line.rpartition(":")[2])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_executions_run_through_another_host(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Tests that need more are skipped with what they need."""
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


@pytest.mark.parametrize(
    ("spec", "has_workers", "serials"),
    [
        ("http://lab:3000", True, ["A", "B"]),
        ("http://lab:3000/*", False, ["A", "B"]),
        ("http://lab:3000/B", True, ["B"]),
    ],
)
def test_workers_have_all_devices_of_another_host(
    pytester: pytest.Pytester, spec: str, has_workers: bool, serials: list[str]
) -> None:
    """Unless one is named."""
    config = pytester.parseconfig()
    if has_workers:
        config.stash[WORKER_COUNT] = 2
    states = {"A": "device", "B": "device", "C": "offline"}

    assert candidates._wanted_serials(config, parse_device_spec(spec), states) == serials


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (
            [],
            [
                "*MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: 2 devices are connected and none was *",
                "*hint: Choose one: --claw-device {least}; or any: --claw-device auto; or all,"
                " with one worker each: -n 2 --claw-device auto.",
            ],
        ),
        (
            ["--claw-device", "PH404"],
            [
                "E *[[]PH404] DEVICE_NOT_FOUND: no such device *; connected: *{least}*",
                "*hint: Correct --claw-device, or connect the device: `adb devices` must list it.",
            ],
        ),
        (
            ["--claw-device", "simm:2"],
            ["*hint: Correct --claw-device, *must list it. Did you mean --claw-device sim:2?"],
        ),
        (
            ["--claw-device", "ABSENT", "--claw-device", "GONE"],
            ["*[[]ABSENT[]] DEVICE_NOT_FOUND: no such device is connected*"],
        ),
        (
            ["--claw-device", "auto", "--claw-require", "api=<30; form=tablet"],
            [
                "E *NO_DEVICES: no device meets --claw-require: *api='<30' is required, the device"
                " has 36, form='tablet' is required, the device has 'phone'; *",
                "*hint: Connect one that does, or ask for less.",
            ],
        ),
        (
            ["--claw-device", "sim:65", "-o", "claw_adb="],
            ["*the simulator refused its options: *65 devices*", "*hint: Ask for 1 to 64 phones*"],
        ),
        (
            ["-o", "claw_adb={nowhere}"],
            ["*ADB_SERVER_FAILED: no adb server answers at {nowhere}, and*"],
        ),
    ],
)
def test_why_no_device_can_be_used(
    pytester: pytest.Pytester,
    run_plain: Run,
    simulator: Simulator,
    adb: str,
    options: list[str],
    messages: list[str],
) -> None:
    """The test's error has the reason, and the option that helps."""
    pytester.makeini(f"[pytest]\nclaw_adb = {adb}\n")
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        nowhere = f"127.0.0.1:{reserved.getsockname()[1]}"
        names = {"least": min(simulator.serials), "nowhere": nowhere}
        result = run_plain(*(option.format(**names) for option in options))

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message.format(**names) for message in messages])


@pytest.mark.parametrize(
    ("devices", "options", "messages"),
    [
        (
            "",
            options,
            [
                "E *NO_DEVICES: no device is connected",
                "*hint: Plug one in with USB debugging *, or use simulated phones: *sim.",
            ],
        )
        for options in ([], ["--claw-device", "auto"])
    ]
    + [
        (
            "PH1\tunauthorized\n",
            [],
            [
                "E *NO_DEVICES: no connected device is usable: PH1 (unauthorized)",
                "*hint: *Allow USB debugging?* Or use simulated phones: --claw-device sim.",
            ],
        )
    ],
)
def test_without_a_usable_device_simulated_ones_are_suggested(
    run_plain: Run, devices: str, options: list[str], messages: list[str]
) -> None:
    """And none is started."""
    answers = {"host:version": block("0029"), "host:devices": block(devices)}

    with FakeAdb(answers) as server:
        result = run_plain("--claw-adb", str(server.server), *options)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(messages)
    assert "clawperator: " not in result.stdout.str()


def test_each_class_finds_its_phone_among_simulated_ones(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """They have the kinds that the option names."""
    kinds = "api=30,34;form=phone,tablet"

    result = run_plain("-v", f"--claw-device=sim:{kinds}", f"--claw-matrix={kinds}")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(
        ["*test_it[[]api30-phone[]]*PASSED*", "*test_it[[]api34-tablet[]]*PASSED*"]
    )
