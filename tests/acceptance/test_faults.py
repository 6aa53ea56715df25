"""Every fault of a phone: it does no harm, or the error names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.contracts.events import Event
from pytest_clawperator.errors import (
    BroadcastError,
    ClawperatorError,
    DeviceError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    EnvelopeMalformedError,
    EnvelopeTimeoutError,
    ErrorCode,
    LogcatError,
    OperatorNotReadyError,
    PayloadRefusedError,
    ShellError,
    SnapshotError,
    StepFailedError,
    TransportError,
)
from pytest_clawperator.execution import dispatch, pipeline
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.faults import FAULTS
from pytest_clawperator.transport import logcat
from tests.acceptance.lab import DEADLINE, FOREVER, Witness, nap, notices, works

PROFILES = ("documented", "0.5.3")
OPERATOR = "com.clawperator.operator"
SETTINGS = "com.android.settings"
# The Operator's time, of which the simulated phone has twenty seconds in one of ours.
LONG = nap(20_000)


@pytest.fixture
def events() -> list[Event]:
    """Return the list of the events that the client emits."""
    return []


@pytest.fixture
def claw(witness: Witness, events: list[Event]) -> Iterator[Clawperator]:
    """Connect to the phone, on which an app with a list is open."""
    with connect(witness.serial, adb=str(witness.server), observe=events.append) as claw:
        claw.open_app(SETTINGS)
        claw.wait_for_node(text="Connections")
        witness.sim("stats reset")
        witness.look()
        yield claw


# What does no harm

HARMLESS = (
    "foreign_envelope times=1",
    "double_envelope times=1",
    "foreign_lines count=40",
    "forged_lines kind=envelope",
    "forged_lines kind=command",
    "forged_lines kind=refusal",
    "forged_lines kind=crash",
    "forged_lines kind=death",
    "forged_lines",
    "late_envelope ms=300 times=1",
    "slow_log ms=40",
    "log_cut times=1",
    "log_cut",
    "operator_version version=0.5.9",
)


@pytest.mark.parametrize("fault", HARMLESS)
def test_a_harmless_fault_changes_no_result(
    claw: Clawperator, witness: Witness, fault: str
) -> None:
    """The run returns what a healthy phone returns, and so does the next one."""
    payload = [*nap(11), {"id": "snap", "type": "snapshot_ui"}]
    for profile in PROFILES:
        witness.sim(f"profile {profile}")
        healthy = claw.snapshot().xml

        witness.sim(f"fault {fault}")
        result = claw.execute(payload, timeout=FOREVER).raise_for_status()

        assert result.step("nap").data["duration_ms"] == "11", profile
        assert result.step("snap").snapshot.xml == healthy, profile
        assert works(claw, 13), profile
        assert witness.stats()["overlaps"] == 0
        witness.sim("fault clear")


def test_a_clock_set_back_while_the_log_is_cut(
    claw: Clawperator, witness: Witness, events: list[Event]
) -> None:
    """The envelope has an earlier time than the lines before it, and is found all the same."""
    witness.sim("fault late_envelope ms=200 times=1")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(claw.execute, nap(5), FOREVER)
        witness.next_start()
        witness.sim("fault time_set_back s=3600")
        witness.sim("fault log_cut")
        result = running.result(DEADLINE)
    witness.sim("fault clear")

    assert result.ok
    assert works(claw)
    assert [notice for notice in notices(events) if "lost log lines" in notice] == []
    entries = [entry for entry in result.log if "[Clawperator-Command] start" in entry.message]
    assert len(entries) == 1


# What is reported by name


@dataclass(frozen=True)
class Case:
    """A fault, what is done under it, and how the error names it."""

    fault: str
    act: Callable[[Clawperator], object]
    error: type[ClawperatorError]
    code: ErrorCode
    says: str
    hint: str

    def __str__(self) -> str:
        return self.fault.partition(" ")[0]


def run(claw: Clawperator) -> RunResult:
    """Run an execution that does nothing, with a long timeout."""
    return claw.execute(nap(0), timeout=FOREVER)


CASES = (
    Case(
        "half_envelope",
        run,
        EnvelopeMalformedError,
        ErrorCode.RESULT_ENVELOPE_MALFORMED,
        says="cannot be read: it is not valid JSON",
        hint="same major.minor version",
    ),
    Case(
        "missing_dump",
        Clawperator.snapshot,
        SnapshotError,
        ErrorCode.SNAPSHOT_EXTRACTION_FAILED,
        says="extraction produced no output",
        hint="log keeps debug lines",
    ),
    Case(
        "truncated_dump",
        Clawperator.snapshot,
        SnapshotError,
        ErrorCode.SNAPSHOT_UNREADABLE,
        says="breaks off after",
        hint="Take the snapshot again",
    ),
    Case(
        "no_ui_tree",
        lambda claw: claw.click(text="Connections", timeout=0),
        SnapshotError,
        ErrorCode.UI_TREE_UNAVAILABLE,
        says="failed: U",
        hint="screen is on and unlocked",
    ),
    Case(
        "service_off",
        Clawperator.home,
        OperatorNotReadyError,
        ErrorCode.SERVICE_UNAVAILABLE,
        says="Accessibility service is not available",
        hint="Switch the Operator's accessibility service on",
    ),
    Case(
        "ui_automation",
        Clawperator.home,
        OperatorNotReadyError,
        ErrorCode.SERVICE_UNAVAILABLE,
        says="Accessibility service is not available",
        hint="clawperator-py doctor",
    ),
    Case(
        "operator_crash",
        run,
        OperatorNotReadyError,
        ErrorCode.OPERATOR_CRASHED,
        says="crashed during the execution: java.lang.IllegalStateException: the Operator crash",
        hint="connect(grant=True)",
    ),
    Case(
        "payload_refused",
        run,
        PayloadRefusedError,
        ErrorCode.PAYLOAD_REJECTED,
        says="could not read the payload: java.lang.IllegalArgumentException: payload was refused",
        hint="reads more strictly than the contract",
    ),
    Case(
        "gesture_refused",
        lambda claw: claw.click(at=(500, 500)),
        StepFailedError,
        ErrorCode.GESTURE_FAILED,
        says="click at (500, 500)",
        hint="The device refused the gesture",
    ),
    Case(
        "step_error type=sleep code=SECURITY_BLOCK_DETECTED",
        lambda claw: claw.sleep(0),
        StepFailedError,
        ErrorCode.SECURITY_BLOCK_DETECTED,
        says='step "sleep-1" (sleep) failed: SECURITY_BLOCK_DETECTED',
        hint="Unlock the device",
    ),
    Case(
        "container_lost",
        Clawperator.scroll_until,
        StepFailedError,
        ErrorCode.CONTAINER_LOST,
        says="scroll_until",
        hint="The list went away while it was scrolled",
    ),
    Case(
        "storage_full",
        Clawperator.screenshot,
        ShellError,
        ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT,
        says="No space left on device",
        hint="a device that is full",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_is_named_with_its_remedy(claw: Clawperator, witness: Witness, case: Case) -> None:
    """The error has the class, the code, the cause and the remedy; then the phone works again."""
    for profile in PROFILES:
        witness.sim(f"profile {profile}")
        witness.sim(f"fault {case.fault}")

        with pytest.raises(ClawperatorError) as caught:
            case.act(claw)
        witness.sim("fault clear")
        if case.code is ErrorCode.OPERATOR_CRASHED:
            connect(witness.serial, adb=str(witness.server), grant=True).close()
            claw.open_app(SETTINGS)

        assert type(caught.value) is case.error, profile
        assert caught.value.code is case.code, profile
        assert caught.value.serial == witness.serial
        assert case.says in caught.value.message, profile
        assert case.hint in (caught.value.hint or ""), profile
        assert works(claw), profile


def test_a_crash_ends_the_service(claw: Clawperator, witness: Witness) -> None:
    """The next run returns the Operator's own failed envelope, with a hint and without waiting."""
    witness.sim("fault operator_crash times=1")

    with pytest.raises(OperatorNotReadyError):
        run(claw)
    following = run(claw)

    assert following.code is ErrorCode.SERVICE_UNAVAILABLE
    assert f"doctor --fix --device {witness.serial}" in str(following.hint)


