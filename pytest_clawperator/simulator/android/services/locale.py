"""``cmd locale``: the language of one app."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    dispatch,
)
from pytest_clawperator.simulator.android.state.packages import Package


async def _set_locales(call: ServiceCall) -> int:
    package = await _locale_package(call)
    if package is None:
        return FAILED
    while (option := call.option()) is not None:
        value = call.next() or ""
        if option == "--locales":
            call.system.locales[package.name] = value
    return 0


async def _get_locales(call: ServiceCall) -> int:
    package = await _locale_package(call)
    if package is None:
        return FAILED
    call.rest()
    locales = call.system.locales.get(package.name, "")
    await call.out(f"Locales for {package.name} for user 0 are [{locales}]")
    return 0


async def _locale_package(call: ServiceCall) -> Package | None:
    name = call.next()
    package = call.system.packages.get(name or "")
    if name is None:
        await call.err("Error: no package specified")
    elif package is None:
        await call.err(f"Unknown package {name} for userId 0")
    return package


async def locale_service(call: ServiceCall) -> int:
    """Answer ``cmd locale``."""
    commands = {"set-app-locales": _set_locales, "get-app-locales": _get_locales}
    usage = "Locale manager (locale) shell commands:\n  set-app-locales PACKAGE --locales LOCALES\n"
    return await dispatch(call, commands, usage=usage + "  get-app-locales PACKAGE\n")
