"""The state of a simulated phone, as an emulator keeps it in a snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_clawperator.simulator.android.log_buffer import BUFFERS
from pytest_clawperator.simulator.android.packages import (
    OPERATOR_PACKAGES,
    Package,
    operator_screen,
)
from pytest_clawperator.simulator.android.pm import APP_ENTRY, described_app
from pytest_clawperator.simulator.android.settings_store import NAMESPACES
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.screen.phone_state import PhoneState
from pytest_clawperator.simulator.screen.system_pages import LAUNCHER
from pytest_clawperator.simulator.screen.tasks import Page, Task

# The files that outlive a restart.
_PARTS = ("/data/", "/storage/emulated/0/")
_LOG_LINES = 1000
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_DIALOG = "dialog:"
_OF_PAGE = ("name", "args", "scroll", "texts", "checks", "snackbar")


def keep(device: Device) -> dict[str, Any]:
    """Return the state of a phone; it can be pickled."""
    system, operators = device.system, device.operators
    properties = system.properties._values
    return {
        "files": {
            path: node for path, node in device.files._nodes.items() if path.startswith(_PARTS)
        },
        "packages": system.packages.all(),
        "settings": {name: dict(system.settings.items(name)) for name in NAMESPACES},
        "properties": {key: value for key, value in properties.items() if key[:3] != "ro."},
        "screen": _kept_screen(system.ui._state),
        "operators": {name: operators.pid_of(name) for name in OPERATOR_PACKAGES},
        "boot_id": device.files.read(_BOOT_ID),
        "log": device.log.last(_LOG_LINES),
    }


def bring_back(device: Device, kept: dict[str, Any], *, running: bool = True) -> None:
    """Go back to a state that was kept; without ``running``, as after a restart from it."""
    for name in OPERATOR_PACKAGES:
        device.operators.stop(name)
    device._build()
    system, nodes = device.system, device.files._nodes
    for path in [path for path in nodes if path.startswith(_PARTS)]:
        del nodes[path]
    nodes.update(kept["files"])
    _bring_back_packages(system, kept["packages"])
    for name, value in kept["properties"].items():
        if running or name.startswith("persist."):
            system.properties.set(name, value)
    system.ui.catch_up()
    _bring_back_screen(system.ui._state, kept["screen"], running=running)
    # After the packages, because a setting starts the Operator.
    for namespace, values in kept["settings"].items():
        for name in {name for name, _ in system.settings.items(namespace)} - {*values}:
            system.settings.delete(namespace, name)
        for name, value in values.items():
            system.settings.put(namespace, name, value)
    _bring_back_log(device, kept["log"] if running else [])
    if running:
        for name, pid in kept["operators"].items():
            _bring_back_operator(device, name, pid)
    device._begin_boot()
    if running:
        device.files.provide(_BOOT_ID, kept["boot_id"])
    device.cable.disconnect()


def _bring_back_packages(system: AndroidSystem, kept: list[Package]) -> None:
    for package in system.packages.all():
        if package.name not in {one.name for one in kept}:
            system.ui.apps.uninstall(package.name)
            system.packages.remove(package.name)
    for package in kept:
        system.packages.add(package)
        if package.name in OPERATOR_PACKAGES:
            system.ui.apps.install(operator_screen(package))
        elif system.files.exists(package.apk):
            described = described_app(system.files.read(package.apk))
            if described is not None:
                system.ui.apps.install(parse_app(described.decode(), path=Path(APP_ENTRY)))


def _bring_back_operator(device: Device, name: str, pid: int | None) -> None:
    if pid is None:
        device.operators.stop(name)
    else:
        device.operators.start(name)
        device.operators._apps[name].pid = pid


def _bring_back_log(device: Device, lines: list[Any]) -> None:
    log = device.log
    log.clear(BUFFERS)
    for line in lines:
        log._rings[line.buffer].append(line._replace(number=log.next_number, first=log.next_number))
        log._used[line.buffer] += line.size
        log.next_number += 1


def _kept_screen(state: PhoneState) -> dict[str, Any]:
    state.timeline.advance()
    apps = {
        package: (
            task.running,
            task.state._memory,
            task.state._saved,
            [_kept_page(page, state.timeline.now) for page in task.stack],
        )
        for package, task in state.tasks.items()
    }
    return {
        "apps": apps,
        "order": (state.foreground._order, state.foreground._used),
        "permissions": (state.permissions._granted, state.permissions._refusals),
        "dark": state.display.dark,
        "rotation": state.display.rotation,
    }


def _bring_back_screen(state: PhoneState, kept: dict[str, Any], *, running: bool) -> None:
    state.permissions._granted, state.permissions._refusals = kept["permissions"]
    state.display.dark = kept["dark"]
    for package, (is_running, memory, saved, pages) in kept["apps"].items():
        task = state.tasks.get(package)
        if task is None:
            continue
        task.state._saved.update(saved)
        if running:
            task.state._memory.update(memory)
            task.running = is_running
            task.stack = [_page(task, page, state.timeline.now) for page in pages]
    if running:
        state.display.rotation = kept["rotation"]
        open_apps = {LAUNCHER, *(name for name, task in state.tasks.items() if task.stack)}
        order, used = ([one for one in names if one in open_apps] for names in kept["order"])
        state.foreground._order, state.foreground._used = order, used
        state.foreground._base_appeared()
    state.changes.note()


def _kept_page(page: Page, now: float) -> dict[str, Any]:
    dialogs = [_kept_page(dialog, now) for dialog in page.dialogs]
    values = {name: getattr(page, name) for name in _OF_PAGE}
    return {**values, "dialogs": dialogs, "age": now - page.opened_at}


def _page(task: Task, kept: dict[str, Any], now: float) -> Page:
    name = kept["name"]
    make = task.dialog if name.startswith(_DIALOG) else task.screen
    page = make(name.removeprefix(_DIALOG), kept["args"], now=now - kept["age"])
    for field in _OF_PAGE:
        setattr(page, field, kept[field])
    page.dialogs = [_page(task, dialog, now) for dialog in kept["dialogs"]]
    return page
