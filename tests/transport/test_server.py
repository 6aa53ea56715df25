"""Which adb server is meant, and how one is started where none runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from pytest_clawperator.errors import (
    AdbUnavailableError,
    ConfigurationError,
    ErrorCode,
    TransportTimeoutError,
)
from pytest_clawperator.transport import server as module
from pytest_clawperator.transport.adb_program import find_adb
from pytest_clawperator.transport.server import ensure_server, locate_server, reconnect
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.adb_server import FakeAdb, block

USUAL = AdbServer("127.0.0.1", 5037)


@pytest.mark.parametrize(
    ("adb", "environment", "expected"),
    [
        (None, {}, USUAL),
        ("", {}, USUAL),
        ("43211", {}, AdbServer("127.0.0.1", 43211)),
        ("lab:5038", {}, AdbServer("lab", 5038)),
        ("[::1]:5038", {}, AdbServer("::1", 5038)),
        ("tcp:lab:5038", {}, AdbServer("lab", 5038)),
        ("localfilesystem:/run/adb", {}, AdbServer(path="/run/adb")),
        (None, {"ADB_SERVER_SOCKET": "tcp:5038"}, AdbServer("127.0.0.1", 5038)),
        (None, {"ADB_SERVER_SOCKET": "tcp:lab:5038"}, AdbServer("lab", 5038)),
        (None, {"ADB_SERVER_SOCKET": "localfilesystem:/s"}, AdbServer(path="/s")),
        (None, {"ANDROID_ADB_SERVER_PORT": "5039"}, AdbServer("127.0.0.1", 5039)),
        (None, {"ANDROID_ADB_SERVER_ADDRESS": "lab"}, AdbServer("lab", 5037)),
        (
            None,
            {"ADB_SERVER_SOCKET": "tcp:5038", "ANDROID_ADB_SERVER_PORT": "5039"},
            AdbServer("127.0.0.1", 5038),
        ),
        ("5040", {"ADB_SERVER_SOCKET": "tcp:5038"}, AdbServer("127.0.0.1", 5040)),
    ],
)
def test_the_server_is_found(
    adb: str | None, environment: dict[str, str], expected: AdbServer
) -> None:
    """What is named wins, then adb's own variables, then the usual address."""
    assert locate_server(adb, environment=environment) == expected


@pytest.mark.parametrize(
    ("adb", "environment", "source"),
    [
        ("nonsense", {}, "adb"),
        ("http://127.0.0.1:5037", {}, "adb"),
        (5037, {}, "adb"),
        ("lab:", {}, "adb"),
        ("lab:0", {}, "adb"),
        ("lab:65536", {}, "adb"),
        ("lab:-1", {}, "adb"),
        ("٣", {}, "adb"),
        ("localfilesystem:relative", {}, "adb"),
        (None, {"ADB_SERVER_SOCKET": "vsock:1:5037x"}, "ADB_SERVER_SOCKET"),
        (None, {"ANDROID_ADB_SERVER_PORT": "many"}, "ANDROID_ADB_SERVER_PORT"),
    ],
)
def test_nonsense_is_refused(adb: str | None, environment: dict[str, str], source: str) -> None:
    """The message names where it stands and what it is, the hint what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        locate_server(adb, environment=environment)

    assert caught.value.message.startswith(f"{source} names no adb server")
    assert caught.value.hint is not None
    assert "host:port" in caught.value.hint


def test_a_server_that_answers_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whatever version it is: no program is run against it."""
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    said: list[str] = []
    with FakeAdb({"host:version": block("001f")}) as adb:
        ensure_server(AdbServer(adb.server.host, adb.server.port, startable=True), say=said.append)

    assert said == []


def test_something_else_on_the_port_is_not_started_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that is taken by another program is told, and no server is started."""
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    with (
        FakeAdb({"host:version": b"SSH-2.0"}) as adb,
        pytest.raises(AdbUnavailableError, match="not an adb server"),
    ):
        ensure_server(AdbServer(adb.server.host, adb.server.port, startable=True), say=pytest.fail)


@pytest.mark.parametrize(
    ("adb", "environment"),
    [
        ("127.0.0.1:{port}", {}),
        (None, {"ANDROID_ADB_SERVER_ADDRESS": "0.0.0.0", "ANDROID_ADB_SERVER_PORT": "{port}"}),
    ],
)
def test_none_is_started_where_one_was_named(
    adb: str | None, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was named, or is elsewhere, would not have the devices that were meant."""
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    port = free_port()
    server = locate_server(
        adb and adb.format(port=port),
        environment={name: value.format(port=port) for name, value in environment.items()},
    )

    with pytest.raises(AdbUnavailableError) as caught:
        ensure_server(server, say=pytest.fail)

    assert caught.value.code == ErrorCode.ADB_SERVER_FAILED
    assert str(server) in caught.value.message
    assert caught.value.hint is not None
    assert "127.0.0.1:5037" in caught.value.hint


