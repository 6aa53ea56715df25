"""Encoding pictures as PNG, quickly."""

from __future__ import annotations

import struct
import zlib

from PIL import Image


def encode_png(image: Image.Image) -> bytes:
    """Encode an RGB picture; screens are flat, so no row filter is worth its time."""
    width, height = image.size
    # Each row begins with its filter's number, 0. Padding ends each row with a 0 byte instead;
    # one more at the very start, and one less at the end, makes it the beginning of the next.
    padded = memoryview(image.tobytes("raw", "RGB", width * 3 + 1))
    packer = zlib.compressobj(1)
    data = packer.compress(b"\0") + packer.compress(padded[:-1]) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    signature = b"\x89PNG\r\n\x1a\n"
    return b"".join(
        (signature, _chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(data, zlib.crc32(name))
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)
