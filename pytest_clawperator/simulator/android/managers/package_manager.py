"""What Android's package manager does: installing, removing, clearing, granting."""

from __future__ import annotations

from pytest_clawperator.simulator.android.java import JavaException
from pytest_clawperator.simulator.android.managers.app_processes import kill
from pytest_clawperator.simulator.android.state import accessibility
from pytest_clawperator.simulator.android.state.operator_packages import (
    OPERATOR_PACKAGES,
    operator_package,
    operator_screen,
)
from pytest_clawperator.simulator.android.state.packages import Package, random_code_path
from pytest_clawperator.simulator.android.state.permissions import (
    DEVELOPMENT_PERMISSIONS,
    FIXED_PERMISSIONS,
    NOTIFICATIONS,
    RUNTIME_PERMISSIONS,
)
from pytest_clawperator.simulator.android.state.settings import remove_from_list
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.files import FileSystemError
from pytest_clawperator.simulator.screen.app_files.app_schema import App


def grant(system: AndroidSystem, package: Package, permission: str) -> None:
    """Grant a permission, or refuse as Android does."""
    _require_changeable(system, package, permission)
    system.ui.permissions.grant(package.name, permission)


def revoke(system: AndroidSystem, package: Package, permission: str) -> None:
    """Revoke a permission; a running app is killed, as on Android."""
    _require_changeable(system, package, permission)
    if permission in system.ui.permissions.granted(package.name):
        system.ui.processes.revoke_permission(package.name, permission)
        kill(system, package.name)


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
        package.state = present.state
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
        kill(system, app.package)
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
        kill(system, name)
        package.installed_at = present.installed_at
        package.stopped = present.stopped
    system.packages.add(package)
    system.ui.apps.install(operator_screen(package))
    _store(system, package, apk)


def _store(system: AndroidSystem, package: Package, apk: bytes) -> None:
    """Keep the file where ``pm path`` says it is."""
    system.files.mkdir(package.code_path, parents=True)
    system.files.write(package.apk, apk)


def uninstall(system: AndroidSystem, name: str, *, keep_data: bool = False) -> bool:
    """Remove a package and what it left in the settings; system packages stay."""
    package = system.packages.get(name)
    if package is None or package.system:
        return False
    kill(system, name)
    for permission in system.ui.permissions.granted(name):
        system.ui.processes.revoke_permission(name, permission)
    accessibility.disable_package(system.settings, name)
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
    kill(system, package.name)
    system.ui.processes.clear_data(package.name)
    _remove_data(system, package.name)
    if package.name in OPERATOR_PACKAGES:
        package.stopped = True
        accessibility.disable_package(system.settings, package.name)


def _remove_data(system: AndroidSystem, name: str) -> None:
    folder = f"/storage/emulated/0/Android/data/{name}"
    try:
        system.files.remove(folder, recursive=True)
    except FileSystemError:
        return
