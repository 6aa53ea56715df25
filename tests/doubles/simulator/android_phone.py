"""A whole phone for the tests of its commands, with a clock that the test turns."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from pytest_clawperator.simulator.shell.runner import run_script

DEADLINE = 30.0
OPERATOR = "com.clawperator.operator"
ACTION = "app.clawperator.operator.ACTION_AGENT_COMMAND"
SERVICE = f"{OPERATOR}/clawperator.operator.accessibilityservice.OperatorAccessibilityService"


@dataclass
class TurnedClock:
    """A clock that stands still until it is turned."""

    now: float = 1_760_000_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Ended(NamedTuple):
    """How a script on the phone ended."""

    status: int
    out: str
    err: str


class Collected:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.data = b""

    async def write(self, data: bytes) -> None:
        """Keep it."""
        self.data += data


@dataclass
class Pieces:
    """An input that comes in pieces and does not end by itself."""

    pieces: list[bytes]

    async def read(self) -> bytes:
        """Return the next piece; after the last one the host just says nothing more."""
        if not self.pieces:
            await asyncio.Event().wait()
        return self.pieces.pop(0)


@dataclass
class FakeStream:
    """One stream of a host that keeps what the phone sends."""

    sent: bytes = b""
    incoming: list[bytes] = field(default_factory=list)

    async def read(self) -> bytes:
        """Return what the host has to say; after that it just keeps the stream open."""
        if not self.incoming:
            await asyncio.Event().wait()
        return self.incoming.pop(0)

    async def write(self, data: bytes) -> None:
        """Keep it."""
        self.sent += data


class Phone:
    """A phone and a shell on it."""

    def __init__(self, **options: Any) -> None:
        self.clock = TurnedClock()
        settings: dict[str, Any] = {"serial_number": "SIM0001", "time_scale": 0.0, **options}
        self.device = Device(DeviceOptions(**settings), clock=self.clock)
        if settings["time_scale"] == 0:
            self.device.ui.launching.delay = 0.0  # the tests' clock stands still

    @property
    def system(self) -> AndroidSystem:
        """What its commands act on."""
        return self.device.system

    async def shell(self, script: str, *, stdin: bytes | Pieces = b"") -> Ended:
        """Run a script in a new shell."""
        source = Pieces([stdin, b""]) if isinstance(stdin, bytes) else stdin
        out, err = Collected(), Collected()
        running = run_script(self.device.make_shell(), script, source, out, err)
        status = await asyncio.wait_for(running, DEADLINE)
        return Ended(status, _text(out.data), _text(err.data))

    def run(self, script: str, *, stdin: bytes | Pieces = b"") -> Ended:
        """Run a script in a new shell, in an event loop of its own."""
        return asyncio.run(self.shell(script, stdin=stdin))

    def out(self, script: str) -> str:
        """Run a script that must succeed and say nothing on standard error."""
        ended = self.run(script)
        assert ended[::2] == (0, ""), ended
        return ended.out

    async def logged(self, text: str) -> str:
        """Wait for a log message that has this text in it."""
        return await asyncio.wait_for(self._logged(text), DEADLINE)

    async def _logged(self, text: str) -> str:
        number = 1
        while True:
            for line in self.device.log.since(number):
                number = line.number + 1
                if text in line.message:
                    return line.message
            await self.device.log.wait(number)

    def messages(self) -> list[str]:
        """List what was logged."""
        return [line.message for line in self.device.log.since(1)]


def payload(*actions: dict[str, Any], command_id: str = "c1") -> str:
    """Write an execution as the host sends it."""
    numbered = [{"id": f"a{number}", **action} for number, action in enumerate(actions, 1)]
    return json.dumps(
        {"commandId": command_id, "taskId": "t1", "source": "test", "actions": numbered}
    )


def broadcast(text: str, *, package: str = OPERATOR) -> str:
    """Write the command that hands a payload to the Operator."""
    return (
        f"am broadcast -a '{ACTION}' -p '{package}' --es 'payload' '{text}' --receiver-foreground"
    )


HOME = payload({"type": "press_key", "params": {"key": "home"}})
"""An execution that is done at once."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
