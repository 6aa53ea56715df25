"""What phones of many makers print, and what is read from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import pytest_clawperator
from pytest_clawperator.assertions.golden_picture import status_bar_height
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device, check_uri
from pytest_clawperator.client.device_commands import parse_packages, toast_texts
from pytest_clawperator.client.device_settings import read_airplane_mode, read_app_locale
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.log import parse_log_line
from pytest_clawperator.devices.operator import components
from pytest_clawperator.doctor.facts import DeviceFacts, gather_device
from pytest_clawperator.emulators.checkpoints import installed_apps
from pytest_clawperator.errors import StepFailedError
from pytest_clawperator.execution.processes import parse_processes
from pytest_clawperator.execution.screenshots import parse_displays, take_picture
from pytest_clawperator.transport.shell import parse_properties
from pytest_clawperator.transport.wire import AdbServer, parse_device_row
from tests.doubles.transport import ScriptedTransport
from tests.phone_output import OPERATOR, ROWS, SHOP, Row

HOST = Path(pytest_clawperator.__file__).parent
PNG = b"\x89PNG\r\n\x1a\n"
DUMP = f"  Package [{OPERATOR}] (1a2b):\n    appId=10145\n"
# Commands whose answer is one word of Android's own, the same on every phone: a number, a path.
PLAIN = ("am get-standby-bucket", "ps -A -o NAME")
_QUESTION = re.compile(
    r"(?:dumpsys |getprop|wm (?:size|density)|pm list|am get-|settings (?:get|list)|ps |df "
    r"|logcat -g|screencap|cmd \w+ (?:get|resolve|airplane-mode$))"
)


class Phone(ScriptedTransport):
    """A phone that prints one thing, to one command."""

    def __init__(self, command: str, printed: str) -> None:
        super().__init__({re.compile(re.escape(command) + ".*", re.DOTALL): printed})
        self.device = Device(self, DeviceInfo(serial="PH1", key="PH1"))

    def exec_out(
        self,
        command: str,
        *,
        timeout: float = 30.0,
        on_output: Callable[[bytes], None] = lambda piece: None,
    ) -> bytes:
        """Print a picture instead of PNG."""
        return self.shell(command).stdout.encode().replace(b"PNG", PNG)


def facts(command: str, printed: str) -> DeviceFacts:
    """Return what the doctor reads."""
    server = AdbServer("127.0.0.1", 5037)
    return gather_device(Phone(command, printed), OPERATOR, server=server, left=lambda: 30.0)


def _front(command: str) -> Callable[[str], str | None]:
    return lambda printed: Phone(command, printed).device.current_package()


def _info(name: str, command: str) -> Callable[[str], Any]:
    return lambda printed: getattr(facts(command, printed).info, name)


def _of_package(printed: str) -> tuple[Any, ...]:
    dumped = facts("dumpsys package", printed)
    both = Phone("dumpsys package", printed)
    both.answers[re.compile("pm list packages.*")] = f"package:{OPERATOR}\n"
    both.answers["am get-current-user"] = "0\n"
    server = AdbServer("127.0.0.1", 5037)
    ready = gather_device(both, OPERATOR, server=server, left=lambda: 30.0).readiness
    is_installed = None if ready.stopped is None else ready.installed == frozenset({OPERATOR})
    return dumped.readiness.version, dumped.version_code, is_installed, ready.stopped


def _listed(printed: str) -> set[str]:
    client = SimpleNamespace(device=Phone("pm list packages", printed).device)
    return set(installed_apps(cast("Clawperator", client), [SHOP]))


def _logged(printed: str) -> tuple[int, str, str, str] | None:
    entry = parse_log_line(printed.encode())
    return None if entry is None else (entry.pid, entry.priority, entry.tag, entry.message)


def _pictured(printed: str) -> str:
    picture = take_picture(Phone("screencap", printed))
    return "PNG" if picture.content == PNG else "none"


def _status_bar(printed: str) -> int:
    client = SimpleNamespace(device=Phone("dumpsys window displays", printed).device)
    return status_bar_height(cast("Clawperator", client))


def _handled(printed: str) -> str:
    try:
        check_uri(Phone("cmd package resolve-activity", printed).device, "shop://a%20b")
    except StepFailedError:
        return "unhandled"
    return "handled"


#: How what a command prints is read.
READERS: Mapping[str, Callable[[str], Any]] = {
    "host:devices": parse_device_row,
    "getprop": parse_properties,
    "getprop log.tag": lambda printed: facts("getprop log.tag", printed).log_level,
    "wm size": _info("size", "wm size"),
    "wm density": _info("density", "wm density"),
    "dumpsys power": lambda printed: facts("dumpsys power", printed).screen,
    "dumpsys window policy": lambda printed: facts("dumpsys window policy", printed).screen,
    "dumpsys display": parse_displays,
    "ps": lambda printed: parse_processes(printed, DUMP, OPERATOR),
    "dumpsys package": _of_package,
    "pm list packages": parse_packages,
    "pm list packages -f": _listed,
    "am get-current-user": lambda it: facts("am get-current-user", it).readiness.user,
    "settings get": components,
    "dumpsys activity activities": _front("dumpsys activity activities"),
    "dumpsys window": _front("dumpsys window"),
    "dumpsys window displays": _status_bar,
    "dumpsys notification": toast_texts,
    "cmd connectivity airplane-mode": lambda printed: read_airplane_mode(
        Phone("cmd connectivity airplane-mode", printed)
    ),
    "cmd locale get-app-locales": lambda printed: read_app_locale(
        Phone("cmd locale get-app-locales", printed), SHOP
    ),
    "settings list": lambda printed: facts("settings list", printed).settings,
    "dumpsys accessibility": lambda printed: facts("dumpsys accessibility", printed).automation,
    "df -k": lambda printed: facts("df -k", printed).free_kib,
    "logcat -g": lambda printed: facts("logcat -g", printed).log_buffer,
    "cmd appops get": lambda printed: facts("cmd appops get", printed).background,
    "logcat": _logged,
    "screencap": _pictured,
    "cmd package resolve-activity": _handled,
}
ALL = [(command, row) for command, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(
    ("command", "row"), ALL, ids=[f"{command}, {row.phone}" for command, row in ALL]
)
def test_what_a_phone_prints_is_understood(command: str, row: Row) -> None:
    """Each maker's and each version's form is read as what it means."""
    assert READERS[command](row.printed) == row.meaning


def test_each_reader_has_rows_of_several_phones() -> None:
    """A reader that is tested with one phone may fail with others."""
    phones = {command: {row.phone for row in rows} for command, rows in ROWS.items()}

    assert set(ROWS) == set(READERS)
    assert {command for command, some in phones.items() if len(some) < 2} == set()


def test_every_question_to_a_phone_has_rows() -> None:
    """A question that the host asks is in the table, unless all phones answer the same."""
    asked = {text for path in HOST.rglob("*.py") for text in _questions(path)}
    known = (*ROWS, *PLAIN)

    assert len(asked) > 20
    assert {text for text in asked if not text.startswith(known)} == set()


def _questions(path: Path) -> Iterator[str]:
    """Return the commands in a module of the host that print something to be read."""
    if "simulator" in path.parts:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for command in node.value.split("; "):
                if _QUESTION.match(command):
                    yield command
