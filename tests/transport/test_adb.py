"""A device's shell over the wire: both protocols, every end, and long commands."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.adb_server import SERIAL, Answer, Conversation, FakeAdb, block, failure

FEATURES = f"host-serial:{SERIAL}:features"
STATE = f"host-serial:{SERIAL}:get-state"
OLD = {FEATURES: block("cmd")}


def packet(kind: int, data: bytes) -> bytes:
    """Write one packet of the newer shell protocol."""
    return struct.pack("<BI", kind, len(data)) + data


def transport(adb: FakeAdb) -> AdbTransport:
    """Return the device behind the fake server."""
    return AdbTransport(adb.server, SERIAL)


def run_script(conversation: Conversation) -> None:
    """Be an old device: run what follows ``exec:`` in this machine's shell."""
    conversation.send(b"OKAY")
    script = conversation.service.removeprefix("exec:")
    run = subprocess.Popen(
        ["/bin/sh", "-c", script],
        stdin=conversation.connection.fileno(),
        stdout=conversation.connection.fileno(),
        stderr=subprocess.STDOUT,
    )
    run.wait()
    conversation.close()


def test_outputs_and_exit_code_are_separated() -> None:
    """The packets may come in any order and pieces; unknown kinds are passed over."""
    data = b"".join(
        [
            packet(1, b"one "),
            packet(2, b"oops \xff"),
            packet(9, b"from the future"),
            packet(1, "zwö".encode()),
            packet(3, b"\x05"),
        ]
    )

    def trickle(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        for at in range(0, len(data), 3):
            conversation.send(data[at : at + 3])

    with FakeAdb({"shell,v2,raw:ls": trickle}) as adb:
        device = transport(adb)
        assert device.shell("ls") == device.shell("ls") == ShellResult("one zwö", "oops �", 5)
        assert adb.requests.count(FEATURES) == 1


def test_a_command_that_takes_too_long_is_ended() -> None:
    """The connection closes, which ends the command, and the error has its time limit."""
    closed: list[bytes] = []

    def hang(conversation: Conversation) -> None:
        conversation.send(b"OKAY" + packet(1, b"still here"))
        closed.append(conversation.wait_for_close())

    with (
        FakeAdb({"shell,v2,raw:": hang}) as adb,
        pytest.raises(errors.TransportTimeoutError) as caught,
    ):
        transport(adb).shell("sleep 99", timeout=0.05)

    assert "`sleep 99`" in caught.value.message
    assert "0.05 s" in caught.value.message
    assert caught.value.serial == SERIAL
    assert closed == [packet(4, b"")]


def test_silence_before_a_command_begins() -> None:
    """The error names the command, and not the service of adb that would run it."""

    def hang(conversation: Conversation) -> None:
        conversation.wait_for_close()

    for command, message in (
        ("sleep 99", "no answer to `sleep 99` came within 0.3 s"),
        ("true", "the device did not answer within 0.3 s"),
    ):
        with (
            FakeAdb({"shell,v2,raw:": hang}) as adb,
            pytest.raises(errors.TransportTimeoutError) as caught,
        ):
            transport(adb).shell(command, timeout=0.3)

        # A slow machine may have used up some of the time before.
        assert re.sub(r"0\.\d+", "0.3", caught.value.message) == message


@pytest.mark.parametrize(
    ("state", "kind", "code"),
    [
        (
            failure(f"device '{SERIAL}' not found"),
            errors.DeviceNotFoundError,
            ErrorCode.DEVICE_NOT_FOUND,
        ),
        (block("offline"), errors.DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        (block("unauthorized"), errors.DeviceUnavailableError, ErrorCode.DEVICE_UNAUTHORIZED),
        (block("device"), errors.TransportError, ErrorCode.DEVICE_SHELL_UNAVAILABLE),
    ],
)
def test_a_connection_that_breaks_names_the_device(
    state: bytes, kind: type[errors.ClawperatorError], code: ErrorCode
) -> None:
    """When a command ends without its exit code, adb is asked what became of the device."""
    broken = {"shell,v2,raw:": b"OKAY" + packet(1, b"par"), STATE: state}
    with FakeAdb(broken) as adb, pytest.raises(kind) as caught:
        transport(adb).shell("ls")

    assert caught.value.code == code
    assert caught.value.serial == SERIAL


def test_raw_output_is_not_changed() -> None:
    """A listener gets each byte once and in order, before the command is over."""
    data = bytes(range(256)) * 1000
    pieces: list[bytes] = []
    with FakeAdb({"exec:screencap -p": b"OKAY" + data}) as adb:
        output = transport(adb).exec_out("screencap -p", on_output=pieces.append)

    assert len(pieces) > 1
    assert b"".join(pieces) == output == data


def read_typed(conversation: Conversation) -> tuple[bytes, bool]:
    """Read the packets that a client types, up to the end of its input."""
    typed = b""
    while True:
        kind, size = struct.unpack("<BI", conversation.read(5))
        data = conversation.read(size)
        if kind == 4:
            return typed, True
        assert kind == 0
        typed += data


def test_a_command_too_long_for_a_request_is_typed() -> None:
    """The shell reads it from its input instead, whole and followed by the end of input."""
    typed: list[bytes] = []

    def shell(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        script, ended = read_typed(conversation)
        typed.append(script)
        conversation.send(packet(3, bytes([0 if ended else 1])))

    command = "echo '" + "ü" * 150_000 + "'"
    with FakeAdb({"shell,v2,raw:sh": shell}) as adb:
        result = transport(adb).shell(command)

    assert result.ok
    assert typed == [f"{{\n{command}\n}} </dev/null\n".encode()]


def test_an_old_device_reports_exit_codes_too() -> None:
    """Its shell prints the exit code after a nonce; warnings of its linker are separated."""
    warning = "WARNING: linker: libx.so has text relocations."
    with FakeAdb({**OLD, "exec:": run_script}) as adb:
        for command, output, warnings, code in (
            ("echo hi", "hi\n", "", 0),
            ("echo out; echo err >&2; exit 7", "out\nerr\n", "", 7),
            ("printf 'no end'", "no end", "", 0),
            ("false # why", "", "", 1),
            ("no_such_command_here 2>/dev/null", "", "", 127),
            ("cat", "", "", 0),
            ("echo '" + "x" * 5000 + "'", "x" * 5000 + "\n", "", 0),
            (f"echo '{warning}' >&2; echo 23", "23\n", f"{warning}\n", 0),
        ):
            assert transport(adb).shell(command) == ShellResult(output, warnings, code), command


def test_an_old_device_is_never_sent_a_long_request() -> None:
    """It would end the adb server; shell types the command instead, exec_out refuses."""
    with FakeAdb({**OLD, "exec:": run_script}) as adb:
        device = transport(adb)
        result = device.shell(f"true {'x' * 10_000}")
        with pytest.raises(errors.PayloadTooLargeError, match="this device takes 4000"):
            device.exec_out(f"true {'x' * 10_000}")

        assert result.ok
        assert max(map(len, adb.requests)) < 4096


def test_an_old_shell_ends_with_its_exit_code_or_its_complaint() -> None:
    """What keeps the connection open is not waited for; a script with an error has no code."""

    def linger(conversation: Conversation) -> None:
        nonce = conversation.service.rpartition("echo ")[2].partition("$")[0]
        conversation.send(b"OKAYhi\n" + nonce.encode() + b"0\n")
        conversation.wait_for_close()

    answers: dict[str, Answer] = {**OLD, "exec:": linger, STATE: block("device")}
    with FakeAdb(answers) as adb:
        assert transport(adb).shell("sleep 99 &") == ShellResult("hi\n", "", 0)
        adb.answers["exec:"] = run_script
        with pytest.raises(errors.TransportError, match=r"(?i)syntax error"):
            transport(adb).shell("if then (")


def installing(answer: str) -> dict[str, Answer]:
    """Be a device that takes any file, and answers to ``pm install``."""

    def sync(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        while request := conversation.read(8):
            kind, size = struct.unpack("<4sI", request)
            if kind == b"DONE":
                conversation.send(b"OKAY\0\0\0\0")
            elif kind == b"STAT":
                conversation.read(size)
                conversation.send(b"STAT" + bytes(12))
            else:
                conversation.read(size)

    reply = b"OKAY" + packet(1, answer.encode()) + packet(3, b"\0")
    done = b"OKAY" + packet(3, b"\0")
    return {"sync:": sync, "shell,v2,raw:pm install": reply, "shell,v2,raw:rm": done}


@pytest.fixture
def apk(tmp_path: Path) -> Path:
    """Return the path of an app."""
    path = tmp_path / "app.apk"
    path.write_bytes(b"PK")
    return path


def test_an_app_is_installed_and_its_file_removed(apk: Path) -> None:
    """The file goes to the device, is installed over an earlier version, and is removed."""
    with FakeAdb(installing("Success\n")) as adb:
        transport(adb).install(apk)
        commands = [r.partition(":")[2] for r in adb.requests if r.startswith("shell")]

    path = commands[0].split("'")[1]
    assert path.startswith("/data/local/tmp/")
    assert commands == [f"pm install -r -t '{path}'", f"rm -f '{path}'"]


# https://github.com/xiaocong/android-uiautomator-server/issues/40
@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("INSTALL_FAILED_VERSION_DOWNGRADE: 1 is older than 2", ""),
        ("INSTALL_FAILED_USER_RESTRICTED: Install canceled by user", "'Install via USB'"),
        ("INSTALL_FAILED_ABORTED: User rejected permissions", "'Install via USB'"),
    ],
    ids=["older", "Xiaomi", "Huawei and vivo"],
)
def test_a_refused_app_gives_the_devices_reason(reason: str, hint: str, apk: Path) -> None:
    """Also without an exit code, as on old devices; a phone that asks first has its own hint."""
    with (
        FakeAdb(installing(f"Failure [{reason}]\n")) as adb,
        pytest.raises(errors.ShellError) as caught,
    ):
        transport(adb).install(apk)

    assert caught.value.code == ErrorCode.ANDROID_INSTALL_FAILED
    assert reason in caught.value.message
    assert hint in str(caught.value.hint)


def test_a_local_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The path is in the message."""
    path = tmp_path / "nothing.apk"
    with FakeAdb(installing("")) as adb:
        device = transport(adb)
        for action in (device.install, lambda path: device.push(path, "/x")):
            with pytest.raises(errors.TransportError, match=r"nothing\.apk") as caught:
                action(path)
            assert caught.value.code == ErrorCode.FILE_UNAVAILABLE


def test_a_closed_or_inherited_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets and threads are the parent's; a fork neither uses nor closes them."""
    uses: list[Callable[[AdbTransport], object]] = [
        lambda device: device.shell("echo"),
        lambda device: device.exec_out("echo"),
        lambda device: device.log.mark(),
        lambda device: device.quick_shell.prepare(),
        lambda device: device.push(b"", "/x"),
        lambda device: device.pull("/x"),
    ]
    with FakeAdb() as adb:
        closed, inherited = transport(adb), transport(adb)
        closed.close()
        with pytest.raises(errors.TransportError, match="is closed"):
            closed.shell("echo")

        monkeypatch.setattr(os, "getpid", lambda: -1)
        for use in uses:
            with pytest.raises(errors.ConfigurationError, match="a fork of it") as caught:
                use(inherited)
            assert "Connect in the child" in str(caught.value)
        inherited.close()

        assert adb.requests == []
