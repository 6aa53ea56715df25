"""Examining devices: facts, checks in their order, mending if asked; several at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.devices.doctor.condition_checks import (
    check_animations,
    check_background,
    check_battery_saver,
    check_clock,
    check_input,
    check_lease,
    check_screen,
    check_storage,
)
from pytest_clawperator.devices.doctor.device_facts import DeviceFacts, gather_device
from pytest_clawperator.devices.doctor.discovery import judge_state
from pytest_clawperator.devices.doctor.host_checks import HOST_CHECKS
from pytest_clawperator.devices.doctor.host_facts import HostFacts
from pytest_clawperator.devices.doctor.log_checks import (
    check_log_buffer,
    check_log_delivery,
    check_log_level,
)
from pytest_clawperator.devices.doctor.mending import ask_operator, bring_back, mend
from pytest_clawperator.devices.doctor.operator_checks import (
    check_automation,
    check_boot,
    check_capability,
    check_developer_options,
    check_handshake,
    check_presence,
    check_smoke,
    check_usb_debugging,
    check_version,
)
from pytest_clawperator.devices.doctor.report import Finding, Report, adb_command, failed
from pytest_clawperator.devices.health import check_ready
from pytest_clawperator.devices.inventory import ConnectedDevice, list_devices
from pytest_clawperator.devices.lease import Hold, LeaseStore
from pytest_clawperator.errors import ClawperatorError, ErrorCode, LeaseError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interruptible_wait import start_thread

#: The checks of a device, in the order of the report.
DEVICE_CHECKS: tuple[Callable[[DeviceFacts], Finding | None], ...] = (
    check_capability,
    check_lease,
    check_boot,
    check_storage,
    check_clock,
    check_battery_saver,
    check_screen,
    check_input,
    check_animations,
    check_presence,
    check_version,
    check_developer_options,
    check_usb_debugging,
    check_background,
    check_automation,
    check_log_level,
    check_log_delivery,
    check_log_buffer,
    check_handshake,
    check_smoke,
)
# After a failure of these the rest has nothing to tell.
_LAST = ("device.boot", "readiness.version.compatibility")
# How much longer mending may take than a mere look, in seconds.
_MENDING = 60.0
_SMOKE_TIMEOUT_MS = 12_000
_SMOKE_APP = "com.android.settings"

_Outcomes = queue.SimpleQueue["tuple[int, Report | Exception]"]


@dataclass(frozen=True, kw_only=True)
class Examination:
    """How devices are examined.

    ``within`` is how many seconds a device may take to tell about itself, ``mends`` whether
    the steps that findings list are taken, ``full`` whether Settings is opened as a test.
    ``tell`` is called with the serial of a device and a change that was made.
    """

    package: str
    leases: LeaseStore
    within: float = 30.0
    mends: bool = False
    full: bool = False
    tell: Callable[[str, str], None] = lambda serial, change: None


def judge_host(facts: HostFacts) -> tuple[Finding, ...]:
    """Put what this computer has to the checks, up to the first that fails."""
    findings: list[Finding] = []
    for check in HOST_CHECKS:
        finding = check(facts)
        if finding is not None:
            findings.append(finding)
            if finding.status == "fail":
                break
    return tuple(findings)


def judge_device(facts: DeviceFacts) -> tuple[Finding, ...]:
    """Put what is known about a device to the checks, in their order."""
    findings: list[Finding] = []
    for check in DEVICE_CHECKS:
        finding = check(facts)
        if finding is not None:
            findings.append(finding)
            if finding.status == "fail" and finding.id in _LAST:
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
        # Nobody waits for the thread of a device that hangs, not even the end of the program.
        start_thread(threading.Thread(target=examine_one, args=(place,), daemon=True))
    patience = how.within + (_MENDING if how.mends else 0.0)
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
    """Examine one device, and mend it if that is asked for; its lease is noted in ``held``."""
    changes: list[str] = []

    def tell(change: str) -> None:
        changes.append(change)
        how.tell(device.serial, change)

    transport = AdbTransport(device.server, device.serial)
    try:
        discovery, usable = judge_state(device)
        if usable is None and how.mends:
            bring_back((discovery,), transport, tell=tell)
            discovery, usable = judge_state(_again(device))
        before = (*host, discovery)
        if usable is None:
            report = _report(device, how, before)
        else:
            noted = [] if held is None else held
            report = _Patient(transport, how, noted).examined(before, tell)
    finally:
        transport.close()
    return replace(report, changes=tuple(changes))


class _Patient:
    """A device that adb can use, while it is examined."""

    def __init__(self, transport: AdbTransport, how: Examination, held: list[Hold]) -> None:
        self._transport = transport
        self._how = how
        self._held = held

    def examined(self, before: tuple[Finding, ...], tell: Callable[[str], None]) -> Report:
        """Read the device and judge it; mend what can be, and read it again."""
        with ExitStack() as opened:
            facts = self._gathered()
            if facts.info is not None:
                pipeline = self._pipeline(facts.info.key, opened)
                facts = self._asked(self._leased(facts, opened), pipeline)
                findings = judge_device(facts)
                if self._how.mends and _is_ours(facts) and _is_mendable(findings):
                    mend(findings, pipeline, tell=tell)
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
        """Note who holds the device; if it is to be mended, hold it meanwhile."""
        assert facts.info is not None
        key = facts.info.key
        try:
            hold = self._how.leases.try_take(key) if self._how.mends else None
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
    """Whether nobody else has the device, as far as that can be known."""
    return facts.holder is None and facts.lease_problem is None


def _can_answer(facts: DeviceFacts) -> bool:
    """Whether a fitting Operator is there, and a log through which it can answer."""
    needed = (check_version(facts), check_log_level(facts))
    can_log = check_log_delivery(facts)
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


def _is_mendable(findings: Sequence[Finding]) -> bool:
    return any(finding.fix and finding.fix.is_automatic for finding in findings)


def _again(device: ConnectedDevice) -> ConnectedDevice:
    """Look once more what adb says about a device."""
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
        detail=f"It did not tell about itself within {patience:g} s.",
    )
    return _report(device, how, (*host, judge_state(device)[0], hanging))
