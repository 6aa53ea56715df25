"""Which accessibility services the settings have switched on."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state.settings import (
    SettingsStore,
    add_to_list,
    remove_from_list,
)

SWITCH = "accessibility_enabled"
SERVICES = "enabled_accessibility_services"


def is_on(settings: SettingsStore) -> bool:
    """Whether accessibility is switched on at all."""
    return settings.get("secure", SWITCH) == "1"


def enabled_services(settings: SettingsStore) -> list[str]:
    """Return the components of the enabled services; they count only while it is switched on."""
    return [name for name in (settings.get("secure", SERVICES) or "").split(":") if name]


def is_enabled(settings: SettingsStore, component: str) -> bool:
    """Whether a service is enabled and accessibility switched on."""
    return is_on(settings) and component in enabled_services(settings)


def enable(settings: SettingsStore, component: str) -> None:
    """Enable a service and switch accessibility on."""
    add_to_list(settings, "secure", SERVICES, component)
    settings.put("secure", SWITCH, "1")


def disable_package(settings: SettingsStore, package: str) -> None:
    """Disable the services of a package; without any left, accessibility is switched off."""
    had_services = bool(enabled_services(settings))
    if not remove_from_list(settings, "secure", SERVICES, package=package) and had_services:
        settings.put("secure", SWITCH, "0")
