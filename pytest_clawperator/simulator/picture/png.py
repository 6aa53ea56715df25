"""Encode pictures as PNG."""

from __future__ import annotations

import struct
import zlib
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_ROWS = 64
_ZLIB_HEADER, _LAST_BLOCK = b"\x78\x01", b"\x03\x00"
_RAW_DEFLATE = -15
# The modulus of the checksum at the end of a zlib stream.
_ADLER = 65521


class _Band(NamedTuple):
    """Some rows of a picture, what they are compressed to, and their checksum."""

    rows: bytes
    packed: bytes
    checksum: int


class PngEncoder:
    """Encodes the pictures of one screen; equal pictures give equal bytes, whatever came before.

    A picture is compressed in bands of rows, each without a look at the others, so that those
    which did not change since the last picture are not compressed again.
    """

    def __init__(self) -> None:
        self._last: list[_Band] = []

    def encode(self, image: Image.Image) -> bytes:
        """Encode an RGB picture; screens are flat, so no row filter is worth its time."""
        width, height = image.size
        padded = image.tobytes("raw", "RGB", width * 3 + 1)
        size = (width * 3 + 1) * _ROWS
        parts = (padded[start : start + size] for start in range(0, len(padded), size))
        bands = [
            known if known is not None and known.rows == rows else _pack(rows)
            for rows, known in zip_longest(parts, self._last[: -(-height // _ROWS)])
        ]
        self._last = bands
        packed = b"".join(
            (_ZLIB_HEADER, *(band.packed for band in bands), _LAST_BLOCK, _checksum(bands))
        )
        return b"".join((beginning(image.size), _chunk(b"IDAT", packed), _chunk(b"IEND", b"")))


def beginning(size: tuple[int, int]) -> bytes:
    """Return what an RGB picture of this size begins with, whatever it shows."""
    return _SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0))


def _pack(rows: bytes) -> _Band:
    # Each row begins with its filter's number, 0. Padding ends each row with a 0 byte instead;
    # one more at the very start, and one less at the end, makes it the beginning of the next.
    packer = zlib.compressobj(1, wbits=_RAW_DEFLATE)
    all_but_last = memoryview(rows)[:-1]
    packed = packer.compress(b"\0") + packer.compress(all_but_last)
    packed += packer.flush(zlib.Z_SYNC_FLUSH)
    return _Band(rows, packed, zlib.adler32(all_but_last, zlib.adler32(b"\0")))


def _checksum(bands: list[_Band]) -> bytes:
    """Return the checksum of all bands one after the other."""
    low, high = 1, 0
    for band in bands:
        sum_low, sum_high = band.checksum & 0xFFFF, band.checksum >> 16
        high = (high + sum_high + (low - 1) * len(band.rows)) % _ADLER
        low = (low + sum_low - 1) % _ADLER
    return struct.pack(">HH", high, low)


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(data, zlib.crc32(name))
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)
