"""A worker reaches its device before its first test, while others still collect.

Whatever is wrong is left for the fixtures to find out again, and to tell.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.devices.health import Health
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.plugin.leasing.connecting import client_of, transport_of
from pytest_clawperator.plugin.leasing.worker_device import lease_of
from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.reporting.events import events_of
from pytest_clawperator.plugin.stash import AHEAD

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.plugin.settings import Settings
    from pytest_clawperator.transport.interface import Transport


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What was connected, and for what."""

    settings: Settings
    lease: Lease
    transport: Transport
    client: Clawperator


def connect_ahead(config: pytest.Config) -> None:
    """Connect the device of this worker, as the fixtures will want it."""
    settings = settings_of(config)
    with suppress(ClawperatorError):
        lease = lease_of(config)
        if lease.url is not None or settings.operator_apk is not None:
            return  # there is nothing to gain, or it takes long and its test should say so
        transport = transport_of(config, lease)
        client = client_of(config, settings, lease, transport)
        ahead = Ahead(settings=settings, lease=lease, transport=transport, client=client)
        config.stash[AHEAD] = ahead
        config.add_cleanup(client.close)
        if isinstance(client.runner, Pipeline):
            tell = partial(events_of(config).notice, client.serial)
            Health(client.runner, tell=tell).check()  # opens what the first test would have to


def transport_for(config: pytest.Config, lease: Lease) -> Transport:
    """Reach the device of a lease, over what was connected before if it is that."""
    ahead = config.stash.get(AHEAD, None)
    if ahead is not None and ahead.lease == lease:
        return ahead.transport
    return transport_of(config, lease)


def client_for(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport | None
) -> Clawperator:
    """Give the client that was connected before, if it is this one, once; else connect it."""
    ahead = config.stash.get(AHEAD, None)
    if ahead is not None and ahead.transport is transport and ahead.settings is settings:
        del config.stash[AHEAD]
        return ahead.client
    return client_of(config, settings, lease, transport, keep=True)
