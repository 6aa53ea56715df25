"""Several simulated phones, and the private adb server that they are connected to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.apps.load import load_app, shipped_apps
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.faults import parse_fault
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions, Variant, wifi_name
from pytest_clawperator.simulator.phone_kinds import (
    LEAST_API,
    MAX_PHONES,
    MOST_API,
    PhoneKind,
    parse_phones,
)
from pytest_clawperator.simulator.wire.adb_server import AdbServer
from pytest_clawperator.simulator.wire.adbd import Adbd
from pytest_clawperator.simulator.wire.console import Console, listen_as_emulator

Join = Callable[[], Awaitable[str]]

_MODELS = ("Pixel 9", "Pixel 8", "Pixel 7a", "Pixel 6")
_TABLET = "Pixel Tablet"


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """Which phones there are, and how they behave.

    ``devices`` is their number, or a description: ``phone,tablet;api=30,35``. ``api`` and ``dark``
    apply where the description leaves them open.
    """

    devices: int | str = 1
    emulators: int = 0
    apps: Sequence[Path] = ()
    profile: Profile = "documented"
    operator: Variant = "release"
    api: int = 36
    seed: int = 0
    time_scale: float = 1.0
    chatter: float = 0.0
    dark: bool = False
    faults: Sequence[str] = ()
    quirks: Sequence[str] = ()


class Fleet:
    """The running phones; ``serials`` are what adb calls them, emulators last."""

    def __init__(self, options: FleetOptions) -> None:
        self._phones = _phones_of(options.devices) + [PhoneKind()] * options.emulators
        count = len(self._phones)
        if not 1 <= count <= MAX_PHONES:
            raise ConfigurationError(
                f"a simulator of {options.devices} devices and {options.emulators} emulators "
                "cannot be started",
                hint=f"Ask for 1 to {MAX_PHONES} phones in all.",
            )
        _check("time scale", options.time_scale, 0, 1000)
        _check("chatter", options.chatter, 0, 10_000)
        _check("API level", options.api, LEAST_API, MOST_API)
        self._quirks = frozenset(options.quirks)
        self._options = options
        self._stack = AsyncExitStack()
        self._server = AdbServer()
        self._ended: list[asyncio.Task[None]] = []
        self._joins: list[Join] = []
        self.serials: list[str] = []

    @property
    def adb_port(self) -> int:
        """Where the private adb server listens."""
        return self._server.port

    async def __aenter__(self) -> Fleet:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        # adb takes a moment to come up; the phones are made meanwhile.
        server = asyncio.create_task(self._server.start())
        self._stack.push_async_callback(self._server.stop)
        try:
            apps = [*shipped_apps(), *map(load_app, self._options.apps)]
            joins = [
                await self._start_phone(self._device(place, phone, apps))
                for place, phone in enumerate(self._phones)
            ]
        finally:
            await server
        self.serials = list(await asyncio.gather(*(join() for join in joins)))
        self._joins = joins

    async def run_until(self, stopped: asyncio.Event) -> None:
        """Run until ``stopped``; raise if the adb server ends and cannot be started again."""
        await self._server.keep_until(stopped, rejoin=self._rejoin)

    async def _rejoin(self) -> None:
        """Connect the phones that are still there."""
        await asyncio.gather(*(join() for join in self._joins), return_exceptions=True)

    async def _start_phone(self, device: Device) -> Join:
        """Start a phone; the result connects it to the adb server and returns its serial."""
        for fault in self._options.faults:
            device.set_fault(parse_fault(fault.split()))
        adbd = Adbd(device)
        device.cable.disconnect = adbd.drop_connections
        await device.start()
        self._stack.push_async_callback(device.stop)
        self._stack.push_async_callback(adbd.stop)
        if device.options.avd_name is None and "wifi-serial" in device.options.quirks:
            name = wifi_name(device.options.serial_number)
            return lambda: self._server.connect_by_name(
                name, adbd.start_at, state=device.admission()
            )
        if device.options.avd_name is None:
            port = await adbd.start()
            return lambda: self._server.connect(port, state=device.admission())
        console = Console(avd_name=device.options.avd_name, on_kill=lambda: self._kill(adbd))
        self._stack.push_async_callback(console.stop)
        console_port = await listen_as_emulator(console, adbd)
        return lambda: self._server.register_emulator(console_port, state=device.admission())

    def _kill(self, adbd: Adbd) -> None:
        """End an emulator, as ``adb emu kill`` asks; the others go on."""
        self._ended.append(asyncio.create_task(adbd.stop()))

    def _device(self, place: int, phone: PhoneKind, apps: Sequence[App]) -> Device:
        options = self._options
        first_emulator = len(self._phones) - options.emulators
        is_emulator = place >= first_emulator
        size, density = phone.screen
        return Device(
            DeviceOptions(
                serial_number=f"SIM{options.seed:04d}{place:03d}",
                model="sdk_gphone64_x86_64" if is_emulator else _model(place, phone),
                avd_name=f"simulated_{place - first_emulator + 1}" if is_emulator else None,
                size=size,
                density=density,
                api=phone.api or options.api,
                locale=phone.locale or "en-US",
                apps=tuple(apps),
                profile=options.profile,
                operator=options.operator,
                time_scale=options.time_scale,
                seed=options.seed * 1000 + place,
                chatter=options.chatter,
                quirks=self._quirks | phone.quirks,
                dark=options.dark if phone.dark is None else phone.dark,
            )
        )


def _phones_of(devices: int | str) -> list[PhoneKind]:
    """Return the kind of each phone that is not an emulator; there may be none."""
    if isinstance(devices, str) and not re.fullmatch(r"-?[0-9]+", devices):
        return parse_phones(devices)
    # Too many of them, or too few, are reported together with the emulators.
    return [PhoneKind()] * min(max(int(devices), 0), MAX_PHONES + 1)


def _model(place: int, phone: PhoneKind) -> str:
    return _TABLET if phone.is_tablet else _MODELS[place % len(_MODELS)]


def _check(name: str, value: float, least: int, most: int) -> None:
    # Written so that NaN, which is neither below nor above anything, is refused too.
    if not least <= value <= most:
        raise ConfigurationError(
            f"a {name} of {value} makes no sense", hint=f"Allowed: {least} to {most}."
        )