def test_a_full_device(claw: Clawperator, witness: Witness) -> None:
    """Executions work on a full device, and a file that does not fit is an error with the cause."""
    witness.sim("fault storage_full")

    with pytest.raises(TransportError, match="No space left on device") as caught:
        claw.device.push(b"x", "/sdcard/x")
    working = works(claw)

    assert caught.value.code is ErrorCode.FILE_UNAVAILABLE
    assert working


# What is reported when connecting, and in the middle

OPERATOR_CASES = (
    Case(
        "operator_absent",
        run,
        OperatorNotReadyError,
        ErrorCode.OPERATOR_NOT_INSTALLED,
        says="com.clawperator.operator is not installed",
        hint="connect(operator_apk=",
    ),
    Case(
        "operator_variant",
        run,
        OperatorNotReadyError,
        ErrorCode.OPERATOR_VARIANT_MISMATCH,
        says="its other variant com.clawperator.operator.dev is",
        hint="connect(operator_package='com.clawperator.operator.dev')",
    ),
)


@pytest.mark.parametrize("case", OPERATOR_CASES, ids=str)
def test_a_missing_operator_is_named(claw: Clawperator, witness: Witness, case: Case) -> None:
    """A missing Operator is named, by a run as well as by connecting."""
    witness.sim(f"fault {case.fault}")

    for act in (case.act, lambda _: connect(witness.serial, adb=str(witness.server))):
        with pytest.raises(case.error) as caught:
            act(claw)

        assert caught.value.code is case.code
        assert case.says in caught.value.message
        assert case.hint in (caught.value.hint or "")
    witness.sim("fault clear")
    assert works(claw)


