"""The state of a phone in a form that can be stored, as emulators keep it in a snapshot."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.packages import (
    OPERATOR_PACKAGES,
    Package,
    operator_screen,
)
from pytest_clawperator.simulator.android.pm import APP_ENTRY, described_app
from pytest_clawperator.simulator.android.settings_store import NAMESPACES
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.files import FileSystem

# What outlives a restart.
_PARTS = ("/data", "/storage/emulated/0")


def kept_files(files: FileSystem) -> list[dict[str, Any]]:
    """Return folders and files, each folder before what it holds."""
    return [entry for part in _PARTS for entry in _kept_inside(files, part)]


def bring_back_files(files: FileSystem, kept: Sequence[dict[str, Any]]) -> None:
    """Replace everything that can be written to by what was kept."""
    for part in _PARTS:
        for name in files.listdir(part):
            files.remove(f"{part}/{name}", recursive=True)
    for entry in kept:
        if "data" in entry:
            data = base64.b64decode(entry["data"])
            files.write(entry["path"], data, mtime=entry["mtime"])
        else:
            files.mkdir(entry["path"])


def _kept_inside(files: FileSystem, folder: str) -> Iterator[dict[str, Any]]:
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        if files.is_dir(path):
            yield {"path": path}
            yield from _kept_inside(files, path)
        else:
            data = base64.b64encode(files.read(path)).decode()
            yield {"path": path, "data": data, "mtime": files.stat(path).mtime}


_TUPLES = ("activities", "requested")


def kept_phone(system: AndroidSystem) -> dict[str, Any]:
    """Return the state of a phone; it consists of what JSON can hold."""
    display = system.display
    return {
        "files": kept_files(system.files),
        "packages": [asdict(package) for package in system.packages.all()],
        "settings": {name: dict(system.settings.items(name)) for name in NAMESPACES},
        "properties": system.properties.changeable(),
        "screen": system.ui.kept(),
        "app_ops": system.app_ops,
        "locales": system.locales,
        "display": {
            "forced_size": display.forced_size,
            "forced_density": display.forced_density,
            "awake": display.awake,
        },
        "operators": {name: system.operators.pid_of(name) for name in OPERATOR_PACKAGES},
    }


def bring_back_phone(system: AndroidSystem, kept: Mapping[str, Any], *, running: bool) -> None:
    """Put a new phone into a state that was kept; without ``running``, as after a restart."""
    bring_back_files(system.files, kept["files"])
    _bring_back_packages(system, [_package(entry) for entry in kept["packages"]])
    for name, value in kept["properties"].items():
        if running or name.startswith("persist."):
            system.properties.set(name, value)
    system.app_ops.update(kept["app_ops"])
    system.locales.update(kept["locales"])
    system.ui.bring_back(kept["screen"], running=running)
    # The last, because they start the Operator.
    _bring_back_settings(system, kept["settings"])
    if running:
        _bring_back_hardware(system, kept)


def _bring_back_packages(system: AndroidSystem, kept: list[Package]) -> None:
    names = {package.name for package in kept}
    for package in system.packages.all():
        if package.name not in names:
            system.ui.apps.uninstall(package.name)
            system.packages.remove(package.name)
    for package in kept:
        system.packages.add(package)
        app = _app_of(system, package)
        if app is not None:
            system.ui.apps.install(app)


def _app_of(system: AndroidSystem, package: Package) -> App | None:
    """Return the screens of what was installed later; the others are there already."""
    if package.name in OPERATOR_PACKAGES:
        return operator_screen(package)
    if not system.files.exists(package.apk):
        return None
    described = described_app(system.files.read(package.apk))
    if described is None:
        return None
    try:
        return parse_app(described.decode("utf-8"), path=Path(APP_ENTRY))
    except (UnicodeDecodeError, ConfigurationError):
        return None


def _bring_back_settings(system: AndroidSystem, kept: Mapping[str, Mapping[str, str]]) -> None:
    for namespace, values in kept.items():
        for name, _ in system.settings.items(namespace):
            if name not in values:
                system.settings.delete(namespace, name)
        for name, value in values.items():
            system.settings.put(namespace, name, value)


def _bring_back_hardware(system: AndroidSystem, kept: Mapping[str, Any]) -> None:
    display, screen = kept["display"], system.ui.display
    system.display.awake = display["awake"]
    if display["forced_size"]:
        width, height = display["forced_size"]
        system.display.forced_size = (width, height)
        screen.resize((width, height))
    if display["forced_density"]:
        system.display.forced_density = screen.density = display["forced_density"]
    system.operators.bring_back(kept["operators"])


def _package(kept: Mapping[str, Any]) -> Package:
    values = {**kept, **{name: tuple(kept[name]) for name in _TUPLES}}
    values["receivers"] = tuple((name, action) for name, action in kept["receivers"])
    return Package(**values)
