"""A reader of MP4 films."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HOLDERS = ("moov", "trak", "mdia", "minf", "stbl")


@dataclass(frozen=True)
class Shown:
    """A film: its frames as JPEG, how many milliseconds each shows, and its size."""

    frames: list[bytes]
    durations: list[int]
    size: tuple[int, int]


def boxes(data: bytes) -> list[tuple[str, bytes]]:
    """List the boxes that lie one behind the other, up to the very end."""
    found = []
    while data:
        length, name = struct.unpack(">I4s", data[:8])
        assert 8 <= length <= len(data), (name, length)
        found.append((name.decode(), data[8:length]))
        data = data[length:]
    return found


def is_whole(data: bytes) -> bool:
    """Whether a film has the table without which nobody can play it."""
    return [name for name, _ in boxes(data)] == ["ftyp", "mdat", "moov"]


def shown(data: bytes) -> Shown:
    """Read a whole film."""
    assert is_whole(data)
    table = _flattened(data)
    count = struct.unpack(">I", table["stsz"][8:12])[0]
    sizes = struct.unpack(f">{count}I", table["stsz"][12:])
    assert table["stsc"][4:] == struct.pack(">4I", 1, 1, count, 1)
    at = struct.unpack(">I", table["stco"][8:])[0]
    frames = []
    for size in sizes:
        frames.append(data[at : at + size])
        at += size
    times = struct.unpack(f">{2 * count}I", table["stts"][8:])
    assert set(times[::2]) == {1}
    ((kind, entry),) = boxes(table["stsd"][8:])
    assert kind == "mp4v"
    width, height = struct.unpack(">2H", entry[24:28])
    return Shown(frames, list(times[1::2]), (width, height))


def _flattened(data: bytes) -> dict[str, bytes]:
    found = {}
    for name, content in boxes(data):
        found[name] = content
        if name in _HOLDERS:
            found |= _flattened(content)
    return found
