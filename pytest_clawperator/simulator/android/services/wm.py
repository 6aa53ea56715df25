"""``wm``, ``screencap`` and ``uiautomator``: the screen, as shell commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    JavaError,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)
from pytest_clawperator.simulator.filesystem import FULL, FileSystemError

if TYPE_CHECKING:
    from pytest_clawperator.simulator.android.system import AndroidSystem
    from pytest_clawperator.simulator.screen.nodes import UiNode
    from pytest_clawperator.simulator.shell.shell import Invocation

_WM_USAGE = """Window manager (window) commands:
  help
      Print this help text.
  size [reset|WxH|WdpxHdp] [-d DISPLAY_ID]
    Return or override display size.
  density [reset|DENSITY] [-d DISPLAY_ID]
    Return or override display density.
  dismiss-keyguard
    Dismiss the keyguard.
  user-rotation [-d DISPLAY_ID] [free|lock] [rotation]
    Print or set user rotation mode and user rotation.
"""
_LEAST_DENSITY, _MOST_DENSITY = 72, 2000
_LEAST_SIDE = 200


async def _size(call: ServiceCall) -> int:
    display = call.system.display
    words = _without_display(call.rest())
    if not words:
        await call.out("Physical size: {}x{}".format(*display.size))
        if display.forced_size is not None:
            await call.out("Override size: {}x{}".format(*display.forced_size))
        return 0
    if words[0] == "reset":
        display.forced_size = None
        call.system.ui.resize(display.size)
        return 0
    width, times, height = words[0].partition("x")
    if not (width and times and height):
        await call.err(f"Error: bad size {words[0]}")
        return FAILED
    try:
        wanted = (_pixels(width, display.density), _pixels(height, display.density))
    except JavaError as error:
        await call.err(f"Error: bad number {error.kind}: {error}")
        return FAILED
    # Android holds an override between 200 pixels and twice the panel's own size.
    forced = tuple(
        min(max(side, _LEAST_SIDE), 2 * own) for side, own in zip(wanted, display.size, strict=True)
    )
    size = forced[0], forced[1]
    display.forced_size = size if size != display.size else None
    call.system.ui.resize(size)
    return 0


def _pixels(text: str, density: int) -> int:
    if text.endswith("dp"):
        return java_int(text[:-2]) * density // 160
    return java_int(text.removesuffix("px"))


async def _density(call: ServiceCall) -> int:
    display = call.system.display
    words = _without_display(call.rest())
    if not words:
        await call.out(f"Physical density: {display.density}")
        if display.forced_density is not None:
            await call.out(f"Override density: {display.forced_density}")
        return 0
    if words[0] == "reset":
        display.forced_density = None
        call.system.ui.density = display.density
        return 0
    try:
        density = java_int(words[0])
    except JavaError as error:
        await call.err(f"Error: bad number {error.kind}: {error}")
        return FAILED
    if density < _LEAST_DENSITY:
        await call.err(f"Error: density must be >= {_LEAST_DENSITY}")
        return FAILED
    density = min(density, _MOST_DENSITY)
    display.forced_density = density if density != display.density else None
    call.system.ui.density = density
    return 0


def _without_display(words: list[str]) -> list[str]:
    if "-d" in words:
        at = words.index("-d")
        return words[:at] + words[at + 2 :]
    return words


async def _user_rotation(call: ServiceCall) -> int:
    settings = call.system.settings
    words = _without_display(call.rest())
    if not words:
        free = settings.get("system", "accelerometer_rotation") == "1"
        rotation = settings.get("system", "user_rotation") or "0"
        await call.out("free" if free else f"lock {rotation}")
        return 0
    if words[0] not in ("free", "lock"):
        await call.err("Error: argument needs to be either -d, free or lock.")
        return FAILED
    if len(words) > 1 and words[1] not in ("0", "1", "2", "3"):
        await call.err("Error: rotation value should be between 0 and 3.")
        return FAILED
    settings.put("system", "accelerometer_rotation", "1" if words[0] == "free" else "0")
    if words[0] == "lock" and len(words) > 1:
        settings.put("system", "user_rotation", words[1])
    return 0


async def _nothing(call: ServiceCall) -> int:
    return 0


_WM_COMMANDS: Mapping[str, ServiceHandler] = {
    "density": _density,
    "dismiss-keyguard": _nothing,
    "size": _size,
    "user-rotation": _user_rotation,
}


async def window_service(call: ServiceCall) -> int:
    """Answer ``cmd window``, which is what ``wm`` is."""
    return await dispatch(call, _WM_COMMANDS, usage=_WM_USAGE)


_SCREENCAP_USAGE = """usage: screencap [-hp] [-d display-id] [FILENAME]
   -h: this message
   -p: save the file as a png.
   -d: specify the display ID to capture.
