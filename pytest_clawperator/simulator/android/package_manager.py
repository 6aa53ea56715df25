"""The package manager: install, uninstall and clear packages, grant and revoke permissions."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.packages import (
    DEVELOPMENT_PERMISSIONS,
    FIXED_PERMISSIONS,
    NOTIFICATIONS,
    OPERATOR,
    OPERATOR_DEV,
    OPERATOR_PACKAGES,
    RUNTIME_PERMISSIONS,
    Package,
    operator_package,
    operator_screen,
    random_code_path,
)
from pytest_clawperator.simulator.android.processes import kill_package
from pytest_clawperator.simulator.android.service_call import JavaException
from pytest_clawperator.simulator.android.settings_store import remove_from_list
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.files import FileSystemError


def grant(system: AndroidSystem, package: Package, permission: str) -> None:
    """Grant a permission, or refuse as Android does."""
    _require_changeable(system, package, permission)
    system.ui.permissions.grant(package.name, permission)


def revoke(system: AndroidSystem, package: Package, permission: str) -> None:
    """Revoke a permission; a running app is killed, as on Android."""
    _require_changeable(system, package, permission)
    if permission in system.ui.permissions.granted(package.name):
        system.ui.processes.revoke_permission(package.name, permission)
        kill_package(system, package.name)


def _require_changeable(system: AndroidSystem, package: Package, permission: str) -> None:
    changeable = RUNTIME_PERMISSIONS | DEVELOPMENT_PERMISSIONS
    known = permission in changeable | FIXED_PERMISSIONS or permission in package.requested
    if not known or (permission == NOTIFICATIONS and system.build.api < 33):
        raise JavaException(f"Unknown permission: {permission}")
    if permission not in package.requested and permission not in DEVELOPMENT_PERMISSIONS:
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


def app_package(system: AndroidSystem, app: App, *, preinstalled: bool) -> Package:
    """Return an app's package; an update keeps its id, its state and its signature."""
    present = system.packages.get(app.package)
    now = system.clock()
    package = Package(
        name=app.package,
        label=app.name,
        version_name=app.version,
        version_code=app.version_code,
        min_sdk=app.min_sdk,
        target_sdk=app.target_sdk,
        app_id=present.app_id if present else system.packages.free_app_id(),
        system=app.system if preinstalled else present is not None and present.system,
        code_path=random_code_path(app.package, rng=system.rng),
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


def install_operator(system: AndroidSystem, name: str, *, apk: bytes) -> None:
    """Install the Operator; as on a phone, it must be set up before it can do anything."""
    present = system.packages.get(name)
    package = operator_package(
        name,
        app_id=present.app_id if present else system.packages.free_app_id(),
        rng=system.rng,
        now=system.clock(),
        set_up=False,
    )
    if present is not None:
        kill_package(system, name)
        package.installed_at = present.installed_at
        package.stopped = present.stopped
    system.packages.add(package)
    system.ui.apps.install(operator_screen(package))
    _store(system, package, apk)


def _store(system: AndroidSystem, package: Package, apk: bytes) -> None:
    """Store the file where ``pm path`` locates it."""
    system.files.mkdir(package.code_path, parents=True)
    system.files.write(package.apk, apk)


def uninstall(system: AndroidSystem, name: str, *, keep_data: bool = False) -> bool:
    """Remove a package and what it left in the settings; system packages stay."""
    package = system.packages.get(name)
    if package is None or package.system:
        return False
    kill_package(system, name)
    for permission in system.ui.permissions.granted(name):
        system.ui.processes.revoke_permission(name, permission)
    settings_store.disable_accessibility_services(system.settings, name)
    remove_from_list(system.settings, "secure", "enabled_notification_listeners", package=name)
    if not keep_data:
        system.ui.processes.clear_data(name)
        _remove_data(system, name)
    system.ui.apps.uninstall(name)
    system.packages.remove(name)
    if system.files.exists(package.code_path):
        system.files.remove(package.code_path, recursive=True)
    return True


def clear_data(system: AndroidSystem, package: Package) -> None:
    """Set a package back to the state after its installation."""
    kill_package(system, package.name)
    system.ui.processes.clear_data(package.name)
    _remove_data(system, package.name)
    if package.name in OPERATOR_PACKAGES:
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
        app = parse_app(text.decode("utf-8"), path=Path(APP_ENTRY))
    except UnicodeDecodeError:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is not UTF-8"
        ) from None
    except ConfigurationError as error:
        problem = " ".join(str(error).split())
        raise InstallFailed(f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {problem}") from error
    install_app(system, app, apk=apk)


def described_app(apk: bytes) -> bytes | None:
    """Return the description of a simulated app inside an APK; None where it has none."""
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            if APP_ENTRY not in archive.namelist():
                return None
            if archive.getinfo(APP_ENTRY).file_size > 1024 * 1024:
                raise InstallFailed(
                    f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is over 1 MiB"
                )
            return archive.read(APP_ENTRY)
    except InstallFailed:
        raise
    except Exception:  # zipfile meets broken archives with a dozen different ones
        return None


def _operator_name(apk: bytes, file_name: str) -> str | None:
    for text in (apk, file_name.encode("utf-8", "surrogateescape")):
        for name in (OPERATOR_DEV, OPERATOR):
            # A compiled manifest holds its strings as UTF-8 or as UTF-16.
            if name.encode() in text or name.encode("utf-16-le") in text:
                return name
    return None
