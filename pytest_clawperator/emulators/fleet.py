"""The emulators of one run: several at once, for itself alone, and ended with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import (
    AdbHost,
    BootKind,
    BootLimits,
    RunningEmulator,
    StartOptions,
    ask_console,
    list_running,
)
from pytest_clawperator.emulators.claims import (
    AvdClaim,
    AvdClaims,
    Traces,
    is_free,
    left_ports,
    reserved_port,
)
from pytest_clawperator.emulators.diagnosis import PORTS_TAKEN, last_lines, read_end
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator
from pytest_clawperator.emulators.sdk import Sdk, SdkTools
from pytest_clawperator.errors import ClawperatorError, EmulatorError, ErrorCode

_FOLDER = "clawperator-claims"

_MOST = 64

_PORT_TRIES = 3

# A run waits for its emulators, so it asks more often than the default of the library.
_POLL = 0.5

_ANSWER_WITHIN = 5.0

_GRACE = 10.0

# No system reports the end of processes that are not children, which these may be.
_END_POLL = 0.05

# What an emulator takes without ``ram=``, and beside its memory, in megabytes.
_DEFAULT_RAM, _OVERHEAD = 2048, 512

_MEMORY = Path("/proc/meminfo")

Notify = Callable[[str], None]

Release = Callable[[], None]

#: Takes the emulator of this serial for the run, also before it is started: returns what releases
#: it, or None if another run has it.
Take = Callable[[str], Release | None]


def _nothing() -> None:
    """Release nothing."""


@dataclass(frozen=True, kw_only=True)
class EmulatorFleetOptions:
    """How the emulators of a run are started and ended.

    ``keep`` leaves those that the run started running. ``boots`` is how many boot at once.
    """

    boot: BootKind = "cold"
    keep: bool = False
    headless: bool | None = None
    boots: int | None = None
    limits: BootLimits = field(default_factory=lambda: BootLimits(poll=_POLL))


@dataclass
class _Place:
    """An emulator of the run: what is wanted of it, and what the run did for it."""

    profile: EmulatorProfile
    name: str
    claim: AvdClaim
    running: RunningEmulator | None = None
    exists: bool = True
    traces: Traces | None = None
    release: Release = _nothing

    def write(self, traces: Traces) -> None:
        """Write down what is about to be done."""
        self.claim.write(traces)
        self.traces = traces


def _is_lost(place: _Place) -> bool:
    pid = read_pid(place.claim.pid_file.path)
    return pid is not None and not belongs_to(pid, place.name)


class _PortTakenError(EmulatorError):
    """An emulator could not start as its port was taken meanwhile."""


class EmulatorFleet:
    """The emulators of a run. No other run can have them until it is closed.

    ``take`` keeps other runs that use connected devices from taking them.
    """

    def __init__(
        self,
        host: AdbHost,
        *,
        sdk: Sdk | None = None,
        options: EmulatorFleetOptions | None = None,
        take: Take = lambda _: _nothing,
        notify: Notify = lambda _: None,
    ) -> None:
        self._host = host
        self._sdk = sdk or Sdk()
        self._options = options or EmulatorFleetOptions()
        self._take_emulator = take
        self._notify = notify
        self._tools = SdkTools(self._sdk)
        self._ending = Ending(host, self._sdk)
        self._interrupted = threading.Event()
        self._claims = AvdClaims(self._sdk.avd_home / _FOLDER, pause=self._pause)
        boots = self._options.boots or boots_at_once()
        # Apart, so that an image is downloaded while an emulator boots.
        self._preparations, self._boots = (threading.Semaphore(boots) for _ in range(2))
        self._places: list[_Place] = []
        self._own_ports: set[int] = set()
        self._names: Sequence[str] | None = None

    def provision(
        self, profiles: Sequence[EmulatorProfile]
    ) -> list[ProvisionedEmulator | EmulatorError]:
        """Return a ready emulator for each profile, or why there is none.

        By policy: one that runs, else one that is stopped, else a new one. Those that
        must be started boot side by side, as many as the machine has cores for.
        """
        self._sdk.check()
        left = {claim.name: claim for claim in self._claims.left_behind()}
        running = list_running(self._host, strict=False)
        taken_over = [self._taken_over(profile, running, left) for profile in profiles]
        for claim in left.values():
            self._clean_up(claim)
        for port in left_ports():
            (self._take_emulator(f"emulator-{port}") or _nothing)()
        self._names = None
        places = [
            place or self._place(profile, running)
            for profile, place in zip(profiles, taken_over, strict=True)
        ]
        to_start = [place for place in places if place.running is None]
        check_memory([place.profile for place in to_start], available=free_memory())
        return self._make_ready(places)

    def lost(self) -> dict[str, str]:
        """Return what is known of emulators that the run started and that have ended, by serial.

        What they printed is deleted when the fleet is closed.
        """
        return {
            f"emulator-{place.traces.port}": self._told_of(place)
            for place in self._places
            if place.traces is not None and place.traces.port is not None and _is_lost(place)
        }

    def _told_of(self, place: _Place) -> str:
        printed = last_lines(read_end(self._emulators(place.profile).log_path(place.name)))
        said = printed.splitlines()[-1] if printed else "it printed nothing"
        return f"emulator {place.name} ended while the run used it; its last line: {said}"

    def close(self) -> None:
        """End what the run started, unless it is kept; what was found running goes on."""
        places, self._places = self._places, []
        if places:
            with ThreadPoolExecutor(len(places)) as threads:
                list(threads.map(self._give_back, places))
        # A process that a killed run had just started could not be claimed before.
        for claim in self._claims.left_behind():
            self._clean_up(claim)
        self._claims.remove_folder()

    def _make_ready(self, places: Sequence[_Place]) -> list[ProvisionedEmulator | EmulatorError]:
        threads = ThreadPoolExecutor(max(1, len(places)))
        try:
            return list(threads.map(self._ready, places))
        except BaseException:
            self._interrupted.set()
            self._tools.end()
            raise
        finally:
            threads.shutdown(cancel_futures=True)

    def _pause(self, seconds: float = 0.0) -> None:
        if self._interrupted.wait(seconds):
            raise EmulatorError("the wait for the emulator was interrupted", hint="Start again.")

    def _place(self, profile: EmulatorProfile, running: Sequence[RunningEmulator]) -> _Place:
        """Choose the emulator for a profile, and claim it."""
        place = self._found(profile, running) or self._new(profile)
        self._places.append(place)
        return place

    def _taken_over(
        self,
        profile: EmulatorProfile,
        running: Sequence[RunningEmulator],
        left: dict[str, AvdClaim],
    ) -> _Place | None:
        """Return an emulator that a killed run left running, if one fits: it is ours now."""
        for one in running:
            if one.avd_name not in left or not self._fits(profile, one.avd_name):
                continue
            if (release := self._take_emulator(one.serial)) is None:
                continue
            claim = left.pop(one.avd_name)
            self._notify(f"emulator {one.avd_name}: taken over from a run that was killed")
            place = _Place(profile, one.avd_name, claim, one, traces=claim.left, release=release)
            self._places.append(place)
            return place
        return None

    def _found(self, profile: EmulatorProfile, running: Sequence[RunningEmulator]) -> _Place | None:
        """Return one that runs and is free, else one that is stopped."""
        for one in running:
            if place := self._existing(profile, one.avd_name, serial=one.serial):
                return place
        if self._names is None:
            self._names = self._emulators(profile).names()
        busy = {one.avd_name for one in running}
        stopped = [name for name in self._names if name not in busy]
        for name in sorted(stopped, key=lambda name: (name != profile.avd_name, name)):
            if place := self._existing(profile, name):
                return place
        return None

    def _existing(
        self, profile: EmulatorProfile, name: str, *, serial: str | None = None
    ) -> _Place | None:
        """Claim a virtual device that fits; None if another run has it, or has removed it."""
        claim = self._claim(name) if self._fits(profile, name) else None
        if claim is None:
            return None
        # Only now can no other run start, end or remove it.
        now = list_running(self._host, strict=False, serial=serial)
        one = next((one for one in now if one.avd_name == name), None)
        if one is None and not self._emulators(profile).exists(name):
            claim.leave()
            return None
        release = self._take_emulator(one.serial) if one is not None else _nothing
        if release is None:
            claim.leave()
            if profile.name is not None:
                raise _used_elsewhere(name)
            return None
        return _Place(profile, name, claim, one, release=release)

    def _new(self, profile: EmulatorProfile) -> _Place:
        """Claim a name for a virtual device that is yet to be made."""
        emulators = self._emulators(profile)
        numbers = range(1, 2 if profile.name else _MOST + 1)
        for number in numbers:
            name = profile.numbered(number).avd_name
            claim = self._claim(name)
            if claim is None:
                continue
            if emulators.exists(name) and self._fits(profile, name):
                claim.leave()  # it would have been chosen, were it not used
                continue
            try:
                emulators.check_creatable(name)
            except BaseException:
                claim.leave()
                raise
            return _Place(profile, name, claim, exists=False)
        raise _used_elsewhere(profile.avd_name)

    def _claim(self, name: str) -> AvdClaim | None:
        if any(place.name == name for place in self._places):
            return None
        return self._claims.take(name)

    def _fits(self, profile: EmulatorProfile, name: str) -> bool:
        """Whether a virtual device may be used."""
        return self._emulators(profile).fits(name)

    def _ready(self, place: _Place) -> ProvisionedEmulator | EmulatorError:
        """Make an emulator ready; return what is wrong where that fails."""
        emulators = self._emulators(place.profile)
        try:
            if place.running is not None:
                return emulators.make_ready(place.running)
            with self._preparations:
                self._pause()
                self._prepare(emulators, place)
            with self._boots:
                self._pause()
                serial = self._start(emulators, place)
        except EmulatorError as error:
            self._give_up(place)
            return error
        created = not place.exists
        return ProvisionedEmulator(place.name, serial, created, True, reused=not created)

    def _prepare(self, emulators: Emulators, place: _Place) -> None:
        """Make a virtual device unless there is one, and its system image before."""
        if not place.exists:
            place.write(Traces(place.name, created=True))
            emulators.create_to_start(place.name, pid_file=place.claim.pid_file)

    def _start(self, emulators: Emulators, place: _Place) -> str:
        traces = Traces(place.name, created=not place.exists)
        for _ in range(_PORT_TRIES - 1):
            try:
                return self._start_on_port(emulators, place, traces)
            except _PortTakenError:
                self._notify(f"emulator {place.name}: another program took its port; once more")
        return self._start_on_port(emulators, place, traces)

    def _start_on_port(self, emulators: Emulators, place: _Place, traces: Traces) -> str:
        with reserved_port(partial(self._take_port, place)) as port:
            place.write(replace(traces, port=port))
            options = self._start_options(place.profile, port)
            try:
                return emulators.start(place.name, options, pid_file=place.claim.pid_file).serial
            except EmulatorError as error:
                self._ending.end(place.claim, replace(traces, created=False, port=port))
                place.release()
                # Programs that reserve nothing, such as Android Studio, start emulators, too.
                is_taken = PORTS_TAKEN.problem in error.message or not is_free(port)
                if error.code == ErrorCode.EMULATOR_START_FAILED and is_taken:
                    raise _PortTakenError(
                        error.message, code=error.code, hint=error.hint, details=error.details
                    ) from error
                raise

    def _take_port(self, place: _Place, port: int) -> bool:
        """Take the emulator that is about to be on a port; return whether no other run has it."""
        release = self._take_emulator(f"emulator-{port}")
        if release is not None:
            place.release = release
            self._own_ports.add(port)
        return release is not None

    def _start_options(self, profile: EmulatorProfile, port: int) -> StartOptions:
        chosen = self._options
        headless = (
            is_headless(self._sdk.environment) if chosen.headless is None else chosen.headless
        )
        return StartOptions(
            port=port,
            boot=chosen.boot,
            headless=headless,
            temporary=not chosen.keep,
            ram=profile.ram,
            gpu=profile.gpu,
        )

    def _give_back(self, place: _Place) -> None:
        if place.traces is not None and not self._options.keep:
            self._ending.end(place.claim, place.traces)
        place.claim.release()
        place.release()

    def _give_up(self, place: _Place) -> None:
        """End what was started in vain, also where emulators are kept."""
        traces, place.traces = place.traces, None
        if traces is not None:
            self._ending.end(place.claim, traces)
        place.release()

    def _clean_up(self, claim: AvdClaim) -> None:
        """End what a killed run left, unless another run uses it as a connected device."""
        left = claim.left
        assert left is not None
        release: Release | None = _nothing
        # This run may have started an emulator of its own where the killed one wanted to.
        if left.port is not None and left.port not in self._own_ports:
            release = self._take_emulator(f"emulator-{left.port}")
        if release is None:
            claim.leave()
            return
        self._notify(f"emulator {claim.name}: ended, a run that was killed had left it")
        self._ending.end(claim, left)
        claim.release()
        release()

    def _emulators(self, profile: EmulatorProfile) -> Emulators:
        return Emulators(
            profile=profile,
            sdk=self._sdk,
            tools=self._tools,
            host=self._host,
            limits=self._options.limits,
            image_lock=self._claims.lock_image,
            notify=self._notify,
            pause=self._pause,
        )


def _used_elsewhere(name: str) -> EmulatorError:
    return EmulatorError(
        f"emulator {name} is used by another run",
        code=ErrorCode.EMULATOR_ALREADY_RUNNING,
        hint="Wait until that run has ended, or ask for another one.",
    )


class Ending:
    """Ends what was done with virtual devices of an SDK, by this run or by one that was killed."""

    def __init__(self, host: AdbHost, sdk: Sdk) -> None:
        self._sdk = sdk
        # Separate tools: those of the run may have been interrupted.
        self._emulators = Emulators(sdk=sdk, tools=SdkTools(sdk), host=host)

    def end(self, claim: AvdClaim, traces: Traces) -> None:
        """End the process of a virtual device, and remove the device if a run made it."""
        pid = read_pid(claim.pid_file.path)
        if pid is not None:
            end_process(pid, claim.name, ask=partial(_ask_to_end, traces))
        claim.pid_file.path.unlink(missing_ok=True)
        if traces.created:
            self._remove(claim)
        else:
            self._emulators.log_path(claim.name).unlink(missing_ok=True)

    def _remove(self, claim: AvdClaim) -> None:
        """Delete a virtual device that a run made, or had begun to make."""
        name, home = claim.name, self._sdk.avd_home
        if self._emulators.exists(name):
            with suppress(EmulatorError):
                self._emulators.remove(name, pid_file=claim.pid_file)
        shutil.rmtree(home / f"{name}.avd", ignore_errors=True)
        (home / f"{name}.ini").unlink(missing_ok=True)


def _ask_to_end(traces: Traces) -> bool:
    """Ask an emulator to end; return whether it was heard."""
    serial = f"emulator-{traces.port}"
    try:
        # A program that reserves no port may have another one there.
        reported = ask_console(serial, "avd name", timeout=_ANSWER_WITHIN).split()
        if traces.avd_name not in reported:
            return False
        ask_console(serial, "kill", timeout=_ANSWER_WITHIN)
    except ClawperatorError:
        return False
    return True


def read_pid(path: Path) -> int | None:
    """Read the id that a process wrote of itself."""
    try:
        text = path.read_text("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() and int(text) > 1 else None


def belongs_to(pid: int, avd_name: str) -> bool:
    """Whether this process is of this virtual device; ids are used again.

    An emulator has ``@NAME`` on its command line, ``avdmanager`` has ``--name NAME``.
    """
    words = _command(pid).split()
    return f"@{avd_name}" in words or ("--name", avd_name) in pairwise(words)


def end_process(
    pid: int,
    avd_name: str,
    *,
    ask: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """End a process and wait for it: ask it to end, then make it.

    ``ask`` returns whether it was heard: an emulator that has just started does not listen.
    """
    for step in (ask, partial(_signal, pid, signal.SIGTERM), partial(_signal, pid, signal.SIGKILL)):
        if not belongs_to(pid, avd_name):
            return
        deadline = clock() + (_GRACE if step() else 0.0)
        while belongs_to(pid, avd_name) and clock() < deadline:
            _reap(pid)
            pause(_END_POLL)


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _reap(pid: int) -> None:
    """Take note of the end of a process that this one started; others are not ours to wait for."""
    with suppress(ChildProcessError, OSError):
        os.waitpid(pid, os.WNOHANG)


def _command(pid: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    except OSError:
        return ""
    with suppress(OSError, subprocess.TimeoutExpired):
        asked = subprocess.run(  # noqa: S603 - no text of others
            ["/bin/ps", "-o", "command=", "-p", str(pid)],
            capture_output=True,
            timeout=_GRACE,
            check=False,
        )
        return asked.stdout.decode(errors="replace")
    return ""


def boots_at_once() -> int:
    """Return how many emulators may boot at the same time: a boot keeps two cores busy."""
    return max(1, (os.cpu_count() or 2) // 2)


def is_headless(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether emulators are started without a window: in CI, and where there is no display."""
    if environment.get("CI"):
        return True
    has_display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return sys.platform.startswith("linux") and not has_display


