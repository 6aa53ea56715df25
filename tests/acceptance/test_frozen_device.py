"""A phone that freezes: found out once, not waited for again, and used when it is back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.errors import ClawperatorError, ErrorCode, TransportTimeoutError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport import logcat, shell, wire
from pytest_clawperator.transport.wire import AdbServer
from tests.acceptance.lab import DEADLINE, FOREVER, Witness, nap, works
from tests.acceptance.runs import wait_for


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    """Start a phone that the test may freeze."""
    with Simulator(devices=1, seed=1) as simulator:
        yield simulator
        os.kill(simulator.pid, signal.SIGCONT)


@pytest.fixture
def claw(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clawperator]:
    """Connect to the phone; silence is noticed soon."""
    for module in (wire, logcat, shell):
        monkeypatch.setattr(module, "QUIET", 0.2)
    adb_server = f"{simulator.adb_host}:{simulator.adb_port}"
    with connect(simulator.serials[0], adb=adb_server) as claw:
        yield claw


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less long for an answer."""
    monkeypatch.setattr(wire, "ANSWER_WITHIN", 1.0)


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the services of the phone that are started from now on."""
    started: list[str] = []
    usual = AdbServer.open

    def open_noted(server: AdbServer, serial: str, service: str, **options: Any) -> Any:
        started.append(service)
        return usual(server, serial, service, **options)

    monkeypatch.setattr(AdbServer, "open", open_noted)
    return started


@pytest.mark.usefixtures("impatient")
def test_a_phone_that_freezes_in_an_execution(
    simulator: Simulator, claw: Clawperator, services: list[str]
) -> None:
    """The execution ends long before its timeout, and what follows asks the phone nothing."""
    witness = Witness(AdbServer(simulator.adb_host, simulator.adb_port), claw.serial)
    witness.look()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(claw.execute, nap(60_000), FOREVER)
        witness.next_start()
        os.kill(simulator.pid, signal.SIGSTOP)
        error = running.exception(DEADLINE)
    services.clear()
    followers = [follower_error(claw) for _ in range(20)]

    assert isinstance(error, TransportTimeoutError)
    assert "does not answer" in error.message
    assert followers == [ErrorCode.TRANSPORT_TIMEOUT] * 20
    assert [*services] in ([], ["exec:true"])


@pytest.mark.usefixtures("impatient")
def test_a_phone_that_freezes_in_a_command(simulator: Simulator, claw: Clawperator) -> None:
    """The command ends long before its timeout; a phone that is back works as before."""
    witness = Witness(AdbServer(simulator.adb_host, simulator.adb_port), claw.serial)
    witness.look()
    with ThreadPoolExecutor(1) as pool:
        line = "log '[Clawperator-Command] start commandId=shell'; sleep 60"
        running = pool.submit(claw.device.shell, line, timeout=FOREVER)
        witness.next_start()
        os.kill(simulator.pid, signal.SIGSTOP)
        error = running.exception(DEADLINE)
    os.kill(simulator.pid, signal.SIGCONT)
    wait_for(lambda: follower_error(claw) is None)

    assert isinstance(error, TransportTimeoutError)
    assert "does not answer" in error.message
    assert works(claw)


def test_a_slow_phone_is_not_taken_for_a_frozen_one(claw: Clawperator, services: list[str]) -> None:
    """A phone that says nothing for long and answers questions is waited for."""
    result = claw.execute(nap(900), timeout=FOREVER)
    asked = services.count("exec:true")
    slept = claw.device.shell("sleep 0.9; echo awake")

    assert result.ok
    assert asked >= 1
    assert slept.stdout == "awake\n"


def follower_error(claw: Clawperator) -> str | None:
    """Return the code of the error of a command; None if it works."""
    try:
        claw.device.shell("id")
    except ClawperatorError as error:
        return error.code
    return None
