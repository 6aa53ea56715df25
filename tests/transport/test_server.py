"""Which adb server is meant, and how one is started if none runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport import server as module
from pytest_clawperator.transport.adb_program import find_adb
from pytest_clawperator.transport.server import ensure_server, locate_server, reconnect
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.adb_server import FakeAdb, block

USUAL = AdbServer("127.0.0.1", 5037, startable=True)


@pytest.mark.parametrize(
    ("adb", "environment", "expected"),
    [
        (None, {}, USUAL),
        ("", {}, USUAL),
        # To name the address that is used anyway changes nothing.
        ("127.0.0.1:5037", {}, USUAL),
        ("5037", {}, USUAL),
        ("localhost:5037", {}, AdbServer("localhost", 5037, startable=True)),
        ("43211", {}, AdbServer("127.0.0.1", 43211)),
        ("lab:5037", {}, AdbServer("lab", 5037)),
        ("lab:5038", {}, AdbServer("lab", 5038)),
        ("[::1]:5038", {}, AdbServer("::1", 5038)),
        ("tcp:lab:5038", {}, AdbServer("lab", 5038)),
        ("localfilesystem:/run/adb", {}, AdbServer(path="/run/adb")),
        (None, {"ADB_SERVER_SOCKET": "tcp:5038"}, AdbServer("127.0.0.1", 5038, startable=True)),
        (None, {"ADB_SERVER_SOCKET": "tcp:lab:5038"}, AdbServer("lab", 5038)),
        (None, {"ADB_SERVER_SOCKET": "localfilesystem:/s"}, AdbServer(path="/s")),
        (
            None,
            {"ANDROID_ADB_SERVER_PORT": "5039"},
            AdbServer("127.0.0.1", 5039, startable=True),
        ),
        (None, {"ANDROID_ADB_SERVER_ADDRESS": "lab"}, AdbServer("lab", 5037)),
        (
            None,
            {"ADB_SERVER_SOCKET": "tcp:5038", "ANDROID_ADB_SERVER_PORT": "5039"},
            AdbServer("127.0.0.1", 5038, startable=True),
        ),
        ("5040", {"ADB_SERVER_SOCKET": "tcp:5038"}, AdbServer("127.0.0.1", 5040)),
    ],
)
def test_the_server_is_found(
    adb: str | None, environment: dict[str, str], expected: AdbServer
) -> None:
    """An argument wins, then adb's own variables, then the usual address, which may be started."""
    found = locate_server(adb, environment=environment)

    assert found == expected
    assert found.startable is expected.startable


def test_nonsense_is_refused() -> None:
    """The message names the source and the value, the hint what is allowed."""
    wrong: list[Any] = ["nonsense", "http://127.0.0.1:5037", 5037, "lab:", "lab:0", "lab:65536"]
    rows: list[tuple[Any, dict[str, str], str]] = [
        *((adb, {}, "adb") for adb in (*wrong, "lab:-1", "٣", "localfilesystem:relative")),
        (None, {"ADB_SERVER_SOCKET": "vsock:1:5037x"}, "ADB_SERVER_SOCKET"),
        (None, {"ANDROID_ADB_SERVER_PORT": "many"}, "ANDROID_ADB_SERVER_PORT"),
    ]
    for adb, environment, source in rows:
        with pytest.raises(errors.ConfigurationError) as caught:
            locate_server(adb, environment=environment)

        assert caught.value.message.startswith(f"{source} names no adb server"), adb
        assert "host:port" in str(caught.value.hint)


def test_no_server_is_started_on_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of any version is used; another program is reported."""
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    with FakeAdb({"host:version": block("001f")}) as adb:
        server = AdbServer(adb.server.host, adb.server.port, startable=True)
        ensure_server(server, notify=pytest.fail)
        adb.answers["host:version"] = b"SSH-2.0"
        with pytest.raises(errors.AdbUnavailableError, match="not an adb server"):
            ensure_server(server, notify=pytest.fail)


@pytest.mark.parametrize(
    ("adb", "environment"),
    [
        ("127.0.0.1:{port}", {}),
        (None, {"ANDROID_ADB_SERVER_ADDRESS": "0.0.0.0", "ANDROID_ADB_SERVER_PORT": "{port}"}),
    ],
)
def test_no_server_is_started_if_one_was_named(
    adb: str | None, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was named, or is elsewhere, would not have the devices that were meant."""
    monkeypatch.setenv("ADB_PATH", "/no/such/adb")
    port = free_port()
    server = locate_server(
        adb and adb.format(port=port),
        environment={name: value.format(port=port) for name, value in environment.items()},
    )

    with pytest.raises(errors.AdbUnavailableError) as caught:
        ensure_server(server, notify=pytest.fail)

    assert caught.value.code == ErrorCode.ADB_SERVER_FAILED
    assert str(server) in caught.value.message
    assert caught.value.hint is not None
    assert "127.0.0.1:5037" in caught.value.hint


def test_a_server_that_is_mute_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is about the server and its address, not about a device."""
    with FakeAdb() as adb:
        monkeypatch.setattr(AdbServer.ask, "__kwdefaults__", {"timeout": 0.05})

        with pytest.raises(errors.TransportTimeoutError, match=str(adb.server)) as caught:
            ensure_server(adb.server, notify=pytest.fail)

    assert caught.value.hint is not None
    assert "kill-server" in caught.value.hint


@contextmanager
def killed_afterwards(server: AdbServer) -> Iterator[None]:
    """End an adb server that was started, whatever happens."""
    try:
        yield
    finally:
        with suppress(errors.AdbUnavailableError):
            server.start("host:kill").close()


def free_port() -> int:
    """Return a port that is not in use."""
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.skipif(os.name == "nt", reason="by design: runs a program")
def test_a_server_is_started_if_none_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server then answers, and the message names it and how to stop it."""
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
        ensure_server(server, notify=said.append)
        ensure_server(server, notify=said.append)
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
def test_a_program_that_starts_no_server_is_named(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the program and its output, or what it did not do."""
    program = tmp_path / "adb"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("ADB_PATH", str(program))
    server = locate_server(environment={"ANDROID_ADB_SERVER_PORT": str(free_port())})

    with pytest.raises(errors.AdbUnavailableError) as caught:
        ensure_server(server, notify=pytest.fail)

    assert str(program) in caught.value.message
    assert reason in caught.value.message


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what a server is asked, and what is started."""
    asked: list[str] = []

    def ask(self: AdbServer, question: str, *, timeout: float) -> bytes:
        asked.append(question)
        raise errors.AdbUnavailableError("no")

    monkeypatch.setattr(AdbServer, "ask", ask)
    monkeypatch.setattr(module, "ensure_server", lambda server, notify: asked.append("ensure"))
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
def test_a_network_device_is_connected_to_and_others_are_searched(
    asked: list[str], serial: str, question: str
) -> None:
    """A refusal is not an error; a server that may be started is ensured first."""
    reconnect(AdbServer("127.0.0.1", 5037), serial, notify=asked.append)
    reconnect(AdbServer("127.0.0.1", 5037, startable=True), serial, notify=asked.append)

    assert asked == [question, "ensure", question]
