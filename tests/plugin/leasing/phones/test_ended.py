"""Simulated phones whose process ended are named as the cause."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def test_phones_start_their_adb_server_again(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The simulated phones start it again, and the tests after that find them."""
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

    result = run_plain("--claw-device=sim", *QUICK)

    result.assert_outcomes(passed=2)


KILLS_PHONES = """
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


def test_the_end_of_simulated_phones_is_named(pytester: pytest.Pytester, run_plain: Run) -> None:
    """It is said that their process is gone; nobody waits for them, and no internals are shown."""
    pytester.makepyfile(KILLS_PHONES)

    result = run_plain("--claw-device=sim", "-rE", *QUICK)

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
