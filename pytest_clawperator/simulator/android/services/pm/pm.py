"""``pm``, also known as ``cmd package``: what is installed, and changing it."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.managers.package_manager import (
    clear_data,
    uninstall,
)
from pytest_clawperator.simulator.android.services.pm.install import install_command
from pytest_clawperator.simulator.android.services.pm.listing import list_command
from pytest_clawperator.simulator.android.services.pm.permissions import (
    grant_command,
    revoke_command,
)
from pytest_clawperator.simulator.android.services.pm.resolve import (
    resolve_activity_command,
)
from pytest_clawperator.simulator.android.services.service_call import (
    ServiceCall,
    ServiceHandler,
    dispatch,
)

_USAGE = """Package manager (package) commands:
  list packages [-f] [-s] [-3] [-U] [--show-versioncode] [FILTER]
  list users
  path PACKAGE
  install [-r] [-t] [-d] [-g] [-S BYTES] [PATH|-]
  uninstall [-k] PACKAGE
  clear PACKAGE
  grant PACKAGE PERMISSION
  revoke PACKAGE PERMISSION
  resolve-activity [--brief] INTENT
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


_COMMANDS: Mapping[str, ServiceHandler] = {
    "clear": _clear,
    "grant": grant_command,
    "install": install_command,
    "list": list_command,
    "path": _path,
    "resolve-activity": resolve_activity_command,
    "revoke": revoke_command,
    "uninstall": _uninstall,
}


async def package_service(call: ServiceCall) -> int:
    """Answer ``cmd package``, which is what ``pm`` is."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
