"""A run that is interrupted leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest


def test_ctrl_c_puts_changes_back_and_ends_the_phones(pytester: pytest.Pytester) -> None:
    """Ctrl-C in a terminal ends the test, puts its changes back, and then ends the phones."""
    pytester.makepyfile(
        """
        import time
        from pathlib import Path

        def test_it(clawperator, clawperator_lease):
            clawperator.device.orientation = "landscape"
            Path("writing").write_text(clawperator_lease.adb)
            Path("writing").rename("started")
            time.sleep(600)
        """
    )
    # A run in the background ignores Ctrl-C unless it asks for it.
    pytester.makeconftest("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--claw-device", "sim"]
    started = pytester.path / "started"

    # As a terminal does, the signal goes to all processes of the group.
    run = subprocess.Popen(
        command, cwd=pytester.path, start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not started.exists():
        assert time.monotonic() < deadline
        assert run.poll() is None
    os.killpg(run.pid, signal.SIGINT)
    output = run.communicate(timeout=60)[0]

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    assert "could not restore" not in output
    host, port = started.read_text(encoding="utf-8").split(":")
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0
