"""``pm list``: packages and the rest of what a phone has."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.simulator.android.java import JavaException, java_int
from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
)
from pytest_clawperator.simulator.android.state.packages import Package
from pytest_clawperator.simulator.android.state.permissions import (
    FIXED_PERMISSIONS,
    RUNTIME_PERMISSIONS,
)

FEATURES = (
    "android.hardware.bluetooth",
    "android.hardware.camera",
    "android.hardware.location",
    "android.hardware.screen.portrait",
    "android.hardware.telephony",
    "android.hardware.touchscreen",
    "android.hardware.wifi",
    "android.software.home_screen",
    "android.software.input_methods",
    "android.software.webview",
)

_LIBRARIES = ("android.test.base", "android.test.runner", "org.apache.http.legacy")

_GROUPS = ("CALENDAR", "CAMERA", "CONTACTS", "LOCATION", "MICROPHONE", "NOTIFICATIONS", "PHONE")

_FILTERS = frozenset(
    {
        "-a", "-d", "-e", "-f", "-i", "-l", "-q", "-s", "-u", "-U", "-3",
    }
)  # fmt: skip

_LONG_FILTERS = frozenset(
    {
        "--show-versioncode", "--apex-only", "--factory-only", "--match-libraries",
        "--show-stopped",
    }
)  # fmt: skip


@dataclass
class _Listing:
    """Which packages to list, and what to print of each."""

    options: set[str] = field(default_factory=set)
    uid: int | None = None
    text: str = ""

    def takes(self, package: Package) -> bool:
        return not (
            (self.text and self.text not in package.name)
            or (self.uid is not None and package.app_id != self.uid)
            or ("-d" in self.options and package.enabled)
            or ("-e" in self.options and not package.enabled)
            or ("-s" in self.options and not package.system)
            or ("-3" in self.options and package.system)
            or self.options & {"-q", "--apex-only"}
        )

    def line(self, package: Package) -> str:
        text = "package:"
        if "-f" in self.options:
            text += f"{package.apk}="
        text += package.name
        if "--show-versioncode" in self.options:
            text += f" versionCode:{package.version_code}"
        if "--show-stopped" in self.options:
            text += f" stopped={str(package.stopped).lower()}"
        if "-i" in self.options:
            text += f"  installer={package.installer or 'null'}"
        if "-U" in self.options or self.uid is not None:
            text += f" uid:{package.app_id}"
        return text


async def list_command(call: ServiceCall) -> int:
    """List packages, features, permissions or users."""
    kind = call.next()
    if kind is None:
        await call.out("Error: didn't specify type of data to list")
        return FAILED
    if kind in ("package", "packages"):
        return await _list_packages(call)
    simple = {
        "features": [f"feature:{name}" for name in FEATURES],
        "instrumentation": [],
        "libraries": [f"library:{name}" for name in _LIBRARIES],
        "permission-groups": [f"permission group:android.permission-group.{n}" for n in _GROUPS],
        "permissions": ["All Permissions:", "", *_permission_lines()],
        "users": ["Users:", *_users(call)],
    }.get(kind)
    if simple is None:
        await call.out(f"Error: unknown list type '{kind}'")
        return FAILED
    call.rest()
    for line in simple:
        await call.out(line)
    return 0


def _users(call: ServiceCall) -> list[str]:
    users = ["\tUserInfo{0:Owner:4c13} running"]
    if "multi-user" in call.system.quirks:
        users.append("\tUserInfo{10:Tester:410} running")
    return users


def _permission_lines() -> list[str]:
    return [f"permission:{name}" for name in sorted(RUNTIME_PERMISSIONS | FIXED_PERMISSIONS)]


async def _list_packages(call: ServiceCall) -> int:
    listing = _Listing()
    try:
        while (option := call.option()) is not None:
            if option == "--user":
                call.required()
            elif option == "--uid":
                listing.uid = java_int(call.required())
            elif option in _FILTERS or option in _LONG_FILTERS:
                listing.options.add(option)
            else:
                await call.out(f"Error: Unknown option: {option}")
                return FAILED
    except JavaException as error:
        await call.out(f"Error: {error.kind}: {error}")
        return FAILED
    listing.text = call.next() or ""
    lines = [listing.line(p) for p in call.system.packages.all() if listing.takes(p)]
    if lines:
        await call.out("\n".join(lines))
    return 0
