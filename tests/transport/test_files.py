"""Files through adbutils: on our connections, with the device's own words, mapped errors."""

from __future__ import annotations

import struct
import subprocess
from unittest.mock import Mock

import adbutils  # type: ignore[import-untyped]
import adbutils.errors  # type: ignore[import-untyped]
import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport import files
from pytest_clawperator.transport.files import FileTransfer
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.adb_server import SERIAL, Conversation, FakeAdb, failure


def sync_failure(text: str) -> bytes:
    """Write a refusal of the sync service."""
    return b"FAIL" + struct.pack("<I", len(text)) + text.encode()


def test_errors_of_adbutils_stop_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each becomes one of ours, with the device, a code and the cause; a new one is noticed."""
    classes = {
        name
        for name, value in vars(adbutils.errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert classes == set(files.FOREIGN)
    for name, (kind, code) in files.FOREIGN.items():
        error = getattr(adbutils.errors, name)("it broke")
        broken = Mock(read_bytes=Mock(side_effect=error))
        monkeypatch.setattr(FileTransfer, "_sync", lambda _, broken=broken: broken)

        with pytest.raises(kind, match="it broke") as caught:
            FileTransfer(AdbServer(), SERIAL).pull("/x")

        assert caught.value.code == code
        assert caught.value.serial == SERIAL
        assert caught.value.__cause__ is error


def test_no_server_is_ever_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adbutils would start one when a connection fails; it never gets to."""

    def refuse(*command: object, **_: object) -> None:
        raise AssertionError(f"ran {command}")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with FakeAdb() as adb:
        server = adb.server

    with pytest.raises(errors.AdbUnavailableError):
        FileTransfer(server, SERIAL).push(b"x", "/x")
    with pytest.raises(errors.AdbUnavailableError):
        FileTransfer(server, SERIAL).pull("/x")


def test_a_file_that_cannot_be_read_has_the_devices_reason() -> None:
    """The reason and the path are in the message; an offline device is refused as elsewhere."""

    def sync(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        conversation.read(8 + len("/nothing"))
        conversation.send(sync_failure("open failed: No such file or directory"))

    with FakeAdb({"sync:": sync}) as adb:
        with pytest.raises(errors.TransportError, match="No such file or directory") as caught:
            FileTransfer(adb.server, SERIAL).pull("/nothing")
        adb.answers["host:transport:"] = failure("device offline")
        with pytest.raises(errors.DeviceUnavailableError):
            FileTransfer(adb.server, SERIAL).pull("/x")

    assert caught.value.code == ErrorCode.FILE_UNAVAILABLE
    assert "/nothing" in caught.value.message


def test_a_push_that_is_refused_gives_the_reason() -> None:
    """The device's words are not lost, as they are in adbutils."""

    def sync(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        kind, size = struct.unpack("<4sI", conversation.read(8))
        conversation.read(size)
        if kind == b"STAT":
            conversation.send(b"STAT" + bytes(12))
        else:
            conversation.read(8 + 3 + 8)
            conversation.send(sync_failure("couldn't create file: No space left on device"))

    with FakeAdb({"sync:": sync}) as adb, pytest.raises(errors.TransportError) as caught:
        FileTransfer(adb.server, SERIAL).push(b"abc", "/sdcard/x")

    assert "No space left on device" in caught.value.message


def test_a_device_that_stops_in_the_middle_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transfer that stands still ends in a timeout of ours."""
    monkeypatch.setattr(files, "_STALL", 0.05)

    def sync(conversation: Conversation) -> None:
        conversation.send(b"OKAY")
        conversation.wait_for_close()

    with FakeAdb({"sync:": sync}) as adb, pytest.raises(errors.TransportError) as caught:
        FileTransfer(adb.server, SERIAL).pull("/x")

    assert caught.value.code == ErrorCode.TRANSPORT_TIMEOUT


def test_an_answer_that_makes_no_sense_is_an_error() -> None:
    """Half a file is not a file, and what adbutils stumbles over is our error."""
    cut = b"DATA" + struct.pack("<I", 100) + b"only this"
    for answer in (b"", b"DA", b"DATA", cut, b"NONSENSE", b"FAIL"):

        def sync(conversation: Conversation, answer: bytes = answer) -> None:
            conversation.send(b"OKAY")
            conversation.read(8 + len("/x"))
            conversation.send(answer)
            conversation.close()

        with FakeAdb({"sync:": sync}) as adb:
            with pytest.raises(errors.TransportError) as pulled:
                FileTransfer(adb.server, SERIAL).pull("/x")
            with pytest.raises(errors.TransportError) as pushed:
                FileTransfer(adb.server, SERIAL).push(b"x", "/x")

        assert pulled.value.code == pushed.value.code == ErrorCode.FILE_UNAVAILABLE, answer
