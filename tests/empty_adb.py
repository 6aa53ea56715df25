"""The adb server of these tests: it has no devices, so that no test can use those of the machine.

Tests that need a phone start simulated ones, which have a server of their own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable

from pytest_clawperator.simulator.wire.adb_server import AdbServer

_PORT = "ANDROID_ADB_SERVER_PORT"
# What leads to other servers, or to one device.
_OTHERS = ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_SERIAL")
_DEADLINE = 60.0


def use_empty_adb() -> Callable[[], None]:
    """Start the server and make it the usual one of this process; return what undoes it."""
    before = {name: os.environ.pop(name, None) for name in (_PORT, *_OTHERS)}
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="empty adb", daemon=True)
    thread.start()
    server = AdbServer()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(_DEADLINE)
    os.environ[_PORT] = str(server.port)

    def undo() -> None:
        os.environ.pop(_PORT, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(_DEADLINE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_DEADLINE)
        loop.close()

    return undo
