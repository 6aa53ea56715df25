"""All operations on the emulators of this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.emulators.avd import (
    Avd,
    EmulatorProfile,
    ImageLock,
    Lock,
    check_word,
    default_profile,
    ensure_image,
    is_word,
    read_avd,
)
from pytest_clawperator.emulators.boot import (
    AdbHost,
    Boot,
    BootLimits,
    RunningEmulator,
    StartOptions,
    list_running,
)
from pytest_clawperator.emulators.sdk import (
    PidFile,
    Sdk,
    SdkTools,
    Tool,
    ToolResult,
    creating_hint,
)
from pytest_clawperator.errors import ClawperatorError, EmulatorError, ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.server import locate_server

_LIST_TIMEOUT = 10.0
_CREATE_TIMEOUT = 120.0
_DELETE_TIMEOUT = 60.0
_END_TIMEOUT = 30.0
_LOG = "clawperator-emulator.log"

Notify = Callable[[str], None]


@dataclass(frozen=True)
class ProvisionedEmulator:
    """An emulator that is ready, and what was done for it."""

    avd_name: str
    serial: str
    created: bool
    started: bool
    reused: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it in the form of the published program."""
        return {
            "type": "emulator",
            "avdName": self.avd_name,
            "serial": self.serial,
            "booted": True,
            "created": self.created,
            "started": self.started,
            "reused": self.reused,
        }


