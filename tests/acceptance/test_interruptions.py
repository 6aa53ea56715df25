"""Interruptions: other processes, a killed one, Ctrl-C, and an adb server that dies."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_clawperator.connecting import connect
from pytest_clawperator.contracts.events import Event
from pytest_clawperator.errors import (
    AdbUnavailableError,
    DeviceNotFoundError,
    ErrorCode,
    ExecutionConflictError,
)
from pytest_clawperator.transport import logcat
from tests.acceptance.lab import (
    DEADLINE,
    FOREVER,
    OwnAdbServer,
    Witness,
    another_process,
    nap,
    notices,
    works,
)

# Ctrl-C is ignored by the processes of a run in the background, unless they ask for it. Executions
# last a twentieth of what they ask for.
BUSY = """
import signal, sys
from pytest_clawperator.connecting import connect
from tests.acceptance.lab import nap

signal.signal(signal.SIGINT, signal.default_int_handler)
claw = connect(sys.argv[1], adb=sys.argv[2])
claw.screenshot()
claw.execute(nap(40_000), timeout=120)
"""

INTERRUPTED = """
import json, signal, sys, threading
from pytest_clawperator.connecting import connect
from tests.acceptance.lab import nap, open_sockets

signal.signal(signal.SIGINT, signal.default_int_handler)
threads, sockets = threading.active_count(), open_sockets()
with connect(sys.argv[1], adb=sys.argv[2]) as claw:
    claw.screenshot()
    try:
        claw.execute(nap(20_000), timeout=120)
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    then = claw.execute(nap(7)).step("nap").data["duration_ms"]
left = [threading.active_count() - threads, open_sockets() - sockets]
print(json.dumps({"interrupted": interrupted, "then": then, "left": left}))
"""


def second_start(witness: Witness) -> str:
    """Wait for the command after the screenshot, and return its id."""
    witness.next_start()
    return witness.next_start()


def test_another_process_and_its_death(witness: Witness) -> None:
    """While another process has the device, others are refused; then its last execution ends."""
    events: list[Event] = []
    witness.look()

    with (
        another_process(BUSY, witness.serial, witness.server) as other,
        connect(witness.serial, adb=str(witness.server), observe=events.append) as claw,
    ):
        command_id = second_start(witness)
        with pytest.raises(ExecutionConflictError) as caught:
            claw.execute(nap(0))
        other.kill()
        other.wait(DEADLINE)
        working = works(claw)

    assert caught.value.code is ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT
    assert f"process {other.pid} with command {command_id}" in caught.value.message
    assert "one execution at a time" in str(caught.value.hint)
    assert caught.value.serial == witness.serial
    assert working
    assert notices(events) == [f"waiting for {command_id} to end: its sender did not see it end"]
    stats = witness.stats()
    assert (stats["executions"], stats["overlaps"]) == (3, 0)


class TestCtrlC:
    """SIGINT in the middle of an execution."""

    def test_a_client_that_goes_on(self, witness: Witness, tmp_path: Path) -> None:
        """The same client works once the device is done; after closing, nothing is left."""
        witness.look()

        with another_process(
            INTERRUPTED, witness.serial, witness.server, folder=tmp_path
        ) as process:
            second_start(witness)
            process.send_signal(signal.SIGINT)
            said, complained = process.communicate(timeout=DEADLINE)

        assert process.returncode == 0, complained
        assert json.loads(said) == {"interrupted": True, "then": "7", "left": [0, 0]}
        assert list(tmp_path.iterdir()) == []
        assert witness.stats()["overlaps"] == 0

    def test_a_script_that_ends(self, witness: Witness, tmp_path: Path) -> None:
        """A process that never closes its client ends all the same, and its files are removed."""
        witness.look()

        with another_process(BUSY, witness.serial, witness.server, folder=tmp_path) as process:
            second_start(witness)
            process.send_signal(signal.SIGINT)
            _, complained = process.communicate(timeout=DEADLINE)

        assert process.returncode == -signal.SIGINT, complained
        assert complained.rstrip().endswith("KeyboardInterrupt")
        assert list(tmp_path.iterdir()) == []


class TestAdbServer:
    """The adb server dies, and another one takes its place."""

    @pytest.fixture
    def own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnAdbServer]:
        """Return a server that may be killed, with a short grace for its return."""
        monkeypatch.setattr(logcat, "_GRACE", 0.2)
        own = OwnAdbServer(tmp_path)
        yield own
        own.kill()

    def test_a_server_killed_between_runs_is_named(
        self, own: OwnAdbServer, witness: Witness
    ) -> None:
        """The error names the server, then the device; once both are back the client works."""
        own.start(witness.serial)
        with connect(witness.serial, adb=str(own.server)) as claw:
            before = works(claw)

            own.kill()
            errors = []
            for _ in range(2):
                with pytest.raises(AdbUnavailableError) as caught:
                    claw.execute(nap(0), timeout=FOREVER)
                errors.append(caught.value)
            own.start_alone()
            with pytest.raises(DeviceNotFoundError):
                claw.execute(nap(0), timeout=FOREVER)
            own.connect(witness.serial)
            after = works(claw)

        assert before
        assert after
        assert [error.code for error in errors] == [ErrorCode.ADB_SERVER_FAILED] * 2
        assert all(str(own.server) in error.message for error in errors)
        assert all("adb start-server" in str(error.hint) for error in errors)

    def test_a_server_killed_in_the_middle_ends_the_execution(
        self, own: OwnAdbServer, witness: Witness
    ) -> None:
        """The execution ends with the server; the next one lets the device finish."""
        own.start(witness.serial)
        witness.look()
        with connect(witness.serial, adb=str(own.server)) as claw, ThreadPoolExecutor(1) as pool:
            running = pool.submit(claw.execute, nap(20_000), FOREVER)
            witness.next_start()
            own.kill()
            error = running.exception(DEADLINE)
            own.start(witness.serial)
            working = works(claw)

        assert isinstance(error, AdbUnavailableError)
        assert error.code is ErrorCode.ADB_SERVER_FAILED
        assert working
        stats = witness.stats()
        assert (stats["executions"], stats["overlaps"]) == (2, 0)
