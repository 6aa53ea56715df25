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
GROUPS: Mapping[str, str] = {}

#: The commands under the headings of the help.
SECTIONS: Mapping[str, Mapping[str, Row]] = {
    "Devices": {
        "devices": _in("devices", "devices", "List the connected devices."),
    },
    "Set-up": {
        "completion": _in("completion", "completion", "Print the completion of a shell."),
    },
}

#: Other spellings of commands, which the help does not list.
ALIASES: Mapping[str, str] = {}

#: What was a command long ago, and what it is today.
FORMER: Mapping[str, str] = {"inspect": "snapshot"}

COMMANDS: Mapping[str, Row] = {
    path: row for section in SECTIONS.values() for path, row in section.items()
}
