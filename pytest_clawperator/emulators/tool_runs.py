"""Running the SDK's tools: to their end, with their output, or in the background."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from pytest_clawperator.emulators.sdk import Sdk, Tool

# Tools redraw a progress line with carriage returns.
_LINE_END = re.compile(rb"[\r\n]+")
_KEPT = 64 * 1024
_TIMED_OUT = 124
# Nothing that works on every system tells that another process has written a file.
_LOOK_AGAIN = 0.002
# What Java and the tools say whatever happens: no reason for a failure.
_NOISE = re.compile(
    r"Picked up \w*JAVA_\w+:|WARNING: |.* VM warning: |\[[= ]*\]\s*\d*%?|(Info: )?Parsing |Loading "
    r"|Warning: (This version only understands SDK XML|Mapping new ns|Observed package id"
    r"|Errors during XML parse|Additionally, the fallback loader"
    r"|Dependant package|File .*repositories\.cfg could not be loaded|Already observed package id)"
)
# A shell that becomes the program which follows. Its input is the lock that it has until then.
_WRITE_PID = ("/bin/sh", "-c", 'given=$1; shift; echo $$ >"$0" && exec "$@" <"$given"')


@dataclass(frozen=True)
class PidFile:
    """Where a process writes its id, before anything else.

    Until it has written it, the process has the file of the descriptor ``lock``, too: who gets
    that lock after this process was killed finds the id of any process that it started.
    """

    path: Path
    lock: int | None = None


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered; a tool that took too long has the code 124."""

    code: int
    stdout: str = ""
    stderr: str = ""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0

    def said(self, otherwise: str) -> str:
        """Return what it said went wrong."""
        return _without_noise(self.stderr) or self.printed[-500:] or otherwise

    @property
    def printed(self) -> str:
        """Its output without progress and notices."""
        return _without_noise(self.stdout)

    @property
    def complaints(self) -> str:
        """What it said on both streams: a warning on one may be no more than that."""
        return f"{_without_noise(self.stderr)}\n{self.printed}"


class Tools(Protocol):
    """What runs the tools."""

    def run(
        self,
        tool: Tool,
        *arguments: str,
        timeout: float,
        stdin: str = "",
        on_line: Callable[[str], None] | None = None,
        pid_file: PidFile | None = None,
        lock: int | None = None,
    ) -> ToolResult:
        """Run a tool to its end; ``on_line`` gets each line of its output as it comes.

        Should this process be killed, the tool keeps the lock of this descriptor until it ends.
        """

    def spawn(
        self, tool: Tool, *arguments: str, output: Path, pid_file: PidFile | None = None
    ) -> BackgroundTool:
        """Start a tool that goes on; its output is written to a file, and its process id."""


class BackgroundTool(Protocol):
    """A tool that goes on."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def poll(self) -> int | None:
        """Return how it ended, or None."""


def end_tool(tool: BackgroundTool) -> None:
    """End a tool that goes on, with all that it started."""
    _signal_group(tool)
    while tool.poll() is None:
        time.sleep(_LOOK_AGAIN)  # it was killed, and ends at once


class _Detached(subprocess.Popen[bytes]):
    """A process that goes on; nobody need wait for it."""

    def __del__(self) -> None:
        """Take note of its end if it has ended, and do not complain if it has not."""
        if self.pid:
            self.poll()


class SdkTools:
    """Runs the tools of an SDK as processes."""

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_ended = False

    def end(self) -> None:
        """End the tools that are being run, from another thread, and run no more."""
        self._is_ended = True
        for process in tuple(self._running):
            _signal_group(process)

    def run(
        self,
        tool: Tool,
        *arguments: str,
        timeout: float,
        stdin: str = "",
        on_line: Callable[[str], None] | None = None,
        pid_file: PidFile | None = None,
        lock: int | None = None,
    ) -> ToolResult:
        """Run a tool to its end; ``on_line`` gets each line of its output as it comes."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
            given.write(stdin.encode())
            given.seek(0)
            process = self._start(
                tool,
                arguments,
                (given.fileno(), subprocess.PIPE, complaints.fileno()),
                pid_file=pid_file,
                lock=lock,
            )
            self._running.add(process)
            if self._is_ended:
                _signal_group(process)
            assert process.stdout is not None
            reader = _LineReader(process.stdout, on_line)
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = _TIMED_OUT
            finally:
                _end_group(process)
                self._running.discard(process)
                output = reader.text()
            complaints.seek(0)
            stderr = complaints.read(_KEPT).decode("utf-8", "replace")
        if code == _TIMED_OUT and not stderr.strip():
            stderr = f"{tool} did not end within {timeout:g} s"
        return ToolResult(code, output, stderr)

    def spawn(
        self, tool: Tool, *arguments: str, output: Path, pid_file: PidFile | None = None
    ) -> BackgroundTool:
        """Start a tool that goes on; its output is written to a file, and its process id."""
        with output.open("ab") as written, Path(os.devnull).open("rb") as nothing:
            process = self._start(
                tool,
                arguments,
                (nothing.fileno(), written.fileno(), subprocess.STDOUT),
                pid_file=pid_file,
                kind=_Detached,
            )
        # Who ends it must find its id; a process that ended has none.
        while pid_file is not None and not _has_content(pid_file.path) and process.poll() is None:
            time.sleep(_LOOK_AGAIN)
        return process

    def _start(
        self,
        tool: Tool,
        arguments: tuple[str, ...],
        streams: tuple[int, int, int],
        *,
        pid_file: PidFile | None = None,
        lock: int | None = None,
        kind: type[subprocess.Popen[bytes]] = subprocess.Popen,
    ) -> subprocess.Popen[bytes]:
        path, (stdin, stdout, stderr) = self._sdk.find(tool), streams
        before: tuple[str, ...] = ()
        inherited = () if lock is None else (lock,)
        if pid_file is not None:
            pid_file.path.unlink(missing_ok=True)
            before = (*_WRITE_PID, str(pid_file.path), f"/dev/fd/{stdin}")
            inherited = (*inherited, stdin)
            stdin = subprocess.DEVNULL if pid_file.lock is None else pid_file.lock
        try:
            return kind(
                [*before, path, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=inherited,
                env=dict(self._sdk.environment),
                # Ctrl-C at the terminal is for us; a tool is ended with all that it started.
                start_new_session=True,
            )
        except OSError as exc:
            raise self._sdk.missing([tool]) from exc


class _LineReader:
    """Reads a tool's output in the background."""

    def __init__(self, stream: IO[bytes], on_line: Callable[[str], None] | None) -> None:
        self._stream = stream
        self._on_line = on_line
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, name="tool output", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return the output, once it has ended; of a long one, the end."""
        self._thread.join()
        self._stream.close()
        return bytes(self._kept).decode("utf-8", "replace")

    def _read(self) -> None:
        unfinished = b""
        while chunk := os.read(self._stream.fileno(), _KEPT):
            self._kept += chunk
            del self._kept[:-_KEPT]
            *lines, unfinished = _LINE_END.split(unfinished + chunk)
            for line in lines:
                self._show(line)
        self._show(unfinished)

    def _show(self, line: bytes) -> None:
        if self._on_line is not None and line.strip():
            self._on_line(line.decode("utf-8", "replace").strip())


def _without_noise(text: str) -> str:
    """Return the lines that may be a reason; of a line that was redrawn, the last state."""
    lines = [line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(line for line in lines if not _NOISE.match(line.strip())).strip()


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a process and of those that it started."""
    _signal_group(process)
    process.kill()
    process.wait()


def _signal_group(process: BackgroundTool) -> None:
    with suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
