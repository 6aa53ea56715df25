"""Build a new phone: its options, and the Android system when it is first switched on."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pytest_clawperator.simulator.android import packages, settings_store
from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.pm import install_app, install_operator, uninstall
from pytest_clawperator.simulator.android.processes import app_complains, app_crashed, app_started
from pytest_clawperator.simulator.android.properties import Build, Properties
from pytest_clawperator.simulator.android.screen_capture import Camera
from pytest_clawperator.simulator.android.settings_store import SettingsStore, add_to_list
from pytest_clawperator.simulator.android.system import AndroidSystem, Display, ProcessTable
from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.faults import Faults, Stats
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.operator.app import OperatorApp, OperatorHost
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.operator.run import Surroundings
from pytest_clawperator.simulator.phone.power import Boot
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.phone_state import Fetch
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.wire.adbd import FEATURES

Variant = Literal["release", "dev", "absent"]
"""Which variant of the Operator is installed."""


# The last version whose adbd sends no exit codes, and whose tools are mostly those of toolbox.
_OLD_API = 23
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "iw", "ps", "ur", "yi"})


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """What kind of phone it is; ``apps`` are installed on it, by default those that are shipped.

    Phones with the same ``image`` have the same build of Android, whatever their ``seed``.
    """

    serial_number: str
    model: str = "Pixel 9"
    api: int = 36
    size: tuple[int, int] = (1080, 2400)
    density: int = 420
    apps: Sequence[App] | None = None
    profile: Profile = "documented"
    operator: Variant = "release"
    time_scale: float = 1.0
    seed: int = 0
    chatter: float = 0.0
    dark: bool = False
    avd_name: str | None = None
    image: str | None = None
    locale: str = "en-US"
    quirks: frozenset[str] = frozenset()


def as_sold(options: DeviceOptions) -> DeviceOptions:
    """Return the options with what the quirks of the phone change in them."""
    quirks = options.quirks
    if "old-toybox" in quirks:
        options = replace(options, api=min(options.api, _OLD_API))
    if "rtl" in quirks and options.locale.split("-")[0] not in _RIGHT_TO_LEFT:
        options = replace(options, locale="ar-EG")
    return options


def features_of(options: DeviceOptions) -> tuple[str, ...]:
    """Return the features that its adbd announces to hosts."""
    return () if "old-toybox" in options.quirks else FEATURES


def wifi_name(serial_number: str) -> str:
    """Return the serial of a phone on Wi-Fi whose first name is still taken."""
    return f"adb-{serial_number}-aBcDeF (2)._adb-tls-connect._tcp"


_VARIANTS = {"release": packages.OPERATOR, "dev": packages.OPERATOR_DEV}
_LAUNCH_SECONDS = 0.3
# Never 0: an app that is in front immediately could not be seen as a navigation.
_SHORTEST_LAUNCH_SECONDS = 0.02
# How many dp a camera in the screen takes of its upper edge.
_CUTOUT = 52
_SETTINGS, _VERSION = "com.android.settings", "android_version"
_EMPTY_ZIP = b"PK\5\6" + bytes(18)  # for those who pull an app's file


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a phone keeps when its system is built again."""

    time: PhoneClock
    files: FileSystem
    log: LogBuffer
    faults: Faults
    stats: Stats
    camera: Camera
    fetch: Fetch
    boot: Boot


def build_system(options: DeviceOptions, parts: Parts) -> tuple[AndroidSystem, OperatorHost]:
    """Build the phone's system; the same options give the same one."""
    operators = OperatorHost(lambda package: make_operator(package), profile=options.profile)
    system = _system_of(options, parts, operators)
    surroundings = Surroundings(
        ui=system.ui,
        log=parts.log,
        faults=parts.faults,
        files=parts.files,
        settings=system.settings,
        stats=parts.stats,
        clock=parts.time,
    )

    def make_operator(package: str) -> OperatorApp:
        return OperatorApp(
            surroundings,
            package=package,
            rng=_chance(options, f"operator/{package}"),
            is_release=package == packages.OPERATOR,
        )

    system.ui.changes.on_event = operators.on_event
    system.ui.changes.on_start = lambda package, activity: app_started(system, package, activity)
    system.ui.changes.on_crash = lambda package, message: app_crashed(system, package, message)
    system.ui.changes.on_complaint = lambda package, message: app_complains(
        system, package, message
    )
    system.ui.lock_with(lambda: parts.faults.active("locked") is not None)
    parts.faults.on_change = system.ui.changes.note
    parts.camera.point_at(system.ui, system.display)
    _furnish(system, options)
    return system, operators


