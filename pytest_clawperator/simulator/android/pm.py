"""``pm``, also known as ``cmd package``: what is installed, and how to change it."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.am import resolve_activity
from pytest_clawperator.simulator.android.intents import Intent, parse_intent
from pytest_clawperator.simulator.android.package_manager import (
    InstallFailed,
    clear_data,
    grant,
    install_apk,
    revoke,
    uninstall,
)
from pytest_clawperator.simulator.android.packages import RUNTIME_PERMISSIONS, Package, component
from pytest_clawperator.simulator.android.service_call import (
    FAILED,
    JavaException,
    ServiceCall,
    ServiceHandler,
    dispatch,
)
from pytest_clawperator.simulator.filesystem import FileSystemError

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


_MOST_BYTES = 512 * 1024 * 1024
# What becomes of a prompt on the phone that nobody answers.
_CANCELLED = "INSTALL_FAILED_USER_RESTRICTED: Install canceled by user"

_WITH_VALUE = frozenset(
    {
        "-S", "-i", "-p", "--user", "--install-location", "--originating-uri", "--referrer",
        "--abi", "--package", "--install-reason", "--update-ownership",
        "--dexopt-compiler-filter", "--staged-ready-timeout",
    }
)  # fmt: skip


async def install_command(call: ServiceCall) -> int:
    """Install an APK: a file on the phone, or what the host streams."""
    size = -1
    while (option := call.option()) is not None:
        if option == "-S":
            size = _size(call.required())
        elif option in _WITH_VALUE:
            call.required()
    paths = call.rest()
    if not paths or paths[0] == "-":
        if size < 0:
            await call.out("Error: must either specify a package size or an APK file")
            return 1
        return await _commit(call, await _read_exactly(call, size), file_name="base.apk")
    try:
        apk = call.system.files.read(call.invocation.shell.files.resolve(paths[0]))
    except FileSystemError:
        await call.err(f"Error: Unable to open file: {paths[0]}")
        raise JavaException(f"Error: Can't open file: {paths[0]}") from None
    return await _commit(call, apk, file_name=paths[0])


async def _commit(call: ServiceCall, apk: bytes, *, file_name: str) -> int:
    if "install-prompt" in call.system.quirks and not call.system.allows_installs:
        await call.out(f"Failure [{_CANCELLED}]")
        return 1
    try:
        install_apk(call.system, apk, file_name=file_name)
    except InstallFailed as failure:
        await call.out(f"Failure [{failure}]")
        return 1
    await call.out("Success")
    return 0


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > _MOST_BYTES:
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return int(text)


async def _read_exactly(call: ServiceCall, size: int) -> bytes:
    """Read exactly so many bytes: the host keeps the stream open until it has the answer."""
    data = bytearray()
    while len(data) < size:
        piece = await call.invocation.stdin.read()
        if not piece:
            break
        data += piece
    return bytes(data[:size])


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
    """Return the activity that opens a link; the chooser where several do."""
    if intent.data is None or intent.component is not None:
        return None
    takers = call.system.ui.links.handlers(intent.data, package=intent.package)
    if len(takers) != 1:
        return ("android", "com.android.internal.app.ResolverActivity") if takers else None
    package = call.system.packages.get(takers[0])
    return None if package is None else (package.name, package.launcher or ".Main")


async def resolve_activity_command(call: ServiceCall) -> int:
    """Print the activity that an intent starts."""
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
