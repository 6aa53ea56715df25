"""Examine this computer and its devices, several at once, and fix what was found if asked."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pytest_clawperator.client.device_commands import lacks
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.devices.health import await_return, check_ready, heal
from pytest_clawperator.devices.inventory import (
    SERIAL_VARIABLE,
    USABLE,
    ConnectedDevice,
    list_devices,
    trouble_of,
)
from pytest_clawperator.devices.lease import Hold, LeaseStore
from pytest_clawperator.doctor import checks
from pytest_clawperator.doctor.facts import DeviceFacts, HostFacts, gather_device, gather_host
from pytest_clawperator.doctor.report import (
    DeviceCommand,
    Finding,
    Fix,
    Guidance,
    Reconnect,
    Regrant,
    Report,
    Step,
    adb_command,
    failed,
    is_automatic,
    passed,
    warned,
)
from pytest_clawperator.errors import ClawperatorError, ErrorCode, LeaseError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.logcat import start_thread
from pytest_clawperator.transport.server import reconnect
from pytest_clawperator.transport.wire import AdbServer

# After one of these fails, the other checks mean nothing.
_LAST = ("device.boot", "readiness.version.compatibility")

# How much longer fixing may take than checking, in seconds.
_FIXING = 60.0

_SMOKE_TIMEOUT_MS = 12_000

_SMOKE_APP = "com.android.settings"

_PING_WITHIN = 5.0

_ID = "device.discovery"

_ACCEPT = Guidance(
    "the dialog 'Allow USB debugging?'",
    ("Unlock the device and accept the dialog 'Allow USB debugging?'.",),
)

_Outcomes = queue.SimpleQueue["tuple[int, Report | Exception]"]

Notify = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Examination:
    """How devices are examined.

    ``within`` is how many seconds reading a device may take, ``fixes`` whether
    the steps that findings list are taken, ``full`` whether Settings is opened as a test.
    ``notify`` is called with the serial of a device and a change that was made.
    """

    package: str
    leases: LeaseStore
    within: float = 30.0
    fixes: bool = False
    full: bool = False
    notify: Callable[[str, str], None] = lambda serial, change: None


def visit(
    server: AdbServer,
    how: Examination,
    *,
    serial: str | None = None,
    every: bool = False,
) -> list[Report]:
    """Examine this computer, and the device of this serial, the only one, or every one."""
    host = judge_host(gather_host(server))
    if any(finding.status == "fail" for finding in host):
        return [_without_device(how, host)]
    devices = list_devices(server)
    if every and devices:
        return examine_all(devices, how, host=host)
    wanted = serial or os.environ.get(SERIAL_VARIABLE) or None
    finding, device = discover(devices, wanted)
    # One that is not usable may be brought back.
    device = device or _only(devices, wanted)
    if device is None:
        return [replace(_without_device(how, (*host, finding)), serial=wanted)]
    return examine_all([device], how, host=host)


def _only(devices: list[ConnectedDevice], wanted: str | None) -> ConnectedDevice | None:
    """Return the device that is meant, whatever its state; None if that is not clear."""
    meant = [device for device in devices if wanted in (None, device.serial)]
    return meant[0] if len(meant) == 1 else None


def _without_device(how: Examination, findings: tuple[Finding, ...]) -> Report:
    return Report(operator_package=how.package, findings=findings)


def judge_host(facts: HostFacts) -> tuple[Finding, ...]:
    """Put what this computer has to the checks, up to the first that fails."""
    return _judged((check(facts) for check in checks.HOST_CHECKS), lambda finding: True)


def judge_device(facts: DeviceFacts) -> tuple[Finding, ...]:
    """Put what is known about a device to the checks, in their order."""
    return _judged(
        (check(facts) for check in checks.DEVICE_CHECKS), lambda finding: finding.id in _LAST
    )


def _judged(
    found: Iterable[Finding | None], is_last: Callable[[Finding], bool]
) -> tuple[Finding, ...]:
    """Return the findings up to a failure that makes the others meaningless."""
    findings: list[Finding] = []
    for finding in filter(None, found):
        findings.append(finding)
        if finding.status == "fail" and is_last(finding):
            break
    return tuple(findings)


def examine_all(
    devices: Sequence[ConnectedDevice], how: Examination, *, host: tuple[Finding, ...] = ()
) -> list[Report]:
    """Examine devices side by side; one that hangs is reported so and delays no other."""
    outcomes: _Outcomes = queue.SimpleQueue()
    held: list[Hold] = []

    def examine_one(place: int) -> None:
        try:
            outcomes.put((place, examine(devices[place], how, host=host, held=held)))
        except Exception as error:
            outcomes.put((place, error))

    for place in range(len(devices)):
        # Nothing waits for the thread of a device that hangs, not even the end of the program.
        start_thread(threading.Thread(target=examine_one, args=(place,), daemon=True))
    patience = how.within + (_FIXING if how.fixes else 0.0)
    try:
        found = _await(outcomes, len(devices), patience)
    except BaseException:
        # Threads are not waited for, so what they hold is released for them.
        for hold in held:
            hold.release()
        raise
    return [
        found.get(place) or _overdue(device, how, host, patience)
        for place, device in enumerate(devices)
    ]


def _await(outcomes: _Outcomes, count: int, patience: float) -> dict[int, Report]:
    """Return the reports that come in time, by their places."""
    deadline = time.monotonic() + patience
    found: dict[int, Report] = {}
    while len(found) < count:
        try:
            place, outcome = outcomes.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            break
        if isinstance(outcome, Exception):
            raise outcome
        found[place] = outcome
    return found


def examine(
    device: ConnectedDevice,
    how: Examination,
    *,
    host: tuple[Finding, ...] = (),
    held: list[Hold] | None = None,
) -> Report:
    """Examine one device, and fix it if asked; its lease is added to ``held``."""
    changes: list[str] = []

    def notify(change: str) -> None:
        changes.append(change)
        how.notify(device.serial, change)

    transport = AdbTransport(device.server, device.serial)
    try:
        discovery, usable = judge_state(device)
        if usable is None and how.fixes:
            _reconnected((discovery,), transport, notify=notify)
            discovery, usable = judge_state(_again(device))
        before = (*host, discovery)
        if usable is None:
            report = _report(device, how, before)
        else:
            noted = [] if held is None else held
            report = _Patient(transport, how, noted).examined(before, notify)
    finally:
        transport.close()
    return replace(report, changes=tuple(changes))


class _Patient:
    """A device that adb can use, while it is examined."""

    def __init__(self, transport: AdbTransport, how: Examination, held: list[Hold]) -> None:
        self._transport = transport
        self._how = how
        self._held = held

    def examined(self, before: tuple[Finding, ...], notify: Callable[[str], None]) -> Report:
        """Read and judge the device; fix what can be fixed, and read it again."""
        with ExitStack() as opened:
            facts = self._gathered()
            if facts.info is not None:
                pipeline = self._pipeline(facts.info.key, opened)
                facts = self._asked(self._leased(facts, opened), pipeline)
                findings = judge_device(facts)
                if self._how.fixes and _is_ours(facts) and _is_fixable(findings):
                    fix_found(findings, pipeline, notify=notify)
                    facts = self._asked(self._gathered(), pipeline)
            about = str(facts.info).removeprefix(f"{facts.serial} ").strip("()")
        device = ConnectedDevice(facts.serial, "device", self._transport.server)
        report = _report(device, self._how, (*before, *judge_device(facts)))
        return replace(report, about=about if facts.info else "")

    def _gathered(self) -> DeviceFacts:
        end = time.monotonic() + self._how.within
        return gather_device(
            self._transport,
            self._how.package,
            server=self._transport.server,
            left=lambda: max(end - time.monotonic(), 0.1),
        )

    def _leased(self, facts: DeviceFacts, opened: ExitStack) -> DeviceFacts:
        """Note who holds the device; if it is to be fixed, lease it meanwhile."""
        assert facts.info is not None
        key = facts.info.key
        try:
            hold = self._how.leases.try_take(key) if self._how.fixes else None
            if hold is None:
                return replace(facts, holder=self._how.leases.holder(key))
        except LeaseError as error:
            return replace(facts, lease_problem=error)
        opened.callback(hold.release)
        self._held.append(hold)
        return facts

    def _pipeline(self, key: str, opened: ExitStack) -> Pipeline:
        flight = Flight(key)
        opened.callback(flight.close)
        transport, package = self._transport, self._how.package
        return Pipeline(
            transport,
            operator_package=package,
            flight=flight,
            preflight=lambda: check_ready(transport, package).processes,
            # A device that is connected in two ways is asked twice: the second one waits a moment.
            clearance=lambda command_id, seconds: None,
        )

    def _asked(self, facts: DeviceFacts, pipeline: Pipeline) -> DeviceFacts:
        """Ask the Operator for an answer, if it can be expected to give one."""
        if facts.silence or not _is_ours(facts) or not _can_answer(facts):
            return facts
        facts = replace(facts, is_pinged=True, handshake=_problem(lambda: ask_operator(pipeline)))
        if not self._how.full or facts.handshake is not None:
            return facts
        return replace(facts, is_smoke_run=True, smoke=_problem(lambda: _open_settings(pipeline)))


def _is_ours(facts: DeviceFacts) -> bool:
    """Return whether no one else holds the device, as far as that is known."""
    return facts.holder is None and facts.lease_problem is None


def _can_answer(facts: DeviceFacts) -> bool:
    """Whether a fitting Operator is there, and a log through which it can answer."""
    needed = (checks.check_version(facts), checks.check_log_level(facts))
    can_log = checks.check_log_delivery(facts)
    return all(one is not None and one.status == "pass" for one in needed) and (
        can_log is None or can_log.status == "pass"
    )


def _open_settings(pipeline: Pipeline) -> None:
    actions = [
        {"type": "close_app", "params": {"applicationId": _SMOKE_APP}},
        {"type": "open_app", "params": {"applicationId": _SMOKE_APP}},
        {
            "type": "wait_for_navigation",
            "params": {"expectedPackage": _SMOKE_APP, "timeoutMs": _SMOKE_TIMEOUT_MS // 2},
        },
        {"type": "snapshot_ui"},
    ]
    payload = {"actions": actions, "timeoutMs": _SMOKE_TIMEOUT_MS}
    pipeline.run(complete_execution(payload)).raise_for_status()


def _problem(do: Callable[[], None]) -> ClawperatorError | None:
    try:
        do()
    except ClawperatorError as error:
        return error
    return None


def _is_fixable(findings: Sequence[Finding]) -> bool:
    return bool(steps_of(findings))


def _again(device: ConnectedDevice) -> ConnectedDevice:
    """Return the device with the state that adb reports now."""
    try:
        devices = list_devices(device.server)
    except ClawperatorError:
        return device
    return next((one for one in devices if one.serial == device.serial), device)


def _report(device: ConnectedDevice, how: Examination, findings: tuple[Finding, ...]) -> Report:
    return Report(
        serial=device.serial,
        operator_package=how.package,
        findings=findings,
        adb=adb_command(device.server),
    )


def _overdue(
    device: ConnectedDevice, how: Examination, host: tuple[Finding, ...], patience: float
) -> Report:
    hanging = failed(
        "device.capability",
        ErrorCode.TRANSPORT_TIMEOUT,
        "The device hangs.",
        detail=f"It did not answer within {patience:g} s.",
    )
    return _report(device, how, (*host, judge_state(device)[0], hanging))


def discover(
    devices: Sequence[ConnectedDevice], serial: str | None = None
) -> tuple[Finding, ConnectedDevice | None]:
    """Return the device of this serial, or the only usable one, and what was found of it."""
    if serial is not None:
        named = next((device for device in devices if device.serial == serial), None)
        return (_absent(devices, serial), None) if named is None else judge_state(named)
    usable = [device for device in devices if device.state == USABLE]
    if len(usable) > 1:
        return _several(usable), None
    if not devices:
        return _none(), None
    return judge_state(usable[0] if usable else devices[0])


def judge_state(device: ConnectedDevice) -> tuple[Finding, ConnectedDevice | None]:
    """Return the device if adb can use it, and what was found of it."""
    if device.state == USABLE:
        return passed(_ID, "Connected, and adb can use it.", serial=device.serial), device
    code, hint = trouble_of(device.state)
    offline: tuple[Step, ...] = (Reconnect(), hint)
    finding = failed(
        _ID,
        code,
        f"The device is {device.state or 'in no known state'}.",
        fix=None if code is ErrorCode.DEVICE_UNAUTHORIZED else Fix("Reconnect it", *offline),
        guidance=_ACCEPT if code is ErrorCode.DEVICE_UNAUTHORIZED else None,
        serial=device.serial,
        state=device.state,
    )
    return finding, None


def _several(usable: Sequence[ConnectedDevice]) -> Finding:
    serials = [device.serial for device in usable]
    choose = Remedy(RemedyKind.CHOOSE_DEVICE, serials[0], count=len(serials))
    return warned(
        _ID,
        ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED,
        f"{len(serials)} devices are connected, and none was chosen.",
        fix=Fix("Choose a device", choose),
        devices=serials,
    )


def _none() -> Finding:
    return failed(
        _ID,
        ErrorCode.NO_DEVICES,
        "No device is connected.",
        fix=Fix(
            "Connect a device",
            "Plug one in with USB debugging on: `adb devices` must call it `device`.",
            Remedy(RemedyKind.USE_SIMULATOR),
        ),
    )


def _absent(devices: Sequence[ConnectedDevice], serial: str) -> Finding:
    there = ", ".join(map(str, devices)) or "nothing"
    return failed(
        _ID,
        ErrorCode.DEVICE_NOT_FOUND,
        f"Device {serial} is not connected.",
        detail=f"Connected: {there}.",
        fix=Fix(
            "Connect the device", (Remedy(RemedyKind.CORRECT_SERIAL), ", or connect the device.")
        ),
        connected=[device.serial for device in devices],
    )


def ask_operator(pipeline: Pipeline) -> None:
    """Raise what keeps the Operator from answering; what is known is not waited for."""
    check_ready(pipeline.transport, pipeline.operator_package)
    pipeline.ping(_PING_WITHIN).raise_for_status()


def steps_of(findings: Iterable[Finding]) -> list[Step]:
    """Return the steps that can be taken without a person, each once."""
    steps = (step for finding in findings if finding.fix for step in finding.fix.steps)
    return list(dict.fromkeys(step for step in steps if is_automatic(step)))


def fix_found(findings: Iterable[Finding], pipeline: Pipeline, *, notify: Notify) -> None:
    """Take the steps of the findings on a device; report one that fails and go on."""
    for step in steps_of(findings):
        try:
            if isinstance(step, DeviceCommand):
                _run(step.command, pipeline, notify)
            elif isinstance(step, Regrant):
                _regrant(pipeline, notify)
        except ClawperatorError as error:
            notify(f"that failed: {error.code}: {error.message}")


def _reconnected(findings: Iterable[Finding], transport: AdbTransport, *, notify: Notify) -> None:
    """Have adb connect to a device that is not usable, if a finding lists that."""
    if Reconnect() not in steps_of(findings):
        return
    notify("asked adb to reconnect to the device")
    try:
        reconnect(transport.server, transport.serial, notify=notify)
        await_return(transport)
    except ClawperatorError as error:
        notify(f"that failed: {error.code}: {error.message}")


def _run(command: str, pipeline: Pipeline, notify: Notify) -> None:
    result = pipeline.transport.shell(command)
    if result.ok and not lacks(result):
        notify(f"ran `{command}`")
        return
    said = " ".join(f"{result.stdout} {result.stderr}".split()) or "nothing"
    notify(f"`{command}` failed with exit code {result.exit_code}; the device said: {said}")


def _regrant(pipeline: Pipeline, notify: Notify) -> None:
    """Give the Operator what it needs, unless a step before has brought it back."""
    try:
        ask_operator(pipeline)
        return
    except ClawperatorError as error:
        problem = error
    heal(pipeline, problem, notify=notify)
