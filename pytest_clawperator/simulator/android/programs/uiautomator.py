"""``uiautomator dump``: the hierarchy of the active window."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.simulator.android.programs.saving import save_file
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.screen.accessibility import UiNode
from pytest_clawperator.simulator.shell.shell import Invocation

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
    roots = [] if system.faults.take("no_ui_tree") else system.ui.view.roots()
    if not roots or system.booting:
        await invocation.err("ERROR: null root node returned by UiTestAutomationBridge.\n")
        return 0
    path = words[1] if len(words) > 1 else _DEFAULT_DUMP
    xml = uiautomator_xml(roots, system.ui.display.rotation)
    if path == "/dev/tty":
        await invocation.out(xml)
    elif await save_file(
        invocation, path, xml.encode("utf-8", "replace"), complaint="ERROR: {}: {}\n"
    ):
        return 1
    await invocation.out(f"UI hierchary dumped to: {path}\n")
    return 0


def uiautomator_xml(roots: Sequence[UiNode], rotation: int) -> str:
    """Print trees as ``uiautomator dump`` does: on one line, without what cannot be seen."""
    parts = [
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>",
        f'<hierarchy rotation="{rotation}">',
    ]
    for index, root in enumerate(roots):
        _print(root, index, parts)
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
