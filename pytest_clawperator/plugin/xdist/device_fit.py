"""Whether the device of a worker can run a test."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.plugin.leasing.fit.device_needs import DeviceNeeds, unmet
from pytest_clawperator.plugin.leasing.matrix import classes_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL


class DeviceFit:
    """Compares what tests need with the devices of workers; each comparison is made once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._pool = config.stash[DEVICE_POOL]
        self._known: dict[tuple[DeviceNeeds, str], bool] = {}

    def device_of(self, node: Any) -> str | None:
        """Return the key of the device of a worker, if it has one."""
        device = self._pool.taken.get(node.gateway.id)
        return None if device is None else device.info.key

    def fits(self, node: Any, test: str) -> bool:
        """Whether the worker can run the test; without a device, one that needs none."""
        needs = self._config.stash.get(DEVICE_NEEDS, {}).get(test)
        device = self._pool.taken.get(node.gateway.id)
        if needs is None or device is None:
            return needs is None
        if (needs, device.info.key) not in self._known:
            lacking = unmet(needs, device.info, is_in=self._is_in)
            self._known[needs, device.info.key] = not lacking
        return self._known[needs, device.info.key]

    def _is_in(self, label: str, info: DeviceInfo) -> bool:
        return any(one.label == label and one.holds(info) for one in classes_of(self._config))
