"""``pm grant`` and ``pm revoke``: what an app may do."""

from __future__ import annotations

from pytest_clawperator.simulator.android.managers.package_manager import (
    grant,
    revoke,
)
from pytest_clawperator.simulator.android.services.service_call import (
    ServiceCall,
)
from pytest_clawperator.simulator.android.state.packages import Package
from pytest_clawperator.simulator.android.state.permissions import (
    RUNTIME_PERMISSIONS,
)


async def _named(call: ServiceCall) -> Package | None:
    """Parse the package that a command is about; print an error where there is none."""
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


async def grant_command(call: ServiceCall) -> int:
    """Grant a permission to an app."""
    return await _change_permission(call, give=True)


async def revoke_command(call: ServiceCall) -> int:
    """Revoke a permission of an app."""
    return await _change_permission(call, give=False)