@pytest.mark.parametrize(
    ("adb", "startable"),
    [
        ("127.0.0.1:5037", True),
        ("5037", True),
        ("localhost:5037", True),
        ("127.0.0.1:5038", False),
        ("lab:5037", False),
    ],
)
def test_the_usual_server_may_be_started_by_its_name(adb: str, startable: bool) -> None:
    """To name the address that is used anyway changes nothing."""
    assert locate_server(adb, environment={}).startable is startable


def test_a_server_that_is_mute_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is about the server and its address, not about a device."""
    with FakeAdb() as adb:
        monkeypatch.setattr(AdbServer.ask, "__kwdefaults__", {"timeout": 0.05})

        with pytest.raises(TransportTimeoutError, match=str(adb.server)) as caught:
            ensure_server(adb.server, say=pytest.fail)

    assert caught.value.hint is not None
    assert "kill-server" in caught.value.hint


@contextmanager
def killed_afterwards(server: AdbServer) -> Iterator[None]:
    """End an adb server that was started, whatever happens."""
    try:
        yield
    finally:
        with suppress(AdbUnavailableError):
            server.start("host:kill").close()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.skipif(os.name == "nt", reason="by design: runs a program")
def test_one_is_started_where_none_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server then answers, and the message tells of it and how it is stopped."""
    (tmp_path / ".android").mkdir()
    (tmp_path / ".android" / "adbkey").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("ADB_PATH", str(find_adb()))
    for name, value in {"ADB_LIBUSB": "0", "ADB_MDNS": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
    port = free_port()
    server = locate_server(environment={"ANDROID_ADB_SERVER_PORT": str(port)})
    said: list[str] = []

    with killed_afterwards(server):
        ensure_server(server, say=said.append)
        ensure_server(server, say=said.append)
        version = server.version()

    assert version > 30
    assert len(said) == 1
    assert str(find_adb()) in said[0]
    assert f"-P {port} kill-server" in said[0]


@pytest.mark.skipif(os.name == "nt", reason="by design: runs a program")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho cannot bind >&2; exit 1\n", "exit code 1; it said: cannot bind"),
        ("#!/bin/sh\n", "no adb server answers"),
        ("not a program", "Exec format error"),
    ],
)
def test_a_program_that_starts_none_is_told(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message holds the program, and what it said or did not do."""
    program = tmp_path / "adb"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("ADB_PATH", str(program))
    server = locate_server(environment={"ANDROID_ADB_SERVER_PORT": str(free_port())})

    with pytest.raises(AdbUnavailableError) as caught:
        ensure_server(server, say=pytest.fail)

    assert str(program) in caught.value.message
    assert reason in caught.value.message


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what a server is asked, and what is started."""
    asked: list[str] = []

    def ask(self: AdbServer, question: str, *, timeout: float) -> bytes:
        asked.append(question)
        raise AdbUnavailableError("no")

    monkeypatch.setattr(AdbServer, "ask", ask)
    monkeypatch.setattr(module, "ensure_server", lambda server, say: asked.append("ensure"))
    return asked


@pytest.mark.parametrize(
    ("serial", "question"),
    [
        ("192.168.1.7:5555", "host:connect:192.168.1.7:5555"),
        ("[fe80::1]:5555", "host:connect:[fe80::1]:5555"),
        ("adb-PH1 (2)._adb-tls-connect._tcp", "host:connect:adb-PH1 (2)._adb-tls-connect._tcp"),
        ("R58N12ABCDE", "host:reconnect-offline"),
        ("emulator-5554", "host:reconnect-offline"),
    ],
)
def test_a_network_device_is_connected_to_and_another_looked_for(
    asked: list[str], serial: str, question: str
) -> None:
    """A device of the network is connected to, another one is looked for; a refusal is no error."""
    reconnect(AdbServer("127.0.0.1", 5037), serial, say=asked.append)

    assert asked == [question]


def test_a_server_of_our_own(asked: list[str]) -> None:
    """Where a server may be started, one is seen to first."""
    reconnect(AdbServer("127.0.0.1", 5037, startable=True), "PH1", say=asked.append)

    assert asked == ["ensure", "host:reconnect-offline"]
