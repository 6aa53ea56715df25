"""Checkpoints: a state that a test starts from, built once and brought back for each test."""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.emulators.checkpoints import Checkpoints, checkpoint_id
from pytest_clawperator.emulators.console import ask_console, console_port
from pytest_clawperator.errors import ClawperatorError, ConfigurationError, EmulatorError

# A setting of the device, so that it is saved and restored with everything else.
_MARK = "clawperator_checkpoint"
_BACK_WITHIN = 30.0
_POLL = 0.1
# Quick boot promises a second or two; what takes longer than this is worth knowing.
_SLOW = 10.0

Build = Callable[[Clawperator], object]


@dataclass(frozen=True)
class _State:
    """What must be the same after a restore: the boot, and the app that is shown."""

    boot: str
    shown: str

    @classmethod
    def of(cls, client: Clawperator) -> _State:
        """Ask a device for its state."""
        boot = client.device.shell("cat /proc/sys/kernel/random/boot_id").stdout.strip()
        windows = client.device.shell("dumpsys window | grep mCurrentFocus").stdout
        found = re.search(r"([\w.]+)/[\w.$]+\}", windows)
        return cls(boot, found[1] if found else "")


class CheckpointBuilder:
    """Brings a device into the state that a test asks for; see ``clawperator_checkpoint``."""

    def __init__(
        self,
        client: Clawperator,
        *,
        app: str | None,
        notice: Callable[[str], None],
        check_health: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._app = app
        self._notice = notice
        self._check_health = check_health
        self._clock = clock

    def __call__(self, name: str, *, build: Build) -> None:
        """Bring the device into the state that ``build`` makes, as quickly as it can be had."""
        __tracebackhide__ = True
        client = self._client
        if isinstance(client.device, NoDevice):
            raise ConfigurationError(
                f"checkpoint {name!r}: a device behind a url has no checkpoints",
                hint="Connect to the device by adb.",
            )
        if console_port(client.serial) is None:
            self._build_on_phone(name, build)
            return
        serial = client.serial
        checkpoints = Checkpoints(
            serial, lambda command, timeout: ask_console(serial, command, timeout=timeout)
        )
        checkpoint = checkpoint_id(name, *self._dependencies(build))
        if not checkpoints.has(checkpoint) or not self._restored(name, checkpoints, checkpoint):
            self._build(checkpoints, checkpoint, build)

    def _dependencies(self, build: Build) -> tuple[str, ...]:
        """Return what a checkpoint depends on: the image, the apps and how it is built."""
        device = self._client.device
        image = device.shell("getprop ro.build.fingerprint").stdout.strip()
        apps = device.shell("pm list packages -3 --show-versioncode").stdout
        return (image, "\n".join(sorted(apps.splitlines())), _source(build))

    def _build_on_phone(self, name: str, build: Build) -> None:
        """Build the state on a device that cannot save it."""
        __tracebackhide__ = True
        if self._app is None:
            raise ConfigurationError(
                f"checkpoint {name!r}: this device cannot save its state, and which app to clear is"
                " not known",
                hint="Mark the test with @pytest.mark.claw_app('com.example.app'), or run it on an"
                " emulator.",
            )
        self._notice(
            f"checkpoint {name!r}: only emulators save their state; {self._app} is cleared and"
            " the state built anew"
        )
        self._client.device.clear_data(self._app)
        build(self._client)

    def _build(self, checkpoints: Checkpoints, checkpoint: str, build: Build) -> None:
        __tracebackhide__ = True
        build(self._client)
        state = _State.of(self._client)
        mark = json.dumps([checkpoint, state.boot, state.shown], separators=(",", ":"))
        self._client.device.shell(f"settings put global {_MARK} '{mark}'")
        checkpoints.save(checkpoint)

    def _restored(self, name: str, checkpoints: Checkpoints, checkpoint: str) -> bool:
        """Restore a checkpoint; whether the device is as it was saved. A failure is told."""
        begin = self._clock()
        try:
            checkpoints.load(checkpoint)
            problem = self._problem(checkpoint)
        except EmulatorError as error:
            problem = error.message
        took = self._clock() - begin
        if problem:
            self._notice(
                f"checkpoint {name!r} could not be restored, so it is built anew: {problem}"
            )
            return False
        if took > _SLOW:
            self._notice(f"checkpoint {name!r} took {took:.0f} s to restore")
        self._check_health()
        return True

    def _problem(self, checkpoint: str) -> str | None:
        """Return what is not as it was saved; wait until the device answers again."""
        deadline, problem = self._clock() + _BACK_WITHIN, "the device does not answer"
        while self._clock() < deadline:
            try:
                problem = self._difference(checkpoint)
            except ClawperatorError as error:
                problem = f"the device does not answer: {error.message}"
            if not problem:
                return None
            time.sleep(_POLL)
        return problem

    def _difference(self, checkpoint: str) -> str:
        said = self._client.device.shell(f"settings get global {_MARK}").stdout.strip()
        try:
            saved: Any = json.loads(said)
        except ValueError:
            saved = None
        if not isinstance(saved, list) or len(saved) != 3 or saved[0] != checkpoint:
            return f"the device has another mark: {said[:80]!r}"
        state = _State.of(self._client)
        if state.boot != saved[1]:
            return "it has booted since"
        return (
            ""
            if state.shown == saved[2]
            else f"{state.shown or 'nothing'} is shown, not {saved[2]}"
        )


def _source(build: Build) -> str:
    """Return the source of a function; where there is none, its name."""
    try:
        return inspect.getsource(build)
    except (OSError, TypeError):
        return getattr(build, "__qualname__", repr(type(build)))
