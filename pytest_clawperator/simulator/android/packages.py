"""The packages on a phone: those of the system, the Operator's two, and their permissions."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_clawperator.simulator.apps.load import plain_app
from pytest_clawperator.simulator.apps.schema import App

FIRST_APP_ID = 10200


@dataclass
class Package:
    """One installed package."""

    name: str
    version_name: str
    version_code: int
    app_id: int
    system: bool
    code_path: str
    label: str = ""
    min_sdk: int = 24
    target_sdk: int = 35
    activities: tuple[str, ...] = ()
    launchable: bool = True
    requested: tuple[str, ...] = ()
    installed_at: float = 0.0
    updated_at: float = 0.0
    stopped: bool = False
    signature: str = "0a0b0c0d"

    @property
    def apk(self) -> str:
        """Where its file lies."""
        if self.name == "android":
            return "/system/framework/framework-res.apk"
        if self.code_path.startswith("/data/"):
            return f"{self.code_path}/base.apk"
        return f"{self.code_path}/{self.code_path.rpartition('/')[2]}.apk"

    @property
    def user(self) -> str:
        """The name of the user that its processes run as."""
        return user_name(self.app_id)

    @property
    def launcher(self) -> str | None:
        """The activity that its icon starts."""
        return self.activities[0] if self.launchable and self.activities else None


class PackageStore:
    """What is installed, by package name."""

    def __init__(self, packages: Iterable[Package] = ()) -> None:
        self._packages = {package.name: package for package in packages}

    def get(self, name: str) -> Package | None:
        """Find an installed package."""
        return self._packages.get(name)

    def add(self, package: Package) -> None:
        """Install a package in place of what had its name."""
        self._packages[package.name] = package

    def remove(self, name: str) -> None:
        """Uninstall a package, if there is one of that name."""
        self._packages.pop(name, None)

    def all(self) -> list[Package]:
        """List what is installed, by name."""
        return [self._packages[name] for name in sorted(self._packages)]

    def free_app_id(self) -> int:
        """Return an app id for the next package that is installed."""
        return max([FIRST_APP_ID - 1, *(p.app_id for p in self._packages.values())]) + 1


def user_name(app_id: int) -> str:
    """Return a user's name as ``ps`` prints it."""
    fixed = {0: "root", 1000: "system", 1001: "radio", 2000: "shell"}
    return fixed.get(app_id) or f"u0_a{app_id - 10000}"


def component(package: str, cls: str) -> str:
    """Return a component's short name, as Android prints it."""
    short = cls[len(package) :] if cls.startswith(f"{package}.") else cls
    return f"{package}/{short}"


def full_class(package: str, cls: str) -> str:
    """Return a class's full name; one that begins with a dot lies in the package."""
    return package + cls if cls.startswith(".") else cls


def random_code_path(name: str, *, rng: random.Random) -> str:
    """Return a random folder to install a package in, named as on a phone."""
    outer, inner = (
        base64.urlsafe_b64encode(rng.getrandbits(128).to_bytes(16, "big")).decode()
        for _ in range(2)
    )
    return f"/data/app/~~{outer}/{name}-{inner}"


RUNTIME_PERMISSIONS = frozenset(
    f"android.permission.{name}"
    for name in (
        "ACCESS_COARSE_LOCATION", "ACCESS_FINE_LOCATION", "BLUETOOTH_CONNECT", "BLUETOOTH_SCAN",
        "CALL_PHONE", "CAMERA", "POST_NOTIFICATIONS", "READ_CALENDAR", "READ_CONTACTS",
        "READ_EXTERNAL_STORAGE", "READ_MEDIA_IMAGES", "READ_PHONE_STATE", "READ_SMS",
        "RECORD_AUDIO", "SEND_SMS", "WRITE_CALENDAR", "WRITE_CONTACTS", "WRITE_EXTERNAL_STORAGE",
    )
)  # fmt: skip
"""Permissions that a user, or ``pm grant``, gives."""

