"""The tables of settings, and the accessibility services in them."""

from __future__ import annotations

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.settings_store import (
    SettingsStore,
    add_to_list,
    remove_from_list,
)


class TestStore:
    """The tables."""

    def test_a_watcher_is_called_at_every_change(self) -> None:
        """Whoever watches is reported every change and every removal."""
        store = SettingsStore()
        told: list[tuple[str, str, str | None]] = []
        store.watch(lambda *change: told.append(change))

        store.put("global", "x", "1")
        store.delete("global", "x")
        store.delete("global", "x")

        assert told == [("global", "x", "1"), ("global", "x", None)]

    def test_components_are_added_once_and_removed_by_package(self) -> None:
        """Components are added once, and removed by their package."""
        store = SettingsStore({})

        for item in ("a/x", "b/y", "a/x"):
            add_to_list(store, "secure", "k", item)

        assert store.get("secure", "k") == "a/x:b/y"
        assert remove_from_list(store, "secure", "k", package="a") == ["b/y"]
        assert store.get("secure", "k") == "b/y"

    def test_defaults_are_not_shared(self) -> None:
        """What one phone changes stays on that phone."""
        first, second = SettingsStore(), SettingsStore()

        first.put("global", "adb_enabled", "0")

        assert second.get("global", "adb_enabled") == "1"


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
