"""A device of a service that is leased for as long as it is open."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import override

from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.service_adb import ServiceAdb


class LeasedTransport(AdbTransport):
    """A device behind a service; closing it releases its lease."""

    def __init__(
        self,
        server: ServiceAdb,
        serial: str,
        *,
        on_notice: Callable[[str], None],
        release: Callable[[], None],
    ) -> None:
        super().__init__(server, serial, on_notice=on_notice)
        self._release = release

    @override
    def close(self) -> None:
        """End every connection, and the lease."""
        try:
            super().close()
        finally:
            self._release()
