"""What leaves for one host: everything queued in one turn of the loop is one write."""

from __future__ import annotations

import asyncio
from typing import Protocol

from pytest_clawperator.simulator.wire.messages import MAX_PAYLOAD, pack_header


class Sender(Protocol):
    """A stream that may send when this turn of the loop ends."""

    has_turn: bool

    def take_turn(self) -> None:
        """Send what may be sent now."""


class Outbox:
    """Queues messages; ``transport`` is None while nobody is connected."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.max_payload = MAX_PAYLOAD
        self.with_sums = True
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[bytes] = []
        self._waiting: list[Sender] = []
        self._flush_is_due = False

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Queue a message."""
        self._outgoing.append(pack_header(command, arg0, arg1, payload, with_sum=self.with_sums))
        if payload:
            self._outgoing.append(payload)
        self._flush_soon()

    def ask_for_turn(self, sender: Sender) -> None:
        """Call the stream's ``take_turn`` when this turn of the loop ends."""
        if not sender.has_turn:
            sender.has_turn = True
            self._waiting.append(sender)
            self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for sender in waiting:
            sender.has_turn = False
            sender.take_turn()
        self._flush_is_due = False
        if self._waiting:
            self._flush_soon()
        outgoing, self._outgoing = self._outgoing, []
        if outgoing and self.transport is not None:
            self.transport.write(b"".join(outgoing))
