"""``pm``, also known as ``cmd package``: what is installed, and changing it."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.dumpsys.package import dump_package
from pytest_clawperator.simulator.android.java import JavaException
from pytest_clawperator.simulator.android.managers.package_manager import (
    clear_data,
    uninstall,
)
from pytest_clawperator.simulator.android.services.pm.install import INSTALL_COMMANDS
from pytest_clawperator.simulator.android.services.pm.listing import FEATURES, list_command
from pytest_clawperator.simulator.android.services.pm.permissions import (
    grant_command,
    reset_permissions,
    revoke_command,
)
from pytest_clawperator.simulator.android.services.pm.resolve import (
    query_activities,
    query_receivers,
    resolve_activity_command,
)
from pytest_clawperator.simulator.android.services.service_call import (
    ServiceCall,
    ServiceHandler,
    dispatch,
)
from pytest_clawperator.simulator.android.state.packages import EnabledState

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
    await call.invocation.out(dump_package(call.system, name))
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
            raise JavaException(f"Unknown package: {name}")
        package.state = state
        if not package.enabled:
            call.system.ui.processes.force_stop(name)
        await call.out(f"Package {name} new state: {state}")
        return 0

    return change


async def _has_feature(call: ServiceCall) -> int:
    known = call.required() in FEATURES
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
    "grant": grant_command,
    "has-feature": _has_feature,
    "list": list_command,
    "path": _path,
    "query-activities": query_activities,
    "query-receivers": query_receivers,
    "reset-permissions": reset_permissions,
    "resolve-activity": resolve_activity_command,
    "revoke": revoke_command,
    "uninstall": _uninstall,
}


async def package_service(call: ServiceCall) -> int:
    """Answer ``cmd package``, which is what ``pm`` is."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
