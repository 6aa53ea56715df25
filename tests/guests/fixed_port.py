"""A pytest plugin that sends connections to adb's usual port to the simulator's adb server.

Without it, tests that name the usual port would talk to this machine's own server and phones.
"""

from __future__ import annotations

import os
import socket
from typing import Any

USUAL_PORT = 5037
_connect = socket.socket.connect


def _connect_elsewhere(self: socket.socket, address: Any) -> None:
    if isinstance(address, tuple) and address[1] == USUAL_PORT:
        address = (address[0], int(os.environ["ANDROID_ADB_SERVER_PORT"]))
    _connect(self, address)


def pytest_configure() -> None:
    """Send connections to the usual port to our server."""
    # On purpose: every connection of this process goes through it.
    socket.socket.connect = _connect_elsewhere  # type: ignore[method-assign, assignment]
