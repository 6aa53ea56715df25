"""The Operator's two packages: their names, components and permissions."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.state.packages import Package, random_code_path
from pytest_clawperator.simulator.android.state.permissions import NOTIFICATIONS
from pytest_clawperator.simulator.apps.load import plain_app
from pytest_clawperator.simulator.apps.schema import App

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
        receivers=((OPERATOR_RECEIVER, OPERATOR_ACTION),),
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
