"""``--claw-pause`` and ``clawperator.pause()``: a prompt with the client, or why there is none."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.controller import Controller
from tests.plugin.conftest import Run

DEADLINE = 40.0

OPTIONS = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")

FAILS = """
def test_it(clawperator):
    answer = 42
    print("captured")
    assert answer == 41
"""


class Terminal:
    """pytest in another process, with a terminal."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = os.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "pytest_clawperator.plugin", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        os.close(theirs)
        self.said = ""

    def expect(self, text: str) -> None:
        """Read on until a text comes."""
        start = len(self.said)
        while text not in self.said[start:]:
            assert self._read(), self.said

    def type(self, line: str) -> None:
        """Type a line, once it is asked for: earlier, a terminal may take it otherwise."""
        self.expect(">>> ")
        os.write(self._ours, f"{line}\n".encode())

    def end(self) -> int:
        """Read to the end and return the exit status."""
        while self._read():
            pass
        return self._process.wait(DEADLINE)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def _read(self) -> bool:
        """Read something; return False if the other side is gone, or silent for too long."""
        ready, _, _ = select.select([self._ours], [], [], DEADLINE)
        try:
            data = os.read(self._ours, 4096) if ready else b""
        except OSError:  # on Linux, the other side is gone
            data = b""
        self.said += data.decode("utf-8", "replace")
        return bool(data)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="by design: there is no pty here")
def test_a_prompt_has_the_names_of_the_test_and_the_client(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """At each failure, and wherever a test pauses; leaving it continues the run."""
    pytester.makepyfile(
        test_it=FAILS
        + """
def test_pauses(clawperator):
    here = "the middle"
    clawperator.pause()

def test_next(clawperator):
    assert 0
"""
    )
    device = ("--claw-device", phone.serial, "--claw-adb", adb)

    with Terminal("--claw-pause", *device, *OPTIONS) as terminal:
        terminal.type("print('it was', answer, claw.press_key('home').success)")
        terminal.type("exit()")
        terminal.type("print('in', here)")
        terminal.type("\x04")  # Ctrl-D
        terminal.type("quit()")
        status = terminal.end()

    assert status == 1
    said = terminal.said.replace("\r", "")
    for wanted in (
        "test_it.py::test_it failed: assert 42 == 41",
        "it was 42 True",
        f"{phone.serial} (Google Pixel",
        "claw is its client, as in claw.snapshot(). Ctrl-D or exit() continues.",
        "paused in test_it.py::test_pauses at line 8",
        "in the middle",
        "test_it.py::test_next failed: assert 0",
        "2 failed",
    ):
        assert wanted in said, wanted
    assert "no terminal" not in said


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the terminal away, if there is one."""
    monkeypatch.setattr(sys, "__stdin__", None)


@pytest.mark.usefixtures("alone")
def test_without_a_terminal_the_run_continues(pytester: pytest.Pytester, run: Run) -> None:
    """And reports that there was no prompt, for the test that asked for one."""
    pytester.makepyfile(
        test_it=FAILS
        + """
import pytest
from types import SimpleNamespace

@pytest.fixture(scope="session")
def app(request):
    return SimpleNamespace(client=request.getfixturevalue("clawperator_client"))

def test_first(app): pass

def test_pause(app): app.client.pause()

def test_plain(): assert 0
"""
    )
    asked = run("--claw-pause", *OPTIONS)
    unasked = run(*OPTIONS)
    pytester.makeini("[pytest]\nclaw_pause = true\n")
    quiet = run("-q", *OPTIONS)

    for result in (asked, unasked):
        result.assert_outcomes(passed=2, failed=2)
        result.stdout.fnmatch_lines(
            ["[[]127.*[]] test_it.py::test_pause at line 15: not paused, because there is no *"]
        )
        for wrong in ("*test_first at line*", "*test_plain failed*"):
            result.stdout.no_fnmatch_line(wrong)
    asked.stdout.fnmatch_lines(
        [
            "[[]*[]] *::test_it failed: assert 42 == 41: not paused, because there is no terminal"
            " to ask on; run pytest in a terminal, and without -n"
        ]
    )
    unasked.stdout.no_fnmatch_line("*test_it failed: *")
    quiet.assert_outcomes(passed=2, failed=2, warnings=1)
    quiet.stdout.fnmatch_lines(
        [
            "-* clawperator -*",
            "not paused, because there is no terminal to ask on; run pytest in a terminal*",
            "*ClawperatorWarning: test_it.py::test_pause at line 15: not paused, because there *",
        ]
    )


@pytest.mark.parametrize(
    ("options", "ini", "source"),
    [
        (["--claw-pause", "-q"], "", "--claw-pause"),
        ([], "claw_pause = true", "the ini option claw_pause"),
    ],
)
def test_a_run_with_workers_cannot_pause(
    pytester: pytest.Pytester, run_workers: Run, options: list[str], ini: str, source: str
) -> None:
    """Workers have no terminal, so the run ends with what to do."""
    pytester.makepyfile("def test_it(): pass")
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_workers("-n", "2", *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: {source}: with -n tests run in workers, which have no terminal to ask on; run"
            " without -n, or with -n 0"
        ]
    )


def test_with_no_worker(pytester: pytest.Pytester, run_workers: Run) -> None:
    """``-n 0`` runs the tests where the terminal is, and collecting needs none."""
    pytester.makepyfile("def test_it(): pass")

    alone = run_workers("-n", "0", "--claw-pause")
    collected = run_workers("-n", "2", "--claw-pause", "--collect-only")

    alone.assert_outcomes(passed=1)
    assert collected.ret == pytest.ExitCode.OK


def test_paused_in_a_worker(
    pytester: pytest.Pytester, control: Callable[..., Controller], phone: AdbTransport, adb: str
) -> None:
    """``clawperator.pause()`` in a worker is reported also in a quiet run."""
    pytester.makepyfile("def test_it(clawperator):\n    clawperator.pause()\n")

    started = control("-n", "1", "--claw-device", phone.serial, "--claw-adb", adb).start()
    result = started.run_worker(0, "-q")

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*ClawperatorWarning: *: not paused, because *without -n"])
