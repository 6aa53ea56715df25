"""Android's three settings tables, and the accessibility services that they switch on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

NAMESPACES = ("system", "secure", "global")
"""The tables that ``settings`` knows."""

Watcher = Callable[[str, str, "str | None"], None]
"""Called with namespace, key and the new value, None once the key is gone."""

_KEYBOARD = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"

DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "system": {
        "accelerometer_rotation": "0",
        "font_scale": "1.0",
        "screen_brightness": "102",
        "screen_brightness_mode": "1",
        "screen_off_timeout": "60000",
        "user_rotation": "0",
        "volume_music": "5",
    },
    "secure": {
        "accessibility_enabled": "0",
        "bluetooth_name": "Pixel",
        "enabled_input_methods": _KEYBOARD,
        "default_input_method": _KEYBOARD,
        "ui_night_mode": "1",
        "user_setup_complete": "1",
    },
    "global": {
        "adb_enabled": "1",
        "airplane_mode_on": "0",
        "animator_duration_scale": "1.0",
        "auto_time": "1",
        "bluetooth_on": "1",
        "development_settings_enabled": "1",
        "device_provisioned": "1",
        "mobile_data": "1",
        "stay_on_while_plugged_in": "0",
        "transition_animation_scale": "1.0",
        "wifi_on": "1",
        "window_animation_scale": "1.0",
    },
}
"""What a phone that was set up for tests has in its tables."""


class SettingsStore:
    """The settings of one phone; every value is text, as on the real one."""

    def __init__(self, values: Mapping[str, Mapping[str, str]] = DEFAULTS) -> None:
        self._tables = {name: dict(values.get(name, {})) for name in NAMESPACES}
        self._watchers: list[Watcher] = []

    def get(self, namespace: str, key: str) -> str | None:
        """Return a value, or None if the key is not set."""
        return self._tables[namespace].get(key)

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a value."""
        self._tables[namespace][key] = value
        self._notify(namespace, key, value)

    def delete(self, namespace: str, key: str) -> bool:
        """Remove a value; return whether there was one."""
        if self._tables[namespace].pop(key, None) is None:
            return False
        self._notify(namespace, key, None)
        return True

    def items(self, namespace: str) -> list[tuple[str, str]]:
        """List a table's keys and values, by key."""
        return sorted(self._tables[namespace].items())

    def watch(self, watcher: Watcher) -> None:
        """Call ``watcher`` at every later change."""
        self._watchers.append(watcher)

    def _notify(self, namespace: str, key: str, value: str | None) -> None:
        for watcher in self._watchers:
            watcher(namespace, key, value)


def add_to_list(store: SettingsStore, namespace: str, key: str, item: str) -> None:
    """Add an item to a colon-separated list, unless it is there."""
    items = _items(store, namespace, key)
    if item not in items:
        store.put(namespace, key, ":".join([*items, item]))


def remove_from_list(store: SettingsStore, namespace: str, key: str, *, package: str) -> list[str]:
    """Remove a package's components from a colon-separated list; return the rest."""
    items = _items(store, namespace, key)
    left = [item for item in items if item.partition("/")[0] != package]
    if left != items:
        store.put(namespace, key, ":".join(left))
    return left


def _items(store: SettingsStore, namespace: str, key: str) -> list[str]:
    return [item for item in (store.get(namespace, key) or "").split(":") if item]


ACCESSIBILITY_SWITCH = "accessibility_enabled"
ACCESSIBILITY_SERVICES = "enabled_accessibility_services"


def is_accessibility_on(settings: SettingsStore) -> bool:
    """Whether accessibility is switched on at all."""
    return settings.get("secure", ACCESSIBILITY_SWITCH) == "1"


def enabled_accessibility_services(settings: SettingsStore) -> list[str]:
    """Return the components of the enabled services; they count only while it is switched on."""
    return _items(settings, "secure", ACCESSIBILITY_SERVICES)


def is_accessibility_service_on(settings: SettingsStore, component: str) -> bool:
    """Whether a service is enabled and accessibility switched on."""
    return is_accessibility_on(settings) and component in enabled_accessibility_services(settings)


def enable_accessibility_service(settings: SettingsStore, component: str) -> None:
    """Enable a service and switch accessibility on."""
    add_to_list(settings, "secure", ACCESSIBILITY_SERVICES, component)
    settings.put("secure", ACCESSIBILITY_SWITCH, "1")


def disable_accessibility_services(settings: SettingsStore, package: str) -> None:
    """Disable the services of a package; without any left, accessibility is switched off."""
    had_services = bool(enabled_accessibility_services(settings))
    left = remove_from_list(settings, "secure", ACCESSIBILITY_SERVICES, package=package)
    if had_services and not left:
        settings.put("secure", ACCESSIBILITY_SWITCH, "0")
