"""The simulator as a process: it announces that it is ready, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.__main__ import main
from pytest_clawperator.transport.adb_program import find_adb

COMMAND = [sys.executable, "-m", "pytest_clawperator.simulator"]
TOP = Path(__file__).parent.parent.parent
DEADLINE = 20.0


def adb(port: int, *arguments: str) -> str:
    """Run the real adb against a simulator's server."""
    run = subprocess.run(
        [find_adb(), "-P", str(port), *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    return run.stdout


def answers(port: int) -> bool:
    """Whether a server listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def lives(pid: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(came_true: Callable[[], bool]) -> None:
    """Wait for a condition; after the deadline the test has failed."""
    end = time.monotonic() + DEADLINE
    while not came_true():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)  # there is no event for the end of another process's child


@contextmanager
def started(*options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Start the program and read its one line."""
    process = subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, text=True, cwd=TOP)
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_phones_and_emulators_answer_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emulators have a console; an adb server that is killed comes back; no file is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    with Simulator(devices=2, emulators=1) as simulator:
        *_, emulator = simulator.serials
        for _ in range(2):
            listed = adb(simulator.adb_port, "devices")
            assert [f"{serial}\tdevice" in listed for serial in simulator.serials] == [True] * 3
            for serial in simulator.serials:
                script = "screencap -p /sdcard/x.png; echo hi"
                assert adb(simulator.adb_port, "-s", serial, "shell", script) == "hi\n"
            name = adb(simulator.adb_port, "-s", emulator, "emu", "avd", "name")
            assert name.split() == ["simulated_1", "OK"]
            adb(simulator.adb_port, "kill-server")
            wait_until(lambda: adb(simulator.adb_port, "devices").count("\tdevice") == 3)

    assert emulator.startswith("emulator-")
    assert not answers(simulator.adb_port)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_two_side_by_side() -> None:
    """Two simulators have servers of their own; the same seed gives the same phone."""

    def seen(simulator: Simulator) -> list[str]:
        to_phone = ("-s", simulator.serials[0], "shell")
        script = (
            "am start -W -n com.android.settings/.Settings | grep -v Time; getprop ro.serialno;"
            " ps -A; logcat -d -v tag"
        )
        printed = adb(simulator.adb_port, *to_phone, script)
        picture = subprocess.check_output(
            [find_adb(), "-P", str(simulator.adb_port), *to_phone, "screencap -p"]
        )
        return [*re.sub(r"EventTime: \d+", "", printed).splitlines(), picture.hex()]

    with Simulator(seed=7) as one, Simulator(seed=7) as two:
        assert one.adb_port != two.adb_port
        assert one.serials[0] not in adb(two.adb_port, "devices")
        assert seen(one) == seen(two)


def test_a_signal_ends_it() -> None:
    """The phones and their adb server end, with status 0."""
    for number in (signal.SIGINT, signal.SIGHUP):
        with started("--devices", "2") as (process, ready):
            process.send_signal(number)

            assert process.wait(DEADLINE) == 0
            assert not answers(ready["adb"]["port"])


def test_stopped_though_it_does_not_react(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that hangs is killed after a short grace, and takes its server along."""
    monkeypatch.setattr("pytest_clawperator.simulator.child_process.STOP_DEADLINE", 0.1)
    simulator = Simulator().start()
    os.kill(simulator.pid, signal.SIGSTOP)

    simulator.stop()

    assert not lives(simulator.pid)
    wait_until(lambda: not answers(simulator.adb_port))


def test_a_server_that_cannot_be_started_again_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phones that cannot be reached do not go on."""
    program = tmp_path / "adb"
    program.symlink_to(find_adb())
    monkeypatch.setenv("ADB_PATH", str(program))
    with started() as (process, ready):
        program.unlink()
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.delenv("ADB_PATH")
        adb(ready["adb"]["port"], "kill-server")

        assert process.wait(DEADLINE) == 1
        assert not answers(ready["adb"]["port"])


@pytest.mark.parametrize("stay", [False, True])
def test_it_ends_with_its_parent_except_with_stay(stay: bool) -> None:
    """When the process that started it is killed, it ends; with --stay it goes on."""
    options = ["--stay"] if stay else []
    middle = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen({[*COMMAND, *options]!r}, stdout=subprocess.PIPE, text=True)\n"
        "print(child.stdout.readline(), flush=True)\n"
        "child.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", middle], stdout=subprocess.PIPE, text=True, cwd=TOP
    )
    assert parent.stdout is not None
    ready = json.loads(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()

    if stay:
        assert adb(ready["adb"]["port"], "-s", ready["serials"][0], "shell", "echo hi") == "hi\n"
        os.kill(ready["pid"], signal.SIGTERM)
    wait_until(lambda: not lives(ready["pid"]) and not answers(ready["adb"]["port"]))


def test_a_phone_that_is_away_for_a_while_comes_back() -> None:
    """A fault that keeps every host out ends by itself, because no shell could clear it."""
    with Simulator() as simulator:
        serial = simulator.serials[0]
        for fault in ("offline", "unauthorized"):
            adb(simulator.adb_port, "-s", serial, "shell", f"sim fault {fault} ms=700")

            for state in (fault, "device"):
                listed = f"{serial}\t{state}"
                wait_until(lambda: listed in adb(simulator.adb_port, "devices"))  # noqa: B023
            assert adb(simulator.adb_port, "-s", serial, "shell", "echo hi") == "hi\n"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--devices", "0"], "Ask for 1 to"),
        (["--devices", "many"], "`many` is nothing that a simulated phone can be"),
        (["--profile", "0.9"], "documented"),
        (["--app", "/no/such/file.yaml"], "/no/such/file.yaml"),
        (["--fault", "no_such_fault"], "Known faults: "),
        (["--time-scale", "nan"], "Allowed: 0 to"),
        (["--chatter", "-5"], "Allowed: 0 to"),
        (["--api", "1"], "Allowed: 21 to"),
    ],
)
def test_invalid_options_end_it_with_status_2(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints what is allowed."""
    try:
        status: object = main(options)
    except SystemExit as ended:
        status = ended.code

    said = capsys.readouterr()
    assert status == 2
    assert complaint in said.err
    assert said.out == ""


def test_a_start_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has what the process said: invalid options, or an adb program that is not there."""
    with pytest.raises(ConfigurationError, match="Ask for 1 to"):
        Simulator(devices=0).start()
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    with pytest.raises(ClawperatorError, match="/no/such/adb"):
        Simulator().start()
