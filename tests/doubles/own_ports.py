"""A plugin for pytest whose run uses only some of the ports for emulators.

Two SDKs with an adb server each disturb each other if their emulators use the same ports: a
server asks for a minute where an emulator was. Real SDKs share one server.
"""

from __future__ import annotations

import os

from pytest_clawperator.emulators import claims

VARIABLE = "OWN_PORTS"


def own_ports(number: int) -> range:
    """Return ports that few others use, for this worker of a test run."""
    first = claims.LAST_PORT - 32 * (1 + number % 3)
    return range(first, first + 31, 2)


if VARIABLE in os.environ:
    mine = own_ports(int(os.environ[VARIABLE]))
    claims.FIRST_PORT, claims.LAST_PORT = mine[0], mine[-1]
