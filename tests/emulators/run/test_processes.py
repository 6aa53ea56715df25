"""The processes of emulators."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.emulators.fleet import belongs_to, end_process, read_pid

# A process that ends when it is told to, or only when it is killed.
WAITS = "import sys; print(flush=True); sys.stdin.read()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"


@pytest.fixture(params=[WAITS, STUBBORN])
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that looks like an emulator."""
    with subprocess.Popen(
        [sys.executable, "-c", request.param, "@mine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("words", "is_its"),
    [
        (["@mine"], True),
        (["create", "avd", "--name", "mine"], True),
        (["@mine2"], False),
        (["--name", "other", "mine"], False),
    ],
)
def test_a_process_is_known_by_its_command_line(words: list[str], is_its: bool) -> None:
    """Emulators and avdmanager name the virtual device, each in its own way."""
    command = [sys.executable, "-c", WAITS, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()  # at its very start a process has no command line yet
        found = belongs_to(started.pid, "mine")

    assert found is is_its


@pytest.mark.parametrize(
    ("text", "pid"), [("42\n", 42), ("", None), ("x", None), ("1", None), ("-5", None)]
)
def test_only_a_process_id_is_read(tmp_path: Path, text: str, pid: int | None) -> None:
    """A file that holds something else names no process, nor does one that is not there."""
    (tmp_path / "pid").write_text(text, encoding="ascii")

    assert read_pid(tmp_path / "pid") == pid
    assert read_pid(tmp_path / "none") is None


def test_a_process_that_does_not_listen_is_made_to_end(process: subprocess.Popen[bytes]) -> None:
    """Who is not heard goes on at once to a signal, and to one that nobody can ignore."""
    ticks = iter(range(1000))

    end_process(process.pid, "mine", ask=lambda: False, clock=lambda: float(next(ticks)))

    assert not belongs_to(process.pid, "mine")


def test_a_process_of_another_kind_is_left_alone(process: subprocess.Popen[bytes]) -> None:
    """Ids are used again: only the emulator of this virtual device is ended."""

    def ask() -> bool:
        raise AssertionError("it was asked to end")

    end_process(process.pid, "min", ask=ask)

    assert belongs_to(process.pid, "mine")
    assert process.poll() is None
