"""A device that answers from a table."""

from __future__ import annotations

import re
from typing import Any

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import DeviceNotFoundError
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import Answer, ScriptedTransport

REFUSED = ShellResult("", "java.lang.SecurityException: Permission denial: settings\n", 255)
GONE = DeviceNotFoundError("it is gone", serial="PH1")


def scripted(answers: dict[Any, Answer] | None = None, **about: Any) -> Device:
    """Return a device that answers from a table."""
    info = DeviceInfo(serial="PH1", key="PH1", **about)
    return Device(ScriptedTransport(answers), info)


def settings(**values: str) -> dict[Any, Answer]:
    """Answer as the `settings` command does, and remember what is put."""

    def answer(command: str) -> str:
        _, verb, _, name, *value = command.split()
        if verb == "get":
            return values.get(name, "null") + "\n"
        if verb == "put":
            values[name] = value[0].strip("'")
        else:
            del values[name]
        return ""

    return {re.compile("settings .*"): answer}
