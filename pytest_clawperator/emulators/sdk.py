"""The tools of the Android SDK: where they are, how they run, and what their errors mean."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from pytest_clawperator.errors import AdbUnavailableError, EmulatorError, ErrorCode
from pytest_clawperator.transport.adb_program import find_adb

_WINDOWS = sys.platform == "win32"

_ROOT_VARIABLES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")

# Where Android Studio, Debian, Homebrew and the images of CI services put the SDK.
_USUAL_ROOTS = (
    "~/Android/Sdk",
    "~/Library/Android/sdk",
    "~/AppData/Local/Android/Sdk",
    "/usr/local/lib/android/sdk",
    "/usr/lib/android-sdk",
    "/opt/android-sdk",
    "/opt/android-sdk-linux",
    "/opt/homebrew/share/android-commandlinetools",
    "/usr/local/share/android-commandlinetools",
)

_HOW_TO_GET = {
    "adb": "run `sdkmanager platform-tools`",
    "emulator": "run `sdkmanager emulator`",
    "sdkmanager": "unpack Google's command line tools into $ANDROID_HOME/cmdline-tools/latest",
    "avdmanager": "unpack Google's command line tools into $ANDROID_HOME/cmdline-tools/latest",
}


class Tool(str, Enum):
    """A command line tool of the SDK; the value is its name."""

    ADB = "adb"
    EMULATOR = "emulator"
    SDKMANAGER = "sdkmanager"
    AVDMANAGER = "avdmanager"

    def __str__(self) -> str:
        return self.value

    @property
    def variable(self) -> str:
        """The environment variable that names its path."""
        return f"{self.name}_PATH"


class Sdk:
    """The SDK that an environment describes."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment

    def find(self, tool: Tool) -> Path:
        """Return the path of a tool; raise ``ANDROID_SDK_TOOL_MISSING`` where there is none."""
        found = self._find(tool)
        if found is None:
            raise self.missing([tool])
        return found

    def check(self, tools: Iterable[Tool] = tuple(Tool)) -> None:
        """Raise one error for all of these tools that are missing."""
        missing = [tool for tool in tools if self._find(tool) is None]
        if missing:
            raise self.missing(missing)

    def missing(self, tools: list[Tool]) -> EmulatorError:
        """Return the error for missing tools, with the places where each was searched for."""
        names = ", ".join(map(str, tools))
        looked = "\n".join(f"  {tool} {self._looked(tool)}" for tool in tools)
        unset = self._no_sdk() if any(not self._chosen(tool) for tool in tools) else ""
        ways: dict[str, list[str]] = {}
        for tool in tools:
            ways.setdefault(_HOW_TO_GET[tool.value], []).append(tool.value)
        how = [f"{way} for {' and '.join(got)}" for way, got in ways.items()]
        return EmulatorError(
            f"required Android SDK tools are missing: {names}\n{unset}{looked}",
            code=ErrorCode.ANDROID_SDK_TOOL_MISSING,
            hint=f"{self._where_to_set(tools)} To install: {'; '.join(how)}.",
            details={"missingTools": [tool.value for tool in tools]},
        )

    def _no_sdk(self) -> str:
        """Return that nothing names an SDK, and where none is; nothing if something does."""
        if self._named_roots:
            return ""
        none = ", ".join(str(root) for root in self._roots() if not root.is_dir())
        return f"  {' and '.join(_ROOT_VARIABLES)} are not set, and there is no SDK at {none}\n"

    def _where_to_set(self, tools: list[Tool]) -> str:
        """Return which variables help: one that names a tool counts more than those of the SDK."""
        chosen = [tool for tool in tools if self._chosen(tool)]
        others = [tool for tool in tools if tool not in chosen]
        hints = [f"Set {tool.variable} to the tool itself, or unset it." for tool in chosen]
        if others:
            hints.append(
                "Set ANDROID_HOME to the folder of the Android SDK, or set"
                f" {others[0].variable} to the tool itself."
            )
        return " ".join(hints)

    @property
    def root(self) -> Path | None:
        """The folder of the SDK, if one of the usual ones exists."""
        return next((root for root in self._roots() if root.is_dir()), None)

    @property
    def avd_home(self) -> Path:
        """The folder of the virtual devices."""
        avds, user = (self.environment.get(f"ANDROID_{name}_HOME") for name in ("AVD", "USER"))
        if avds:
            return Path(avds)
        return (Path(user) if user else self._home / ".android") / "avd"

    @property
    def _home(self) -> Path:
        return Path(self.environment.get("HOME") or Path.home())

    def _chosen(self, tool: Tool) -> str | None:
        return self.environment.get(tool.variable)

    def _find(self, tool: Tool) -> Path | None:
        if chosen := self._chosen(tool):
            return Path(chosen) if Path(chosen).is_file() else None
        in_sdk = (path for path in self._places(tool) if path.is_file())
        found = next(in_sdk, None) or self._on_path(tool)
        if found is None and tool is Tool.ADB:
            return _shipped_adb()
        return found

    def _on_path(self, tool: Tool) -> Path | None:
        found = shutil.which(tool.value, path=self.environment.get("PATH"))
        return Path(found) if found else None

    def _places(self, tool: Tool) -> Iterator[Path]:
        for root in self._roots():
            yield from _places_in(root, tool)

    def _roots(self) -> Iterator[Path]:
        """Yield the folders that may be the SDK: what the environment names, else the usual."""
        for root in self._named_roots or _USUAL_ROOTS:
            yield self._home / root[2:] if root.startswith("~/") else Path(root)

    def _looked(self, tool: Tool) -> str:
        if chosen := self._chosen(tool):
            return f"is not at {tool.variable}={chosen}, which is not a file"
        roots = [root for root in self._roots() if self._named_roots or root.is_dir()]
        places = dict.fromkeys(f"at {next(_places_in(root, tool))}" for root in roots)
        return f"was looked for {', '.join([*places, 'on the PATH'])}"

    @property
    def _named_roots(self) -> list[str]:
        return [root for name in _ROOT_VARIABLES if (root := self.environment.get(name))]


