"""The package manager and ``pm``: what is installed, and how to change it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android import packages, settings_store
from pytest_clawperator.simulator.android.am import Intent, parse_intent, resolve_activity
from pytest_clawperator.simulator.android.processes import kill_package
from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    Refused,
    ServiceCall,
    ServiceHandler,
    not_a_number,
)
from pytest_clawperator.simulator.android.settings_store import remove_from_list
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.files import FileSystemError


def grant(system: AndroidSystem, package: packages.Package, permission: str) -> None:
    """Grant a permission, or refuse as Android does."""
    _require_changeable(system, package, permission)
    system.ui.permissions.grant(package.name, permission)


def revoke(system: AndroidSystem, package: packages.Package, permission: str) -> None:
    """Revoke a permission; a running app is killed, as on Android."""
    _require_changeable(system, package, permission)
    if permission in system.ui.permissions.granted(package.name):
        system.ui.processes.revoke_permission(package.name, permission)
        kill_package(system, package.name)


def _require_changeable(system: AndroidSystem, package: packages.Package, permission: str) -> None:
    changeable = packages.RUNTIME_PERMISSIONS | packages.DEVELOPMENT_PERMISSIONS
    known = permission in changeable or permission in package.requested
    if not known or (permission == packages.NOTIFICATIONS and system.build.api < 33):
        raise JavaException(f"Unknown permission: {permission}")
    if permission not in package.requested and permission not in packages.DEVELOPMENT_PERMISSIONS:
        raise JavaException(
            f"Package {package.name} has not requested permission {permission}",
            kind="java.lang.SecurityException",
        )
    if permission not in changeable:
        raise JavaException(
            f"Permission {permission} requested by {package.name} is not a changeable"
            " permission type",
            kind="java.lang.SecurityException",
        )


def app_package(system: AndroidSystem, app: App, *, preinstalled: bool) -> packages.Package:
    """Return an app's package; an update keeps its id, its state and its signature."""
    present = system.packages.get(app.package)
    now = system.clock()
    package = packages.Package(
        name=app.package,
        label=app.name,
        version_name=app.version,
        version_code=app.version_code,
        min_sdk=app.min_sdk,
        target_sdk=app.target_sdk,
        app_id=present.app_id if present else system.packages.free_app_id(),
        system=app.system if preinstalled else present is not None and present.system,
        code_path=packages.random_code_path(app.package, rng=system.rng),
        activities=tuple(app.activities),
        launchable=app.launcher,
        requested=app.permissions,
        installed_at=now,
        updated_at=now,
        # What was installed and never opened counts as stopped.
        stopped=not preinstalled,
        signature=f"{system.rng.getrandbits(32):08x}",
    )
    if present is not None:
        package.installed_at, package.stopped = present.installed_at, present.stopped
        package.signature = present.signature
    if package.system and preinstalled:
        package.code_path = present.code_path if present else f"/product/app/{app.package}"
    return package


def install_app(
    system: AndroidSystem, app: App, *, apk: bytes = b"", preinstalled: bool = False
) -> None:
    """Install an app, or put another version in its place."""
    package = app_package(system, app, preinstalled=preinstalled)
    if not preinstalled:
        kill_package(system, app.package)
    system.packages.add(package)
    system.ui.apps.install(app)
    if apk:
        _store(system, package, apk)


def install_operator(
    system: AndroidSystem, name: str, *, apk: bytes = b"", set_up: bool = False
) -> None:
    """Install the Operator; as on a phone, it must be set up before it can do anything."""
    present = system.packages.get(name)
    package = packages.operator_package(
        name,
        app_id=present.app_id if present else system.packages.free_app_id(),
        rng=system.rng,
        now=system.clock(),
        set_up=set_up,
    )
    if present is not None:
        kill_package(system, name)
        package.installed_at = present.installed_at
        package.stopped = present.stopped
    system.packages.add(package)
    system.ui.apps.install(packages.operator_screen(package))
    if apk:
        _store(system, package, apk)


def _store(system: AndroidSystem, package: packages.Package, apk: bytes) -> None:
    """Store the file where ``pm path`` locates it."""
    system.files.mkdir(package.code_path, parents=True)
    system.files.write(package.apk, apk)


def uninstall(system: AndroidSystem, name: str) -> bool:
    """Remove a package and what it left in the settings; system packages stay."""
    package = system.packages.get(name)
    if package is None or package.system:
        return False
    kill_package(system, name)
    for permission in system.ui.permissions.granted(name):
        system.ui.processes.revoke_permission(name, permission)
    settings_store.disable_accessibility_services(system.settings, name)
    remove_from_list(system.settings, "secure", "enabled_notification_listeners", package=name)
    system.ui.processes.clear_data(name)
    _remove_data(system, name)
    system.ui.apps.uninstall(name)
    system.packages.remove(name)
    if system.files.exists(package.code_path):
        system.files.remove(package.code_path, recursive=True)
    return True


