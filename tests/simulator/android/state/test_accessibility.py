"""Which accessibility services are enabled."""

from __future__ import annotations

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.settings_store import SettingsStore

ONE, TWO = "com.one/.Service", "com.two/.Service"


def test_an_enabled_service_counts_only_while_accessibility_is_on() -> None:
    """The list of services and the switch must both say so."""
    settings = SettingsStore()
    settings_store.enable_accessibility_service(settings, ONE)
    assert settings_store.is_accessibility_service_on(settings, ONE)

    settings.put("secure", settings_store.ACCESSIBILITY_SWITCH, "0")

    assert not settings_store.is_accessibility_service_on(settings, ONE)
    assert settings_store.enabled_accessibility_services(settings) == [ONE]


def test_disabling_one_package_leaves_the_services_of_others() -> None:
    """Accessibility stays on while any service is left."""
    settings = SettingsStore()
    settings_store.enable_accessibility_service(settings, ONE)
    settings_store.enable_accessibility_service(settings, TWO)

    settings_store.disable_accessibility_services(settings, "com.one")

    assert settings_store.enabled_accessibility_services(settings) == [TWO]
    assert settings_store.is_accessibility_on(settings)


def test_disabling_the_last_service_switches_accessibility_off() -> None:
    """A package without services changes nothing."""
    settings = SettingsStore()
    settings_store.enable_accessibility_service(settings, ONE)

    settings_store.disable_accessibility_services(settings, "com.two")
    assert settings_store.is_accessibility_on(settings)
    settings_store.disable_accessibility_services(settings, "com.one")

    assert not settings_store.is_accessibility_on(settings)
