"""Bringing a device into a state: restored where it was saved before, else built."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any, Literal

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device_commands import package_name
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.emulators.boot import ask_console, console_port
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    EmulatorError,
    ErrorCode,
    ExecutionsOnlyError,
)
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.server import is_loopback
from pytest_clawperator.transport.shell import quote

# A setting of the device: it is saved and restored with everything else.
_MARK = "clawperator_checkpoint"

# How long a restored device may take to be connected again, and then to show its app.
_BACK_WITHIN, _SETTLED_WITHIN = 60.0, 5.0

_POLL = 0.1

# Restoring takes a second or two; what takes longer is reported.
_SLOW = 10.0

_ANSWER_WITHIN = 10.0

# A connection from before the restore may still be there, and never answer.
_ANSWER_AFTER_RESTORE = 5.0

_NONE: Mapping[str, str] = {}

#: Brings the device of a client into a state, from apps that were cleared.
Build = Callable[[Clawperator], object]

Step = Literal["save", "restore"]

#: How long saving may take: it writes the emulator's memory, which is gigabytes.
SAVE_TIMEOUT = 120.0

LOAD_TIMEOUT = 60.0

_LIST_TIMEOUT = 10.0

_DELETE_TIMEOUT = 30.0

# The lengths are fixed, because tables of the console may have no space after a long name.
_NAME = re.compile(r"claw-\w{1,40}-[0-9a-f]{6}-[0-9a-f]{12}", re.ASCII)

_HINT = (
    "Check that the disk of the virtual devices has room, and that the emulator was started"
    " without -read-only and -no-snapstorage."
)

#: Sends a command to the console of an emulator, waits so many seconds, and returns the answer.
AskConsole = Callable[[str, str, float], str]


@dataclass(frozen=True)
class Reached:
    """How a device came into a state, and how many seconds that took.

    It was ``restored``, or built and ``saved``, or only ``built`` because it cannot be saved.
    """

    how: Literal["restored", "saved", "built"]
    seconds: float


class Checkpoints:
    """The checkpoints of the device of a client.

        Checkpoints(client, notify=print).reach("logged-in", build=log_in, apps=[BANK])

    ``notify`` gets what people should know: what cannot be saved, a slow or failed restore.
    ``check`` raises if the device cannot be used after a restore; without one, the Operator is
    asked. ``around`` is entered around what interrupts the device, with the step and the name.
    """

    def __init__(
        self,
        client: Clawperator,
        *,
        notify: Callable[[str], None] = lambda _: None,
        check: Callable[[], None] | None = None,
        around: Callable[[Step, str], AbstractContextManager[None]] = lambda *_: nullcontext(),
        snapshots: Snapshots | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        if not isinstance(client.runner, Pipeline):
            raise ExecutionsOnlyError(
                "a device behind a url has no checkpoints", serial=client.serial
            )
        self._client = client
        self._pipeline = client.runner
        self._notify = notify
        self._check = check or self._ask_operator
        self._around = around
        self._snapshots = snapshots or Snapshots(client.serial)
        self._clock = clock
        self._pause = pause
        self._reported: set[str] = set()
        # How the apps of checkpoints were installed when that was last checked.
        self._installed: dict[tuple[str, ...], Mapping[str, str]] = {}

    def reach(self, name: str, *, build: Build, apps: Sequence[str] = ()) -> Reached:
        """Bring the device into the state that ``build`` makes, as quickly as can be.

        An emulator that was saved in it is restored, if the system image, the ``apps`` and
        ``build`` are as they were; without ``apps``, all that were installed count. Else the
        data of ``apps`` are cleared, ``build`` is called with the client, and the emulator is
        saved. A device that cannot be saved is built each time.
        """
        __tracebackhide__ = True
        self._check_arguments(name, build)
        begin = self._clock()
        apps = tuple(map(package_name, apps))
        reason = self._why_not_saved()
        if reason:
            self._build_unsaved(name, build, apps, reason)
            return Reached("built", self._clock() - begin)
        identify = partial(self._snapshot, name, build, apps)
        # An app that a test has removed since comes back with the state.
        snapshot = identify(besides=self._installed.get(apps, {}))
        if snapshot in self._snapshots.names():
            problem = self._restore(name, snapshot, identify)
            took = self._clock() - begin
            if not problem:
                if took > _SLOW:
                    self._notify(f"checkpoint {name!r} took {took:.0f} s to restore")
                return Reached("restored", took)
            self._notify(f"checkpoint {name!r} was not restored, so it is built again: {problem}")
        self._build(name, build, apps)
        is_saved = self._save(name, identify())  # the function may have installed apps
        return Reached("saved" if is_saved else "built", self._clock() - begin)

    def _check_arguments(self, name: str, build: Build) -> None:
        problem = ""
        if not name:
            problem = f"the name of a checkpoint is {shown(name)}. Allowed: a text"
        elif not callable(build):
            problem = f"build= of checkpoint {name!r} is {shown(build)}. Allowed: a function"
        if problem:
            raise ConfigurationError(
                problem,
                serial=self._client.serial,
                hint="Write it as in reach('logged-in', build=log_in), where log_in takes the"
                " client.",
            )

    def _why_not_saved(self) -> str:
        """Return why the state of this device cannot be saved; nothing if it can."""
        if console_port(self._client.serial) is None:
            return "it is not an emulator"
        transport = self._pipeline.transport
        if isinstance(transport, AdbTransport) and not is_loopback(transport.server.host):
            return f"it runs on another machine, {transport.server.host}"
        try:
            self._snapshots.names()
            asked = self._snapshots.avd_name()
        except EmulatorError as error:
            return error.message
        named = self._client.device.shell("getprop ro.boot.qemu.avd_name").stdout.strip()
        if named and named != asked.replace(" ", "_"):
            return f"it is {named}, and the console at its port is that of {asked}"
        return ""

    def _snapshot(
        self, name: str, build: Build, apps: tuple[str, ...], *, besides: Mapping[str, str] = _NONE
    ) -> str:
        """Return the snapshot of a checkpoint, with the apps as they are installed now."""
        installed = {**besides, **installed_apps(self._client, apps)}
        self._installed[apps] = installed
        parts = (image_of(self._client), apps, sorted(installed.items()), source_of(build))
        return snapshot_name(name, *parts)

    # Building and saving

    def _build_unsaved(self, name: str, build: Build, apps: Sequence[str], reason: str) -> None:
        __tracebackhide__ = True
        if not apps:
            raise ConfigurationError(
                f"checkpoint {name!r}: the state of this device cannot be saved ({reason}), so"
                " the app has to be cleared, and no app is named",
                serial=self._client.serial,
                hint="Name it, as in app='com.example.bank'; or use an emulator.",
            )
        if name not in self._reported:
            self._reported.add(name)
            self._notify(
                f"checkpoint {name!r} is built for each test, after {', '.join(apps)} was"
                f" cleared: the state of this device cannot be saved ({reason})"
            )
        self._build(name, build, apps)

    def _build(self, name: str, build: Build, apps: Sequence[str]) -> None:
        __tracebackhide__ = True
        device = self._client.device
        for app in apps:
            if device.is_installed(app):  # else it is for the function to install it
                device.clear_data(app)
        build(self._client)
        missing = [app for app in apps if not device.is_installed(app)]
        if missing:
            raise ConfigurationError(
                f"checkpoint {name!r}: {', '.join(missing)} is not installed after"
                f" {getattr(build, '__qualname__', None) or shown(build)}",
                code=ErrorCode.APP_NOT_FOUND,
                serial=self._client.serial,
                hint="Correct app=, or install it before.",
            )

    def _save(self, name: str, snapshot: str) -> bool:
        """Save the state and return whether that worked; a failure does not stop the test."""
        self._client.device.shell(
            f"settings put global {_MARK} '{snapshot} {self._boot()} {self._in_front()}'"
        )
        try:
            with self._around("save", name):
                self._alone("save", SAVE_TIMEOUT, lambda: self._snapshots.save(snapshot))
        except EmulatorError as error:
            problem = f"was not saved, so the next test builds it again: {error.message}"
            self._notify(f"checkpoint {name!r} {problem}")
            return False
        return True

    # Restoring

    def _restore(self, name: str, snapshot: str, identify: Callable[[], str]) -> str:
        """Restore a checkpoint and check the device; return what is not as it was saved."""
        # A load that changes nothing would leave this in place.
        self._client.device.shell(f"settings put global {_MARK} restoring")
        try:
            with self._around("restore", name), self._log_begins_anew():
                self._alone("load", LOAD_TIMEOUT, lambda: self._snapshots.load(snapshot))
                problem = self._await(snapshot, identify)
        except EmulatorError as error:
            problem = error.message
        self._forget()
        self._check()
        return problem

    def _await(self, snapshot: str, identify: Callable[[], str]) -> str:
        """Wait until the device is as it was saved; return what is not."""
        begin = self._clock()
        while True:
            try:
                problem, patience = self._difference(snapshot, identify), _SETTLED_WITHIN
            except ClawperatorError as error:
                problem, patience = f"the device is not back: {error.message}", _BACK_WITHIN
            if not problem or self._clock() >= begin + patience:
                return problem
            # adb reports when a device is connected, not when its services answer.
            self._pause(_POLL)

    def _difference(self, snapshot: str, identify: Callable[[], str]) -> str:
        command = f"settings get global {_MARK}"
        mark = self._client.device.shell(command, timeout=_ANSWER_AFTER_RESTORE).stdout.split()
        saved, boot, in_front = (*mark, "", "", "")[:3]
        if saved != snapshot:
            return "the emulator is not in the state that was saved"
        if boot != self._boot():
            return "the emulator has restarted since it was saved"
        if snapshot != identify():
            return "other versions of the apps are installed than when it was saved"
        now_in_front = self._in_front()
        if now_in_front == in_front:
            return ""
        return f"{now_in_front} is in front, not {in_front}, as when its function ended"

    @contextmanager
    def _log_begins_anew(self) -> Iterator[None]:
        transport = self._pipeline.transport
        with ExitStack() as stack:
            if isinstance(transport, AdbTransport):
                stack.enter_context(transport.log.starting_over())
            yield

    def _forget(self) -> None:
        """Forget what was known of the device before it was restored."""
        with suppress(ClawperatorError):  # what is wrong, the check that follows finds out
            self._pipeline.forget(self._pipeline.transport.log.mark())

    def _alone(self, doing: str, seconds: float, do: Callable[[], None]) -> None:
        self._pipeline.use_alone(f"snapshot {doing}", seconds, do)

    def _ask_operator(self) -> None:
        self._pipeline.ping(_ANSWER_WITHIN).raise_for_status()

    def _boot(self) -> str:
        said = self._client.device.shell("cat /proc/sys/kernel/random/boot_id").stdout
        return said.strip() or "unknown"

    def _in_front(self) -> str:
        return self._client.device.current_package() or "nothing"


def snapshot_name(checkpoint: str, *parts: object) -> str:
    """Return what the snapshot of a checkpoint is called; ``parts`` are what it depends on."""
    return f"{_family(checkpoint)}{sha256(repr(parts).encode()).hexdigest()[:12]}"


def _family(checkpoint: str) -> str:
    """Return how the snapshots of a checkpoint begin, whatever they depend on."""
    readable = re.sub(r"\W+", "_", checkpoint, flags=re.ASCII)[:40] or "_"
    digest = sha256(checkpoint.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"claw-{readable}-{digest}-"


def _ask(serial: str, command: str, timeout: float) -> str:
    return ask_console(serial, command, timeout=timeout)


class Snapshots:
    """The snapshots of one emulator that hold checkpoints; others are left alone."""

    def __init__(self, serial: str, *, ask: AskConsole = _ask) -> None:
        self._serial = serial
        self._ask = ask

    def names(self) -> Sequence[str]:
        """Return the names; raise if the emulator keeps no snapshots."""
        return _NAME.findall(self._ask(self._serial, "avd snapshot list", _LIST_TIMEOUT))

    def avd_name(self) -> str:
        """Return the name of the virtual device that this console belongs to."""
        return self._ask(self._serial, "avd name", _LIST_TIMEOUT).strip()

    def save(self, name: str) -> None:
        """Save the state of the emulator; older snapshots of the same checkpoint are deleted."""
        family = name[: -len("0123456789ab")]
        for old in self.names():
            if old.startswith(family):
                self.delete(old)
        self._do("save", name, SAVE_TIMEOUT)

    def load(self, name: str) -> None:
        """Bring the emulator back to a snapshot; connections to it break."""
        self._do("load", name, LOAD_TIMEOUT)

    def delete(self, name: str) -> None:
        """Delete a snapshot."""
        self._do("delete", name, _DELETE_TIMEOUT)

    def _do(self, verb: str, name: str, timeout: float) -> None:
        try:
            self._ask(self._serial, f"avd snapshot {verb} {name}", timeout)
        except EmulatorError as error:
            error.hint = _HINT
            raise


# Since this API level, Android lists packages with their versions.
_LISTS_VERSIONS = 26

_PLAIN = (str, bytes, int, float, bool, type(None))

_PACKAGE = re.compile(r"package:(?:.*=)?([\w.]+)(?: versionCode:\d+)?\s*", re.ASCII)


def image_of(client: Clawperator) -> str:
    """Return the build of the system image."""
    return client.device.shell("getprop ro.build.fingerprint").stdout.strip()


def installed_apps(client: Clawperator, apps: Sequence[str]) -> Mapping[str, str]:
    """Return how apps are installed: version, and a path that each installation changes.

    Besides these it is the Operator; without any, it is all apps that did not come with Android.
    """
    info = client.device.info
    listing = "pm list packages -f"
    if info.api_level is None or info.api_level >= _LISTS_VERSIONS:
        listing += " --show-versioncode"
    named = {*apps, info.operator_package or ""} - {""}
    questions = [f"{listing} {quote(name)}" for name in sorted(named)]
    found = _lines(client.device.shell("; ".join(questions)).stdout) if named else {}
    wanted = {name: line for name, line in found.items() if name in named}
    return wanted if apps else {**wanted, **_lines(client.device.shell(f"{listing} -3").stdout)}


def _lines(listed: str) -> dict[str, str]:
    matches = map(_PACKAGE.fullmatch, sorted(listed.splitlines()))
    return {found[1]: found[0].strip() for found in matches if found}


def source_of(build: object) -> str:
    """Return what a function does: its source, and what it uses of its own module.

    That is other functions and plain values, also those that it was made with.
    """
    return _described(build, set())


def _described(value: Any, seen: set[int]) -> str:
    """Describe a value and all that it uses; ``seen`` is what was described before."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in seen:
        return "as before"
    seen.add(id(value))
    if isinstance(value, partial):
        return _all_described((value.func, value.args, value.keywords), seen)
    if isinstance(value, Mapping):
        return _all_described([one for pair in value.items() for one in pair], seen)
    if isinstance(value, (list, tuple)):
        return _all_described(value, seen)
    function = inspect.unwrap(getattr(value, "__func__", value))
    if isinstance(function, FunctionType):
        return _all_described(_used_by(function), seen) + _text_of(function)
    # An object is described by its class: its content may differ each time.
    return _text_of(function if isinstance(function, type) else type(function))


def _all_described(values: Iterable[object], seen: set[int]) -> str:
    return f"[{', '.join(_described(one, seen) for one in values)}]"


def _used_by(function: FunctionType) -> Sequence[object]:
    """Return the defaults of a function, and what it uses of the scopes around it."""
    around = inspect.getclosurevars(function)
    own = [
        one
        for one in around.globals.values()
        if isinstance(one, _PLAIN) or getattr(one, "__module__", None) == function.__module__
    ]
    return (function.__defaults__, function.__kwdefaults__, *around.nonlocals.values(), *own)


def _text_of(code: Any) -> str:
    """Return the source; where there is no file, as in a console, what it was compiled to."""
    try:
        return inspect.getsource(code)
    except (OSError, TypeError):
        compiled = getattr(code, "__code__", None)
        return _compiled(compiled) if compiled is not None else f"{code.__module__}.{code!r}"


def _compiled(code: CodeType) -> str:
    constants = [_compiled(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return repr((code.co_name, code.co_code, code.co_names, constants))