def _places_in(root: Path, tool: Tool) -> Iterator[Path]:
    """Yield where a tool may be in an SDK, the newest of several versions first."""
    if tool is Tool.ADB:
        yield root / "platform-tools" / _program("adb", ".exe")
    elif tool is Tool.EMULATOR:
        yield root / "emulator" / _program("emulator", ".exe")
    else:
        name = _program(tool.value, ".bat")
        yield root / "cmdline-tools" / "latest" / "bin" / name
        yield from sorted(root.glob(f"cmdline-tools/*/bin/{name}"), key=_version, reverse=True)
        yield root / "tools" / "bin" / name


def _version(tool: Path) -> list[int]:
    """Return the version in the path of a tool, such as ``cmdline-tools/12.0/bin/sdkmanager``."""
    return [int(number) for number in re.findall(r"\d+", tool.parts[-3])]


def _program(name: str, suffix: str) -> str:
    return name + suffix if _WINDOWS else name


def _shipped_adb() -> Path | None:
    try:
        return find_adb()
    except AdbUnavailableError:
        return None


# Tools redraw a progress line with carriage returns.
_LINE_END = re.compile(rb"[\r\n]+")

_KEPT = 64 * 1024

_TIMED_OUT = 124

# No portable event reports that another process has written a file.
_FILE_POLL = 0.002

# What Java and the tools always print: not a reason for a failure.
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


def end_tool(tool: subprocess.Popen[bytes]) -> None:
    """End a tool that goes on, with all that it started."""
    _signal_group(tool)
    tool.wait()


class _Detached(subprocess.Popen[bytes]):
    """A process that goes on without being waited for."""

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
        """Run a tool to its end; ``on_line`` gets each line of its output as it comes.

        Should this process be killed, the tool keeps the lock of this descriptor until it ends.
        """
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
    ) -> subprocess.Popen[bytes]:
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
            time.sleep(_FILE_POLL)  # there is no event for what another process writes
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


def _signal_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)


#: What ``sdkmanager`` prints about a package that it leaves out, whatever its exit code.
NOT_ACCEPTED = r"licen[cs]es?\b.*not accepted|accept.*licen[cs]e"

_NO_SPACE = r"no space|disk full|not enough"

# Before Java's own complaints: no Java that is newer helps the old tools.
_TOO_OLD = (
    r"javax/xml/bind|javax\.xml\.bind",
    "These tools are older than this Java: unpack Google's command line tools into"
    " $ANDROID_HOME/cmdline-tools/latest.",
)

_JAVA = (
    r"JAVA_HOME|requires (JDK|Java)|'java' command|UnsupportedClassVersion|NoClassDefFound",
    "Install Java 17, which the SDK's tools need, and set JAVA_HOME to it.",
)

# The first that fits counts: without a network, every package is one that is not found.
_INSTALLING = (
    (NOT_ACCEPTED, "Accept the licences: `yes | sdkmanager --licenses`."),
    (_NO_SPACE, "Make room on the disk of the SDK: a system image takes 2 to 8 GB."),
    _TOO_OLD,
    _JAVA,
    (
        r"did not end within",
        "The network may be slow: run `sdkmanager '{image}'` by hand once, which takes the time"
        " that it needs.",
    ),
    (
        r"failed to download|IO ?exception|unknown ?host|connect|timed? ?out|checksum"
        r"|not (a ZIP archive|in GZIP format)",
        "Check the way to the network; behind a proxy, `sdkmanager --proxy=http --proxy_host=…"
        " --proxy_port=… '{image}'` installs it by hand.",
    ),
    (
        r"not writable|permission denied|access ?denied|read-only",
        "Give this user the right to write to the folder of the SDK, or set ANDROID_HOME to one"
        " of its own.",
    ),
    (
        r"failed to find package|not found|unavailable",
        "There is no image {image}: `sdkmanager --list` shows those that there are; choose another"
        " api, image or abi.",
    ),
)

_CREATING = (
    (
        r"package path is not valid",
        "avdmanager does not know {image}, which sdkmanager has installed: one of them is of"
        " another SDK, or avdmanager is too old for the image. `sdkmanager 'cmdline-tools;latest'`"
        " brings a new one; ANDROID_HOME must be the SDK of both.",
    ),
    _TOO_OLD,
    _JAVA,
    (_NO_SPACE, "Make room on the disk of the virtual devices, {home}: each takes 2 to 8 GB."),
)


def installing_hint(said: str, image: str | None) -> str:
    """Return what to do about a complaint of ``sdkmanager``; without an image, of its licences."""
    wanted = image or "--licenses"
    for pattern, hint in _INSTALLING:
        if re.search(pattern, said, re.IGNORECASE):
            return hint.format(image=wanted)
    return f"Run `sdkmanager '{wanted}'` by hand to see what is wrong."


def creating_hint(said: str, *, image: str, home: str) -> str:
    """Return what to do about a complaint of ``avdmanager`` that creates a virtual device."""
    for pattern, hint in _CREATING:
        if re.search(pattern, said, re.IGNORECASE):
            return hint.format(image=image, home=home)
    return (
        f"The folder of the virtual devices ({home}) must be writable, and {image} whole:"
        " `sdkmanager --uninstall` removes it, so that it is installed again."
    )
