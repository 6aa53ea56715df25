"""``pm list``: the packages and users of a phone."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import FAILED, ServiceCall
from pytest_clawperator.simulator.android.state.packages import Package

_FILTERS = frozenset({"-3", "-U", "-f", "-s", "--show-versioncode"})


async def list_command(call: ServiceCall) -> int:
    """List packages or users."""
    kind = call.next()
    if kind is None:
        await call.out("Error: didn't specify type of data to list")
        return FAILED
    if kind in ("package", "packages"):
        return await _list_packages(call)
    if kind == "users":
        second = "multi-user" in call.system.quirks
        await call.out("Users:\n\tUserInfo{0:Owner:4c13} running")
        await call.invocation.out("\tUserInfo{10:Tester:410} running\n" if second else "")
        return 0
    await call.out(f"Error: unknown list type '{kind}'")
    return FAILED


async def _list_packages(call: ServiceCall) -> int:
    options: set[str] = set()
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
        elif option in _FILTERS:
            options.add(option)
        else:
            await call.out(f"Error: Unknown option: {option}")
            return FAILED
    text = call.next() or ""
    for package in call.system.packages.all():
        is_wanted = not options & {"-3", "-s"} or ("-s" if package.system else "-3") in options
        if is_wanted and text in package.name:
            await call.out(_line(package, options))
    return 0


def _line(package: Package, options: set[str]) -> str:
    line = f"package:{package.apk}=" if "-f" in options else "package:"
    line += package.name
    if "--show-versioncode" in options:
        line += f" versionCode:{package.version_code}"
    return f"{line} uid:{package.app_id}" if "-U" in options else line