class Emulators:
    """The emulators of this machine.

    ``profile`` is what they must be like to be used; without one it is the documented one,
    with the processor of this machine. ``notify`` gets progress messages.
    """

    def __init__(
        self,
        *,
        profile: EmulatorProfile | None = None,
        sdk: Sdk | None = None,
        tools: SdkTools | None = None,
        host: AdbHost | None = None,
        limits: BootLimits | None = None,
        image_lock: Lock = lambda *_: nullcontext(ImageLock()),
        notify: Notify = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.profile = profile or default_profile()
        self._sdk = sdk or Sdk()
        self._tools = tools or SdkTools(self._sdk)
        self._host = host or AdbHost(
            locate_server(environment=self._sdk.environment), notify=notify
        )
        self._limits = limits or BootLimits()
        self._image_lock = image_lock
        self._notify = notify
        self._clock = clock
        self._pause = pause

    def list(self) -> Sequence[Avd]:
        """Return the virtual devices of this user, in the order of the SDK."""
        running = {one.avd_name for one in self.status()}
        return [self._read(name, running=name in running) for name in self.names()]

    def status(self) -> Sequence[RunningEmulator]:
        """Return the emulators that run, in adb's order."""
        return list_running(self._host)

    def inspect(self, name: str) -> Avd:
        """Return what is known of a virtual device; an unknown one does not ``exist``."""
        check_word("name", name)
        running = any(one.avd_name == name for one in self.status())
        return self._read(name, running=running)

    def create(self, name: str | None = None, *, pid_file: PidFile | None = None) -> Avd:
        """Create a virtual device of the profile, and install its system image before.

        One with this name is replaced. ``avdmanager`` writes its process id into ``pid_file``.
        """
        profile = self.profile
        name = check_word("name", name or profile.avd_name)
        ensure_image(self._tools, profile.system_image, lock=self._image_lock, notify=self._notify)
        made = self._tools.run(
            Tool.AVDMANAGER,
            *("create", "avd", "--force", "--name", name),
            *("--package", profile.system_image, "--device", profile.device),
            timeout=_CREATE_TIMEOUT,
            stdin="no\n",
            pid_file=pid_file,
        )
        if not made.ok:
            raise EmulatorError(
                made.said("failed to create Android Virtual Device"),
                code=ErrorCode.ANDROID_AVD_CREATE_FAILED,
                hint=self._creation_hint(made),
                details={
                    "name": name,
                    "systemImage": profile.system_image,
                    "deviceProfile": profile.device,
                },
            )
        self._notify(f"emulator {name}: created with {profile.system_image}, {profile.device}")
        return self._read(name)

    def create_to_start(self, name: str, *, pid_file: PidFile | None = None) -> None:
        """Create a virtual device; raise if the emulator would not find it."""
        if not self.create(name, pid_file=pid_file).exists:
            raise self._created_elsewhere(name)

    def _created_elsewhere(self, name: str) -> EmulatorError:
        """Delete a virtual device that the emulator would not find; return the error for it."""
        self._tools.run(Tool.AVDMANAGER, "delete", "avd", "--name", name, timeout=_DELETE_TIMEOUT)
        return EmulatorError(
            f"avdmanager created {name}, and it is not in {self._sdk.avd_home}",
            code=ErrorCode.ANDROID_AVD_CREATE_FAILED,
            hint="avdmanager keeps virtual devices in another folder than the one that is looked"
            " in: set ANDROID_AVD_HOME, which all tools use.",
            details={"name": name, "folder": str(self._sdk.avd_home)},
        )

    def _creation_hint(self, made: ToolResult) -> str:
        """Return what to do about a complaint of ``avdmanager``."""
        if not re.search(r"no device found", made.complaints, re.IGNORECASE):
            return creating_hint(
                made.complaints,
                image=self.profile.system_image,
                home=str(self._sdk.avd_home),
            )
        listed = self._tools.run(Tool.AVDMANAGER, "list", "device", "-c", timeout=_LIST_TIMEOUT)
        near = closest(self.profile.device, listed.printed.splitlines())
        meant = f"Did you mean device={near}? " if near else ""
        return f"{meant}`avdmanager list device` shows the devices that there are."

    def start(
        self, name: str, options: StartOptions | None = None, *, pid_file: PidFile | None = None
    ) -> RunningEmulator:
        """Start a virtual device and wait until Android runs on it; it goes on afterwards.

        The emulator writes its process id into ``pid_file``.
        """
        check_word("name", name)
        if not self._read(name).exists:
            raise self._not_found(f"AVD {name} not found", name)
        if any(one.avd_name == name for one in list_running(self._host, strict=False)):
            raise EmulatorError(
                f"emulator {name} is already running",
                code=ErrorCode.EMULATOR_ALREADY_RUNNING,
                hint="Use it as it is, or stop it first.",
            )
        return self._start(name, options, pid_file=pid_file)

    def stop(self, name: str) -> None:
        """Stop a running emulator, and wait until adb knows it no more."""
        check_word("name", name)
        running = {one.avd_name: one for one in self.status()}
        found = running.get(name)
        if found is None:
            raise EmulatorError(
                f"emulator {name} is not running",
                code=ErrorCode.EMULATOR_NOT_RUNNING,
                hint=f"Running are: {', '.join(running) or 'none'}.",
                details={"name": name},
            )
        try:
            self._host.console(found.serial, "kill")
        except ClawperatorError as exc:
            raise self._not_stopped(found, exc.message) from exc
        self._await_end(found)

    def delete(self, name: str) -> None:
        """Delete a virtual device with its files; it must not be running."""
        check_word("name", name)
        found = next((one for one in self.status() if one.avd_name == name), None)
        if found is not None:
            raise EmulatorError(
                f"cannot delete running emulator {name}",
                code=ErrorCode.EMULATOR_ALREADY_RUNNING,
                serial=found.serial,
                hint="Stop it first.",
                details={"name": name, "serial": found.serial},
            )
        if not self._read(name).exists:
            raise self._not_found(f"AVD {name} does not exist", name)
        self.remove(name)

    def remove(self, name: str, *, pid_file: PidFile | None = None) -> None:
        """Delete a virtual device that is known to be stopped."""
        deleted = self._tools.run(
            Tool.AVDMANAGER,
            *("delete", "avd", "--name", name),
            timeout=_DELETE_TIMEOUT,
            pid_file=pid_file,
        )
        if not deleted.ok:
            raise EmulatorError(
                deleted.said(f"failed to delete emulator {name}"),
                code=ErrorCode.EMULATOR_DELETE_FAILED,
                hint=f"Check that nothing uses {self._sdk.avd_home / f'{name}.avd'}, and that this"
                " user may remove it.",
                details={"name": name},
            )

    def provision(self) -> ProvisionedEmulator:
        """Return a ready emulator of the profile: a running one, a stopped one, or a new one."""
        self._sdk.check()
        running = list_running(self._host, strict=False)
        for one in running:
            if self.fits(one.avd_name):
                return self.make_ready(one)
        busy = {one.avd_name for one in running}
        stopped = [name for name in self.names() if name not in busy and self.fits(name)]
        name = self.profile.avd_name
        if stopped:
            chosen = name if name in stopped else min(stopped)
            started = self._start(chosen)
            return ProvisionedEmulator(chosen, started.serial, False, True, reused=True)
        self.check_creatable(name)
        self.create_to_start(name)
        started = self._start(name)
        return ProvisionedEmulator(name, started.serial, True, True, reused=False)

    def _start(
        self, name: str, options: StartOptions | None = None, *, pid_file: PidFile | None = None
    ) -> RunningEmulator:
        boot, profile = self._boot(name), self.profile
        try:
            boot.start(options or StartOptions(ram=profile.ram, gpu=profile.gpu), pid_file=pid_file)
            return boot.await_ready()
        except (KeyboardInterrupt, SystemExit):
            boot.end()  # a start that was interrupted leaves no emulator
            raise

    def make_ready(self, running: RunningEmulator) -> ProvisionedEmulator:
        """Wait until a running emulator has booted, and make its settings."""
        boot = self._boot(running.avd_name)
        if not running.booted:
            boot.await_boot(running.serial)
        boot.make_settings(running.serial)
        return ProvisionedEmulator(running.avd_name, running.serial, False, False, reused=True)

    def check_creatable(self, name: str) -> None:
        """Raise unless a virtual device of this name may be created for the profile."""
        if self.profile.as_it_is:
            raise self._not_found(f"AVD {name} does not exist", name)
        found = self._read(name)
        if found.exists:
            raise EmulatorError(
                f"existing AVD {name} is unsupported and cannot be auto-provisioned:"
                f" {found.differences(self.profile)}",
                code=ErrorCode.EMULATOR_UNSUPPORTED,
                hint="Delete it so that it is created again, or ask for what it is, or for another"
                " name.",
                details={"name": name, "unsupportedReasons": [*self.unfit(name)]},
            )

    def exists(self, name: str) -> bool:
        """Whether there is a virtual device of this name."""
        return self._read(name).exists

    def fits(self, name: str) -> bool:
        """Whether a virtual device is what the profile asks for: like it, and of its name."""
        return self.profile.name in (None, name) and not self.unfit(name)

    def unfit(self, name: str) -> tuple[str, ...]:
        """Return why a virtual device does not fit the profile; nothing if it does."""
        return self._read(name).unsupported_reasons(self.profile)

    def _read(self, name: str, *, running: bool = False) -> Avd:
        return read_avd(name, home=self._sdk.avd_home, running=running)

    def names(self) -> Sequence[str]:
        """Return the names of the virtual devices, in the order of the SDK."""
        listed = self._tools.run(Tool.EMULATOR, "-list-avds", timeout=_LIST_TIMEOUT)
        if not listed.ok:
            raise EmulatorError(
                listed.said("failed to list configured AVDs"),
                code=ErrorCode.UNKNOWN,
                hint="Run `emulator -list-avds` by hand to see what is wrong.",
            )
        # The tool prints notices among the names.
        lines = (line.strip() for line in listed.stdout.splitlines())
        return [line for line in lines if is_word(line)]

    def _not_found(self, problem: str, name: str) -> EmulatorError:
        """Return the error for a name that no virtual device has, with those that there are."""
        known = sorted(path.stem for path in self._sdk.avd_home.glob("*.ini"))
        near = closest(name, known)
        there = f"There are: {', '.join(known)}. " if known else "There are none. "
        meant = f"Did you mean {near}? Else " if near else "To have one, "
        return EmulatorError(
            problem,
            code=ErrorCode.EMULATOR_NOT_FOUND,
            hint=(there + meant, Remedy(RemedyKind.CREATE_EMULATOR, name)),
            details={"name": name},
        )

    def _boot(self, name: str) -> Boot:
        return Boot(
            self._host,
            self._tools,
            name,
            output=self.log_path(name),
            limits=self._limits,
            notify=self._notify,
            clock=self._clock,
            pause=self._pause,
        )

    def log_path(self, name: str) -> Path:
        """Return where an emulator's output goes: it is removed with the virtual device."""
        return self._sdk.avd_home / f"{name}.avd" / _LOG

    def _await_end(self, running: RunningEmulator) -> None:
        deadline = self._clock() + _END_TIMEOUT
        while any(serial == running.serial for serial, _ in self._host.devices()):
            if self._clock() >= deadline:
                raise self._not_stopped(running, f"it still runs after {_END_TIMEOUT:g} s")
            # The process may be of another run, so only adb can be asked for its end.
            self._pause(min(self._limits.poll, 0.25))

    def _not_stopped(self, running: RunningEmulator, why: str) -> EmulatorError:
        return EmulatorError(
            f"failed to stop emulator {running.avd_name}: {why}",
            code=ErrorCode.EMULATOR_STOP_FAILED,
            serial=running.serial,
            hint="End its process by hand; `adb devices` shows whether it is gone.",
            details={"name": running.avd_name, "serial": running.serial},
        )
