"""Runs with emulators that are killed, interrupted, or start at the same moment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clawperator.emulators import claims
from tests.doubles import own_ports
from tests.doubles.kill_at import MOMENTS, VARIABLE
from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench
from tests.plugin.conftest import EMULATOR_OPTIONS, Run

Start = Callable[..., "subprocess.Popen[str]"]

ROOT = Path(__file__).parents[2]


class Room:
    """A place for runs that disturb no others, where everything that they leave is seen."""

    def __init__(self, bench: SdkBench, locks: Path) -> None:
        self._bench = bench
        self._locks = locks

    def left(self) -> list[str]:
        """Return what is left: processes, virtual devices, images, and files of any kind."""
        calls = self._bench.sdk.calls()
        folder = self._bench.folder
        processes = [f"{call.tool} {call.arguments}" for call in calls if _lives(call.pid, folder)]
        half_done = (folder / ".temp").glob("*")
        locks = self._locks.iterdir() if self._locks.is_dir() else ()
        files = [*half_done, *self._bench.home.iterdir(), *locks]
        return [*processes, *map(str, [*self._bench.running(), *files])]


@pytest.fixture
def room(
    run_emulators: Run,
    bench: SdkBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Room:
    """Give the runs of a test lock files and ports of their own."""
    worker = getattr(request.config, "workerinput", {"workerid": "gw0"})["workerid"]
    number = int(worker.removeprefix("gw"))
    mine = own_ports.own_ports(number)
    monkeypatch.setattr(claims, "FIRST_PORT", mine[0])
    monkeypatch.setattr(claims, "LAST_PORT", mine[-1])
    monkeypatch.setenv(own_ports.VARIABLE, str(number))
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "locks"))
    return Room(bench, tmp_path / "locks")


@pytest.fixture
def start_emulators(room: Room, pytester: pytest.Pytester) -> Start:
    """Return the function that starts a run on emulators as a process of its own."""

    def start_emulators(*options: str, **variables: str) -> subprocess.Popen[str]:
        plugins = ["xdist", "no:cacheprovider", "tests.doubles.own_ports"]
        loaded = [word for name in plugins for word in ("-p", name)]
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *loaded, *EMULATOR_OPTIONS, *options],
            cwd=pytester.path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start_emulators


def _lives(pid: int, sdk: Path) -> bool:
    """Whether a process of a tool of this SDK has not ended; ids are used again, also by others."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"simulated_sdk" in command and bytes(sdk) in command


ROUNDS = 100 if os.environ.get("CLAWPERATOR_SOAK") else 1

# Each run has its emulators until the other one has its own.
MEETS = """
import os, time
from pathlib import Path

def test_it(clawperator):
    here = Path(__file__).parent
    (here / f"met-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len([*here.glob("met-*")]) < 2:
        assert time.monotonic() < deadline, "the other run has no emulators"
        time.sleep(0.02)
    clawperator.home()
"""

KNOWN = re.compile(r"emulator (\S+): known to adb as (emulator-\d+)")


@pytest.mark.parametrize("number", range(ROUNDS))
def test_runs_at_the_same_moment_share_nothing(
    pytester: pytest.Pytester, start_emulators: Start, bench: SdkBench, room: Room, number: int
) -> None:
    """Each has virtual devices and ports of its own; nothing of them is left."""
    pytester.makepyfile(MEETS)
    if number % 2 == 0:
        bench.create("mine")  # only one of them can have it

    runs = [start_emulators("--claw-device", "emulator:2") for _ in range(2)]
    said = [run.communicate(timeout=DEADLINE * 4)[0] for run in runs]

    found = [pair for text in said for pair in KNOWN.findall(text)]
    assert [run.returncode for run in runs] == [0, 0], "\n".join(said)
    assert Counter(len({pair[at] for pair in found}) for at in (0, 1)) == {4: 2}, found
    assert [one for one in room.left() if "/mine." not in one] == []


IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))

WAITS = """
import time

def test_it(clawperator):
    print("the test has begun", flush=True)
    time.sleep(600)
"""

# What a run says at the moment at which it gets the signal.
LINES_AT = {
    "installing": "% downloading",
    "booting": "emulator *: known to adb as",
    "testing": "the test has begun",
}


