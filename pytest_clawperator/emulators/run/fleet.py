"""The emulators of one run: several at once, for itself alone, and ended with it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pytest_clawperator.emulators.boot import BootKind, BootLimits, StartOptions
from pytest_clawperator.emulators.console import ask_console
from pytest_clawperator.emulators.diagnosis import PORTS_TAKEN
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator
from pytest_clawperator.emulators.profile import EmulatorProfile
from pytest_clawperator.emulators.run.claims import Claim, Claims, Traces
from pytest_clawperator.emulators.run.machine import (
    boots_at_once,
    check_memory,
    free_memory,
    is_headless,
)
from pytest_clawperator.emulators.run.ports import is_free, reserved_port
from pytest_clawperator.emulators.run.processes import end, read_pid
from pytest_clawperator.emulators.running import Host, RunningEmulator, list_running
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.emulators.tool_runs import SdkTools
from pytest_clawperator.errors import ClawperatorError, EmulatorError, ErrorCode

_FOLDER = "clawperator-claims"
_MOST = 64
_PORT_TRIES = 3
# A run waits for its emulators, so it asks more often than the default of the library.
_POLL = 0.5

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
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
    claim: Claim
    running: RunningEmulator | None = None
    exists: bool = True
    traces: Traces | None = None

    def write(self, traces: Traces) -> None:
        """Write down what is about to be done."""
        self.claim.write(traces)
        self.traces = traces


class _PortTakenError(EmulatorError):
    """An emulator could not start as its port was taken meanwhile."""


class EmulatorFleet:
    """The emulators of a run. No other run can have them until it is closed."""

    def __init__(
        self,
        host: Host,
        *,
        sdk: Sdk | None = None,
        options: FleetOptions | None = None,
        say: Say = lambda _: None,
    ) -> None:
        self._host = host
        self._sdk = sdk or Sdk()
        self._options = options or FleetOptions()
        self._say = say
        self._folder = self._sdk.avd_home / _FOLDER
        self._tools = SdkTools(self._sdk)
        self._interrupted = threading.Event()
        self._claims = Claims(self._folder, pause=self._pause)
        self._places: list[_Place] = []

    def provision(
        self, profiles: Sequence[EmulatorProfile]
    ) -> list[ProvisionedEmulator | EmulatorError]:
        """Return a ready emulator for each profile, or why there is none.

        As the policy says: one that runs, else one that is stopped, else a new one. Those that
        must be started boot side by side, as many as the machine has cores for.
        """
        self._sdk.check()
        abandoned = self._abandoned()
        running = list_running(self._host, strict=False)
        taken_over = [self._taken_over(profile, running, abandoned) for profile in profiles]
        for claim in abandoned.values():
            self._clean_up(claim)
        names = [one.avd_name for one in running]
        places = [
            place or self._place(profile, names)
            for profile, place in zip(profiles, taken_over, strict=True)
        ]
        to_start = [place for place in places if place.running is None]
        check_memory([place.profile for place in to_start], available=free_memory())
        return self._make_ready(places)

    def close(self) -> None:
        """End what the run started, unless it is kept; what was found running goes on."""
        places, self._places = self._places, []
        if not places:
            return
        with ThreadPoolExecutor(len(places)) as threads:
            list(threads.map(self._give_back, places))

    def _make_ready(self, places: Sequence[_Place]) -> list[ProvisionedEmulator | EmulatorError]:
        threads = ThreadPoolExecutor(self._options.boots or boots_at_once())
        try:
            return list(threads.map(self._ready, places))
        except BaseException:
            self._interrupted.set()
            self._tools.end()
            raise
        finally:
            threads.shutdown(cancel_futures=True)

    def _pause(self, seconds: float) -> None:
        if self._interrupted.wait(seconds):
            raise EmulatorError("the wait for the emulator was interrupted", hint="Start again.")

    def _abandoned(self) -> dict[str, Claim]:
        """Claim what killed runs left."""
        return {claim.name: claim for claim in self._claims.left_behind()}

    def _place(self, profile: EmulatorProfile, running: Sequence[str]) -> _Place:
        """Choose the emulator for a profile, and claim it."""
        place = self._found(profile, running) or self._new(profile)
        self._places.append(place)
        return place

    def _taken_over(
        self,
        profile: EmulatorProfile,
        running: Sequence[RunningEmulator],
        abandoned: dict[str, Claim],
    ) -> _Place | None:
        """Return an emulator that a killed run left running, if one fits: it is ours now."""
        for one in running:
            if one.avd_name in abandoned and self._fits(profile, one.avd_name):
                claim = abandoned.pop(one.avd_name)
                self._say(f"emulator {one.avd_name}: taken over from a run that was killed")
                place = _Place(profile, one.avd_name, claim, one, traces=claim.left)
                self._places.append(place)
                return place
        return None

    def _found(self, profile: EmulatorProfile, running: Sequence[str]) -> _Place | None:
        """Return one that runs and nobody has, else one that is stopped."""
        for name in running:
            if place := self._existing(profile, name):
                return place
        stopped = [name for name in self._emulators(profile).names() if name not in running]
        for name in sorted(stopped, key=lambda name: (name != profile.avd_name, name)):
            if place := self._existing(profile, name):
                return place
        return None

    def _existing(self, profile: EmulatorProfile, name: str) -> _Place | None:
        """Claim a virtual device that fits; None if another run has it, or has removed it."""
        claim = self._take(name) if self._fits(profile, name) else None
        if claim is None:
            return None
        # Only now can no other run start, end or remove it.
        now = list_running(self._host, strict=False)
        one = next((one for one in now if one.avd_name == name), None)
        if one is None and not self._emulators(profile).exists(name):
            claim.release()
            return None
        return _Place(profile, name, claim, one)

    def _new(self, profile: EmulatorProfile) -> _Place:
        """Claim a name for a virtual device that is yet to be made."""
        emulators = self._emulators(profile)
        numbers = range(1, 2 if profile.name else _MOST + 1)
        for number in numbers:
            name = profile.numbered(number).avd_name
            claim = self._take(name)
            if claim is None:
                continue
            try:
                emulators.check_creatable(name)
            except BaseException:
                claim.release()
                raise
            return _Place(profile, name, claim, exists=False)
        raise EmulatorError(
            f"emulator {profile.avd_name} is used by another run",
            code=ErrorCode.EMULATOR_ALREADY_RUNNING,
            hint="Wait until that run has ended, or ask for another one.",
        )

    def _take(self, name: str) -> Claim | None:
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
            serial = self._start(emulators, place)
        except EmulatorError as error:
            self._abandon(place)
            return error
        created = not place.exists
        return ProvisionedEmulator(place.name, serial, created, True, reused=not created)

    def _start(self, emulators: Emulators, place: _Place) -> str:
        traces = Traces(place.name, created=not place.exists)
        place.write(traces)
        if not place.exists:
            emulators.create(place.name)
        for _ in range(_PORT_TRIES - 1):
            try:
                return self._start_on_port(emulators, place, traces)
            except _PortTakenError:
                self._say(f"emulator {place.name}: another program took its port; once more")
        return self._start_on_port(emulators, place, traces)

    def _start_on_port(self, emulators: Emulators, place: _Place, traces: Traces) -> str:
        pid_file = self._folder / f"{place.name}.pid"
        with reserved_port() as port:
            place.write(replace(traces, port=port, pid_file=str(pid_file)))
            options = self._start_options(place.profile, port)
            try:
                return emulators.start(place.name, options, pid_file=pid_file).serial
            except EmulatorError as error:
                self._end(replace(traces, created=False, port=port, pid_file=str(pid_file)))
                # Programs that reserve nothing, such as Android Studio, start emulators, too.
                is_taken = PORTS_TAKEN.problem in error.message or not is_free(port)
                if error.code == ErrorCode.EMULATOR_START_FAILED and is_taken:
                    raise _PortTakenError(
                        error.message, code=error.code, hint=error.hint, details=error.details
                    ) from error
                raise

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
            self._end(place.traces)
        place.claim.release()

    def _abandon(self, place: _Place) -> None:
        """End what was started in vain, also where emulators are kept."""
        traces, place.traces = place.traces, None
        if traces is not None:
            self._end(traces)

    def _clean_up(self, claim: Claim) -> None:
        """End what a killed run left, and that this one has no use for."""
        assert claim.left is not None
        self._say(f"emulator {claim.name}: ended, a run that was killed had left it")
        self._end(claim.left)
        claim.release()

    def _end(self, traces: Traces) -> None:
        """End an emulator and remove its virtual device, if a run made it."""
        name = traces.avd_name
        pid_file = Path(traces.pid_file) if traces.pid_file else None
        pid = read_pid(pid_file) if pid_file else None
        if pid is not None:
            end(pid, name, ask=partial(_ask_to_end, traces.port))
        if pid_file is not None:
            pid_file.unlink(missing_ok=True)
        if traces.created:
            self._remove(name)

    def _remove(self, name: str) -> None:
        """Delete a virtual device that a run made, or had begun to make."""
        with suppress(EmulatorError):
            # Tools of their own: those of the run may have been interrupted.
            Emulators(sdk=self._sdk, tools=SdkTools(self._sdk), host=self._host).remove(name)
        home = self._sdk.avd_home
        shutil.rmtree(home / f"{name}.avd", ignore_errors=True)
        (home / f"{name}.ini").unlink(missing_ok=True)

    def _emulators(self, profile: EmulatorProfile) -> Emulators:
        return Emulators(
            profile=profile,
            sdk=self._sdk,
            tools=self._tools,
            host=self._host,
            limits=self._options.limits,
            image_lock=self._claims.lock,
            say=self._say,
            pause=self._pause,
        )


def _ask_to_end(port: int | None) -> bool:
    try:
        ask_console(f"emulator-{port}", "kill", timeout=5.0)
    except ClawperatorError:
        return False
    return True
