"""A film of the screen as MP4."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

_TIMESCALE = 1000  # units in a second: durations are milliseconds
_JPEG = 0x6C  # what MPEG-4 calls ISO 10918-1 in a decoder's description
_VISUAL = 0x11
_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_UNDETERMINED = 0x55C4  # the language "und", packed


@dataclass(frozen=True)
class Frame:
    """One picture as JPEG, and for how many milliseconds it shows."""

    data: bytes
    duration: int


def unfinished_film() -> bytes:
    """Return the beginning of a film; no player can play it, since its tables come last."""
    return _file_type() + struct.pack(">I4s", 8, b"mdat")


def film(frames: Sequence[Frame], *, size: tuple[int, int]) -> bytes:
    """Write the frames, all of one size, as an MP4 file."""
    begin = _file_type()
    data = b"".join(frame.data for frame in frames)
    first = len(begin) + 8
    return begin + _box(b"mdat", data) + _movie(frames, size=size, first=first)


def _box(name: bytes, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return struct.pack(">I4s", 8 + len(content), name) + content


def _full_box(name: bytes, *parts: bytes, flags: int = 0) -> bytes:
    return _box(name, struct.pack(">I", flags), *parts)


def _file_type() -> bytes:
    return _box(b"ftyp", b"isom", struct.pack(">I", 512), b"isom", b"mp42")


def _movie(frames: Sequence[Frame], *, size: tuple[int, int], first: int) -> bytes:
    duration = sum(frame.duration for frame in frames)
    header = _full_box(
        b"mvhd",
        struct.pack(">4I", 0, 0, _TIMESCALE, duration),
        struct.pack(">IH10x", 0x10000, 0x100),
        _MATRIX,
        struct.pack(">24xI", 2),
    )
    return _box(b"moov", header, _track(frames, size=size, first=first, duration=duration))


def _track(frames: Sequence[Frame], *, size: tuple[int, int], first: int, duration: int) -> bytes:
    shown = 7  # enabled, and part of the movie and of its preview
    header = _full_box(
        b"tkhd",
        struct.pack(">5I8x", 0, 0, 1, 0, duration),
        struct.pack(">8x"),
        _MATRIX,
        struct.pack(">2I", size[0] << 16, size[1] << 16),
        flags=shown,
    )
    media = _box(
        b"mdia",
        _full_box(b"mdhd", struct.pack(">4I2H", 0, 0, _TIMESCALE, duration, _UNDETERMINED, 0)),
        _full_box(b"hdlr", struct.pack(">I4s12x", 0, b"vide"), b"screen\0"),
        _box(
            b"minf",
            _full_box(b"vmhd", bytes(8), flags=1),
            # The pictures are in this very file.
            _box(b"dinf", _full_box(b"dref", struct.pack(">I", 1), _full_box(b"url ", flags=1))),
            _samples(frames, size=size, first=first, duration=duration),
        ),
    )
    return _box(b"trak", header, media)


def _samples(frames: Sequence[Frame], *, size: tuple[int, int], first: int, duration: int) -> bytes:
    """Write the tables of where each frame lies and how long it shows."""
    count = len(frames)
    times = b"".join(struct.pack(">2I", 1, frame.duration) for frame in frames)
    sizes = struct.pack(f">{count}I", *(len(frame.data) for frame in frames))
    return _box(
        b"stbl",
        _full_box(b"stsd", struct.pack(">I", 1), _description(frames, size, duration)),
        _full_box(b"stts", struct.pack(">I", count), times),
        _full_box(b"stsc", struct.pack(">4I", 1, 1, count, 1)),
        _full_box(b"stsz", struct.pack(">2I", 0, count), sizes),
        _full_box(b"stco", struct.pack(">2I", 1, first)),
    )


def _description(frames: Sequence[Frame], size: tuple[int, int], duration: int) -> bytes:
    largest = max(len(frame.data) for frame in frames)
    bits = 8 * sum(len(frame.data) for frame in frames)
    rate = min(bits * _TIMESCALE // max(1, duration), 0xFFFFFFFF)
    decoder = struct.pack(">2B", _JPEG, _VISUAL) + largest.to_bytes(3, "big")
    decoder += struct.pack(">2I", rate, rate)
    stream = struct.pack(">HB", 1, 0) + _descriptor(4, decoder) + _descriptor(6, b"\x02")
    dots_per_inch = 72 << 16
    return _box(
        b"mp4v",
        struct.pack(">6xH16x2H", 1, *size),
        struct.pack(">2I4xH32x", dots_per_inch, dots_per_inch, 1),
        struct.pack(">Hh", 24, -1),
        _full_box(b"esds", _descriptor(3, stream)),
    )


def _descriptor(tag: int, content: bytes) -> bytes:
    return bytes((tag, len(content))) + content
