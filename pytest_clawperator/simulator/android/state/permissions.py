"""Android's permissions, by how an app gets them."""

from __future__ import annotations

RUNTIME_PERMISSIONS = frozenset(
    f"android.permission.{name}"
    for name in (
        "ACCESS_BACKGROUND_LOCATION", "ACCESS_COARSE_LOCATION", "ACCESS_FINE_LOCATION",
        "ACCESS_MEDIA_LOCATION", "ACTIVITY_RECOGNITION", "BLUETOOTH_ADVERTISE",
        "BLUETOOTH_CONNECT", "BLUETOOTH_SCAN", "BODY_SENSORS", "CALL_PHONE", "CAMERA",
        "GET_ACCOUNTS", "NEARBY_WIFI_DEVICES", "POST_NOTIFICATIONS", "READ_CALENDAR",
        "READ_CALL_LOG", "READ_CONTACTS", "READ_EXTERNAL_STORAGE", "READ_MEDIA_AUDIO",
        "READ_MEDIA_IMAGES", "READ_MEDIA_VIDEO", "READ_PHONE_NUMBERS", "READ_PHONE_STATE",
        "READ_SMS", "RECEIVE_SMS", "RECORD_AUDIO", "SEND_SMS", "WRITE_CALENDAR",
        "WRITE_CALL_LOG", "WRITE_CONTACTS", "WRITE_EXTERNAL_STORAGE",
    )
)  # fmt: skip
"""Permissions that a user, or ``pm grant``, gives."""

FIXED_PERMISSIONS = frozenset(
    f"android.permission.{name}"
    for name in (
        "ACCESS_NETWORK_STATE", "ACCESS_WIFI_STATE", "BIND_ACCESSIBILITY_SERVICE", "BLUETOOTH",
        "DUMP", "FOREGROUND_SERVICE", "FOREGROUND_SERVICE_DATA_SYNC", "INTERNET",
        "MODIFY_AUDIO_SETTINGS", "NFC", "QUERY_ALL_PACKAGES", "RECEIVE_BOOT_COMPLETED",
        "REQUEST_DELETE_PACKAGES", "REQUEST_INSTALL_PACKAGES", "SCHEDULE_EXACT_ALARM",
        "SYSTEM_ALERT_WINDOW", "USE_BIOMETRIC", "VIBRATE", "WAKE_LOCK",
    )
)  # fmt: skip
"""Permissions that come with the installation and stay."""

# Shell holds these for developers: not runtime ones, yet "pm grant" gives them.
DEVELOPMENT_PERMISSIONS = frozenset(
    f"android.permission.{name}"
    for name in (
        "PACKAGE_USAGE_STATS", "READ_LOGS", "SET_ANIMATION_SCALE", "WRITE_SECURE_SETTINGS",
    )
)  # fmt: skip
"""Permissions that only ``pm grant`` gives."""

NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"
"""The one runtime permission that the Operator asks for; it came with API 33."""
