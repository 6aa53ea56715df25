"""The steps of connecting, each by itself; ``tests/test_connect.py`` takes them together."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.device_info import OPERATOR_DEV_PACKAGE as DEV
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE as RELEASE
from pytest_clawperator.contracts.events import Event, Notice
from pytest_clawperator.devices import connection
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceNotFoundError,
    ErrorCode,
    OperatorNotReadyError,
)
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.operator_apk import operator_apk
from tests.doubles.runner import Phone, client


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the environment from choosing."""
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE"):
        monkeypatch.delenv(name, raising=False)


def notices(events: list[Event]) -> list[str]:
    """Return the messages of the notices."""
    return [event.message for event in events if isinstance(event, Notice)]


def test_observers_are_given_as_one_or_several() -> None:
    """A function, a list of functions and nothing are accepted; other values are refused."""
    events: list[Event] = []

    assert connection.all_observers(events.append) == (events.append,)
    assert connection.all_observers([events.append, print]) == (events.append, print)
    assert connection.all_observers(()) == ()
    refused: list[Any] = [None, 5, [5]]
    for observe in refused:
        with pytest.raises(ConfigurationError, match=r"(5|None), which cannot be called"):
            connection.all_observers(observe)


@pytest.mark.parametrize("name", ["adb", "grant", "operator_apk"])
def test_options_for_adb_are_refused_with_a_url(name: str) -> None:
    """The other host has its own adb and Operator."""
    with pytest.raises(ConfigurationError, match=f"{name}= cannot be used"):
        connection.refuse_with_url(**{name: "given"})


def test_the_package_comes_from_the_caller_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package that is named counts for more than the variable; both are checked."""
    none = connection.wanted_package()

    monkeypatch.setenv("CLAWPERATOR_OPERATOR_PACKAGE", DEV)

    assert none is None
    assert connection.wanted_package() == DEV
    assert connection.wanted_package(RELEASE) == RELEASE
    for package in ("x", "a.b; reboot"):
        with pytest.raises(ConfigurationError, match="is not the name of an Android package"):
            connection.wanted_package(package)


def test_a_server_that_was_started_is_reported(
    server: AdbServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Observers and the log get it, though no device is chosen yet."""
    events: list[Event] = []
    monkeypatch.setattr(
        connection, "ensure_server", lambda server, notify: notify("adb was started")
    )

    with caplog.at_level(logging.WARNING, "pytest_clawperator"), pytest.raises(DeviceNotFoundError):
        connection.open_transport("nowhere", adb=str(server), observers=[events.append])

    assert notices(events) == ["adb was started"]
    assert caplog.messages == ["[nowhere] adb was started"]


def test_each_change_to_the_operator_is_reported(
    phone: AdbTransport, server: AdbServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Connecting with ``grant`` reports what it switches on, and a restarted service."""
    events: list[Event] = []

    with caplog.at_level(logging.WARNING, "pytest_clawperator"):
        for command in (f"am force-stop {RELEASE}", "true", "sim fault operator_crash times=1"):
            phone.shell(command)
            own = AdbTransport(server, phone.serial)
            observers = [events.append]
            runner, _ = connection.open_runner(own, server=server, grant=True, observers=observers)
            runner.close()

    assert notices(events) == [
        "switched the Operator's accessibility service on",
        "made sure that the Operator may show notifications",
        "the Operator did not answer, so its service was switched off and on",
    ]
    assert f"[{phone.serial}] {notices(events)[-1]}" in caplog.messages


@pytest.mark.parametrize("package", [RELEASE, DEV])
def test_an_operator_is_installed_from_a_file(
    phone: AdbTransport, server: AdbServer, tmp_path: Path, package: str
) -> None:
    """Whichever variant the file holds, it is granted what it needs, and used."""
    phone.shell(f"pm uninstall {RELEASE}")

    runner, device = connection.open_runner(
        AdbTransport(server, phone.serial),
        server=server,
        operator_apk=operator_apk(tmp_path, package),
    )
    answered = runner.ping(10.0).ok
    runner.close()

    assert answered
    assert device.info.operator_package == package


@pytest.mark.parametrize("keep", [False, True])
def test_a_transport_is_closed_when_the_operator_is_not_ready(
    phone: AdbTransport, server: AdbServer, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    """Unless others use the transport, nothing is left open."""
    phone.shell("sim fault operator_absent")
    closed: list[bool] = []
    own = AdbTransport(server, phone.serial)
    monkeypatch.setattr(own, "close", lambda: closed.append(True))

    with pytest.raises(OperatorNotReadyError) as caught:
        connection.open_runner(own, server=server, keep=keep)
    monkeypatch.undo()
    own.close()

    assert caught.value.code is ErrorCode.OPERATOR_NOT_INSTALLED
    assert closed == ([] if keep else [True])


def test_a_runner_is_closed_when_no_client_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log stream, open by then, is closed again."""
    runner = Phone()
    device = client(runner).device

    def refuse(*_: Any, **__: Any) -> Clawperator:
        raise ConfigurationError("no client today")

    monkeypatch.setattr("pytest_clawperator.client.client.Clawperator", refuse)

    with pytest.raises(ConfigurationError, match="no client today"):
        connection.open_client(runner, device)

    assert runner.is_closed