@pytest.mark.parametrize("end", ["sim fault operator_absent", f"am kill {OPERATOR}"])
def test_an_operator_that_ends_at_work_is_found_again(
    claw: Clawperator, witness: Witness, end: str
) -> None:
    """The execution ends immediately; a later one believes the new process."""
    before = claw.device.shell(f"pidof {OPERATOR}").stdout.strip()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(claw.execute, LONG, FOREVER)
        witness.next_start()
        witness.shell(end)
        error = running.exception(DEADLINE)
    witness.sim("fault clear")

    assert isinstance(error, OperatorNotReadyError)
    assert error.code is ErrorCode.OPERATOR_CRASHED
    assert f"Killing {before}:" in error.message
    assert works(claw)
    assert claw.device.shell(f"pidof {OPERATOR}").stdout.strip() not in ("", before)


def test_a_device_that_is_still_booting_is_named(claw: Clawperator, witness: Witness) -> None:
    """Connecting says that the device is still starting, and a broadcast is refused."""
    witness.sim("fault booting")

    with pytest.raises(DeviceUnavailableError, match="has not finished starting") as connecting:
        connect(witness.serial, adb=str(witness.server))
    with pytest.raises(BroadcastError, match="Can't find service: activity") as running:
        run(claw)
    witness.sim("fault clear")

    assert connecting.value.code is ErrorCode.DEVICE_OFFLINE
    assert "sys.boot_completed" in str(connecting.value.hint)
    assert running.value.code is ErrorCode.BROADCAST_FAILED
    assert "still starting" in str(running.value.hint)
    assert works(claw)


# What never comes


