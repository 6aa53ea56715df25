"""Which accessibility services are enabled."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state import accessibility
from pytest_clawperator.simulator.android.state.settings import SettingsStore

ONE, TWO = "com.one/.Service", "com.two/.Service"


def test_an_enabled_service_counts_only_while_accessibility_is_on() -> None:
    """The list of services and the switch must both say so."""
    settings = SettingsStore()
    accessibility.enable(settings, ONE)
    assert accessibility.is_enabled(settings, ONE)

    settings.put("secure", accessibility.SWITCH, "0")

    assert not accessibility.is_enabled(settings, ONE)
    assert accessibility.enabled_services(settings) == [ONE]


def test_disabling_one_package_leaves_the_services_of_others() -> None:
    """Accessibility stays on while any service is left."""
    settings = SettingsStore()
    accessibility.enable(settings, ONE)
    accessibility.enable(settings, TWO)

    accessibility.disable_package(settings, "com.one")

    assert accessibility.enabled_services(settings) == [TWO]
    assert accessibility.is_on(settings)


def test_disabling_the_last_service_switches_accessibility_off() -> None:
    """A package without services changes nothing."""
    settings = SettingsStore()
    accessibility.enable(settings, ONE)

    accessibility.disable_package(settings, "com.two")
    assert accessibility.is_on(settings)
    accessibility.disable_package(settings, "com.one")

    assert not accessibility.is_on(settings)
