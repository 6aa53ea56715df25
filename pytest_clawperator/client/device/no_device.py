"""A device that executions can be run on, but that cannot be reached otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import NoReturn

from typing_extensions import override

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ExecutionsOnlyError


class NoDevice(Device):
    """Stands for a device of another host: whatever needs adb raises, and says why."""

    def __init__(self, serial: str, why: str) -> None:
        self._info = DeviceInfo(serial=serial, key=serial)
        self._why = why

    @override
    def restore(self) -> None:
        """Do nothing: nothing can have been changed."""

    @override
    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """Do nothing: nothing can be changed."""
        yield

    def _refuse(self, name: str) -> NoReturn:
        raise ExecutionsOnlyError(
            f"device.{name} is not possible here: {self._why}", serial=self.serial
        )


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(self: NoDevice, *_: object, **__: object) -> NoReturn:
        self._refuse(name)

    return refuse


_HARMLESS = ("info", "serial", "restore", "restoring")
for _name, _member in vars(Device).items():
    if not _name.startswith("_") and _name not in _HARMLESS:
        _no = _refusal(_name)
        setattr(NoDevice, _name, property(_no, _no) if isinstance(_member, property) else _no)
