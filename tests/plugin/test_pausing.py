"""``--claw-pause`` and ``clawperator.pause()``: a prompt with the client, or a word why not."""

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
    """pytest in a process of its own, with somebody at its terminal."""

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
        """Read to the end and give the exit status."""
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
        """Read something; False where the other side is gone, or silent for too long."""
        ready, _, _ = select.select([self._ours], [], [], DEADLINE)
        try:
            data = os.read(self._ours, 4096) if ready else b""
        except OSError:  # Linux says so that the other side is gone
            data = b""
        self.said += data.decode("utf-8", "replace")
        return bool(data)


needs_terminal = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="by design: there is no pty here"
)


@needs_terminal
def test_a_failing_test(pytester: pytest.Pytester, phone: AdbTransport, adb: str) -> None:
    """The prompt has the test's names and the client; leaving it goes on."""
    pytester.makepyfile(FAILS)
    device = ("--claw-device", phone.serial, "--claw-adb", adb)

    with Terminal("--claw-pause", *device, *OPTIONS) as terminal:
        terminal.type("print('it was', answer, claw.press_key('home').success)")
        terminal.type("exit()")
        status = terminal.end()

    assert status == 1
    said = terminal.said.replace("\r", "")
    assert "test_a_failing_test.py::test_it failed: assert 42 == 41" in said
    assert "it was 42 True" in said
    assert f"{phone.serial} (Google Pixel" in said
    assert "claw is its client, as in claw.snapshot(). Ctrl-D or exit() continues." in said
    assert "1 failed" in said


@needs_terminal
def test_in_the_middle(pytester: pytest.Pytester, phone: AdbTransport, adb: str) -> None:
    """``clawperator.pause()`` stops where it stands, whatever the options."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            here = "the middle"
            clawperator.pause()
        """
    )
    device = ("--claw-device", phone.serial, "--claw-adb", adb)

    with Terminal(*device, *OPTIONS) as terminal:
        terminal.type("print('in', here)")
        terminal.type("\x04")  # Ctrl-D
        status = terminal.end()

    assert status == 0
    assert "in the middle" in terminal.said
    assert "paused in test_in_the_middle.py::test_it at line 3" in terminal.said


@needs_terminal
def test_each_failure_has_its_own_prompt(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """Whoever left one prompt is asked again at the next."""
    pytester.makepyfile(FAILS + "\ndef test_next(clawperator):\n    assert 0\n")
    device = ("--claw-device", phone.serial, "--claw-adb", adb)

    with Terminal("--claw-pause", *device, *OPTIONS) as terminal:
        terminal.type("exit()")
        terminal.type("quit()")
        status = terminal.end()

    assert status == 1
    assert "test_each_failure_has_its_own_prompt.py::test_next failed: assert 0" in terminal.said
    assert "no terminal" not in terminal.said


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the terminal away, should there be one."""
    monkeypatch.setattr(sys, "__stdin__", None)


@pytest.mark.usefixtures("alone")
def test_without_a_terminal(pytester: pytest.Pytester, run: Run) -> None:
    """Where nobody can answer that is said, and the run goes on."""
    pytester.makepyfile(FAILS + "\ndef test_pause(clawperator):\n    clawperator.pause()\n")

    result = run("--claw-pause", *OPTIONS)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "[[]*[]] *::test_it failed: assert 42 == 41: not paused, because there is no terminal"
            " to ask on; run pytest in a terminal, and without -n",
            "[[]127.*[]] test_without_a_terminal.py::test_pause at line 7: not paused, because *",
        ]
    )


@pytest.mark.usefixtures("alone")
def test_the_test_that_pauses_is_named(pytester: pytest.Pytester, run: Run) -> None:
    """A pause is told of the test that asks for it, and not of the one that got the client."""
    pytester.makepyfile(
        test_it="""
        from types import SimpleNamespace

        import pytest

        @pytest.fixture(scope="session")
        def app(request):
            return SimpleNamespace(client=request.getfixturevalue("clawperator_client"))

        def test_first(app): pass
        def test_second(app): app.client.pause()
        """
    )

    result = run(*OPTIONS)

    result.stdout.fnmatch_lines(["*[]] test_it.py::test_second at line 10: not paused*"])
    result.stdout.no_fnmatch_line("*test_first at line*")


@pytest.mark.usefixtures("alone")
def test_not_asked_for(pytester: pytest.Pytester, run: Run) -> None:
    """Without the option a failing test does not stop."""
    pytester.makepyfile(FAILS)

    result = run(*OPTIONS)

    result.assert_outcomes(failed=1)
    assert "terminal" not in result.stdout.str()


@pytest.mark.usefixtures("alone")
def test_the_ini_twin_pauses_tests_with_devices(pytester: pytest.Pytester, run: Run) -> None:
    """The ini twin asks for it, too; a test without a device is none of its business."""
    pytester.makepyfile(FAILS + "\ndef test_plain():\n    assert 0\n")
    pytester.makeini("[pytest]\nclaw_pause = true\n")

    result = run(*OPTIONS)

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*::test_it failed*there is no terminal*"])
    result.stdout.no_fnmatch_line("*test_plain failed*")


@pytest.mark.usefixtures("alone")
def test_quiet_without_a_terminal(pytester: pytest.Pytester, run: Run) -> None:
    """Also where the run shall be quiet it is told that nobody was asked."""
    pytester.makepyfile(FAILS + "\ndef test_pause(clawperator):\n    clawperator.pause()\n")

    result = run("-q", "--claw-pause", *OPTIONS)

    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "-* clawperator -*",
            "not paused, because there is no terminal to ask on; run pytest in a terminal*",
            "*ClawperatorWarning: test_*::test_pause at line 7: not paused, because there is no *",
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
    """Workers have no terminal, so the run ends at once with what to do."""
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
