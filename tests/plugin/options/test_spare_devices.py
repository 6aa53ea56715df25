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
            "E *NO_DEVICES: 1 worker needs 1 device, and 2 more shall be spare, but there are 2: *",
            "*hint: Lower --claw-spare-devices, connect more devices, or use simulated phones: *",
        ]
    )
