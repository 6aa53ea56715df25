"""Several devices for one test: its own, and spare ones that no worker has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from queue import Empty, Queue
from typing import Any, Protocol

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    DeviceUnavailableError,
    LeaseError,
)
from pytest_clawperator.plugin.evidence.used_clients import client_connected
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.plugin.leasing.connecting import client_of, ensure_health, transport_of
from pytest_clawperator.plugin.leasing.held_devices import ALONE, spares_of
from pytest_clawperator.plugin.session.channel import ask, reply, send
from pytest_clawperator.plugin.session.device_failures import is_infrastructure
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.hints import hint_of, in_options
from pytest_clawperator.plugin.stash import DEVICE_POOL
from pytest_clawperator.plugin.worker_input import is_worker

# How long a test waits for others of its run to be done with the spare devices.
PATIENCE = 600.0

# The topics of workers: how many spare devices they want, that they are done with them, and
# which of them does not work.
_WANT, _DONE, _BROKEN = "spares wanted", "spares done", "spare broken"


class SeveralDevices(Protocol):
    """What ``clawperator_devices`` returns: ``alice, bob = clawperator_devices(2)``."""

    def __call__(self, count: int) -> list[Clawperator]:
        """Return this many clients, each on a device of its own; the first is the test's."""


def several(
    request: pytest.FixtureRequest, settings: Settings, own: Clawperator
) -> Iterator[SeveralDevices]:
    """Yield the function that gives a test this many clients, of which the first is its own."""
    __tracebackhide__ = True
    with ExitStack() as after:
        devices = _several(request.config, settings, own, after)
        yield lambda count: in_options(lambda: devices(count))


def _several(
    config: pytest.Config, settings: Settings, own: Clawperator, after: ExitStack
) -> SeveralDevices:
    def devices(count: int) -> list[Clawperator]:
        if type(count) is not int or count < 1:
            raise ConfigurationError(
                f"clawperator_devices({count!r}) is no number of devices",
                hint="Allowed is a number from 1 on: clawperator_devices(2).",
            )
        leases = _take(config, count - 1) if count > 1 else []
        after.callback(_give_back, config)
        return [own, *(_connected(config, settings, lease, after) for lease in leases)]

    return devices


def receive(node: Any, topic: str, value: Any) -> None:
    """Answer a worker that wants spare devices, or take them back."""
    spares, worker_id = spares_of(node.config), node.gateway.id
    if topic == _DONE:
        spares.give_back(worker_id)
    elif topic == _BROKEN:
        spares.put_aside(value)
    elif topic == _WANT:
        try:
            spares.ask(worker_id, value, lambda given: reply(node, topic, _plain(node, given)))
        except ClawperatorError as error:
            reply(node, topic, {"error": [error.message, hint_of(error), is_infrastructure(error)]})


def _plain(node: Any, leases: Sequence[Lease]) -> dict[str, Any]:
    return {"leases": [asdict(lease) for lease in _with_tickets(node.config, leases)]}


def _with_tickets(config: pytest.Config, leases: Sequence[Lease]) -> list[Lease]:
    """Return the leases as they are now: they were made when the run began."""
    return [config.stash[DEVICE_POOL].with_ticket(lease) for lease in leases]


def _take(config: pytest.Config, count: int) -> list[Lease]:
    if is_worker(config):
        try:
            answer = ask(config, _WANT, count, timeout=PATIENCE)
        except TimeoutError as exc:
            raise _not_free(count) from exc
        if "error" in answer:
            message, hint, is_broken = answer["error"]
            raise (DeviceUnavailableError if is_broken else ConfigurationError)(message, hint=hint)
        if not answer["leases"]:
            raise DeviceUnavailableError(
                "the spare devices that the test waited for did not work and were put aside",
                hint="See to them, and run the test again.",
            )
        return [Lease(**lease) for lease in answer["leases"]]
    given: Queue[Sequence[Lease]] = Queue()
    spares_of(config).ask(ALONE, count, given.put)
    try:
        return _with_tickets(config, given.get_nowait())
    except Empty:
        raise _not_free(count) from None


def _give_back(config: pytest.Config) -> None:
    if is_worker(config):
        send(config, _DONE, None)
    else:
        spares_of(config).give_back(ALONE)


def _connected(
    config: pytest.Config, settings: Settings, lease: Lease, after: ExitStack
) -> Clawperator:
    """Connect a spare device for as long as the test lasts; one that does not work is given up."""
    try:
        return _connect(config, settings, lease, after)
    except ClawperatorError as error:
        if is_infrastructure(error):
            events_of(config).notice(lease.serial, "the spare device is put aside")
            if is_worker(config):
                send(config, _BROKEN, lease.serial)
            else:
                spares_of(config).put_aside(lease.serial)
        raise


def _connect(
    config: pytest.Config, settings: Settings, lease: Lease, after: ExitStack
) -> Clawperator:
    transport = None if lease.url is not None else transport_of(config, lease)
    client = client_of(config, settings, lease, transport)
    hook, device = config.hook, client.device.info
    after.callback(hook.pytest_clawperator_device_released, device=device, failed=False)
    after.callback(client.close)
    hook.pytest_clawperator_device_ready(device=device, client=client)
    ensure_health(config, client)
    after.callback(client.device.restore)
    after.callback(client_connected(config, client, "clawperator_devices"))
    return client


def _not_free(count: int) -> LeaseError:
    return LeaseError(
        f"after {PATIENCE:g} s the {count} spare devices of this run are still in use",
        hint="Keep more of them from the workers with --claw-spare-devices.",
    )
