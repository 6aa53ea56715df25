"""Whether a device can take the next test, and what is done where it cannot."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pytest_clawperator.client.device_commands import (
    GUARDED_HINT,
    is_guarded,
    lacks,
    package_name,
    parse_packages,
)
from pytest_clawperator.devices.inventory import ask_all, last_line, number
from pytest_clawperator.devices.operator import (
    ACCESSIBILITY_SERVICE,
    components,
    grant_operator,
    other_variant,
    parse_version,
    report_grants,
    require_variant,
    restart_service,
    wait_for_ping,
)
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceError,
    DeviceUnavailableError,
    DispatchError,
    ErrorCode,
    OperatorNotReadyError,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.processes import PROCESSES_COMMAND, Processes, parse_processes
from pytest_clawperator.remedies import Remedy, RemedyKind, with_remedy
from pytest_clawperator.transport.interface import Shell, ShellResult, Transport

# How long a healthy device may take to answer.
ANSWER_WITHIN = 10.0

# How long a service that was just switched on may take to answer, and how long before it is
# switched off and on again.
AWAKE_WITHIN, RESTART_AFTER = 15.0, 5.0

# How long a device may take to come back once its connection broke, and to start.
RETURN_WITHIN, BOOTED_WITHIN = 10.0, 90.0

# One that is connected and does not answer was waited for before, and gets less.
ANSWER_AGAIN_WITHIN = 2.0

# A device that is away or starting sends no event, so it is asked again after the pause.
_PING_TIMEOUT, _PAUSE = 1.0, 0.25

_AWAY = (ErrorCode.DEVICE_OFFLINE, ErrorCode.DEVICE_NOT_FOUND, ErrorCode.DEVICE_UNAUTHORIZED)

_NOT_WORTH_WAITING = (ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT, ErrorCode.OPERATOR_CRASHED)

_SOMEBODY_ELSES = (ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT, ErrorCode.DEVICE_LEASED)

_NOT_TO_HEAL = (ErrorCode.OPERATOR_NOT_INSTALLED, ErrorCode.OPERATOR_VARIANT_MISMATCH)

# The app answers and its service does not: Android does not start one again that crashed.
_DEAD_SERVICE = (ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.OPERATOR_CRASHED)

_DEAD_HINT = (
    "Switching its service on did not help: do so by hand (Settings, Accessibility, Clawperator),"
    " restart the device, or install another version of the Operator."
)

_Trouble = Literal["away", "operator", "other"]

_T = TypeVar("_T")

WAKE, UNLOCK = "input keyevent KEYCODE_WAKEUP", "wm dismiss-keyguard"

# Android 6 does not know the command; the menu key swipes its keyguard away.
_NO_UNLOCK, _OLD_UNLOCK = "unknown command", "input keyevent KEYCODE_MENU"

_LOCK_HINT = (
    "Unlock it, and set its screen lock to None or Swipe: Settings, Security."
    " 'Stay awake' among the developer options keeps it on while it is charging."
)


class Health:
    """Checks and repairs one device between tests; every repair is reported.

    A device that fails its check is repaired and checked again: each kind of trouble once, as
    one may hide another. A device that still fails is put aside, and every later check raises
    the same error at once. ``reconnect`` is called for a device that went away.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        notify: Callable[[str], None],
        reconnect: Callable[[], None] = lambda: None,
    ) -> None:
        self._pipeline = pipeline
        self._notify = notify
        self._reconnect = reconnect
        self._given_up: ClawperatorError | None = None

    @property
    def is_put_aside(self) -> bool:
        """Whether the device failed its check twice."""
        return self._given_up is not None

    def ensure(self) -> None:
        """Check the device, repair it if necessary, and raise what could not be repaired."""
        if self._given_up is not None:
            raise _put_aside(self._pipeline.serial, self._given_up)
        try:
            self.check()
        except (DeviceError, TransportError, DispatchError) as error:
            if is_somebody_elses(error):
                raise
            self._heal_and_check(error)

    def check(self) -> None:
        """Check once: online, nothing in flight, the screen on and unlocked, the Operator there."""
        pipeline = self._pipeline
        awaken_screen(pipeline, self._notify)
        try:
            pipeline.ping(ANSWER_WITHIN).raise_for_status()
        except ClawperatorError as error:
            error.serial = error.serial or pipeline.serial
            raise

    def _heal_and_check(self, error: ClawperatorError) -> None:
        """Repair one trouble after the other, each once: a repair may reveal the next trouble."""
        tried: set[_Trouble] = set()
        while (trouble := _trouble(error)) not in tried:
            self._notify(f"the device failed its check: {error.code}: {error.message}")
            # Being away may have kept other troubles from being healed.
            tried = {trouble} if trouble == "away" else {*tried, trouble}
            try:
                heal(self._pipeline, error, notify=self._notify, reconnect=self._reconnect)
                self.check()
            except ClawperatorError as next_error:
                if is_somebody_elses(next_error):
                    raise
                error = next_error
            else:
                self._notify("the device works again")
                return
        if error.code in _DEAD_SERVICE:
            error.advice = with_remedy((_DEAD_HINT,), error.last_resort)
        self._given_up = error
        self._notify("the device failed its check again and is put aside")
        raise error