def check_memory(profiles: Sequence[EmulatorProfile], *, available: int | None) -> None:
    """Raise if these emulators need more memory than there is, in megabytes."""
    needed = sum((profile.ram or _DEFAULT_RAM) + _OVERHEAD for profile in profiles)
    if available is None or needed <= available:
        return
    fitting = max(0, available // (needed // len(profiles)))
    need = "1 emulator needs" if len(profiles) == 1 else f"{len(profiles)} emulators need"
    fewer = f"Start at most {fitting}, or give" if fitting else "End other programs, or give"
    raise EmulatorError(
        f"{need} about {needed} MB of memory, and {available} MB are free",
        hint=f"{fewer} each less memory: ram=1024.",
        details={"neededMb": needed, "availableMb": available},
    )


def most_emulators(profile: EmulatorProfile) -> int:
    """Return how many emulators this machine can run: by its cores, and by its free memory."""
    available = free_memory()
    each = (profile.ram or _DEFAULT_RAM) + _OVERHEAD
    by_memory = available // each if available is not None else boots_at_once()
    return max(1, min(boots_at_once(), by_memory))


def free_memory() -> int | None:
    """Return the memory that can be had now, in megabytes; None where that is not known."""
    try:
        lines = _MEMORY.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    reported = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    value = reported.get("MemAvailable", ["-"])[0]
    return int(value) // 1024 if value.isdecimal() else None
