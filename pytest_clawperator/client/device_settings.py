"""Settings of a device that a test may change, and how they are restored."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from pytest_clawperator.client.device_commands import (
    GUARDED_HINT,
    lacks,
    missing_app,
    run,
    run_for_app,
    shell_error,
)
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ShellError,
    TransportTimeoutError,
)
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.shell import quote

ROTATION_SETTINGS = ("user_rotation", "accelerometer_rotation")
# What `user_rotation` means, in quarter turns, on devices that are taller than wide and on others.
_TALL = {"portrait": "0", "landscape": "1", "reverse_portrait": "2", "reverse_landscape": "3"}
_WIDE = {"landscape": "0", "reverse_portrait": "1", "reverse_landscape": "2", "portrait": "3"}
KEYBOARD_SETTING = "default_input_method"
_KEYBOARD_HINT = "`adb shell ime list -a -s` names the keyboards that the device has."
_LANGUAGE_HINT = "Run the command with `adb shell` to see the device's answer."
_AIRPLANE = "airplane_mode_on"
_LOCALES = re.compile(r"^Locales for \S+ for user \d+ are \[(.*)\]", re.MULTILINE)
_LANGUAGE_TAGS = re.compile(r"(?:[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*(?:,(?=.)|\Z))*")


def quarter_turns(size: tuple[int, int] | None) -> Mapping[str, str]:
    """Return the quarter turns of each orientation on a screen of this natural size."""
    return _WIDE if size is not None and size[0] > size[1] else _TALL


def read_setting(transport: Transport, namespace: str, name: str) -> str | None:
    """Return a setting: None if the device does not report it, ``"null"`` if it is not set."""
    answer = transport.shell(f"settings get {namespace} {name}")
    return answer.stdout.strip() if answer.ok and not lacks(answer) else None


def known_setting(transport: Transport, namespace: str, name: str) -> str:
    """Return a setting that is about to be changed, or raise."""
    command = f"settings get {namespace} {name}"
    return run(transport, command, hint=GUARDED_HINT).stdout.strip()


def put_setting(transport: Transport, namespace: str, name: str, value: str) -> None:
    """Write a setting; ``"null"`` is what one that is not set was read as."""
    unset = value in ("", "null")
    command = f"settings {'delete' if unset else 'put'} {namespace} {name}"
    run(transport, command if unset else f"{command} {quote(value)}", hint=GUARDED_HINT)


def read_airplane_mode(transport: Transport) -> bool | None:
    """Whether airplane mode is on; None if the device does not report it."""
    answer = transport.shell("cmd connectivity airplane-mode").stdout.strip()
    is_on = {"enabled": True, "disabled": False}.get(answer)
    if is_on is not None:
        return is_on
    return {"1": True, "0": False}.get(read_setting(transport, "global", _AIRPLANE) or "")


def set_airplane_mode(transport: Transport, on: bool) -> None:
    """Switch airplane mode, by the command of Android 11 or by the older setting."""
    command = f"cmd connectivity airplane-mode {'enable' if on else 'disable'}"
    result = transport.shell(command)
    if lacks(result):
        _set_airplane_setting(transport, on)
    elif not result.ok:
        raise shell_error(transport, command, result, hint=GUARDED_HINT)


def _set_airplane_setting(transport: Transport, on: bool) -> None:
    before = known_setting(transport, "global", _AIRPLANE)
    put_setting(transport, "global", _AIRPLANE, str(int(on)))
    # The radios follow the broadcast, not the setting.
    broadcast = f"am broadcast -a android.intent.action.AIRPLANE_MODE --ez state {str(on).lower()}"
    try:
        run(
            transport,
            broadcast,
            hint="From Android 7 to 10 only the system may switch airplane mode: use a newer"
            " device, or one with root.",
        )
    except ShellError:
        put_setting(transport, "global", _AIRPLANE, before)
        raise


def set_keyboard(transport: Transport, name: str) -> None:
    """Enable an input method and switch to it."""
    for verb in ("enable", "set"):
        run(transport, f"ime {verb} {quote(name)}", hint=_KEYBOARD_HINT)


def language_tags(text: str) -> str:
    """Return a list of language tags, or an empty text, checked."""
    if _LANGUAGE_TAGS.fullmatch(text):
        return text
    raise ConfigurationError(
        f"{shown(text)} is not a list of languages",
        hint="Write language tags joined by commas, as in 'de-DE,en', or '' for the system's.",
    )


def read_app_locale(transport: Transport, package: str) -> str | None:
    """Return the languages that an app was set to; None if the device does not report it."""
    answer = transport.shell(f"cmd locale get-app-locales {package}")
    found = _LOCALES.search(answer.stdout)
    return found[1].replace(" ", "") if found else None


def known_app_locale(transport: Transport, package: str, *, api_level: int | None) -> str:
    """Return the languages of an app that are about to be changed, or raise."""
    known = read_app_locale(transport, package)
    if known is not None:
        return known
    command = f"cmd locale get-app-locales {package}"
    answer = transport.shell(command)
    level = "" if api_level is None else f"; this device has API {api_level}"
    came = f"Languages of a single app came with Android 13 (API 33){level}."
    if lacks(answer):
        raise shell_error(transport, command, answer, hint=came)
    failure = shell_error(transport, command, answer, hint=_LANGUAGE_HINT)
    raise missing_app(transport, package, failure) or failure


def set_app_locale(transport: Transport, package: str, locale: str) -> None:
    """Set the languages of an app."""
    command = f"cmd locale set-app-locales {package} --locales {quote(locale)}"
    run_for_app(transport, package, command, hint=_LANGUAGE_HINT)


_ASK_AGAIN = "Call restore() again to retry what is left."
_TRIED_AGAIN = "It is retried before the next test; in a script call restore()."
Undo = Callable[[], None]
T = TypeVar("T")


class Changes:
    """What was changed on a device, and how to undo it.

    ``probe`` is called before each undo; it raises if the device is away.
    """

    def __init__(self, probe: Callable[[], None]) -> None:
        self._probe = probe
        # How to undo what was changed: at first, and in each block that has not ended.
        self._undo: list[dict[str, Undo]] = [{}]
        # What a block could not restore because the device was away; the next block begins with it.
        self._owed: dict[str, Undo] = {}

    def make(self, what: str, put: Callable[[T], None], value: T, *, before: T) -> None:
        """Put a value; ``before`` is kept unless an earlier change of it is known."""
        undo = partial(put, before)
        changed = self._undo[-1]
        self._owed.pop(what, None)
        first = what not in changed
        changed.setdefault(what, undo)
        try:
            put(value)
        except ShellError:
            # The device refused, perhaps half way; what it did can be undone now.
            if first:
                with contextlib.suppress(ShellError):
                    undo()
                del changed[what]
            raise

    def restore(self) -> None:
        """Restore what was changed in the current block, the newest first."""
        self._restore_changes(self._undo[-1])

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """Restore at the end of the block what was changed in it."""
        self._restore_owed()
        changed: dict[str, Undo] = {}
        self._undo.append(changed)
        try:
            yield
        finally:
            try:
                self._restore_changes(changed)
            except ShellError:
                raise  # the device refused, and would again
            except ClawperatorError:
                self._owed.update(changed)
                raise
            finally:
                self._undo = [known for known in self._undo if known is not changed]
                # What could not be restored is left to the next call of restore().
                for what, undo in changed.items():
                    self._undo[-1].setdefault(what, undo)

    def _restore_owed(self) -> None:
        """Restore what an earlier block could not; what the device refuses is raised once."""
        try:
            self._restore_changes(self._owed)
        except ShellError:
            self._owed.clear()
            raise

    def _restore_changes(self, changed: dict[str, Undo]) -> None:
        failures: dict[str, ClawperatorError] = {}
        for what, undo in reversed(list(changed.items())):
            try:
                self._probe()
                undo()
            except ClawperatorError as error:
                failures[what] = error
                if isinstance(error, TransportTimeoutError):
                    break  # a device that hangs would hang once for each of them
            else:
                self._forget(what, undo)
        if failures:
            raise _not_restored(failures, [what for what in changed if what not in failures])

    def _forget(self, what: str, undo: Undo) -> None:
        self._owed.pop(what, None)
        for changed in self._undo:
            if changed.get(what) is undo:
                del changed[what]


def _not_restored(
    failures: Mapping[str, ClawperatorError], untried: Sequence[str]
) -> ClawperatorError:
    """Return the error about what could not be restored, of the same type as its cause."""
    away = [error for error in failures.values() if not isinstance(error, ShellError)]
    cause = (away or list(failures.values()))[0]
    reasons = [f"{what} ({error.message})" for what, error in failures.items()]
    error = type(cause)(
        f"could not restore: {'; '.join([*reasons, *untried])}",
        code=cause.code,
        serial=cause.serial,
        hint=f"{_TRIED_AGAIN if away else _ASK_AGAIN} {cause.hint or ''}".strip(),
        details={"failed": {what: str(error) for what, error in failures.items()}},
    )
    error.__cause__ = cause
    return error
