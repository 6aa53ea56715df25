"""``pm``, also known as ``cmd package``: what is installed, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_clawperator.simulator.android.dumpsys.package import package_dump
from pytest_clawperator.simulator.android.managers.activity_manager import resolve_activity
from pytest_clawperator.simulator.android.managers.package_manager import (
    clear_data,
    grant,
    revoke,
    uninstall,
)
from pytest_clawperator.simulator.android.services.intent_options import MAIN, Intent, parse_intent
from pytest_clawperator.simulator.android.services.pm_install import INSTALL_COMMANDS
from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    JavaError,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)
from pytest_clawperator.simulator.android.state.packages import (
    FIXED_PERMISSIONS,
    RUNTIME_PERMISSIONS,
    EnabledState,
    Package,
    component,
)

_USAGE = """Package manager (package) commands:
  list packages [-f] [-d] [-e] [-s] [-3] [-i] [-U] [--show-versioncode] [FILTER]
  list features | instrumentation | libraries | permission-groups | permissions | users
  path PACKAGE
  dump PACKAGE
  install [-r] [-t] [-d] [-g] [-S BYTES] [PATH|-]
  install-create | install-write | install-commit | install-abandon | install-existing
  uninstall [-k] PACKAGE
  clear PACKAGE
  enable | disable | disable-user | default-state PACKAGE
  grant PACKAGE PERMISSION
  revoke PACKAGE PERMISSION
  reset-permissions
  resolve-activity [--brief] INTENT
  query-activities [--brief] INTENT
  query-receivers [--brief] INTENT
  has-feature FEATURE
  get-install-location