def clear_data(system: AndroidSystem, package: packages.Package) -> None:
    """Set a package back to the state after its installation."""
    kill_package(system, package.name)
    system.ui.processes.clear_data(package.name)
    _remove_data(system, package.name)
    if package.name in packages.OPERATOR_PACKAGES:
        package.stopped = True
        settings_store.disable_accessibility_services(system.settings, package.name)


def _remove_data(system: AndroidSystem, name: str) -> None:
    folder = f"/storage/emulated/0/Android/data/{name}"
    try:
        system.files.remove(folder, recursive=True)
    except FileSystemError:
        return


APP_ENTRY = "assets/simulator/app.yaml"
"""The file inside an APK that describes a simulated app."""


class InstallFailed(Exception):
    """An installation that Android refuses; the text is what stands in the brackets."""


def install_apk(system: AndroidSystem, apk: bytes, *, file_name: str) -> None:
    """Install an APK, recognised by its bytes or else by the name of its file."""
    if system.faults.active("storage_full"):
        raise InstallFailed(
            "INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location"
        )
    described = described_app(apk)
    if described is not None:
        _install_described(system, described, apk)
        return
    name = _operator_name(apk, file_name)
    if name is None:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_NOT_APK: Failed to parse {file_name}: neither an Operator"
            f" APK nor a zip with {APP_ENTRY}"
        )
    install_operator(system, name, apk=apk)


def _install_described(system: AndroidSystem, text: bytes, apk: bytes) -> None:
    try:
        app = parse_app(text.decode("utf-8", "replace"), path=Path(APP_ENTRY))
    except ConfigurationError as error:
        problem = " ".join(str(error).split())
        raise InstallFailed(f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {problem}") from error
    install_app(system, app, apk=apk)


def described_app(apk: bytes) -> bytes | None:
    """Return the description of a simulated app inside an APK; None if it has none."""
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            return archive.read(APP_ENTRY)
    except Exception:  # zipfile meets broken archives with a dozen different ones
        return None


def _operator_name(apk: bytes, file_name: str) -> str | None:
    for text in (apk, file_name.encode("utf-8", "surrogateescape")):
        for name in (packages.OPERATOR_DEV, packages.OPERATOR):
            # A compiled manifest holds its strings as UTF-8 or as UTF-16.
            if name.encode() in text or name.encode("utf-16-le") in text:
                return name
    return None


_INSTALL_OPTIONS_WITH_VALUE = frozenset({"-i", "-p", "--user", "--install-location", "--abi"})
_MOST_BYTES = 512 * 1024 * 1024
# What becomes of a prompt on the phone if it is not answered.
_CANCELLED = "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]"
_PRIORITY = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


async def _list(call: ServiceCall) -> None:
    if call.required() not in ("package", "packages"):
        raise Refused("Error: only packages can be listed here", on_stdout=True)
    options = call.options("-3", "-f", "-s", "--show-versioncode")
    text = call.next() or ""
    for package in call.system.packages.all():
        is_wanted = not options & {"-3", "-s"} or ("-s" if package.system else "-3") in options
        if is_wanted and text in package.name:
            path = f"{package.apk}=" if "-f" in options else ""
            code = f" versionCode:{package.version_code}"
            shown = code if "--show-versioncode" in options else ""
            await call.out(f"package:{path}{package.name}{shown}")


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
    options = call.options(status=1)
    name = call.required()
    if not uninstall(call.system, name):
        is_missing = call.system.packages.get(name) is None and "--user" in options
        reason = "not installed for 0" if is_missing else "DELETE_FAILED_INTERNAL_ERROR"
        raise Refused(f"Failure [{reason}]", status=1, on_stdout=True)
    await call.out("Success")


async def _clear(call: ServiceCall) -> None:
    call.options(status=1)
    package = call.system.packages.get(call.required())
    if package is None:
        raise Refused("Failed", status=1)
    clear_data(call.system, package)
    await call.out("Success")


async def _grant(call: ServiceCall) -> None:
    grant(call.system, *await _permission(call))


async def _revoke(call: ServiceCall) -> None:
    revoke(call.system, *await _permission(call))


async def _permission(call: ServiceCall) -> tuple[packages.Package, str]:
    """Parse a package and the permission."""
    call.options()
    package = call.system.packages.get(call.required())
    if package is None:
        await call.err("Error: package not found")
        raise Refused("Failure [package not found]", status=1, on_stdout=True)
    return package, call.required()


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
        await call.out(packages.component(*found))
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


PACKAGE_COMMANDS: Mapping[str, ServiceHandler] = {
    "clear": _clear,
    "grant": _grant,
    "install": _install,
    "list": _list,
    "path": _path,
    "resolve-activity": _resolve_activity,
    "revoke": _revoke,
    "uninstall": _uninstall,
}
"""What ``pm`` and ``cmd package`` take."""
