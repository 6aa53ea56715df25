"""The device of a command: chosen, leased for as long as the command takes, and released."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module

from pytest_clawperator.cli.options import GlobalOptions
from pytest_clawperator.cli.output import for_command_line, notice
from pytest_clawperator.contracts.events import Event, ExecutionFinished, Notice, Observer
from pytest_clawperator.devices.connection import chosen_package, open_runner, open_transport
from pytest_clawperator.devices.health import Readiness, judge, read_readiness
from pytest_clawperator.devices.inventory import (
    USABLE,
    ConnectedDevice,
    choose_device,
    list_devices,
    read_device,
)
from pytest_clawperator.devices.lease import Permit, borrow, open_leases, take_each
from pytest_clawperator.devices.spec import parse_device_spec
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    NoDeviceError,
    OperatorNotReadyError,
)
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.server import ensure_server, locate_server

#: The name of this program as a holder of leases.
RUN_ID = "clawperator-py"


def is_remote(options: GlobalOptions) -> bool:
    """Whether the device belongs to another host."""
    return options.device is not None and options.device.startswith(("http://", "https://"))


def _require_adb(options: GlobalOptions) -> None:
    """Raise for a device of another host, which can only run executions."""
    if is_remote(options):
        raise ConfigurationError(
            "this command needs a device behind an adb server",
            code=ErrorCode.DEVICE_SHELL_UNAVAILABLE,
            hint=Remedy(RemedyKind.CONNECT_BY_ADB),
        )


def connected_devices(options: GlobalOptions) -> list[ConnectedDevice]:
    """Return the devices that are connected, the unusable ones included."""
    _require_adb(options)
    server = locate_server(options.adb)
    ensure_server(server, notify=notice)
    return list_devices(server)


def usable_devices(options: GlobalOptions) -> list[ConnectedDevice]:
    """Return the devices that can be used; only the chosen one, if one was chosen."""
    found = connected_devices(options)
    if options.device is not None:
        with _published_codes(options):
            return [choose_device(found, options.device)]
    return [device for device in found if device.state == USABLE]


def simulated_elsewhere(options: GlobalOptions) -> str:
    """Return how to reach simulated phones that run behind another adb server, if any."""
    # Rarely needed.
    found: str = import_module("pytest_clawperator.cli.simulate").elsewhere(
        str(locate_server(options.adb))
    )
    return found


@contextmanager
def _published_codes(options: GlobalOptions) -> Iterator[None]:
    """Give the error for an unusable device the published program's code and details.

    The message stays. Without any device, simulated phones that run elsewhere are named.
    """
    try:
        yield
    except NoDeviceError as error:
        if found := simulated_elsewhere(options):
            error.add_hint(found)
        raise
    except (DeviceNotFoundError, DeviceUnavailableError) as error:
        usable = [one.serial for one in connected_devices(options) if one.state == USABLE]
        error.code = ErrorCode.DEVICE_NOT_FOUND
        error.details["connected"] = usable
        raise


@contextmanager
def open_device(options: GlobalOptions) -> Iterator[AdbTransport]:
    """Open the chosen device without a lease, for commands without an execution."""
    _require_adb(options)
    with _published_codes(options):
        transport = open_transport(options.device, adb=options.adb, observers=[_observer(options)])
    with _closing(transport):
        yield transport


@contextmanager
def leased(options: GlobalOptions, transport: AdbTransport) -> Iterator[Permit]:
    """Lease the device; raise LeaseError naming the holder if it is taken."""
    key = read_device(transport, server=transport.server).key
    with _hold(options, key, transport.serial) as hold:
        yield hold


@contextmanager
def open_session(options: GlobalOptions) -> Iterator[Runner]:
    """Open a runner for the chosen device, which is leased for the block."""
    if is_remote(options):
        from pytest_clawperator.remote.runner import open_remote  # rarely needed

        spec = parse_device_spec(options.device or "")
        runner, _ = open_remote(
            spec.url or "",
            serial=spec.serial,
            operator_package=options.operator_package,
            observers=[_observer(options)],
        )
        with _closing(runner):
            yield runner
        return
    # Before anything is opened.
    package = chosen_package(options.operator_package)
    with ExitStack() as opened:
        transport = opened.enter_context(open_device(options))
        info = read_device(transport, server=transport.server)
        hold = opened.enter_context(_hold(options, info.key, transport.serial))
        pipeline, _ = open_runner(
            transport,
            server=transport.server,
            operator_package=package,
            observers=[_observer(options)],
            clearance=hold.clear,
            info=info,
            first_check=_tolerant_check,
            keep=True,
        )
        opened.callback(pipeline.close)
        yield pipeline


def _tolerant_check(transport: Transport, package: str) -> Readiness:
    """Check a device; if another variant of the Operator is installed, print a notice only.

    If the requested one does not answer, the run itself fails. A device that has started but does
    not list its apps is an error.
    """
    found = read_readiness(transport, package)
    if found.installed is None and found.booted is not False:
        raise OperatorNotReadyError(
            f"the device does not report whether the Operator app {package} is installed",
            code=ErrorCode.OPERATOR_NOT_INSTALLED,
            serial=transport.serial,
            hint="Try `adb shell pm list packages` by hand; a device that is still starting"
            " refuses it.",
            details={"wanted": package},
        )
    try:
        return judge(found, package, serial=transport.serial)
    except OperatorNotReadyError as error:
        if error.code is not ErrorCode.OPERATOR_VARIANT_MISMATCH:
            raise
        error.wording = for_command_line
        notice(str(error))
        return Readiness()


@contextmanager
def _hold(options: GlobalOptions, key: str, serial: str) -> Iterator[Permit]:
    """Lease the device, or use the lease that the parent process has lent."""
    with borrow(key, run_id=RUN_ID, notify=notice) as lent:
        if lent is not None:
            yield lent
            return
    store = open_leases(options.lease, run_id=RUN_ID, notify=notice)
    try:
        [hold] = take_each(store, [[key]], notify=notice, name=lambda _: serial)
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


def _observer(options: GlobalOptions) -> Observer:
    """Return an observer that prints notices, as the options demand."""

    def observe(event: Event) -> None:
        where = f"[{event.serial}] " if event.serial else ""
        if isinstance(event, Notice) and not options.is_quiet:
            notice(f"{where}{event.message}")
        elif isinstance(event, ExecutionFinished) and options.is_talkative:
            notice(f"{where}{event.execution.command_id} took {event.elapsed:.2f} s")

    return observe
