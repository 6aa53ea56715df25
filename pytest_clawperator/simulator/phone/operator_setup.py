"""Installing the Operator on a phone, and binding its accessibility service."""

from __future__ import annotations

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.package_manager import uninstall
from pytest_clawperator.simulator.android.packages import (
    NOTIFICATIONS,
    OPERATOR,
    OPERATOR_DEV,
    OPERATOR_LISTENER,
    OPERATOR_PACKAGES,
    OPERATOR_SERVICE,
    operator_package,
    operator_screen,
)
from pytest_clawperator.simulator.android.settings_store import add_to_list
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.phone.options import Variant

_VARIANTS = {"release": OPERATOR, "dev": OPERATOR_DEV}


def install_operator_variant(system: AndroidSystem, variant: Variant) -> None:
    """Install just this variant of the Operator, set up and running, or none."""
    for name in OPERATOR_PACKAGES:
        uninstall(system, name)
    if variant != "absent":
        _set_up_operator(system, _VARIANTS[variant])


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
    system.ui.apps.install(operator_screen(package))
    if system.build.api >= 33:
        system.ui.permissions.grant(name, NOTIFICATIONS)
    settings = system.settings
    add_to_list(settings, "secure", "enabled_notification_listeners", f"{name}/{OPERATOR_LISTENER}")
    settings_store.enable_accessibility_service(settings, f"{name}/{OPERATOR_SERVICE}")


def bind_services(system: AndroidSystem) -> None:
    """Start the Operators whose accessibility service is switched on, as Android does."""
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        service = f"{name}/{OPERATOR_SERVICE}"
        if package is not None and settings_store.is_accessibility_service_on(
            system.settings, service
        ):
            package.stopped = False
            system.operators.start(name)
