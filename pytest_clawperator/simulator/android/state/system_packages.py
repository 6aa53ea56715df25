"""The packages that every phone has before anything is installed on it."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.state.packages import Package
from pytest_clawperator.simulator.android.state.permissions import RUNTIME_PERMISSIONS

LAUNCHER = "com.google.android.apps.nexuslauncher"

# Name, label, folder, and the activity that opens it ("" for none).
_SYSTEM = (
    ("android", "Android System", "/system/framework", ""),
    ("com.android.bluetooth", "Bluetooth", "/apex/com.android.bt/app/Bluetooth", ""),
    ("com.android.chrome", "Chrome", "/product/app/Chrome", ""),
    ("com.android.documentsui", "Files", "/system/priv-app/DocumentsUI", ""),
    ("com.android.externalstorage", "External Storage", "/system/priv-app/ExternalStorage", ""),
    ("com.android.keychain", "Key Chain", "/system/app/KeyChain", ""),
    ("com.android.packageinstaller", "Package Installer", "/system/priv-app/PackageInstaller", ""),
    ("com.android.phone", "Phone Services", "/system/priv-app/TeleService", ""),
    (
        "com.android.providers.media.module",
        "Media Storage",
        "/apex/com.android.mediaprovider/priv-app/MediaProvider",
        "",
    ),
    (
        "com.android.providers.settings",
        "Settings Storage",
        "/system/priv-app/SettingsProvider",
        "",
    ),
    ("com.android.settings", "Settings", "/system_ext/priv-app/Settings", ".Settings"),
    ("com.android.shell", "Shell", "/system/priv-app/Shell", ""),
    ("com.android.systemui", "System UI", "/system_ext/priv-app/SystemUIGoogle", ""),
    ("com.android.vending", "Google Play Store", "/product/priv-app/Phonesky", ""),
    ("com.google.android.gms", "Google Play services", "/product/priv-app/PrebuiltGmsCore", ""),
    (LAUNCHER, "Pixel Launcher", "/system_ext/priv-app/NexusLauncher", ".NexusLauncherActivity"),
    ("com.google.android.inputmethod.latin", "Gboard", "/product/app/LatinIME", ""),
    (
        "com.android.permissioncontroller",
        "Permission controller",
        "/apex/com.android.permission/priv-app/GooglePermissionController",
        "",
    ),
    ("com.google.android.webview", "Android System WebView", "/product/app/WebViewGoogle", ""),
)

_SYSTEM_USERS = {
    "android": 1000,
    "com.android.keychain": 1000,
    "com.android.providers.settings": 1000,
    "com.android.settings": 1000,
    "com.android.phone": 1001,
    "com.android.shell": 2000,
    "com.android.systemui": 10190,
}


def system_packages(*, api: int, release: str, rng: random.Random) -> list[Package]:
    """Describe what every phone has before anything is installed on it."""
    installed_at = 1230768000.0  # the date that an image's files have
    return [
        Package(
            name=name,
            label=label,
            version_name=release,
            version_code=api,
            app_id=_SYSTEM_USERS.get(name, 10100 + position),
            system=True,
            code_path=path,
            min_sdk=api,
            target_sdk=api,
            activities=(name + activity,) if activity else (),
            launchable=bool(activity) and name != LAUNCHER,
            requested=tuple(sorted(RUNTIME_PERMISSIONS)) if name == "com.android.shell" else (),
            installed_at=installed_at,
            updated_at=installed_at,
            signature=f"{rng.getrandbits(32):08x}",
        )
        for position, (name, label, path, activity) in enumerate(_SYSTEM)
    ]
