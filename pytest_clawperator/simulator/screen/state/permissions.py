"""Runtime permissions: what was granted, what was refused, and how Android asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

CONTROLLER = "com.android.permissioncontroller"
ACTIVITY = "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"

_REFUSALS_BEFORE_SILENCE = 2
_QUESTIONS = {
    "POST_NOTIFICATIONS": "send you notifications",
    "ACCESS_FINE_LOCATION": "access this device’s location",
    "ACCESS_COARSE_LOCATION": "access this device’s approximate location",
    "CAMERA": "take pictures and record video",
    "RECORD_AUDIO": "record audio",
    "READ_CONTACTS": "access your contacts",
    "READ_CALENDAR": "access your calendar",
    "CALL_PHONE": "make and manage phone calls",
    "SEND_SMS": "send and view SMS messages",
    "READ_MEDIA_IMAGES": "access photos and videos on this device",
}
_WHILE_IN_USE = frozenset(
    {"ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION", "CAMERA", "RECORD_AUDIO"}
)


class Permissions:
    """Which package may do what."""

    def __init__(self) -> None:
        self._granted: defaultdict[str, set[str]] = defaultdict(set)
        self._refusals: defaultdict[tuple[str, str], int] = defaultdict(int)

    def granted(self, package: str) -> set[str]:
        """Return the permissions that a package has."""
        return set(self._granted.get(package, ()))

    def grant(self, package: str, permission: str) -> None:
        """Grant a permission."""
        self._granted[package].add(permission)
        self._refusals.pop((package, permission), None)

    def revoke(self, package: str, permission: str) -> None:
        """Take a permission away; the package may ask again."""
        self._granted[package].discard(permission)
        self._refusals.pop((package, permission), None)

    def refuse(self, package: str, permission: str) -> None:
        """Note that the user refused a permission."""
        self._refusals[package, permission] += 1

    def may_ask(self, package: str, permission: str) -> bool:
        """Whether Android still shows the question; after two refusals it does not."""
        return self._refusals.get((package, permission), 0) < _REFUSALS_BEFORE_SILENCE

    def kept(self) -> dict[str, Any]:
        """Return everything in a form that can be stored."""
        return {
            "granted": {package: sorted(names) for package, names in self._granted.items()},
            "refusals": [[*key, count] for key, count in self._refusals.items()],
        }

    def bring_back(self, kept: Mapping[str, Any]) -> None:
        """Replace everything by what was kept."""
        self._granted.clear()
        self._refusals.clear()
        for package, names in kept["granted"].items():
            self._granted[package] = set(names)
        for package, permission, count in kept["refusals"]:
            self._refusals[package, permission] = count

    def clear(self, package: str) -> None:
        """Forget everything about a package."""
        self._granted.pop(package, None)
        for key in [key for key in self._refusals if key[0] == package]:
            del self._refusals[key]


def question(name: str, permission: str) -> str:
    """Return the question that Android asks for an app."""
    short = permission.rpartition(".")[2]
    return f"Allow {name} to {_QUESTIONS.get(short, f'use {short}')}?"


def answers(permission: str) -> tuple[tuple[str, str, str], ...]:
    """Return the buttons: each with its id, its text, and ``allow`` or ``deny``."""
    deny = ("permission_deny_button", "Don’t allow", "deny")
    if permission.rpartition(".")[2] in _WHILE_IN_USE:
        return (
            ("permission_allow_foreground_only_button", "While using the app", "allow"),
            ("permission_allow_one_time_button", "Only this time", "allow"),
            deny,
        )
    return (("permission_allow_button", "Allow", "allow"), deny)