def heal(
    pipeline: Pipeline,
    error: ClawperatorError,
    *,
    notify: Callable[[str], None],
    reconnect: Callable[[], None] = lambda: None,
) -> None:
    """Try to repair what caused the error, once; raise it where nothing can be done."""
    if error.code in _NOT_TO_HEAL:
        raise error
    trouble = _trouble(error)
    if trouble == "operator":
        report_grants(grant_operator(pipeline.transport, pipeline.operator_package), notify)
        if error.code in _DEAD_SERVICE:
            notify("the Operator's service is dead, so it is switched off and on")
            restart_service(pipeline.transport, pipeline.operator_package)
        awaken_operator(pipeline, notify=notify)
    elif trouble == "away":
        bring_back(
            pipeline.transport, pipeline.operator_package, notify=notify, reconnect=reconnect
        )


def connect_healed(
    connect: Callable[[], _T],
    transport: Transport,
    package: str,
    *,
    notify: Callable[[str], None],
    reconnect: Callable[[], None],
) -> _T:
    """Connect to a device; wait once for one that is away, as ``Health`` does."""
    try:
        return connect()
    except (DeviceError, TransportError) as error:
        if is_somebody_elses(error) or _trouble(error) != "away":
            raise
        notify(f"the device failed its check: {error.code}: {error.message}")
    try:
        bring_back(transport, package, notify=notify, reconnect=reconnect)
        connected = connect()
    except ClawperatorError as error:
        if not is_somebody_elses(error):
            notify("the device failed its check again and is put aside")
        raise
    notify("the device works again")
    return connected


def is_somebody_elses(error: ClawperatorError) -> bool:
    """Return whether an error only means that someone else uses the device."""
    return error.code in _SOMEBODY_ELSES


def bring_back(
    transport: Transport,
    package: str,
    *,
    notify: Callable[[str], None],
    reconnect: Callable[[], None],
) -> None:
    """Connect a device that is away, and wait for it; raise its error where that fails."""
    notify(f"waiting up to {RETURN_WITHIN:g} s for the device to come back")
    reconnect()
    await_return(transport)
    await_boot(transport, package, notify=notify)


def _trouble(error: ClawperatorError) -> _Trouble:
    if isinstance(error, (OperatorNotReadyError, DispatchError)):
        return "operator"
    is_away = isinstance(error, TransportError) or error.code in _AWAY
    return "away" if is_away else "other"


