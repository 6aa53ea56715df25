"""Putting a phone together: what is on it when it is switched on for the first time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.android.managers.app_processes import app_crashed
from pytest_clawperator.simulator.android.managers.package_manager import install_app, uninstall
from pytest_clawperator.simulator.android.state.build import Build
from pytest_clawperator.simulator.android.state.hardware import Display
from pytest_clawperator.simulator.android.state.operator_packages import (
    OPERATOR,
    OPERATOR_DEV,
    OPERATOR_LISTENER,
    OPERATOR_PACKAGES,
    OPERATOR_SERVICE,
    operator_package,
    operator_screen,
)
from pytest_clawperator.simulator.android.state.packages import PackageStore
from pytest_clawperator.simulator.android.state.permissions import NOTIFICATIONS
from pytest_clawperator.simulator.android.state.process_table import ProcessTable
from pytest_clawperator.simulator.android.state.properties import Properties
from pytest_clawperator.simulator.android.state.settings import SettingsStore, add_to_list
from pytest_clawperator.simulator.android.state.system_packages import system_packages
from pytest_clawperator.simulator.android.system import AndroidSystem, Phone
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.operator.app import OperatorApp
from pytest_clawperator.simulator.operator.operator_clock import OperatorClock
from pytest_clawperator.simulator.operator.steps.run import Profile
from pytest_clawperator.simulator.phone.operator_host import OperatorHost
from pytest_clawperator.simulator.screen.app_model import App, shipped_apps
from pytest_clawperator.simulator.screen.ui import Ui
from pytest_clawperator.simulator.stats import Stats

_LAUNCH_SECONDS = 0.3
# Never none at all: an app that was in front before anybody could look is no navigation.
_SHORTEST_LAUNCH_SECONDS = 0.02
_EMPTY_ZIP = b"PK\5\6" + bytes(18)  # for those who pull an app's file
Variant = Literal["release", "dev", "absent"]
"""Which variant of the Operator is installed."""

_VARIANTS = {"release": OPERATOR, "dev": OPERATOR_DEV}


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """What kind of phone it is; ``apps`` are installed on it, by default those that are shipped."""

    serial_number: str
    model: str = "Pixel 9"
    api: int = 36
    size: tuple[int, int] = (1080, 2400)
    density: int = 420
    apps: Sequence[App] | None = None
    profile: Profile = "documented"
    operator: Variant = "release"
    release_tags: bool = False
    time_scale: float = 1.0
    seed: int = 0
    chatter: float = 0.0
    dark: bool = False
    avd_name: str | None = None
    locale: str = "en-US"


def assemble(
    options: DeviceOptions,
    *,
    time: OperatorClock,
    files: FileSystem,
    log: LogBuffer,
    faults: Faults,
    stats: Stats,
    phone: Phone,
) -> tuple[AndroidSystem, OperatorHost]:
    """Build the phone's system; the same options give the same one."""
    clock = time.seconds

    def chance(purpose: str) -> random.Random:
        # One sequence each, so that using one more often does not change the others.
        return random.Random(f"{options.seed}/{purpose}")  # noqa: S311 - no secrets here

    build = _build_of(options)
    ui = _screen_of(options, clock)
    settings = SettingsStore()

    def make_operator(package: str) -> OperatorApp:
        return OperatorApp(
            ui=ui,
            log=log,
            faults=faults,
            files=files,
            settings=settings,
            package=package,
            clock=clock,
            rng=chance(f"operator/{package}"),
            stats=stats,
            profile=options.profile,
            release_tags=options.release_tags,
            time_scale=options.time_scale,
            operator_clock=time,
            dismiss_shade=lambda: setattr(system, "shade", ""),
        )

    operators = OperatorHost(make_operator, profile=options.profile)
    system = AndroidSystem(
        build=build,
        clock=clock,
        rng=chance("system"),
        properties=Properties(
            build,
            rng=chance("properties"),
            clock=clock,
            booting=lambda: faults.active("booting") is not None,
        ),
        settings=settings,
        packages=PackageStore(
            system_packages(api=build.api, release=build.release, rng=chance("packages"))
        ),
        processes=ProcessTable(rng=chance("processes")),
        files=files,
        log=log,
        ui=ui,
        faults=faults,
        stats=stats,
        display=Display(options.size, options.density),
        operators=operators,
        phone=phone,
    )
    ui.on_event = operators.on_event
    ui.on_crash = lambda package, message: app_crashed(system, package, message)
    _furnish(system, options)
    return system, operators


