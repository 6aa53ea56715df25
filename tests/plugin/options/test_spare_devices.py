"""``--claw-spare-devices``: how many devices no worker gets."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TELLS_COUNT = """
def test_it(clawperator_devices):
    print("got", len(clawperator_devices(2)))
"""


@pytest.mark.parametrize(
    ("options", "ini"),
    [(["--claw-spare-devices", "1"], ""), ([], "claw_spare_devices = 1")],
)
def test_the_option_keeps_devices_from_workers(
    pytester: pytest.Pytester, run_plain: Run, adb: str, options: list[str], ini: str
) -> None:
    """The option and its ini twin keep devices for tests that want several."""
    pytester.makepyfile(TELLS_COUNT)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb, *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*got 2*"])


def test_more_spare_devices_than_there_are_is_an_error(
    pytester: pytest.Pytester, run_plain: Run, adb: str
) -> None:
    """More than there are besides the test's own is told with what is there."""
    pytester.makepyfile(TELLS_COUNT)

    result = run_plain("--claw-device", "auto", "--claw-adb", adb, "--claw-spare-devices", "2")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: 1 worker needs 1 device, and 2 more as spare devices, but *",
            "*hint: Lower --claw-spare-devices, connect more devices, or use simulated phones: *",
        ]
    )


def test_too_few_for_workers(pytester: pytest.Pytester, run_workers: Run, adb: str) -> None:
    """Workers and spare devices together are more than there are: told before the first test."""
    pytester.makepyfile(TELLS_COUNT)

    result = run_workers(
        "-n", "2", "--claw-device", "auto", "--claw-adb", adb, "--claw-spare-devices", "1"
    )

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*NO_DEVICES: 2 workers need 2 devices, one each, and 1 more as spare devices, but *",
            "*hint: Run with -n 1, lower --claw-spare-devices, connect more devices, *",
        ]
    )


@pytest.mark.parametrize("text", ["some", "-1", "1.5", "99999", "²"])
def test_an_impossible_number_ends_the_run(pytester: pytest.Pytester, run: Run, text: str) -> None:
    """What is not a number of devices ends the run, on the command line and in the ini file."""
    pytester.makepyfile(TELLS_COUNT)
    said = f"found {text!r}, allowed is a number from 0 on, as in 2"

    on_line = run(f"--claw-spare-devices={text}")
    pytester.makeini(f"[pytest]\nclaw_spare_devices = {text}\n")
    in_file = run()

    assert on_line.ret == in_file.ret == pytest.ExitCode.USAGE_ERROR
    on_line.stderr.fnmatch_lines([f"ERROR: --claw-spare-devices: {said}"])
    in_file.stderr.fnmatch_lines([f"ERROR: the ini option claw_spare_devices: {said}"])
