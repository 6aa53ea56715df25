"""Every command: its path, where it is, and what it does in one line. Nothing is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """Where a command is, and what it does in one line."""

    module: str
    attribute: str
    help: str


def _in(module: str, attribute: str, help: str) -> Row:
    return Row(f"pytest_clawperator.cli.commands.{module}", attribute, help)


#: The groups of commands, with what each is about.
GROUPS: Mapping[str, str] = {
    "observe": "What is on the screen.",
    "action": "What a person does.",
}

#: The commands under the headings of the help.
SECTIONS: Mapping[str, Mapping[str, Row]] = {
    "What is on the screen": {
        "snapshot": _in("observe", "snapshot", "Capture the UI hierarchy."),
        "screenshot": _in("observe", "screenshot", "Capture the screen as a picture."),
        "read": _in("reading", "read", "Read the text of an element."),
        "read-value": _in("reading", "read_value", "Read the value beside a label."),
        "wait": _in("waiting", "wait", "Wait until an element is there."),
        "wait-for-nav": _in("waiting", "wait_for_nav", "Wait until an app or screen is there."),
    },
    "What a person does": {
        "click": _in("touch", "click", "Click an element or a point."),
        "type": _in("touch", "type_", "Type a text into an element."),
        "press": _in("touch", "press", "Press back, home or recents."),
        "back": _in("touch", "back", "Press back."),
        "scroll": _in("scrolling", "scroll", "Scroll once."),
        "scroll-until": _in("scrolling", "scroll_until", "Scroll until an element is there."),
        "scroll-and-click": _in(
            "scrolling", "scroll_and_click", "Scroll until an element is there, and click it."
        ),
        "open": _in("apps", "open_", "Open an app, a URL or a deep link."),
        "close": _in("apps", "close", "Stop an app."),
        "sleep": _in("waiting", "sleep", "Do nothing for a while."),
        "exec": _in("execute", "execute", "Run a whole execution payload."),
    },
    "Devices": {
        "devices": _in("devices", "devices", "List the connected devices."),
        "serve": _in("serve", "serve", "Offer the devices of this machine over HTTP."),
    },
    "Set-up": {
        "completion": _in("completion", "completion", "Print the completion of a shell."),
    },
}

#: Other spellings of commands, which the help does not list.
ALIASES: Mapping[str, str] = {
    "tap": "click",
    "fill": "type",
    "open-uri": "open",
    "open-url": "open",
    "open-app": "open",
    "close-app": "close",
    "press-key": "press",
    "read-kv": "read-value",
    "wait-for-navigation": "wait-for-nav",
    "execute": "exec",
    "observe snapshot": "snapshot",
    "observe screenshot": "screenshot",
    "action click": "click",
    "action type": "type",
    "action read": "read",
    "action wait": "wait",
    "action open-app": "open",
    "action open-uri": "open",
    "action press-key": "press",
}

#: What was a command long ago, and what it is today.
FORMER: Mapping[str, str] = {"inspect": "snapshot"}

COMMANDS: Mapping[str, Row] = {
    path: row for section in SECTIONS.values() for path, row in section.items()
}