def _build_of(options: DeviceOptions) -> Build:
    return Build(
        serial=options.serial_number,
        model=options.model,
        api=options.api,
        density=options.density,
        locale=options.locale,
        avd_name=options.avd_name,
    )


def _screen_of(options: DeviceOptions, clock: Callable[[], float]) -> Ui:
    return Ui(
        (),
        size=options.size,
        density=options.density,
        clock=clock,
        launch_delay=max(_LAUNCH_SECONDS * options.time_scale, _SHORTEST_LAUNCH_SECONDS),
    )


def _furnish(system: AndroidSystem, options: DeviceOptions) -> None:
    system.settings.put("secure", "bluetooth_name", options.model)
    system.settings.watch(lambda namespace, key, value: _settings_changed(system, namespace, key))
    system.ui.dark = options.dark
    system.settings.put("secure", "ui_night_mode", "2" if options.dark else "1")
    for app in shipped_apps() if options.apps is None else options.apps:
        install_app(system, app, preinstalled=True)
    install_operator_variant(system, options.operator)
    for package in system.packages.all():
        system.files.provide(package.apk, _EMPTY_ZIP)


def install_operator_variant(system: AndroidSystem, variant: Variant) -> None:
    """Let just this variant of the Operator be on the phone, set up and running, or none."""
    for name in OPERATOR_PACKAGES:
        uninstall(system, name)
    if variant != "absent":
        _set_up_operator(system, _VARIANTS[variant])


def clean_files(files: FileSystem) -> None:
    """Set the files back to those of a new phone, for the shells that have them open too."""
    new = FileSystem(clock=lambda: 0.0)
    for folder in ("/data", "/storage/emulated/0"):
        _clean(files, folder, new)


def _clean(files: FileSystem, folder: str, new: FileSystem) -> None:
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        if not (files.is_dir(path) and new.is_dir(path)):
            files.remove(path, recursive=True)
    for name in new.listdir(folder):
        path = f"{folder}/{name}"
        if not files.exists(path):
            files.mkdir(path)
        _clean(files, path, new)


def _set_up_operator(system: AndroidSystem, name: str) -> None:
    """Install the Operator as its own setup leaves it: permitted, bound, running."""
    package = operator_package(
        name,
        app_id=system.packages.free_app_id(),
        rng=system.rng,
        now=system.clock(),
        set_up=True,
    )
    system.packages.add(package)
    system.ui.install(operator_screen(package))
    if system.build.api >= 33:
        system.ui.grant(name, NOTIFICATIONS)
    settings = system.settings
    add_to_list(settings, "secure", "enabled_notification_listeners", f"{name}/{OPERATOR_LISTENER}")
    add_to_list(settings, "secure", "enabled_accessibility_services", f"{name}/{OPERATOR_SERVICE}")
    settings.put("secure", "accessibility_enabled", "1")


def _settings_changed(system: AndroidSystem, namespace: str, key: str) -> None:
    if (namespace, key) in (("system", "user_rotation"), ("system", "accelerometer_rotation")):
        free = system.settings.get("system", "accelerometer_rotation") == "1"
        rotation = system.settings.get("system", "user_rotation")
        if not free and rotation in ("0", "1", "2", "3"):
            system.ui.rotation = int(rotation)
    elif key in ("accessibility_enabled", "enabled_accessibility_services"):
        bind_services(system)


def bind_services(system: AndroidSystem) -> None:
    """Start the Operators whose accessibility service is switched on, as Android does."""
    if system.settings.get("secure", "accessibility_enabled") != "1":
        return
    enabled = (system.settings.get("secure", "enabled_accessibility_services") or "").split(":")
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        if package is not None and f"{name}/{OPERATOR_SERVICE}" in enabled:
            package.stopped = False
            system.operators.start(name)
