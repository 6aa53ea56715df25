"""Pushing, pulling and listing files."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import struct
from pathlib import Path

import pytest

from pytest_clawperator.simulator.files import FileSystem, FileSystemError
from pytest_clawperator.simulator.wire.sync import serve_sync
from tests.doubles.simulator.adb_hosts import MiniDevice, in_loop, pattern, real_adb


class Script:
    """A stream whose host says what it has to say in pieces and then closes."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.answer = b""

    async def read(self) -> bytes:
        """Return the next piece."""
        return self.pieces.pop(0) if self.pieces else b""

    async def write(self, data: bytes) -> None:
        """Keep the answer."""
        self.answer += data


def request(name: bytes, body: bytes = b"") -> bytes:
    """Pack a request."""
    return struct.pack("<4sI", name, len(body)) + body


def talk(files: FileSystem, *pieces: bytes) -> bytes:
    """Say something to the service and give everything it answers."""
    script = Script(list(pieces))
    asyncio.run(serve_sync(script, files))
    return script.answer


def send(path: str, *chunks: bytes, mode: int = 0o100644, mtime: int = 5) -> bytes:
    """Pack the upload of a file."""
    head = request(b"SEND", f"{path},{mode}".encode())
    data = b"".join(request(b"DATA", chunk) for chunk in chunks)
    return head + data + struct.pack("<4sI", b"DONE", mtime)


@pytest.fixture
def files() -> FileSystem:
    """Return the files of a phone."""
    return FileSystem(clock=lambda: 100.0)


@in_loop
async def test_the_real_adb_pushes_and_pulls_files_and_folders(tmp_path: Path) -> None:
    """Content and time of a large file survive both ways, and so does a tree with odd names."""
    tree, back, again = tmp_path / "tree", tmp_path / "back", tmp_path / "again.bin"
    (tree / "inner folder").mkdir(parents=True)
    big = pattern(5_000_000)
    contents = {"big.bin": big, "inner folder/ü 日本.txt": b"b" * 100_000, "inner folder/e": b""}
    for name, content in contents.items():
        (tree / name).write_bytes(content)
    os.utime(tree / "big.bin", (1_600_000_000, 1_600_000_000))
    device = MiniDevice()
    async with real_adb(tmp_path, device) as adb:
        pushed = await adb("push", str(tree), "/data/local/tmp/new/tree")
        pulled = await adb("pull", "/data/local/tmp/new/tree", str(back))
        one = await adb("pull", "-a", "/data/local/tmp/new/tree/big.bin", str(again))

        assert "3 files pushed" in pushed.text
        assert "3 files pulled" in pulled.text
        assert "1 file pulled" in one.text
    found = {
        str(path.relative_to(back)): path.read_bytes() for path in back.rglob("*") if path.is_file()
    }
    assert found == contents
    assert again.read_bytes() == big
    assert int(again.stat().st_mtime) == 1_600_000_000
    assert device.files.stat("/data/local/tmp/new/tree/big.bin").mtime == 1_600_000_000


@in_loop
async def test_the_real_adb_says_why_a_transfer_failed(tmp_path: Path) -> None:
    """Missing files, a read-only part and a full device are named."""
    local = tmp_path / "file"
    local.write_bytes(pattern(2_000_000))
    device = MiniDevice()
    device.files = FileSystem(clock=lambda: 0.0, capacity_bytes=1_000_000)
    async with real_adb(tmp_path, device) as adb:
        missing = await adb("pull", "/sdcard/none", str(tmp_path / "x"))
        protected = await adb("push", str(local), "/system/file")
        full = await adb("push", str(local), "/sdcard/file")

        assert missing.code == protected.code == full.code == 1
        assert "'/sdcard/none' does not exist" in missing.text
        assert "Read-only file system" in protected.text
        assert "No space left on device" in full.text
    assert not device.files.exists("/sdcard/file")


@in_loop
async def test_the_real_adb_lists_a_folder(tmp_path: Path) -> None:
    """``adb ls`` shows names, with the two dots first."""
    device = MiniDevice()
    device.files.write("/sdcard/Music/song.mp3", b"123")
    async with real_adb(tmp_path, device) as adb:
        listed = await adb("ls", "/sdcard/Music")
        rows = [line.split() for line in listed.text.splitlines()]

        assert [row[-1] for row in rows] == [".", "..", "song.mp3"]
        assert int(rows[-1][1], 16) == 3