# Shell holds these for developers: not runtime ones, yet "pm grant" gives them.
DEVELOPMENT_PERMISSIONS = frozenset(
    f"android.permission.{name}"
    for name in ("PACKAGE_USAGE_STATS", "READ_LOGS", "SET_ANIMATION_SCALE", "WRITE_SECURE_SETTINGS")
)
"""Permissions that only ``pm grant`` gives."""

NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"
"""The one runtime permission that the Operator asks for; it came with API 33."""

LAUNCHER = "com.google.android.apps.nexuslauncher"

# Name, label, folder, and the activity that opens it ("" for none).
_SYSTEM = (
    ("android", "Android System", "/system/framework", ""),
    ("com.android.chrome", "Chrome", "/product/app/Chrome", ""),
    ("com.android.phone", "Phone Services", "/system/priv-app/TeleService", ""),
    ("com.android.settings", "Settings", "/system_ext/priv-app/Settings", ".Settings"),
    ("com.android.shell", "Shell", "/system/priv-app/Shell", ""),
    ("com.android.systemui", "System UI", "/system_ext/priv-app/SystemUIGoogle", ""),
    ("com.android.vending", "Google Play Store", "/product/priv-app/Phonesky", ""),
    ("com.google.android.gms", "Google Play services", "/product/priv-app/PrebuiltGmsCore", ""),
    (LAUNCHER, "Pixel Launcher", "/system_ext/priv-app/NexusLauncher", ".NexusLauncherActivity"),
    ("com.google.android.inputmethod.latin", "Gboard", "/product/app/LatinIME", ""),
    ("com.android.permissioncontroller", "Permissions", "/system/priv-app/Permissions", ""),
)

_SYSTEM_USERS = {
    "android": 1000,
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


OPERATOR = "com.clawperator.operator"
OPERATOR_DEV = "com.clawperator.operator.dev"
OPERATOR_PACKAGES = (OPERATOR, OPERATOR_DEV)
OPERATOR_ACTION = "app.clawperator.operator.ACTION_AGENT_COMMAND"
OPERATOR_ACTIVITY = "clawperator.activity.MainActivity"
OPERATOR_RECEIVER = "clawperator.operator.runtime.OperatorCommandReceiver"
OPERATOR_SERVICE = "clawperator.operator.accessibilityservice.OperatorAccessibilityService"
OPERATOR_LISTENER = "action.notification.NotificationListenerService"

_OPERATOR_PERMISSIONS = (
    "android.permission.FOREGROUND_SERVICE",
    "android.permission.FOREGROUND_SERVICE_DATA_SYNC",
    "android.permission.INTERNET",
    NOTIFICATIONS,
    "android.permission.QUERY_ALL_PACKAGES",
    "android.permission.RECEIVE_BOOT_COMPLETED",
    "android.permission.REQUEST_DELETE_PACKAGES",
    "android.permission.VIBRATE",
)


def operator_package(
    name: str, *, app_id: int, rng: random.Random, now: float, set_up: bool
) -> Package:
    """Describe the Operator, release or debug build; ``set_up`` as its setup leaves it."""
    suffix = "-d" if name == OPERATOR_DEV else ""
    return Package(
        name=name,
        label="Clawperator Dev" if suffix else "Clawperator",
        version_name=f"0.5.3{suffix}",
        version_code=503900,
        app_id=app_id,
        system=False,
        code_path=random_code_path(name, rng=rng),
        min_sdk=21,
        target_sdk=35,
        activities=(OPERATOR_ACTIVITY,),
        requested=_OPERATOR_PERMISSIONS,
        installed_at=now,
        updated_at=now,
        stopped=not set_up,
        signature=f"{rng.getrandbits(32):08x}",
    )


def operator_screen(package: Package) -> App:
    """Return the screen that the Operator shows when it is opened."""
    return plain_app(
        package.name,
        name=package.label,
        activity=OPERATOR_ACTIVITY,
        version=package.version_name,
    )