def await_line(run: subprocess.Popen[str], words: str) -> None:
    """Read what a run says until it says this."""
    assert run.stdout is not None
    lines: list[str] = []
    for line in iter(run.stdout.readline, ""):
        lines.append(line)
        if all(word in line for word in words.split("*")):
            return
    raise AssertionError(f"it never said {words!r} but {''.join(lines)}")


ENDLESS: dict[str, dict[str, object]] = {
    "installing": {"download_seconds": 60},
    "booting": {"never": "boots"},
}

INTERRUPTED = (("booting", signal.SIGTERM, "2"),)

INTERRUPTED_IN_SOAK = (
    *INTERRUPTED,
    ("installing", signal.SIGINT, "0"),
    ("testing", signal.SIGTERM, "0"),
    ("installing", signal.SIGTERM, "2"),
    ("booting", signal.SIGINT, "0"),
    ("booting", signal.SIGINT, "2"),
    ("booting", signal.SIGTERM, "0"),
    ("testing", signal.SIGINT, "0"),
)


@pytest.mark.parametrize(
    ("moment", "number", "workers"), INTERRUPTED_IN_SOAK if IS_SOAK else INTERRUPTED
)
def test_a_run_that_gets_a_signal_ends_everything(
    pytester: pytest.Pytester,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
    moment: str,
    number: signal.Signals,
    workers: str,
) -> None:
    """Whether emulators are made, boot or are used: no process and no file is left."""
    pytester.makepyfile(WAITS)
    bench.behave(**ENDLESS.get(moment, {}))
    like = ("--claw-emulator", "api=33,abi=x86_64,image=google_apis")

    with start_emulators("-s", "-n", workers, *like, "--claw-device", "emulator:2") as run:
        await_line(run, LINES_AT[moment])
        run.send_signal(number)
        said, _ = run.communicate(timeout=DEADLINE)

    assert run.returncode == pytest.ExitCode.INTERRUPTED, said
    assert room.left() == []


OFTEN = ("started, id not written",)

# What is wanted by the next run: the same, which may take something over, or something else.
NEXT = ("phone", "tablet")

LIKE = "api=33,abi=x86_64,image=google_apis"

SUITE = """
import os, signal

def test_it(clawperator):
    victim = {
        "tests run": os.getpid(),
        "workers run tests": os.getppid(),
    }.get(os.environ.get("KILL_AT"))
    if victim:
        os.kill(victim, signal.SIGKILL)
"""


def run_until(moment: str, start: Start) -> None:
    """Run the suite until the moment at which it is killed."""
    count = {"second of several boots": 3, "workers run tests": 2}.get(moment, 1)
    workers = ("-n", "2") if moment == "workers run tests" else ()
    wanted = ("--claw-emulator", LIKE, "--claw-device", f"emulator:{count}")
    many = ("--claw-emulator-boots=3", *workers)
    with start("-p", "tests.doubles.kill_at", *wanted, *many, **{VARIABLE: moment}) as run:
        assert run.stdout is not None
        # Orphans may have its output open, too.
        code = run.wait(DEADLINE * 4)
        assert code == -signal.SIGKILL, run.stdout.read()


@pytest.mark.parametrize("device", NEXT if IS_SOAK else NEXT[1:])
@pytest.mark.parametrize("moment", MOMENTS if IS_SOAK else OFTEN)
def test_the_next_run_handles_what_a_killed_one_left(
    pytester: pytest.Pytester,
    run_emulators: Run,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
    moment: str,
    device: str,
) -> None:
    """It takes it over, waits for it or ends it; afterwards nothing of both runs is left."""
    pytester.makepyfile(SUITE)
    bench.behave(offline_seconds=0.3, tool_seconds=0.1, download_seconds=0.3)

    run_until(moment, start_emulators)
    result = run_emulators("--claw-emulator", f"{LIKE},device={device}", "--claw-device=emulator")

    result.assert_outcomes(passed=1)
    assert room.left() == []


def test_a_download_that_goes_on_is_waited_for(
    pytester: pytest.Pytester,
    run_emulators: Run,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
) -> None:
    """What the tool of a killed run installs is not downloaded once more."""
    pytester.makepyfile(SUITE)
    bench.behave(download_seconds=3.0)
    before = len(bench.sdk.calls("download"))

    run_until("image being downloaded", start_emulators)
    result = run_emulators("--claw-emulator", LIKE, "--claw-device=emulator")

    result.assert_outcomes(passed=1)
    assert len(bench.sdk.calls("download")) == before + 1
    assert room.left() == []