def test_a_folder_is_described_and_listed(files: FileSystem) -> None:
    """Every entry has its name behind it; what is missing is zeros, and an empty list."""
    files.write("/data/local/tmp/x", b"12")

    _, mode, _, _ = struct.unpack("<4sIII", talk(files, request(b"STAT", b"/sdcard")))
    assert stat.S_ISDIR(mode)
    assert talk(files, request(b"STAT", b"/none")) == b"STAT" + bytes(12)
    assert talk(files, request(b"LIST", b"/none")) == b"DONE" + bytes(16)
    answer = talk(files, request(b"LIST", b"/data/local/tmp"))
    names = []
    while answer[:4] == b"DENT":
        length = struct.unpack_from("<4sIIII", answer)[-1]
        names.append(answer[20 : 20 + length])
        answer = answer[20 + length :]
    assert names == [b".", b"..", b"x"]
    assert answer == b"DONE" + bytes(16)


def test_several_requests_share_a_stream_even_cut_into_bytes(files: FileSystem) -> None:
    """It does not matter how the host's bytes are cut."""
    whole = send("/sdcard/a", b"abc") + request(b"RECV", b"/sdcard/a") + request(b"QUIT")

    answer = talk(files, *[whole[place : place + 1] for place in range(len(whole))])

    assert answer == request(b"OKAY") + request(b"DATA", b"abc") + struct.pack("<4sI", b"DONE", 0)


def test_a_refusal_says_why(files: FileSystem) -> None:
    """The reason is the text that adb prints."""
    for data, expected in [
        (request(b"RECV", b"/none"), "open failed: No such file or directory"),
        (request(b"RECV", b"/sdcard"), "read failed: Is a directory"),
        (send("/sdcard", b"x"), "couldn't create file: Is a directory"),
        (send("/new/x", b"x"), "secure_mkdirs failed: Read-only file system"),
        (send("/system/x", b"x"), "couldn't create file: Read-only file system"),
        (send("/sdcard/x", b"y", mode=0o120777), "symlink failed: Operation not permitted"),
        (request(b"SEND", b"/sdcard/x"), "invalid mode '/sdcard/x'"),
        (request(b"SEND", b"/sdcard/x,-1"), "invalid mode '-1'"),
        (request(b"NOPE", b"/sdcard/x"), "unknown command NOPE"),
        (struct.pack("<4sI", b"STAT", 5000), "path too long"),
        (
            request(b"SEND", b"/sdcard/x,33188") + struct.pack("<4sI", b"DATA", 70_000),
            "oversize data message",
        ),
        (request(b"SEND", b"/sdcard/x,33188") + request(b"STAT", b"x"), "invalid data message"),
    ]:
        assert talk(files, data) == request(b"FAIL", expected.encode()), expected


def test_a_failed_or_broken_upload_leaves_no_file(files: FileSystem) -> None:
    """What the host sends on is skipped up to its end, and then the stream is usable again."""
    answer = talk(files, send("/system/x", b"1", b"2"), request(b"STAT", b"/none"))

    assert answer.startswith(b"FAIL")
    assert answer.endswith(b"STAT" + bytes(12))
    assert talk(files, send("/sdcard/half", b"123")[:-2]) == b""
    assert not files.exists("/sdcard/half")


def test_random_requests_end_cleanly() -> None:
    """No bytes make the service raise or answer something that is not of the protocol."""
    rng = random.Random(0)
    names = [b"STAT", b"LIST", b"RECV", b"SEND", b"DATA", b"DONE", b"????"]
    bodies = [b"/sdcard", b"/sdcard/a,33188", b"/\xff\0", b"", b",1", b"/sdcard/l,41471"]
    for _ in range(300):
        files = FileSystem(clock=lambda: 0.0)
        data = bytearray()
        for _ in range(rng.randrange(6)):
            data += request(rng.choice(names), rng.choice([*bodies, rng.randbytes(9)]))
        if data and rng.random() < 0.5:
            data[rng.randrange(len(data))] = rng.randrange(256)
        answer = talk(files, bytes(data[: rng.randrange(len(data) + 1)]))

        known = (b"", b"STAT", b"DENT", b"DONE", b"OKAY", b"FAIL")
        assert answer[:4] in known


def test_names_that_are_not_utf8_survive(files: FileSystem) -> None:
    """A file name is bytes, whatever they are."""
    talk(files, send("/sdcard/x", b"1").replace(b"/sdcard/x,", b"/sdcard/\xff,"))

    assert b"\xff" in talk(files, request(b"LIST", b"/sdcard"))
    with pytest.raises(FileSystemError):
        files.read("/sdcard/x")
