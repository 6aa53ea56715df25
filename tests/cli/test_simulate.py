"""Simulated phones that run in the background."""

from __future__ import annotations

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

from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer

TOP = Path(__file__).parents[2]

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return the function that runs the program; phones that are left are ended."""
    (tmp_path / "temporary").mkdir()
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TMPDIR": str(tmp_path / "temporary"),
    }

    def call(*argv: str) -> Any:
        output = () if "pretty" in argv else ("--json",)
        done = subprocess.run(
            [sys.executable, "-m", "pytest_clawperator", *output, *argv],
            cwd=TOP,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,  # which ends with it, as a shell's does
        )
        return json.loads(done.stdout) if output else done.stdout

    yield call
    call("simulate", "stop", "--all")
    assert list((tmp_path / "temporary").iterdir()) == []


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
    """They outlive the command that started them; a stop ends their server and their file.

    The file could not go while the process has it locked.
    """
    phones = run("simulate", "--devices", "2")
    assert run("simulate", "list") == {"simulators": [phones]}
    assert sorted(serial for serial, _ in server_of(phones).devices()) == sorted(phones["serials"])

    assert run("simulate", "stop", str(phones["pid"]))["stopped"] == [phones]

    with pytest.raises(AdbUnavailableError):
        server_of(phones).version()
    assert list((tmp_path / "state").iterdir()) == []


def test_phones_that_were_killed_are_forgotten(run: Run) -> None:
    """A file of phones that are gone is removed, and its process id means nothing."""
    phones = run("simulate")
    os.kill(phones["pid"], signal.SIGKILL)

    while run("simulate", "list")["simulators"]:
        pass  # until the system has ended it

    assert run("simulate", "stop") == {"ok": True, "stopped": []}


def test_phones_whose_start_was_killed_can_be_stopped(run: Run, tmp_path: Path) -> None:
    """They go on, as phones that stay do, and are listed as soon as they have a process."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    environment["TMPDIR"] = str(tmp_path / "temporary")
    argv = [sys.executable, "-m", "pytest_clawperator", "simulate"]
    with subprocess.Popen(argv, cwd=TOP, env=environment, stdout=subprocess.DEVNULL) as process:
        while not (found := run("simulate", "list")["simulators"]):
            assert process.poll() is None
        process.kill()

    [stopped] = run("simulate", "stop")["stopped"]

    assert stopped["pid"] == found[0]["pid"]
    assert stopped["pid"] not in parents()


@pytest.mark.parametrize("generation", [1, 2])
def test_a_process_of_the_phones_that_is_killed_leaves_nothing(run: Run, generation: int) -> None:
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
    """One that is given, or the next that is free; both stop them, and so does the process id."""
    first, named, second = run("simulate"), run("simulate", "--name", "shop"), run("simulate")
    assert [one["name"] for one in (first, named, second)] == ["phones-1", "shop", "phones-2"]

    assert run("simulate", "stop")["code"] == "USAGE"  # which of them?
    assert run("simulate", "stop", "shop", str(first["pid"]))["stopped"] == [first, named]
    assert run("simulate", "stop")["stopped"] == [second]


def test_a_name_belongs_to_one_group_of_phones(run: Run) -> None:
    """It is free again as soon as they are gone, however they went."""
    phones = run("simulate", "--name", "shop")
    refused = run("simulate", "--name", "shop")
    os.kill(phones["pid"], signal.SIGKILL)
    while run("simulate", "list")["simulators"]:
        pass  # until the system has ended it

    assert refused["code"] == "USAGE"
    assert "clawperator-py simulate stop shop" in refused["hint"]
    assert run("simulate", "--name", "shop")["name"] == "shop"


def test_phones_that_start_at_the_same_moment_do_not_clash(run: Run) -> None:
    """Each has a name, a process and an adb server of its own."""
    with ThreadPoolExecutor(4) as pool:
        phones = list(pool.map(lambda _: run("simulate"), range(4)))

    assert sorted(one["name"] for one in phones) == [f"phones-{number}" for number in range(1, 5)]
    assert len({one["adb"] for one in phones}) == len({one["pid"] for one in phones}) == 4
    assert len(run("simulate", "list")["simulators"]) == 4


def test_phones_are_as_the_options_say(run: Run) -> None:
    """The options are those of the simulator."""
    phones = run(
        "simulate", "--api", "33", "--profile", "0.5.3", "--seed", "5", "--operator", "dev"
    )
    transport = AdbTransport(server_of(phones), phones["serials"][0])

    assert transport.shell("getprop ro.build.version.sdk").stdout.strip() == "33"
    assert "com.clawperator.operator.dev" in transport.shell("pm list packages clawperator").stdout
    transport.close()


def test_people_are_told_how_to_use_the_phones(run: Run) -> None:
    """The lines can be pasted into a shell, and into a test run."""
    told = run("simulate", "--name", "shop", "--output", "pretty")
    adb = run("simulate", "list")["simulators"][0]["adb"]

    assert f"export ADB_SERVER_SOCKET=tcp:{adb}" in told
    assert f"pytest --claw-adb {adb} --claw-device auto" in told
    assert "clawperator-py simulate stop shop" in told


def test_wrong_options_start_nothing(run: Run, tmp_path: Path) -> None:
    """The error says what is allowed, and no file is left."""
    assert run("simulate", "--devices", "1000")["code"] == "CONFIGURATION_INVALID"
    assert run("simulate", "--name", "../x")["code"] == "USAGE"
    assert run("simulate", "stop", "4711")["code"] == "USAGE"
    assert list(tmp_path.rglob("*.json")) == []


def test_a_folder_that_cannot_be_made_is_told(run: Run, tmp_path: Path) -> None:
    """The error names the variable that says where it is."""
    (tmp_path / "state").write_text("in the way")

    refused = run("simulate")

    assert (refused["code"], "XDG_STATE_HOME" in refused["hint"]) == ("FILE_UNAVAILABLE", True)


def test_phones_that_run_elsewhere_are_named_where_none_is_usable(run: Run) -> None:
    """Who started phones and did not say where they are is told what to type."""
    phones = run("simulate", "--name", "shop")
    away = run("simulate", "--name", "away", "--fault", "offline")

    told = run("--adb", away["adb"], "snapshot")

    assert told["code"] == "NO_DEVICES"
    assert f"--adb {phones['adb']} (shop)" in told["hint"]
    assert away["adb"] not in told["hint"]


def test_a_fault_that_is_not_there_is_told_once(run: Run) -> None:
    """The message has no second code in it, and the known ones are the next step."""
    told = run("simulate", "--fault", "nonsense")

    assert told["code"] == "CONFIGURATION_INVALID"
    assert told["message"].endswith("there is no fault 'nonsense'")
    assert "CONFIGURATION_INVALID" not in told["message"]
    assert "operator_crash" in told["hint"]