def test_an_envelope_that_never_comes_is_given_up(
    claw: Clawperator, witness: Witness, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how far the run came; the next run waits, but not forever, and succeeds."""
    monkeypatch.setattr(dispatch, "ENVELOPE_MARGIN", 0.1)
    monkeypatch.setattr(pipeline, "LATE_GRACE", 0.2)
    witness.sim("fault no_envelope times=1")

    with pytest.raises(EnvelopeTimeoutError) as caught:
        claw.execute(nap(0), timeout=1)
    command_id = witness.next_start()
    working = works(claw)

    error = caught.value
    assert error.code is ErrorCode.RESULT_ENVELOPE_TIMEOUT
    assert "the broadcast was sent, and the Operator took the command" in error.message
    assert f"[Clawperator-Command] start commandId={command_id}" in error.message
    assert "execute(..., timeout=seconds)" in str(error.hint)
    assert error.details["commandId"] == command_id
    assert error.details["lastActionId"] == "nap"
    assert working
    assert notices(events) == [f"waiting for {command_id} to end: its sender did not see it end"]


# What goes away comes back

AWAY = {
    "offline ms=400": ("offline", ErrorCode.DEVICE_OFFLINE, "adb reconnect"),
    "unauthorized ms=800": ("unauthorized", ErrorCode.DEVICE_UNAUTHORIZED, "Accept the dialog"),
}


@pytest.mark.parametrize("fault", AWAY)
def test_away_between_runs(
    claw: Clawperator, witness: Witness, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """A run and a new connection report adb's state; when the phone is back, both work."""
    monkeypatch.setattr(pipeline, "LATE_GRACE", 0.2)
    state, code, hint = AWAY[fault]
    witness.sim(f"fault {fault}")
    witness.wait_for_state(state)

    with pytest.raises(DeviceUnavailableError) as running:
        run(claw)
    with pytest.raises(DeviceUnavailableError) as connecting:
        connect(witness.serial, adb=str(witness.server))
    with pytest.raises(DeviceUnavailableError) as shell:
        claw.device.shell("id")
    witness.wait_for_state("device")

    errors: list[Any] = [running.value, connecting.value, shell.value]
    assert [error.code for error in errors] == [code] * 3
    assert [error.serial for error in errors] == [witness.serial] * 3
    assert hint in str(running.value.hint)
    assert works(claw)


@pytest.mark.parametrize("fault", AWAY)
def test_away_in_the_middle(claw: Clawperator, witness: Witness, fault: str) -> None:
    """An execution ends with its phone's connection; the next one lets the phone finish it."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(claw.execute, LONG, FOREVER)
        witness.next_start()
        witness.sim(f"fault {fault}")
        error = running.exception(DEADLINE)
    witness.wait_for_state("device")
    working = works(claw)

    assert isinstance(error, DeviceUnavailableError)
    assert error.code in (ErrorCode.DEVICE_OFFLINE, ErrorCode.DEVICE_UNAUTHORIZED)
    assert error.serial == witness.serial
    assert working
    assert witness.stats()["overlaps"] == 0


def test_a_log_that_the_maker_suppresses_is_named(
    witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device whose log has no lines of apps cannot be used, and the doctor knows why."""
    monkeypatch.setattr(logcat, "_OPEN_DEADLINE", 0.3)
    witness.sim("fault log_suppressed")

    with connect(witness.serial, adb=str(witness.server)) as claw:
        with pytest.raises(LogcatError, match="log is mute") as caught:
            run(claw)
        witness.sim("fault clear")

    assert "clawperator-py doctor" in str(caught.value.hint)


def test_an_emulator_that_disconnects_comes_back(simulator: Simulator, witness: Witness) -> None:
    """An emulator disconnects during an execution, is not listed for a while, and comes back."""
    emulator = Witness(witness.server, simulator.serials[1])
    with connect(emulator.serial, adb=str(witness.server)) as claw:
        emulator.sim("fault disconnect times=1")

        with pytest.raises(DeviceError) as running:
            claw.execute(LONG, timeout=FOREVER)
        emulator.wait_for_state(None)
        with pytest.raises(DeviceNotFoundError) as following:
            run(claw)
        with pytest.raises(DeviceNotFoundError) as connecting:
            connect(emulator.serial, adb=str(witness.server))
        emulator.wait_for_state("device")
        working = works(claw)
        overlaps = emulator.stats()["overlaps"]
        emulator.set_back()

    assert running.value.code in (ErrorCode.DEVICE_OFFLINE, ErrorCode.DEVICE_NOT_FOUND)
    assert following.value.code is ErrorCode.DEVICE_NOT_FOUND
    assert "adb devices" in str(following.value.hint)
    assert f"connected: {witness.serial}" in connecting.value.message
    assert working
    assert overlaps == 0


def test_every_fault_is_here() -> None:
    """A new fault of the simulator needs a test."""
    apart = ("no_envelope", "booting", "disconnect", "time_set_back", "log_suppressed", "locked")
    tested = [*HARMLESS, *AWAY, *apart, *map(str, CASES + OPERATOR_CASES)]

    assert {fault.partition(" ")[0] for fault in tested} == set(FAULTS)