def _system_of(options: DeviceOptions, parts: Parts, operators: OperatorHost) -> AndroidSystem:
    clock, faults = parts.time.seconds, parts.faults
    build = _build_of(options)
    return AndroidSystem(
        build=build,
        clock=clock,
        rng=_chance(options, "system"),
        properties=Properties(
            build,
            rng=random.Random(f"{options.image or options.seed}/properties"),  # noqa: S311 - no secrets here
            booting=lambda: bool(faults.active("booting")) or not parts.boot.is_completed,
        ),
        settings=SettingsStore(),
        packages=packages.PackageStore(
            packages.system_packages(
                api=build.api, release=build.release, rng=_chance(options, "packages")
            )
        ),
        processes=ProcessTable(rng=_chance(options, "processes")),
        files=parts.files,
        log=parts.log,
        ui=_screen_of(options, clock, parts.fetch),
        faults=faults,
        stats=parts.stats,
        display=Display(options.size, options.density),
        operators=operators,
        camera=parts.camera,
        reboot=parts.boot.begin,
        quirks=options.quirks,
        has_services=lambda: parts.boot.has_services,
    )


def _chance(options: DeviceOptions, purpose: str) -> random.Random:
    # One sequence each, so that using one more often does not change the others.
    return random.Random(f"{options.seed}/{purpose}")  # noqa: S311 - no secrets here


def _build_of(options: DeviceOptions) -> Build:
    return Build(
        serial=options.serial_number,
        model=options.model,
        api=options.api,
        density=options.density,
        locale=options.locale,
        avd_name=options.avd_name,
    )


def _screen_of(options: DeviceOptions, clock: Callable[[], float], fetch: Fetch) -> PhoneUi:
    ui = PhoneUi(
        size=options.size,
        density=options.density,
        clock=clock,
        launch_delay=max(_LAUNCH_SECONDS * options.time_scale, _SHORTEST_LAUNCH_SECONDS),
        fetch=fetch,
    )
    ui.display.right_to_left = "rtl" in options.quirks
    ui.display.cutout = _CUTOUT if "cutout" in options.quirks else 0
    ui.view.dumps_all_windows = "several-roots" in options.quirks
    return ui


def _furnish(system: AndroidSystem, options: DeviceOptions) -> None:
    system.settings.put("secure", "bluetooth_name", options.model)
    system.settings.watch(lambda namespace, key, value: _settings_changed(system, namespace, key))
    system.settings.put("system", "system_locales", options.locale)
    system.ui.display.dark = options.dark
    system.settings.put("secure", "ui_night_mode", "2" if options.dark else "1")
    for app in shipped_apps() if options.apps is None else options.apps:
        install_app(system, _of_this_version(app, system.build), preinstalled=True)
    install_operator_variant(system, options.operator)
    for package in system.packages.all():
        system.files.provide(package.apk, _EMPTY_ZIP)


def _of_this_version(app: App, build: Build) -> App:
    """Return an app; that of the settings shows the version of the phone."""
    if _VERSION not in app.state or app.package != _SETTINGS:
        return app
    return app.model_copy(update={"state": {**app.state, _VERSION: build.release}})


def _settings_changed(system: AndroidSystem, namespace: str, key: str) -> None:
    if (namespace, key) in (("system", "user_rotation"), ("system", "accelerometer_rotation")):
        free = system.settings.get("system", "accelerometer_rotation") == "1"
        rotation = system.settings.get("system", "user_rotation")
        if not free and rotation in ("0", "1", "2", "3"):
            system.ui.display.rotation = int(rotation)
    elif (namespace, key) == ("system", "font_scale"):
        system.ui.display.font_scale = _number(system.settings.get(namespace, key), 1.0)
    elif key in (settings_store.ACCESSIBILITY_SWITCH, settings_store.ACCESSIBILITY_SERVICES):
        bind_services(system)


def _number(text: str | None, otherwise: float) -> float:
    try:
        return float(text or "")
    except ValueError:
        return otherwise


def install_operator_variant(system: AndroidSystem, variant: Variant) -> None:
    """Install just this variant of the Operator, set up and running, or none."""
    for name in packages.OPERATOR_PACKAGES:
        uninstall(system, name)
    if variant != "absent":
        _set_up_operator(system, _VARIANTS[variant])


def _set_up_operator(system: AndroidSystem, name: str) -> None:
    """Install the Operator as its own setup leaves it: permitted, bound, running."""
    install_operator(system, name, set_up=True)
    if system.build.api >= 33:
        system.ui.permissions.grant(name, packages.NOTIFICATIONS)
    settings = system.settings
    add_to_list(
        settings, "secure", "enabled_notification_listeners", f"{name}/{packages.OPERATOR_LISTENER}"
    )
    settings_store.enable_accessibility_service(settings, f"{name}/{packages.OPERATOR_SERVICE}")


def bind_services(system: AndroidSystem) -> None:
    """Start the Operators whose accessibility service is switched on, as Android does."""
    for name in packages.OPERATOR_PACKAGES:
        package = system.packages.get(name)
        service = f"{name}/{packages.OPERATOR_SERVICE}"
        if package is not None and settings_store.is_accessibility_service_on(
            system.settings, service
        ):
            package.stopped = False
            system.operators.start(name)