"""

_FEATURES = (
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
    """Which packages to list, and what to say of each."""

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


async def _list(call: ServiceCall) -> int:
    kind = call.next()
    if kind is None:
        await call.out("Error: didn't specify type of data to list")
        return FAILED
    if kind in ("package", "packages"):
        return await _list_packages(call)
    simple = {
        "features": [f"feature:{name}" for name in _FEATURES],
        "instrumentation": [],
        "libraries": [f"library:{name}" for name in _LIBRARIES],
        "permission-groups": [f"permission group:android.permission-group.{n}" for n in _GROUPS],
        "permissions": ["All Permissions:", "", *_permission_lines()],
        "users": ["Users:", "\tUserInfo{0:Owner:4c13} running"],
    }.get(kind)
    if simple is None:
        await call.out(f"Error: unknown list type '{kind}'")
        return FAILED
    call.rest()
    for line in simple:
        await call.out(line)
    return 0


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
    except JavaError as error:
        await call.out(f"Error: {error.kind}: {error}")
        return FAILED
    listing.text = call.next() or ""
    lines = [listing.line(p) for p in call.system.packages.all() if listing.takes(p)]
    if lines:
        await call.out("\n".join(lines))
    return 0


async def _path(call: ServiceCall) -> int:
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
    package = call.system.packages.get(call.required())
    if package is None:
        return 1
    await call.out(f"package:{package.apk}")
    return 0


async def _dump(call: ServiceCall) -> int:
    name = call.next()
    if name is None:
        await call.err("Error: no package specified")
        return 1
    await call.invocation.out(package_dump(call.system, name))
    return 0


async def _named(call: ServiceCall) -> Package | None:
    """Read the package that a command is about; complain where there is none."""
    name = call.next()
    if name is None:
        await call.err("Error: no package specified")
        return None
    package = call.system.packages.get(name)
    if package is None:
        await call.err("Error: package not found")
        await call.out("Failure [package not found]")
    return package


async def _change_permission(call: ServiceCall, *, give: bool) -> int:
    everything = False
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
        everything = everything or option == "--all-permissions"
    package = await _named(call)
    if package is None:
        return 1
    permission = call.next()
    if permission is None and not everything:
        await call.err("Error: no permission specified")
        return 1
    if permission is not None and everything:
        await call.err("Error: permission specified but not expected")
        return 1
    wanted = sorted(set(package.requested) & RUNTIME_PERMISSIONS) if everything else [permission]
    for name in wanted:
        (grant if give else revoke)(call.system, package, name or "")
    return 0


async def _grant(call: ServiceCall) -> int:
    return await _change_permission(call, give=True)


async def _revoke(call: ServiceCall) -> int:
    return await _change_permission(call, give=False)


async def _reset_permissions(call: ServiceCall) -> int:
    for package in call.system.packages.all():
        for permission in sorted(call.system.ui.granted(package.name) & RUNTIME_PERMISSIONS):
            revoke(call.system, package, permission)
    return 0


async def _clear(call: ServiceCall) -> int:
    cache_only = False
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
        elif option == "--cache-only":
            cache_only = True
        else:
            await call.out(f"Error: Unknown option: {option}")
            return 1
    name = call.next()
    if name is None:
        await call.err("Error: no package specified")
        return 1
    package = call.system.packages.get(name)
    if package is None:
        await call.err("Failed")
        return 1
    if not cache_only:
        clear_data(call.system, package)
    await call.out("Success")
    return 0


async def _uninstall(call: ServiceCall) -> int:
    keep_data = one_user = False
    while (option := call.option()) is not None:
        if option == "-k":
            keep_data = True
        elif option in ("--user", "--versionCode"):
            one_user = one_user or option == "--user"
            call.required()
        else:
            await call.out(f"Error: Unknown option: {option}")
            return 1
    name = call.next()
    if name is None:
        await call.out("Error: package name not specified")
        return 1
    if call.system.packages.get(name) is None:
        reason = "not installed for 0" if one_user else "DELETE_FAILED_INTERNAL_ERROR"
        await call.out(f"Failure [{reason}]")
        return 1
    if not uninstall(call.system, name, keep_data=keep_data):
        await call.out("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    await call.out("Success")
    return 0


def _set_state(state: EnabledState) -> ServiceHandler:
    async def change(call: ServiceCall) -> int:
        while (option := call.option()) is not None:
            if option == "--user":
                call.required()
        name = call.next()
        if name is None:
            await call.err("Error: no package or component specified")
            return 1
        package = call.system.packages.get(name)
        if package is None:
            raise JavaError(f"Unknown package: {name}")
        package.state = state
        if not package.enabled:
            call.system.ui.force_stop(name)
        await call.out(f"Package {name} new state: {state}")
        return 0

    return change


def _resolution(call: ServiceCall) -> tuple[Intent, bool]:
    short = False

    def own(option: str) -> bool:
        nonlocal short
        short = short or option in ("--brief", "--components")
        if option in ("--user", "--query-flags"):
            call.required()
            return True
        return option in ("--brief", "--components")

    return parse_intent(call, other_option=own), short


_PRIORITY = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def _link_taker(call: ServiceCall, intent: Intent) -> tuple[str, str] | None:
    """Give the activity that takes a link, or that which asks where several do."""
    if intent.data is None or intent.component is not None:
        return None
    takers = call.system.ui.link_takers(intent.data, package=intent.package)
    if len(takers) != 1:
        return ("android", "com.android.internal.app.ResolverActivity") if takers else None
    package = call.system.packages.get(takers[0])
    return None if package is None else (package.name, package.launcher or ".Main")


async def _resolve_activity(call: ServiceCall) -> int:
    intent, short = _resolution(call)
    found = resolve_activity(call.system, intent) or _link_taker(call, intent)
    if found is None:
        await call.out("No activity found")
        return 0
    await call.out(_PRIORITY)
    if short:
        await call.out(component(*found))
        return 0
    await call.out("  ActivityInfo:")
    await call.out(f"    name={found[1]}")
    await call.out(f"    packageName={found[0]}")
    return 0


async def _query_activities(call: ServiceCall) -> int:
    intent, _ = _resolution(call)
    if intent.package is None and intent.component is None and intent.action == MAIN:
        found = [(p.name, p.launcher) for p in call.system.packages.all() if p.launcher]
    else:
        one = resolve_activity(call.system, intent)
        found = [one] if one is not None else []
    return await _print_found(call, [component(n, c) for n, c in found], "activities", "Activity")


async def _query_receivers(call: ServiceCall) -> int:
    intent, _ = _resolution(call)
    found = [
        component(package.name, cls)
        for package in call.system.packages.all()
        for cls, action in package.receivers
        if intent.action in (None, action) and intent.package in (None, package.name)
    ]
    return await _print_found(call, found, "receivers", "Receiver")


async def _print_found(call: ServiceCall, found: list[str], many: str, one: str) -> int:
    if not found:
        await call.out(f"No {many} found")
        return 0
    await call.out(f"{len(found)} {many} found:")
    for number, name in enumerate(found):
        await call.out(f"  {one} #{number}:\n    {_PRIORITY}\n    {name}")
    return 0


async def _has_feature(call: ServiceCall) -> int:
    known = call.required() in _FEATURES
    await call.out(str(known).lower())
    return 0 if known else 1


async def _install_location(call: ServiceCall) -> int:
    await call.out("0[auto]")
    return 0


async def _ok(call: ServiceCall) -> int:
    call.rest()
    await call.out("Success")
    return 0


_COMMANDS: Mapping[str, ServiceHandler] = {
    **INSTALL_COMMANDS,
    "clear": _clear,
    "compile": _ok,
    "default-state": _set_state("default"),
    "disable": _set_state("disabled"),
    "disable-user": _set_state("disabled-user"),
    "dump": _dump,
    "enable": _set_state("enabled"),
    "get-install-location": _install_location,
    "grant": _grant,
    "has-feature": _has_feature,
    "list": _list,
    "path": _path,
    "query-activities": _query_activities,
    "query-receivers": _query_receivers,
    "reset-permissions": _reset_permissions,
    "resolve-activity": _resolve_activity,
    "revoke": _revoke,
    "uninstall": _uninstall,
}


async def package_service(call: ServiceCall) -> int:
    """Answer ``cmd package``, which is what ``pm`` is."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
