"""Starting an emulator, and waiting until Android runs on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_clawperator.emulators.diagnosis import diagnose, last_lines, read_end
from pytest_clawperator.emulators.running import Host, RunningEmulator, has_booted, list_running
from pytest_clawperator.emulators.sdk import Tool
from pytest_clawperator.emulators.tool_runs import BackgroundTool, PidFile, Tools, end_tool
from pytest_clawperator.errors import EmulatorError, ErrorCode

REGISTRATION_TIMEOUT = 60.0
BOOT_TIMEOUT = 180.0
# Android tells no host that it has booted; it is asked this often.
POLL = 2.0
# What the published program calls the settings that it makes after a boot.
_SETTINGS = {"development_settings_enabled": "Developer Options", "adb_enabled": "adb"}
_ANIMATIONS = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")

BootKind = Literal["cold", "snapshot"]
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """How an emulator is started; the defaults are the documented command line."""

    port: int | None = None
    boot: BootKind = "cold"
    headless: bool = False
    temporary: bool = False
    ram: int | None = None
    gpu: str | None = None

    def arguments(self, name: str) -> tuple[str, ...]:
        """Return the arguments of the ``emulator`` command for a virtual device."""
        cold = ("-no-snapshot-load",) if self.boot == "cold" else ()
        unsaved = ("-no-snapshot-save",) if self.temporary and self.boot == "cold" else ()
        window = ("-no-window", "-no-audio") if self.headless else ()
        gpu = self.gpu or ("swiftshader_indirect" if self.headless else None)
        values = (("-port", self.port), ("-memory", self.ram), ("-gpu", gpu))
        extra = [text for flag, value in values if value for text in (flag, str(value))]
        return (f"@{name}", *cold, "-no-boot-anim", *unsaved, *window, *extra)


@dataclass(frozen=True, kw_only=True)
class BootLimits:
    """How long to wait for what, in seconds."""

    registration: float = REGISTRATION_TIMEOUT
    boot: float = BOOT_TIMEOUT
    poll: float = POLL


class Boot:
    """One start of a virtual device."""

    def __init__(
        self,
        host: Host,
        tools: Tools,
        name: str,
        *,
        output: Path,
        limits: BootLimits | None = None,
        say: Say = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._host = host
        self._tools = tools
        self._name = name
        self._output = output
        self._limits = limits or BootLimits()
        self._say = say
        self._clock = clock
        self._pause = pause
        self._process: BackgroundTool | None = None
        self._serial: str | None = None
        self._began = clock()

    def start(self, options: StartOptions, *, pid_file: PidFile | None = None) -> None:
        """Start the process; it goes on when this one ends."""
        self._output.parent.mkdir(parents=True, exist_ok=True)
        self._output.write_bytes(b"")
        self._began = self._clock()
        arguments = options.arguments(self._name)
        self._serial = f"emulator-{options.port}" if options.port else None
        self._process = self._tools.spawn(
            Tool.EMULATOR, *arguments, output=self._output, pid_file=pid_file
        )
        self._tell("started")

    def end(self) -> None:
        """End the process, if it was started here."""
        if self._process is not None:
            end_tool(self._process)

    def await_ready(self) -> RunningEmulator:
        """Wait until adb knows the emulator and Android runs on it, and make its settings."""
        found = self._await_registration()
        self._tell(f"known to adb as {found}")
        self.await_boot(found)
        make_settings(self._host, found)
        self._tell("ready")
        return RunningEmulator(found, self._name, booted=True)

    def await_boot(self, serial: str) -> None:
        """Wait until Android has started."""
        limit = self._limits.boot
        if not self._await(lambda: has_booted(self._host, serial), limit):
            raise self._failed(
                f"timed out waiting for emulator {serial} to finish booting: {limit:g} s",
                code=ErrorCode.EMULATOR_BOOT_TIMEOUT,
                details={"serial": serial, "timeoutMs": round(limit * 1000)},
            )
        self._tell("booted")

    def _await_registration(self) -> str:
        limit, found = self._limits.registration, ""

        def is_registered() -> bool:
            nonlocal found
            running = list_running(self._host, strict=False, serial=self._serial)
            found = next((one.serial for one in running if one.avd_name == self._name), "")
            return bool(found)

        if not self._await(is_registered, limit):
            raise self._failed(
                f"timed out waiting for emulator {self._name} to appear in adb: {limit:g} s",
                details={"name": self._name, "timeoutMs": round(limit * 1000)},
            )
        return found

    def _await(self, is_so: Callable[[], bool], limit: float) -> bool:
        """Wait until something is so; raise if the process ends meanwhile."""
        deadline = self._clock() + limit
        while not is_so():
            self._check_process()
            left = deadline - self._clock()
            if left <= 0:
                return False
            self._pause(min(self._limits.poll, left))
        return True

    def _check_process(self) -> None:
        code = self._process.poll() if self._process is not None else None
        if code is None:
            return
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise self._failed(
            f"emulator {self._name} ended while it started ({how})",
            details={"name": self._name, "exitCode": code},
        )

    def _failed(
        self,
        problem: str,
        *,
        code: ErrorCode = ErrorCode.EMULATOR_START_FAILED,
        details: dict[str, object],
    ) -> EmulatorError:
        printed = read_end(self._output)
        ended = self._process.poll() if self._process is not None else None
        said, cause = last_lines(printed), diagnose(printed, code=ended)
        shown = f"\n  the end of its output:\n{_indented(said)}" if said else ""
        return EmulatorError(
            f"{problem}; {cause.problem}{shown}",
            code=code,
            hint=cause.hint,
            details={**details, "output": said},
        )

    def _tell(self, stage: str) -> None:
        self._say(f"emulator {self._name}: {stage} after {self._clock() - self._began:.0f} s")


def make_settings(host: Host, serial: str) -> None:
    """Make the settings that automation needs: developer options, adb, no animations."""
    for name, called in _SETTINGS.items():
        answer = host.shell(serial, f"settings put global {name} 1")
        if not answer.ok:
            said = answer.stderr.strip() or answer.stdout.strip()
            raise EmulatorError(
                f"failed to enable {called} on emulator {serial}: {said or 'it gave no reason'}",
                hint="Restart the emulator; should it fail again, delete the virtual device so"
                " that it is made anew.",
                details={"serial": serial, "stderr": said},
            )
    host.shell(serial, "; ".join(f"settings put global {name} 0" for name in _ANIMATIONS))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
