"""The device of a command: chosen, leased for as long as the command takes, and released."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.output import notice
from pytest_clawperator.contracts.events import Event, Notice
from pytest_clawperator.devices.connection import (
    open_remote,
    open_runner,
    open_transport,
    wanted_package,
)
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.devices.lease import Hold, open_leases, take_each
from pytest_clawperator.devices.spec import parse_device_spec
from pytest_clawperator.execution.runner import Runner
from pytest_clawperator.transport.adb import AdbTransport

#: What holders of leases are called whom this program is.
RUN_ID = "clawperator-py"


def is_remote(options: GlobalOptions) -> bool:
    """Whether the device is one of another host."""
    return options.device is not None and options.device.startswith(("http://", "https://"))


@contextmanager
def open_device(options: GlobalOptions) -> Iterator[AdbTransport]:
    """Open the chosen device for what needs no execution; no lease is taken."""
    transport = open_transport(options.device, adb=options.adb, observers=[_tell])
    with _closing(transport):
        yield transport


@contextmanager
def leased(options: GlobalOptions, transport: AdbTransport) -> Iterator[Hold]:
    """Hold the device; raise who holds it if somebody does."""
    key = read_device(transport, server=transport.server).key
    with _hold(options, key, transport.serial) as hold:
        yield hold


@contextmanager
def open_session(options: GlobalOptions) -> Iterator[Runner]:
    """Open what runs executions on the chosen device, which nobody else has meanwhile."""
    if is_remote(options):
        spec = parse_device_spec(options.device or "")
        runner, _ = open_remote(
            spec.url or "",
            serial=spec.serial,
            operator_package=options.operator_package,
            observers=[_tell],
        )
        with _closing(runner):
            yield runner
        return
    package = wanted_package(options.operator_package)  # before anything is opened
    with ExitStack() as opened:
        transport = opened.enter_context(open_device(options))
        info = read_device(transport, server=transport.server)
        hold = opened.enter_context(_hold(options, info.key, transport.serial))
        pipeline, _ = open_runner(
            transport,
            server=transport.server,
            operator_package=package,
            observers=[_tell],
            clearance=hold.clear,
            info=info,
            keep=True,
        )
        opened.callback(pipeline.close)
        yield pipeline


@contextmanager
def _hold(options: GlobalOptions, key: str, serial: str) -> Iterator[Hold]:
    store = open_leases(options.lease, run_id=RUN_ID, say=notice)
    try:
        [hold] = take_each(store, [[key]], say=notice, name=lambda _: serial)
        with hold:
            yield hold
    finally:
        store.close()


@contextmanager
def _closing(opened: AdbTransport | Runner) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(KeyboardInterrupt):  # a second Ctrl-C leaves nothing behind either
            opened.close()


def _tell(event: Event) -> None:
    if isinstance(event, Notice):
        notice(f"[{event.serial}] {event.message}" if event.serial else event.message)
