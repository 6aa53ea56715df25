"""The commands of the phone, and the table of them in the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.options import DeviceOptions
from pytest_clawperator.simulator.shell.commands import BUILTINS, TOOLS

DOCUMENT = Path(__file__).parents[3] / "docs" / "simulator.md"
ROW = re.compile(r"^\| (`[^|]+`) \| \S.* \| \S.* \|$", re.MULTILINE)


def documented() -> list[str]:
    """Return the commands in the first column of the table."""
    text = DOCUMENT.read_text(encoding="utf-8")
    chapter = text.split("## Shell commands\n")[1].split("\n## ")[0]
    return [name for cell in ROW.findall(chapter) for name in re.findall(r"`([^`]+)`", cell)]


def test_the_documented_commands_are_those_of_the_phone() -> None:
    """Each command is in the table once, and the table has no other."""
    phone = Device(DeviceOptions(serial_number="SIM0001"))

    assert sorted(documented()) == sorted(phone.make_shell().commands)


@pytest.mark.parametrize("name", ["sed", "awk", "xargs", "sort", "expr", "find"])
def test_a_command_that_nobody_sends_is_not_there(name: str) -> None:
    """What only a longer list would want answers as a missing command."""
    assert name not in documented()
    assert name not in {**BUILTINS, **TOOLS}


def test_a_builtin_is_not_a_tool_as_well() -> None:
    """Each command has one home."""
    assert not set(BUILTINS) & set(TOOLS)
