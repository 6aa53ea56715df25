"""Everything that the plugin keeps on pytest's own objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_clawperator.devices.health import Health
    from pytest_clawperator.devices.matrix import DeviceClass
    from pytest_clawperator.devices.pool import DevicePool, Lease, Spares
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.execution.pipeline import Pipeline
    from pytest_clawperator.plugin.evidence.client_activity import Watched
    from pytest_clawperator.plugin.evidence.recorder import Recorder
    from pytest_clawperator.plugin.leasing.device_needs import Needs
    from pytest_clawperator.plugin.leasing.early_connection import Ahead
    from pytest_clawperator.plugin.reporting.events import EventHub
    from pytest_clawperator.plugin.settings import Settings

# On the config
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
WORKERS: pytest.StashKey[int] = pytest.StashKey()
POOL: pytest.StashKey[DevicePool] = pytest.StashKey()
LEASE: pytest.StashKey[dict[str | None, Lease | ClawperatorError]] = pytest.StashKey()
UNLEASED: pytest.StashKey[ClawperatorError] = pytest.StashKey()
SPARES: pytest.StashKey[Spares] = pytest.StashKey()
NEEDS: pytest.StashKey[dict[str, Needs]] = pytest.StashKey()
CLASSES: pytest.StashKey[tuple[DeviceClass, ...]] = pytest.StashKey()
TOLD: pytest.StashKey[set[str]] = pytest.StashKey()
UNSAID: pytest.StashKey[list[str]] = pytest.StashKey()
AHEAD: pytest.StashKey[Ahead] = pytest.StashKey()
EVENTS: pytest.StashKey[EventHub] = pytest.StashKey()
ENDED: pytest.StashKey[dict[str | None, str]] = pytest.StashKey()
HEALTH: pytest.StashKey[dict[Pipeline, Health]] = pytest.StashKey()
RUN: pytest.StashKey[str] = pytest.StashKey()
CLIENTS: pytest.StashKey[list[Watched]] = pytest.StashKey()
CURRENT: pytest.StashKey[pytest.Item] = pytest.StashKey()
AT_USE: pytest.StashKey[list[Callable[[pytest.Item, Watched], None]]] = pytest.StashKey()
CLOSING: pytest.StashKey[list[Callable[[], None]]] = pytest.StashKey()
AT_CLOSE: pytest.StashKey[list[Callable[[pytest.Item, Watched], None]]] = pytest.StashKey()

# On an item
USED: pytest.StashKey[list[Watched]] = pytest.StashKey()
RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
NONSENSE: pytest.StashKey[str] = pytest.StashKey()
