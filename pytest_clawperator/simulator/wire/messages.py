"""adb's messages: their layout, and taking them apart."""

from __future__ import annotations

import struct
from collections.abc import Callable

VERSION_MIN = 0x01000000
# From this version on, messages carry no checksum.
VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024

CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = (
    int.from_bytes(name, "little")
    for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE")
)

_HEADER = struct.Struct("<6I")
_HEADER_SIZE = _HEADER.size


class ProtocolBroken(Exception):
    """The host does not speak the protocol; its connection ends."""


def pack_header(command: int, arg0: int, arg1: int, payload: bytes, *, with_sum: bool) -> bytes:
    """Return the header that goes before a payload."""
    checksum = sum(payload) if with_sum else 0
    return _HEADER.pack(command, arg0, arg1, len(payload), checksum, command ^ 0xFFFFFFFF)


class MessageReader:
    """Calls ``handle`` with command, both arguments and payload of every message.

    ``checks_sums`` is off before both sides know the version: a host may or may not have
    filled the checksum in then.
    """

    def __init__(self, handle: Callable[[int, int, int, bytes], None]) -> None:
        self.checks_sums = False
        self._handle = handle
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrive; ProtocolBroken where they are no messages."""
        if self._received:
            self._received += data
            del self._received[: self._take_messages(self._received)]
        else:
            # Mostly whole messages arrive, which then need not be copied.
            self._received += data[self._take_messages(data) :]

    def clear(self) -> None:
        """Forget the beginning of a message that has not arrived as a whole."""
        self._received.clear()

    def _take_messages(self, received: bytes | bytearray) -> int:
        """Handle every whole message and return how many bytes they were."""
        used = 0
        available = len(received)
        while available - used >= _HEADER_SIZE:
            command, arg0, arg1, size, checksum, magic = _HEADER.unpack_from(received, used)
            if magic != command ^ 0xFFFFFFFF or size > MAX_PAYLOAD:
                raise ProtocolBroken
            start = used + _HEADER_SIZE
            end = start + size
            if end > available:
                break
            payload = bytes(received[start:end]) if size else b""
            used = end
            if self.checks_sums and sum(payload) != checksum:
                raise ProtocolBroken
            self._handle(command, arg0, arg1, payload)
        return used
