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
    JavaException,
    Refused,
    ServiceCall,
    ServiceHandler,
    dispatch,
    not_a_number,
)
from pytest_clawperator.simulator.files import FileSystemError

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
_INSTALL_OPTIONS_WITH_VALUE = frozenset(
    {"-i", "-p", "--user", "--install-location", "--install-reason", "--abi", "--update-ownership"}
)
_MOST_BYTES = 512 * 1024 * 1024
# What becomes of a prompt on the phone if it is not answered.
_CANCELLED = "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]"
_PRIORITY = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


async def package_service(call: ServiceCall) -> None:
    """Answer ``cmd package``, which ``pm`` also is."""
    await dispatch(call, _COMMANDS, usage=_USAGE)


async def _list(call: ServiceCall) -> None:
    kind = call.next()
    if kind is None:
        raise Refused("Error: didn't specify type of data to list", on_stdout=True)
    if kind == "users":
        second = "\n\tUserInfo{10:Tester:410} running" if "multi-user" in call.system.quirks else ""
        await call.out("Users:\n\tUserInfo{0:Owner:4c13} running" + second)
    elif kind in ("package", "packages"):
        options = call.options("-3", "-U", "-f", "-s", "--show-versioncode")
        text = call.next() or ""
        for package in call.system.packages.all():
            is_wanted = not options & {"-3", "-s"} or ("-s" if package.system else "-3") in options
            if is_wanted and text in package.name:
                await call.out(_line(package, options))
    else:
        raise Refused(f"Error: unknown list type '{kind}'", on_stdout=True)


def _line(package: Package, options: set[str]) -> str:
    line = f"package:{package.apk}=" if "-f" in options else "package:"
    line += package.name
    if "--show-versioncode" in options:
        line += f" versionCode:{package.version_code}"
    return f"{line} uid:{package.app_id}" if "-U" in options else line


async def _path(call: ServiceCall) -> None:
    call.options()
    package = call.system.packages.get(call.required())
    if package is None:
        raise Refused(status=1)
    await call.out(f"package:{package.apk}")


async def _install(call: ServiceCall) -> None:
    """Install an APK: a file on the phone, or what the host streams."""
    size = -1
    while (option := call.option()) is not None:
        if option == "-S":
            size = _size(call.required())
        elif option in _INSTALL_OPTIONS_WITH_VALUE:
            call.required()
    path = call.next() or "-"
    if path == "-" and size < 0:
        message = "Error: must either specify a package size or an APK file"
        raise Refused(message, status=1, on_stdout=True)
    try:
        apk = await _streamed(call, size) if path == "-" else call.system.files.read(path)
    except FileSystemError:
        await call.err(f"Error: Unable to open file: {path}")
        raise JavaException(f"Error: Can't open file: {path}") from None
    if "install-prompt" in call.system.quirks and not call.system.allows_installs:
        raise Refused(_CANCELLED, status=1, on_stdout=True)
    try:
        install_apk(call.system, apk, file_name="base.apk" if path == "-" else path)
    except InstallFailed as failure:
        raise Refused(f"Failure [{failure}]", status=1, on_stdout=True) from failure
    await call.out("Success")


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > _MOST_BYTES:
        raise not_a_number(text)
    return int(text)


async def _streamed(call: ServiceCall, size: int) -> bytes:
    """Read exactly so many bytes: the host keeps the stream open until it has the answer."""
    data = bytearray()
    while len(data) < size:
        piece = await call.invocation.stdin.read()
        if not piece:
            break
        data += piece
    return bytes(data[:size])


async def _uninstall(call: ServiceCall) -> None:
    options = call.options("-k", status=1)
    name = call.next()
    if name is None:
        raise Refused("Error: package name not specified", status=1, on_stdout=True)
    if not uninstall(call.system, name, keep_data="-k" in options):
        is_missing = call.system.packages.get(name) is None
        reason = "DELETE_FAILED_INTERNAL_ERROR"
        if is_missing and "--user" in options:
            reason = "not installed for 0"
        raise Refused(f"Failure [{reason}]", status=1, on_stdout=True)
    await call.out("Success")


async def _clear(call: ServiceCall) -> None:
    options = call.options("--cache-only", status=1)
    name = call.next()
    if name is None:
        raise Refused("Error: no package specified", status=1)
    package = call.system.packages.get(name)
    if package is None:
        raise Refused("Failed", status=1)
    if "--cache-only" not in options:
        clear_data(call.system, package)
    await call.out("Success")


async def _grant(call: ServiceCall) -> None:
    for package, permission in await _permissions(call):
        grant(call.system, package, permission)


async def _revoke(call: ServiceCall) -> None:
    for package, permission in await _permissions(call):
        revoke(call.system, package, permission)


async def _permissions(call: ServiceCall) -> list[tuple[Package, str]]:
    """Parse a package and the permission, or all of its permissions."""
    everything = "--all-permissions" in call.options("--all-permissions")
    name, permission = call.next(), call.next()
    if name is None:
        raise Refused("Error: no package specified", status=1)
    package = call.system.packages.get(name)
    if package is None:
        await call.err("Error: package not found")
        raise Refused("Failure [package not found]", status=1, on_stdout=True)
    if everything:
        return [(package, each) for each in sorted(RUNTIME_PERMISSIONS & {*package.requested})]
    if permission is None:
        raise Refused("Error: no permission specified", status=1)
    return [(package, permission)]


async def _resolve_activity(call: ServiceCall) -> None:
    """Print the activity that an intent starts."""
    options: set[str] = set()

    def own(option: str) -> bool:
        options.add(option)
        if option in ("--user", "--query-flags"):
            call.required()
        return option in ("--brief", "--components", "--user", "--query-flags")

    intent = parse_intent(call, other_option=own)
    found = resolve_activity(call.system, intent) or _link_handler(call, intent)
    if found is None:
        await call.out("No activity found")
        return
    await call.out(_PRIORITY)
    if options & {"--brief", "--components"}:
        await call.out(component(*found))
    else:
        await call.out(f"  ActivityInfo:\n    name={found[1]}\n    packageName={found[0]}")


def _link_handler(call: ServiceCall, intent: Intent) -> tuple[str, str] | None:
    """Return the activity that opens a link, or the chooser if several do."""
    if intent.data is None or intent.component is not None:
        return None
    handlers = call.system.ui.links.handlers(intent.data, package=intent.package)
    if len(handlers) != 1:
        return ("android", "com.android.internal.app.ResolverActivity") if handlers else None
    package = call.system.packages.get(handlers[0])
    return None if package is None else (package.name, package.launcher or ".Main")


_COMMANDS: Mapping[str, ServiceHandler] = {
    "clear": _clear,
    "grant": _grant,
    "install": _install,
    "list": _list,
    "path": _path,
    "resolve-activity": _resolve_activity,
    "revoke": _revoke,
    "uninstall": _uninstall,
}
