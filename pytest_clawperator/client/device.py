"""The device beneath the client: its shell, files, apps and settings."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NoReturn, get_args

from typing_extensions import override

from pytest_clawperator import errors
from pytest_clawperator.client import device_commands as commands
from pytest_clawperator.client import device_settings as settings
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.transport.interface import ShellResult, Transport

# How long a device may take to answer before something on it is restored.
ANSWER_WITHIN = 5.0
Orientation = Literal["portrait", "landscape", "reverse_portrait", "reverse_landscape", "auto"]
_RECORD = r"ActivityRecord\{\S+ (?:u\d+ )?([\w.]+)/"

_RESUMED = [
    re.compile(rf"\btopResumedActivity[=:] ?{_RECORD}"),
    re.compile(rf"\bm?ResumedActivity[=:] ?{_RECORD}"),
    re.compile(rf"\bmFocusedActivity[=:] ?{_RECORD}"),
]

_FOCUSED = [
    re.compile(r"\bmCurrentFocus=Window\{\S+ (?:u\d+ )?([\w.]+)/"),
    re.compile(rf"\bmFocusedApp=.*?{_RECORD}"),
]


class Device(HintsAtNames):
    """A connected device. What is changed through it can be restored.

    :meth:`restore` does so immediately, :meth:`restoring` at the end of a block.
    """

    _own_word = "claw.device"
    _their_names = foreign_names.DEVICE
    #: Called after each command and each gesture.
    _on_use: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, transport: Transport, info: DeviceInfo) -> None:
        self._transport = transport
        self._info = info
        self._changes = settings.Changes(self._probe)
        self._found_apps: set[str] = set()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._info}>"

    @property
    def info(self) -> DeviceInfo:
        """What is known about the device."""
        return self._info

    @property
    def serial(self) -> str:
        """The device's serial, as adb names it."""
        return self._info.serial

    # The shell and files

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Run a command line in the device's shell; its result is false if it failed."""
        given: object = command
        if not isinstance(given, str) or not given.strip() or "\0" in given:
            raise errors.ConfigurationError(
                f"{shown(command)} is not a command line",
                serial=self.serial,
                hint="Give one text without a NUL, as in device.shell('ls /sdcard')."
                " Its input is empty.",
            )
        if not commands.is_number(timeout) or timeout <= 0:
            raise errors.ConfigurationError(
                f"timeout={shown(timeout)} is not a time that a command can have",
                serial=self.serial,
                hint="Give seconds, more than 0.",
            )
        result = self._transport.shell(command, timeout=timeout)
        self._on_use()
        return result

    def push(self, source: bytes | str | Path, path: str) -> None:
        """Write bytes, or a file of this computer, to a path on the device."""
        if isinstance(source, bytearray | memoryview):
            source = bytes(source)
        if not isinstance(source, bytes | str | Path):
            raise errors.ConfigurationError(
                f"cannot push {shown(source)}",
                serial=self.serial,
                hint="Give bytes, or the path of a file of this computer.",
            )
        self._transport.push(source if isinstance(source, bytes) else Path(source), path)

    def pull(self, path: str) -> bytes:
        """Read a file of the device."""
        return self._transport.pull(path)

    # Apps

    def install(self, apk: str | Path) -> None:
        """Install an app, keeping the data of an earlier version."""
        self._transport.install(Path(apk))

    def uninstall(self, package: str) -> None:
        """Remove an app and its data."""
        command = f"pm uninstall {commands.package_name(package)}"
        hint = "An app that came with the device cannot be removed."
        commands.run_for_app(self._transport, package, command, hint=hint, success="Success")
        self._found_apps.discard(package)

    def clear_data(self, package: str) -> None:
        """Reset an app to how it was when installed: no data, no permissions, not running."""
        command = f"pm clear {commands.package_name(package)}"
        hint = "Some apps that came with the device guard their data."
        commands.run_for_app(self._transport, package, command, hint=hint, success="Success")

    def grant(self, package: str, *permissions: str) -> None:
        """Grant an app permissions, such as ``"android.permission.CAMERA"``, without asking."""
        commands.package_name(package)
        if not permissions:
            raise errors.ConfigurationError(
                f"no permission was named to grant to {package}",
                serial=self.serial,
                hint="Name them: device.grant(package, 'android.permission.CAMERA').",
            )
        hint = "An app can be granted what its manifest asks for and users may decide."
        for permission in [commands.permission_name(name) for name in permissions]:
            command = f"pm grant {package} {permission}"
            commands.run_for_app(self._transport, package, command, hint=hint)

    def is_installed(self, package: str) -> bool:
        """Whether an app is installed."""
        return commands.package_name(package) in commands.installed_packages(
            self._transport, package
        )

    def current_package(self) -> str | None:
        """Return the package of the app in front, or None if the device does not report it."""
        for command, patterns in (
            ("dumpsys activity activities", _RESUMED),
            ("dumpsys window", _FOCUSED),
        ):
            text = self.shell(command).stdout
            for pattern in patterns:
                if found := pattern.search(text):
                    return found[1]
        return None

    def toasts(self) -> list[str]:
        """Return the texts of the toasts that are shown or queued, from Android 11 on.

        ``expect.poll(claw.device.toasts).to_equal(["Saved"])``

        A toast is shown for 2 to 3.5 seconds. One that an app draws itself has no text here.
        """
        level = self._info.api_level
        if level is not None and level < commands.TOASTS_SINCE_API:
            raise errors.ShellError(
                f"API level {level} does not report the texts of toasts",
                code=errors.ErrorCode.DEVICE_COMMAND_FAILED,
                serial=self.serial,
                hint=f"Android does from 11 on, API level {commands.TOASTS_SINCE_API}: use a "
                "screenshot, or expect what the toast is about.",
            )
        command = "dumpsys notification"
        result = self.shell(command)
        if not result.ok:
            raise commands.shell_error(self._transport, command, result, hint=commands.GUARDED_HINT)
        return commands.toast_texts(result.stdout)

    # Touch and keys

    def swipe(self, start: commands.Point, end: commands.Point, *, duration: float = 0.3) -> None:
        """Swipe from one point to another, in pixels, for ``duration`` seconds.

        ``claw.device.swipe((540, 1800), (540, 400))``

        A list keeps moving after a quick swipe, and stops where a slow one ends.
        """
        command = commands.stroke("swipe", "swipe", start, end, duration)
        self._input(command, timeout=duration + 30)

    def drag(self, start: commands.Point, end: commands.Point, *, duration: float = 1.0) -> None:
        """Press a point, hold it, move to another one in ``duration`` seconds, and let go.

        ``claw.device.drag((540, 600), (540, 1400))``
        """
        command = commands.stroke("draganddrop", "drag", start, end, duration)
        self._input(command, timeout=duration + 30)

    def double_tap(self, point: commands.Point) -> None:
        """Tap a point twice, as quickly as a double tap must be.

        ``claw.device.double_tap((540, 1200))``
        """
        self._input(commands.double_tap(point))

    def key_event(self, key: str | int) -> None:
        """Press a key: ``"enter"``, ``"KEYCODE_ENTER"`` or 66."""
        self._input(f"input keyevent {commands.key_code(key)}")

    # Settings that can be restored

    @property
    def orientation(self) -> Orientation | None:
        """How the screen is turned; ``"auto"`` if it follows the sensor, None if unknown.

        Setting it locks the screen that way; apps with a fixed orientation keep it.
        """
        turned, automatic = (
            settings.read_setting(self._transport, "system", name)
            for name in settings.ROTATION_SETTINGS
        )
        if automatic == "1":
            return "auto"
        turns = settings.quarter_turns(self._info.size)
        ways: dict[str | None, Any] = {turn: way for way, turn in turns.items()}
        return ways.get(turned)

    @orientation.setter
    def orientation(self, value: Orientation) -> None:
        if value not in get_args(Orientation):
            raise errors.ConfigurationError(
                f"{shown(value)} is not an orientation",
                hint=f"It is one of {', '.join(get_args(Orientation))}.",
            )
        transport = self._transport
        before = {
            name: settings.known_setting(transport, "system", name)
            for name in settings.ROTATION_SETTINGS
        }

        wanted = {"accelerometer_rotation": str(int(value == "auto"))}
        if value != "auto":
            wanted["user_rotation"] = settings.quarter_turns(self._info.size)[value]

        def put(values: dict[str, str]) -> None:
            for name, setting in values.items():
                settings.put_setting(transport, "system", name, setting)

        self._changes.make("orientation", put, wanted, before=before)

    @property
    def airplane_mode(self) -> bool | None:
        """Whether airplane mode is on, or None if the device does not report it.

        Switching it on may cut off a device that is connected over Wi-Fi.
        """
        return settings.read_airplane_mode(self._transport)

    @airplane_mode.setter
    def airplane_mode(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise errors.ConfigurationError(
                f"airplane_mode cannot be {shown(value)}",
                serial=self.serial,
                hint="Give True (on) or False (off).",
            )
        before = self.airplane_mode
        if before is None:
            raise errors.ShellError(
                "this device does not report its airplane mode, so it could not be restored",
                code=errors.ErrorCode.DEVICE_COMMAND_FAILED,
                serial=self.serial,
                hint="Neither `cmd connectivity airplane-mode` nor the global setting"
                " airplane_mode_on gives an answer.",
            )
        put = partial(settings.set_airplane_mode, self._transport)
        self._changes.make("airplane mode", put, value, before=before)

    @property
    def keyboard(self) -> str | None:
        """The input method in use, as ``ime list -s`` names it, or None if unknown."""
        return settings.read_setting(self._transport, "secure", settings.KEYBOARD_SETTING)

    @keyboard.setter
    def keyboard(self, value: str) -> None:
        transport = self._transport
        before = settings.known_setting(transport, "secure", settings.KEYBOARD_SETTING)
        put = partial(settings.set_keyboard, transport)
        self._changes.make("keyboard", put, value, before=before)

    def app_locale(self, package: str) -> str | None:
        """Return the languages that an app was set to, as in ``"de-DE,en"``.

        ``""`` means those of the system, None that the device does not report it (Android 12 and
        before have no such setting).
        """
        return settings.read_app_locale(self._transport, commands.package_name(package))

    def set_app_locale(self, package: str, locale: str) -> None:
        """Set the languages of an app, as in ``"de-DE"``; ``""`` for those of the system."""
        transport = self._transport
        commands.package_name(package)
        settings.language_tags(locale)
        before = settings.known_app_locale(transport, package, api_level=self._info.api_level)
        put = partial(settings.set_app_locale, transport, package)
        self._changes.make(f"locale of {package}", put, locale, before=before)

    def restore(self) -> None:
        """Restore what was changed, the newest first; what fails is raised at the end.

        Inside a :meth:`restoring` block that is what was changed since the block began.
        """
        self._changes.restore()

    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """Restore at the end of the block what was changed in it; blocks can be nested.

            with claw.device.restoring():
                claw.device.orientation = "landscape"

        What was changed before the block stays as it was when the block began. A block first
        restores what an earlier one could not, because the device was away.
        """
        with self._changes.block():
            yield

    def _input(self, command: str, *, timeout: float = 30.0) -> None:
        """Run a line whose ``input`` commands go to the display, if one is chosen."""
        display = self._transport.display
        if display is not None:
            command = command.replace("input ", f"input -d {display} ")
        commands.run(self._transport, command, hint=commands.GUARDED_HINT, timeout=timeout)
        self._on_use()

    def _probe(self) -> None:
        self._transport.shell("true", timeout=ANSWER_WITHIN)


class NoDevice(Device):
    """Stands for a device of another host: whatever needs adb raises an error with the reason."""

    def __init__(self, serial: str, why: str) -> None:
        self._info = DeviceInfo(serial=serial, key=serial)
        self._why = why

    @override
    def restore(self) -> None:
        """Do nothing: nothing can have been changed."""

    @override
    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """Do nothing: nothing can be changed."""
        yield

    def _refuse(self, name: str) -> NoReturn:
        raise errors.ExecutionsOnlyError(
            f"device.{name} is not possible here: {self._why}", serial=self.serial
        )


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(self: NoDevice, *_: object, **__: object) -> NoReturn:
        self._refuse(name)

    return refuse


_HARMLESS = ("info", "serial", "restore", "restoring")

for _name, _member in vars(Device).items():
    if not _name.startswith("_") and _name not in _HARMLESS:
        _no = _refusal(_name)
        setattr(NoDevice, _name, property(_no, _no) if isinstance(_member, property) else _no)


_NO_ACTIVITY = "No activity found"


def check_app(device: Device, package: str) -> None:
    """Raise for an app that is not installed; one that was found once is not looked for again.

    To stop an app that is not there succeeds, and so would a misspelt name.
    """
    __tracebackhide__ = True
    if not isinstance(device, NoDevice) and package not in device._found_apps:
        commands.check_installed(device._transport, package)
        device._found_apps.add(package)


def check_uri(device: Device, uri: str) -> None:
    """Raise for an address with a percent sign that no app of the device handles.

    The published Operator formats its failures: one percent sign in an address that nothing
    handles garbles its answer, and two crash it.
    """
    __tracebackhide__ = True
    if "%" not in str(uri) or isinstance(device, NoDevice):
        return
    view = "-a android.intent.action.VIEW"
    command = f"cmd package resolve-activity --brief {view} -d {quote(uri)}"
    try:
        answer = device.shell(command).stdout
    except errors.ShellError:
        return  # a device that does not know may be asked to open it
    if answer.strip() == _NO_ACTIVITY:
        raise errors.StepFailedError(
            f"open_uri {uri!r}: no app of the device handles it",
            code=errors.ErrorCode.URI_NOT_HANDLED,
            serial=device.serial,
            hint="Install an app that handles this kind of address, or check its spelling.",
        )
