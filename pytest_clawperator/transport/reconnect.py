"""Asking adb to reconnect to a device that went away."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.transport.server import ensure_server
from pytest_clawperator.transport.wire import AdbServer

# Beyond this a network device is not there; adb itself would try for longer.
_CONNECT_WITHIN = 5.0
# An address, or the name by which a phone with wireless debugging announces itself.
_ON_NETWORK = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:]+\]):\d+|.+\._adb(?:-tls-connect)?\._tcp")


def reconnect(server: AdbServer, serial: str, *, say: Callable[[str], None]) -> None:
    """Ask adb to connect to a device again; whether that works is seen at its next use."""
    if server.startable:
        ensure_server(server, say=say)
    # A server that was started anew does not know the devices of the network any more.
    question = (
        f"host:connect:{serial}" if _ON_NETWORK.fullmatch(serial) else "host:reconnect-offline"
    )
    with contextlib.suppress(ClawperatorError):  # an older server may not know how
        server.ask(question, timeout=_CONNECT_WITHIN)
