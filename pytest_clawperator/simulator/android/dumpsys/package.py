"""What ``dumpsys package`` prints about packages."""

from __future__ import annotations

import time
from collections.abc import Collection

from pytest_clawperator.simulator.android.dumpsys.records import object_id
from pytest_clawperator.simulator.android.state.operator_packages import OPERATOR_PACKAGES
from pytest_clawperator.simulator.android.state.packages import Package, component
from pytest_clawperator.simulator.android.state.permissions import RUNTIME_PERMISSIONS
from pytest_clawperator.simulator.android.system import AndroidSystem

# Before, the id of an app was called that of a user.
_APP_ID_SINCE = 33
_FLAGS = "HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP"


def dump_package(system: AndroidSystem, name: str | None) -> str:
    """Print one package, or all of them."""
    if name is not None:
        package = system.packages.get(name)
        if package is None:
            return f"Unable to find package: {name}\n"
        shown = [package]
    else:
        shown = system.packages.all()
    lines = [*_resolver_tables(shown), "", "Packages:"]
    for package in shown:
        lines += _package(system, package)
    return "\n".join(lines) + "\n"


def _version_name(system: AndroidSystem, package: Package) -> str:
    other = system.faults.active("operator_version")
    is_other = other is not None and package.name in OPERATOR_PACKAGES
    return other.options["version"] if other is not None and is_other else package.version_name


def _resolver_tables(shown: list[Package]) -> list[str]:
    lines = ["Activity Resolver Table:", "  Non-Data Actions:"]
    launchers = [(p, p.launcher) for p in shown if p.launcher]
    if launchers:
        lines.append("      android.intent.action.MAIN:")
    for package, launcher in launchers:
        assert launcher is not None
        name = component(package.name, launcher)
        lines += [
            f"        {object_id(name)} {name} filter {object_id('filter ' + name)}",
            '          Action: "android.intent.action.MAIN"',
            '          Category: "android.intent.category.LAUNCHER"',
        ]
    lines += ["", "Receiver Resolver Table:", "  Non-Data Actions:"]
    for package in shown:
        for cls, action in package.receivers:
            name = component(package.name, cls)
            lines += [
                f"      {action}:",
                f"        {object_id(name)} {name} filter {object_id('filter ' + name)}",
                f'          Action: "{action}"',
            ]
    return lines


def _package(system: AndroidSystem, package: Package) -> list[str]:
    return [
        f"  Package [{package.name}] ({object_id(package.name)}):",
        *_code(package, "appId" if system.build.api >= _APP_ID_SINCE else "userId"),
        *_version(package, _version_name(system, package)),
        *_installation(package),
        *_permissions(package),
        *_user_states(system, package),
        *_runtime_permissions(package, held=system.ui.permissions.granted(package.name)),
    ]


def _code(package: Package, key: str) -> list[str]:
    return [
        f"    {key}={package.app_id}",
        f"    pkg=Package{{{object_id('pkg ' + package.name)} {package.name}}}",
        f"    codePath={package.code_path}",
        f"    resourcePath={package.code_path}",
        f"    legacyNativeLibraryDir={package.code_path}/lib",
        "    extractNativeLibs=false",
        "    primaryCpuAbi=null",
        "    secondaryCpuAbi=null",
        "    cpuAbiOverride=null",
    ]


def _version(package: Package, name: str) -> list[str]:
    return [
        f"    versionCode={package.version_code} minSdk={package.min_sdk}"
        f" targetSdk={package.target_sdk}",
        "    minExtensionVersions=[]",
        f"    versionName={name}",
        "    hiddenApiEnforcementPolicy=2",
        "    usesNonSdkApi=false",
        "    splits=[base]",
        "    apkSigningVersion=2",
        f"    flags={_flags(package)}",
        "    privateFlags=[ PRIVATE_FLAG_ACTIVITIES_RESIZE_MODE_RESIZEABLE_VIA_SDK_VERSION ]",
        "    forceQueryable=false",
        "    queriesPackages=[]",
        "    queriesIntents=[]",
        "    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]",
    ]


def _flags(package: Package) -> str:
    return f"[ {'SYSTEM ' if package.system else ''}{_FLAGS} ]"


def _installation(package: Package) -> list[str]:
    signature = object_id("signatures " + package.name)
    return [
        f"    timeStamp={_date(package.updated_at)}",
        f"    lastUpdateTime={_date(package.updated_at)}",
        f"    installerPackageName={package.installer or 'null'}",
        f"    signatures=PackageSignatures{{{signature} version:2,"
        f" signatures:[{package.signature}], past signatures:[]}}",
        "    installPermissionsFixed=true",
        f"    pkgFlags={_flags(package)}",
    ]


def _permissions(package: Package) -> list[str]:
    fixed = [name for name in package.requested if name not in RUNTIME_PERMISSIONS]
    return [
        "    requested permissions:",
        *(f"      {name}" for name in package.requested),
        "    install permissions:",
        *(f"      {name}: granted=true" for name in fixed),
    ]


def _user_states(system: AndroidSystem, package: Package) -> list[str]:
    if "multi-user" not in system.quirks:
        return _user_state(package, user=0)
    absent = "installed=false hidden=false suspended=false distractionFlags=0"
    return [
        f"    User 0: ceDataInode=0 deDataInode=0 {absent} stopped=true notLaunched=true enabled=0",
        *_user_state(package, user=10),
    ]


def _user_state(package: Package, *, user: int) -> list[str]:
    stopped = str(package.stopped).lower()
    return [
        f"    User {user}: ceDataInode={4096 + package.app_id} deDataInode={8192 + package.app_id}"
        f" installed=true hidden=false suspended=false distractionFlags=0"
        f" stopped={stopped} notLaunched={stopped}"
        f" enabled=0 instant=false virtual=false quarantined=false",
        "      installReason=0",
        f"      dataDir=/data/user/{user}/{package.name}",
        f"      firstInstallTime={_date(package.installed_at)}",
        "      uninstallReason=0",
    ]


def _runtime_permissions(package: Package, *, held: Collection[str]) -> list[str]:
    runtime = [name for name in package.requested if name in RUNTIME_PERMISSIONS]
    return [
        "      runtime permissions:",
        *(
            f"        {name}: granted={str(name in held).lower()}, flags=[ USER_SET"
            "|USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED ]"
            for name in runtime
        ),
    ]


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