If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout.
"""


async def screencap(system: AndroidSystem, invocation: Invocation) -> int:
    """Take a picture of the screen, to a file or to the standard output."""
    words = invocation.args[1:]
    if "-d" in words:
        at = words.index("-d")
        words = words[:at] + words[at + 2 :]
    paths = [word for word in words if not word.startswith("-")]
    flags = set(words) - set(paths)
    if flags - {"-p"}:
        await invocation.err(_SCREENCAP_USAGE)
        return 1
    png = flags == {"-p"} or (bool(paths) and paths[0].endswith(".png"))
    if not png:
        await invocation.err(
            "screencap: raw pixels are not offered here; give -p for a PNG\n" + _SCREENCAP_USAGE
        )
        return 1
    if system.faults.take("storage_full") is not None:
        target = paths[0] if paths else "stdout"
        await invocation.err(f"Error opening file: {target} ({FULL})\n")
        return 1
    picture = await system.phone.screenshot()
    system.stats.screenshot()
    if not paths:
        await invocation.stdout.write(picture)
        return 0
    return await _save(invocation, paths[0], picture, complaint="Error opening file: {} ({})\n")


async def _save(invocation: Invocation, path: str, data: bytes, *, complaint: str) -> int:
    shell = invocation.shell
    try:
        shell.files.write(shell.files.resolve(path, shell.cwd), data)
    except FileSystemError as error:
        await invocation.err(complaint.format(path, error.reason))
        return 1
    return 0


_UIAUTOMATOR_USAGE = """Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

dump: creates an XML dump of current UI hierarchy
    dump [--verbose] [--compressed] [file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml
"""
_DEFAULT_DUMP = "/sdcard/window_dump.xml"
# What XML cannot hold becomes a dot, as uiautomator has it.
_ESCAPES = str.maketrans(
    {
        **{chr(code): "." for code in range(32)},
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\t": "&#9;",
        "\n": "&#10;",
        "\r": "&#13;",
    }
)


async def uiautomator(system: AndroidSystem, invocation: Invocation) -> int:
    """Dump the hierarchy of the active window."""
    words = [word for word in invocation.args[1:] if word not in ("--compressed", "--verbose")]
    if words[:1] != ["dump"]:
        if words[:1] not in ([], ["help"]):
            await invocation.err(f"Unknown command: {words[0]}\n")
        await invocation.out(_UIAUTOMATOR_USAGE)
        return 0 if words[:1] == ["help"] else 1
    root = None if system.faults.take("no_ui_tree") else system.ui.active_root()
    if root is None or system.booting:
        await invocation.err("ERROR: null root node returned by UiTestAutomationBridge.\n")
        return 0
    path = words[1] if len(words) > 1 else _DEFAULT_DUMP
    xml = uiautomator_xml(root, system.ui.rotation)
    if path == "/dev/tty":
        await invocation.out(xml)
    elif await _save(invocation, path, xml.encode("utf-8", "replace"), complaint="ERROR: {}: {}\n"):
        return 1
    await invocation.out(f"UI hierchary dumped to: {path}\n")
    return 0


def uiautomator_xml(root: UiNode, rotation: int) -> str:
    """Print a tree as ``uiautomator dump`` does: on one line, without what cannot be seen."""
    parts = [
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>",
        f'<hierarchy rotation="{rotation}">',
    ]
    _print(root, 0, parts)
    parts.append("</hierarchy>")
    return "".join(parts)


def _print(node: UiNode, index: int, parts: list[str]) -> None:
    texts = {
        "index": str(index),
        "text": node.text,
        "resource-id": node.resource_id,
        "class": node.cls,
        "package": node.package,
        "content-desc": node.content_desc,
    }
    flags = {
        "checkable": node.checkable,
        "checked": node.checked,
        "clickable": node.clickable,
        "enabled": node.enabled,
        "focusable": node.focusable,
        "focused": node.focused,
        "scrollable": node.scrollable,
        "long-clickable": node.long_clickable,
        "password": node.password,
        "selected": node.selected,
    }
    left, top, right, bottom = node.bounds
    shown = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in texts.items()]
    shown += [f'{name}="{str(value).lower()}"' for name, value in flags.items()]
    shown.append(f'bounds="[{left},{top}][{right},{bottom}]"')
    children = [(at, child) for at, child in enumerate(node.children) if child.visible_to_user]
    parts.append(f"<node {' '.join(shown)}{'>' if children else ' />'}")
    for at, child in children:
        _print(child, at, parts)
    if children:
        parts.append("</node>")