def await_return(
    transport: Transport,
    *,
    timeout: float = RETURN_WITHIN,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until a device that went away answers again; raise its error after the timeout."""
    begin = clock()
    while True:
        try:
            transport.shell("true", timeout=ANSWER_WITHIN)
        except (DeviceError, TransportError) as error:
            is_silent = isinstance(error, TransportTimeoutError)
            if clock() >= begin + (min(timeout, ANSWER_AGAIN_WITHIN) if is_silent else timeout):
                raise
            pause(_PAUSE)
        else:
            return


def await_boot(
    transport: Transport,
    package: str,
    *,
    notify: Callable[[str], None],
    timeout: float = BOOTED_WITHIN,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Readiness:
    """Wait for a device that is still starting, and report it; return its last answer."""
    deadline = clock() + timeout
    found = read_readiness(transport, package)
    if found.booted is False:
        notify(f"the device is still starting; waiting up to {timeout:g} s for it")
    while found.booted is False and clock() < deadline:
        pause(_PAUSE)
        found = read_readiness(transport, package)
    return found


def awaken_operator(pipeline: Pipeline, *, notify: Callable[[str], None]) -> None:
    """Wait for the service that was switched on; restart it once if it does not answer."""

    def ping(left: float) -> bool:
        try:
            return pipeline.ping(_PING_TIMEOUT).ok
        except (DispatchError, OperatorNotReadyError) as exc:
            if exc.code in _NOT_WORTH_WAITING:
                raise
            return False

    try:
        wait_for_ping(ping, serial=pipeline.serial, timeout=RESTART_AFTER)
    except OperatorNotReadyError:
        notify("the Operator did not answer, so its service was switched off and on")
        restart_service(pipeline.transport, pipeline.operator_package)
        wait_for_ping(ping, serial=pipeline.serial, timeout=AWAKE_WITHIN)


def await_answer(
    transport: Transport, package: str, *, key: str, notify: Callable[[str], None]
) -> None:
    """Wait until the Operator that was set up answers; restart its service once if necessary."""
    flight = Flight(key)
    pipeline = Pipeline(
        transport,
        operator_package=package,
        flight=flight,
        preflight=lambda: check_ready(transport, package).processes,
    )
    with closing(flight):
        awaken_operator(pipeline, notify=notify)


def awaken_screen(pipeline: Pipeline, notify: Callable[[str], None]) -> None:
    """Wake and unlock the screen if necessary; raise if that needs a code."""
    transport = pipeline.transport
    screen = screen_state(pipeline, timeout=ANSWER_WITHIN)
    if not _unfit(screen):
        return
    notify(f"{_unfit(screen)}, so it was woken and its lock dismissed")
    result = transport.shell(f"{WAKE}; {UNLOCK}", timeout=ANSWER_WITHIN)
    if _NO_UNLOCK in f"{result.stdout}\n{result.stderr}":
        transport.shell(_OLD_UNLOCK, timeout=ANSWER_WITHIN)
    after = screen_state(pipeline, timeout=ANSWER_WITHIN)
    if _unfit(after):
        is_dark = after.on is False
        raise DeviceUnavailableError(
            f"{_unfit(after)}, and waking it did not help",
            serial=transport.serial,
            hint=GUARDED_HINT if is_dark and is_guarded(result) else _LOCK_HINT,
        )


def _unfit(screen: ScreenState) -> str:
    if screen.on is False:
        return "the screen is off"
    return "the screen is locked" if screen.locked else ""


def _put_aside(serial: str, why: ClawperatorError) -> DeviceUnavailableError:
    return DeviceUnavailableError(
        f"the device was put aside, because it failed its check twice: {why.code}: {why.message}",
        code=why.code,
        serial=serial,
        hint=why.advice or "See to the device and run the tests again.",
        details={"cause": str(why), "put_aside": True},
    )


_USER = re.compile(
    r"^\s*User (\d+):.*\binstalled=(true|false)\b.*\bstopped=(true|false)", re.MULTILINE
)

_NO_SERVICE = "Can't find service"


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """What a device reports about itself and its Operator; None where it reports nothing.

    ``installed`` are the variants of the Operator that are there, ``service_on`` whether its
    accessibility service is switched on, ``stopped`` whether it was force-stopped,
    ``processes`` which processes run. All of it is of the ``user`` whose screen is shown.
    """

    booted: bool | None = None
    installed: frozenset[str] | None = None
    service_on: bool | None = None
    stopped: bool | None = None
    version: str | None = None
    processes: Processes | None = None
    user: int | None = None


def read_readiness(transport: Transport, package: str, *, timeout: float = 30.0) -> Readiness:
    """Read the state of a device and of its Operator."""
    answers = ask_all(
        transport,
        {
            "booted": "getprop sys.boot_completed",
            "packages": f"pm list packages {package_name(package).removesuffix('.dev')}",
            "services": "settings get secure enabled_accessibility_services",
            "switch": "settings get secure accessibility_enabled",
            "dump": f"dumpsys package {package}",
            "processes": PROCESSES_COMMAND,
            "user": "am get-current-user",
        },
        timeout=timeout,
    )
    user = number(answers["user"])
    installed, stopped = _of_user(answers["dump"].stdout, package, user)
    return Readiness(
        booted=_booted(answers["booted"], answers["packages"]),
        installed=_variants(answers["packages"], package, is_missing=installed is False),
        service_on=_service_on(answers["services"], answers["switch"], package),
        stopped=stopped,
        version=parse_version(answers["dump"].stdout),
        processes=parse_processes(answers["processes"].stdout, answers["dump"].stdout, package),
        user=user,
    )


def check_ready(transport: Transport, package: str) -> Readiness:
    """Read the state of a device; raise what keeps the Operator from working on it."""
    return judge(read_readiness(transport, package), package, serial=transport.serial)


def judge(found: Readiness, package: str, *, serial: str) -> Readiness:
    """Raise what keeps the Operator from working; what is unknown counts as fine."""
    if found.booted is False:
        raise DeviceUnavailableError(
            "the device has not finished starting",
            serial=serial,
            hint="Wait until `adb shell getprop sys.boot_completed` prints 1.",
        )
    if found.installed is not None:
        require_variant(found.installed, package, serial, user=found.user)
    if found.service_on is False or found.stopped:
        raise _service_off(serial, package, stopped=bool(found.stopped))
    return found


def _booted(reported: ShellResult, packages: ShellResult) -> bool | None:
    is_booted = {"1": True, "0": False}.get(last_line(reported))
    if reported.ok and is_booted is None and _NO_SERVICE in packages.stdout:
        return False  # nothing is said before the start is over, and no service answers yet
    return is_booted


def _of_user(dump: str, package: str, user: int | None) -> tuple[bool | None, bool | None]:
    """Return whether an app is installed and stopped for a user, from ``dumpsys package``.

    If the current user is unknown, one user for whom the app works is enough.
    """
    start = max(dump.find(f"Package [{package}]"), 0)
    rows = [found.groups() for found in _USER.finditer(dump, start)]
    if user is not None:
        rows = [row for row in rows if int(row[0]) == user]
    states = [stopped for _, installed, stopped in rows if installed == "true"]
    is_installed = bool(states) if user is not None and rows else None
    return is_installed, ("false" not in states if states else None)


def _variants(answer: ShellResult, package: str, *, is_missing: bool) -> frozenset[str] | None:
    if not answer.ok:
        return None
    found = parse_packages(answer.stdout) & {package, other_variant(package)}
    return found - {package} if is_missing else found


def _service_on(services: ShellResult, switch: ShellResult, package: str) -> bool | None:
    if not services.ok or lacks(services):
        return None
    # A device that does not report the switch is judged by the list alone.
    off = switch.ok and last_line(switch) in ("0", "null")
    return not off and f"{package}/{ACCESSIBILITY_SERVICE}" in components(last_line(services))


def _service_off(serial: str, package: str, *, stopped: bool) -> OperatorNotReadyError:
    service = f"{package}/{ACCESSIBILITY_SERVICE}"
    what = "was force-stopped" if stopped else "has its accessibility service switched off"
    return OperatorNotReadyError(
        f"the Operator {package} {what}",
        code=ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
        serial=serial,
        hint=Remedy(RemedyKind.SWITCH_SERVICE_ON),
        details={"service": service, "stopped": stopped},
    )


# Samsung prints the name of the method instead of the field's. A phone that dreams or dozes
# shows something, and takes no touch.
_WAKEFULNESS = re.compile(r"\b(?:m|get)Wakefulness\w*(?:\(\))?=(Awake|Asleep|Dreaming|Dozing)\b")

# Some MediaTek phones print an object here, with no state in it.
_POWER = re.compile(r"^\s*Display Power: state=(\w+)|\bmScreenOn=(true|false)", re.MULTILINE)

_POLICY = re.compile(
    r"\bscreenState=SCREEN_STATE_(\w+)|\binteractiveState=INTERACTIVE_STATE_(\w+)"
    r"|\bmScreenOnFully=(true|false)|\bmAwake=(true|false)"
)

_DISPLAY = re.compile(r"\b(?:mGlobalDisplayState|mScreenState|mState|Display State)=([A-Z]\w+)")

_ON = frozenset({"awake", "on", "true", "vr"})

# Several parts of the system report a keyguard; not all of them know each kind of it.
_LOCKED = re.compile(
    r"(?:^\s*showing|\bmIsShowing|\bisStatusBarKeyguard|\bisKeyguardShowing|\bm?KeyguardShowing"
    r"|\bmShowingLockscreen|\bmDreamingLockscreen)=(true|false)\b",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class ScreenState:
    """Whether the screen is on and locked; None where the device does not report it."""

    on: bool | None = None
    locked: bool | None = None


def screen_state(device: Shell, *, timeout: float = 30.0) -> ScreenState:
    """Return whether the screen is on and locked, as far as the device reports it.

    Two services are asked first, two others for what is still unknown.
    """
    answers = ask_all(
        device, {"power": "dumpsys power", "policy": "dumpsys window policy"}, timeout=timeout
    )
    power, policy = answers["power"].stdout, answers["policy"].stdout
    state = ScreenState(on=_is_on(power, policy), locked=_is_locked(policy))
    if state.on is not None and state.locked is not None:
        return state
    answers = ask_all(
        device,
        {"display": "dumpsys display", "activities": "dumpsys activity activities"},
        timeout=timeout,
    )
    if state.on is None:
        # One display that is on is enough: of a foldable the other is off.
        reported = _DISPLAY.findall(answers["display"].stdout)
        state = replace(state, on="ON" in reported if reported else None)
    if state.locked is None:
        state = replace(state, locked=_is_locked(answers["activities"].stdout))
    return state


def _is_on(power: str, policy: str) -> bool | None:
    for pattern, output in ((_WAKEFULNESS, power), (_POWER, power), (_POLICY, policy)):
        if found := pattern.search(output):
            return next(filter(None, found.groups())).lower() in _ON
    return None


def _is_locked(output: str) -> bool | None:
    reported = _LOCKED.findall(output)
    return "true" in reported if reported else None
