"""Simulated phones that run in the background."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli import simulate
from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.cli.conftest import TOP, Cli

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, offline: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Return the function that runs the program; phones that are left are ended."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)

    def call(*argv: str) -> Any:
        is_pretty = "pretty" in argv
        printed = offline(*argv) if is_pretty else offline("--json", *argv)
        return printed.out if is_pretty else printed.json

    yield call
    call("simulate", "stop", "--all")
    assert list((tmp_path / "temporary").iterdir()) == []


def program(*argv: str) -> subprocess.Popen[str]:
    """Start the program itself, in a session that ends with it, as a shell's does."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_clawperator", "--json", *argv],
        cwd=TOP,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def server_of(phones: dict[str, Any]) -> AdbServer:
    """Return the adb server of the phones."""
    host, _, port = phones["adb"].rpartition(":")
    return AdbServer(host, int(port))


def parents() -> dict[int, int]:
    """Return the parent of each process that has not ended."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started."""
    return [child for child, parent in parents().items() if parent == pid]


def test_phones_go_on_and_leave_nothing_when_they_are_stopped(run: Run, tmp_path: Path) -> None:
    """They outlive the program that started them; a stop ends their server and their file."""
    with program("simulate", "--devices", "2") as process:
        assert process.stdout is not None
        phones = json.loads(process.stdout.read())
    assert run("simulate", "list") == {"simulators": [phones]}
    assert sorted(serial for serial, _ in server_of(phones).devices()) == sorted(phones["serials"])

    assert run("simulate", "stop", str(phones["pid"]))["stopped"] == [phones]

    with pytest.raises(AdbUnavailableError):
        server_of(phones).version()
    assert list((tmp_path / "state").iterdir()) == []


def test_phones_whose_start_was_killed_can_be_stopped(run: Run) -> None:
    """They go on, and are listed as soon as they have a process."""
    with program("simulate") as process:
        while not (found := run("simulate", "list")["simulators"]):
            assert process.poll() is None
        process.kill()

    [stopped] = run("simulate", "stop")["stopped"]

    assert stopped["pid"] == found[0]["pid"]
    assert stopped["pid"] not in parents()


@pytest.mark.parametrize("generation", [1, 2])
def test_a_killed_process_of_the_phones_leaves_nothing(run: Run, generation: int) -> None:
    """Its work is taken over, and a stop ends the others and removes their files."""
    phones = run("simulate")
    family = [[phones["pid"]]]
    for _ in range(2):
        family.append([child for parent in family[-1] for child in children_of(parent)])
    for pid in family[generation]:
        os.kill(pid, signal.SIGKILL)

    assert len(run("simulate", "stop")["stopped"]) == 1

    assert all(family)
    assert not {pid for pids in family for pid in pids} & set(parents())


def test_phones_have_names(run: Run) -> None:
    """A given one, or the next that is free; a name is free again when its phones are gone."""
    first, named, second = run("simulate"), run("simulate", "--name", "shop"), run("simulate")
    assert [one["name"] for one in (first, named, second)] == ["phones-1", "shop", "phones-2"]
    refused = run("simulate", "--name", "shop")
    assert refused["code"] == "USAGE"
    assert "clawperator-py simulate stop shop" in refused["hint"]

    assert run("simulate", "stop")["code"] == "USAGE"  # which of them?
    assert run("simulate", "stop", "phones-1", str(second["pid"]))["stopped"] == [first, second]
    os.kill(named["pid"], signal.SIGKILL)
    while run("simulate", "list")["simulators"]:
        pass  # until the system has ended it
    assert run("simulate", "stop") == {"ok": True, "stopped": []}
    assert run("simulate", "--name", "shop")["name"] == "shop"


def test_phones_that_start_at_the_same_moment_do_not_clash(run: Run) -> None:
    """Each group gets its own name, process and adb server."""
    with ThreadPoolExecutor(4) as pool:
        phones = list(pool.map(lambda _: simulate.start_phones(), range(4)))

    assert sorted(one.name for one in phones) == [f"phones-{number}" for number in range(1, 5)]
    assert len({one.adb for one in phones}) == len({one.pid for one in phones}) == 4
    assert len(run("simulate", "list")["simulators"]) == 4


def test_a_stale_file_that_was_replaced_before_the_lock_is_not_removed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise running phones lose their file, and others get their name."""
    stale = tmp_path / "state" / "pytest-clawperator" / "simulated" / "phones-1.json"
    stale.parent.mkdir(parents=True)
    stale.touch()
    flock = fcntl.flock

    def replaced_first(file: Any, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        stale.unlink()
        simulate.start_phones()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", replaced_first)
    simulate.running_phones()

    assert [one.name for one in simulate.running_phones()] == ["phones-1"]


def test_phones_are_as_the_options_say(run: Run) -> None:
    """What is printed for people can be pasted into a shell, and into a test run."""
    options = ("--api", "33", "--profile", "0.5.3", "--seed", "5", "--operator", "dev")
    shown = run("simulate", "--name", "shop", *options, "--output", "pretty")
    [phones] = run("simulate", "list")["simulators"]
    adb = phones["adb"]
    transport = AdbTransport(server_of(phones), phones["serials"][0])

    assert transport.shell("getprop ro.build.version.sdk").stdout.strip() == "33"
    assert "com.clawperator.operator.dev" in transport.shell("pm list packages clawperator").stdout
    transport.close()
    assert f"export ADB_SERVER_SOCKET=tcp:{adb}" in shown
    assert f"pytest --claw-adb {adb} --claw-device auto" in shown
    assert "clawperator-py simulate stop shop" in shown

    # Phones behind another server are named if none is usable here.
    away = run("simulate", "--name", "away", "--fault", "offline")
    error = run("--adb", away["adb"], "snapshot")
    assert error["code"] == "NO_DEVICES"
    assert f"--adb {adb} (shop)" in error["hint"]
    assert away["adb"] not in error["hint"]


def test_wrong_options_start_nothing(run: Run, tmp_path: Path) -> None:
    """The error names what is allowed, and no file is left."""
    (tmp_path / "state").write_text("in the way")
    refused = run("simulate")
    assert (refused["code"], "XDG_STATE_HOME" in refused["hint"]) == ("FILE_UNAVAILABLE", True)
    (tmp_path / "state").unlink()
    for argv, code in (
        (["simulate", "--devices", "1000"], "CONFIGURATION_INVALID"),
        (["simulate", "--name", "../x"], "USAGE"),
        (["simulate", "stop", "4711"], "USAGE"),
    ):
        assert run(*argv)["code"] == code
    unknown = run("simulate", "--fault", "nonsense")
    assert unknown["code"] == "CONFIGURATION_INVALID"
    assert unknown["message"].endswith("there is no fault 'nonsense'")
    assert "CONFIGURATION_INVALID" not in unknown["message"]
    assert "operator_crash" in unknown["hint"]
    assert list(tmp_path.rglob("*.json")) == []
