"""``--claw-adb``: the adb servers whose devices a run may use."""

from __future__ import annotations

import socket

import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import FakeAdb, block
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator):\n    print('on', clawperator.serial)\n"


def test_a_device_is_found_on_whichever_server_has_it(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A device is found on whichever server has it."""
    pytester.makepyfile(USES_DEVICE)
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
    pytester.makepyfile(USES_DEVICE)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        result = run_plain("--claw-adb", address)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*ADB_SERVER_FAILED: no adb server answers at {address}, and*"])
