"""A worker reaches its device before its first test, while others still collect.

Whatever fails here is left to the fixtures, which try again and report it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.devices.health import Health
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.plugin.leasing.connecting import client_of, transport_of
from pytest_clawperator.plugin.leasing.own_device import lease_of
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.stash import EARLY_CONNECTION
from pytest_clawperator.transport.interface import Transport


@dataclass(frozen=True, kw_only=True)
class EarlyConnection:
    """What was connected, and for what; ``client`` is None where that failed."""

    settings: Settings
    lease: Lease
    transport: Transport
    client: Clawperator | None = None


def connect_early(config: pytest.Config) -> None:
    """Connect the device of this worker, as the fixtures will want it.

    The transport stays where that fails: it knows of a device that does not answer.
    """
    settings = settings_of(config)
    with suppress(ClawperatorError):
        lease = lease_of(config)
        if lease.url is not None or settings.operator_apk is not None:
            return  # there is nothing to gain, or it takes long and its test should say so
        transport = transport_of(config, lease)
        early = EarlyConnection(settings=settings, lease=lease, transport=transport)
        config.stash[EARLY_CONNECTION] = early
        config.add_cleanup(transport.close)
        client = client_of(config, settings, lease, transport, keep=True, heal=False)
        config.stash[EARLY_CONNECTION] = replace(early, client=client)
        config.add_cleanup(client.close)
        if isinstance(client.runner, Pipeline):
            notice = partial(events_of(config).notice, client.serial)
            Health(client.runner, tell=notice).check()  # opens what the first test would have to


def transport_for(config: pytest.Config, lease: Lease) -> Transport:
    """Return the transport to the device of a lease, connected early or now."""
    early = config.stash.get(EARLY_CONNECTION, None)
    if early is not None and early.lease == lease:
        return early.transport
    return transport_of(config, lease)


def client_for(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport | None
) -> Clawperator:
    """Return the client that was connected early, if it is this one, once; else connect it."""
    early = config.stash.get(EARLY_CONNECTION, None)
    if early is not None and early.transport is transport and early.settings is settings:
        del config.stash[EARLY_CONNECTION]
        if early.client is not None:
            return early.client
    return client_of(config, settings, lease, transport, keep=True)
