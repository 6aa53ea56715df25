"""``settings``, ``content``, ``getprop`` and ``setprop``: what is set, and setting it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
)
from pytest_clawperator.simulator.android.state.settings import NAMESPACES

if TYPE_CHECKING:
    from pytest_clawperator.simulator.android.system import AndroidSystem
    from pytest_clawperator.simulator.shell.shell import Invocation

_SETTINGS_USAGE = """Settings provider (settings) commands:
  get [--user <USER_ID> | current] NAMESPACE KEY
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
  delete NAMESPACE KEY
  list NAMESPACE
  NAMESPACE is one of {system, secure, global}, case-insensitive
"""


async def settings_service(call: ServiceCall) -> int:
    """Answer ``cmd settings``, which is what ``settings`` is."""
    words = call.rest()
    if not words or words[0] in ("help", "-h"):
        await call.invocation.out(_SETTINGS_USAGE)
        return FAILED
    if "--user" in words[:2]:
        at = words.index("--user")
        del words[at : at + 2]
    verb = words[0].lower() if words else ""
    if verb not in ("get", "put", "delete", "list"):
        await call.err(f"Invalid command: {verb}")
        return FAILED
    if len(words) > 1 and words[1].lower() not in NAMESPACES:
        await call.err(f"Invalid namespace '{words[1]}'")
        return FAILED
    fewest, most = {"get": (3, 3), "delete": (3, 3), "put": (4, 6), "list": (2, 99)}[verb]
    if not fewest <= len(words) <= most:
        await call.err("Bad arguments" if len(words) < fewest else "Too many arguments")
        return FAILED
    await _act(call, verb, words[1].lower(), words[2:])
    return 0


async def _act(call: ServiceCall, verb: str, namespace: str, words: list[str]) -> None:
    settings = call.system.settings
    if verb == "get":
        value = settings.get(namespace, words[0])
        await call.out("null" if value is None else value)
    elif verb == "put":
        settings.put(namespace, words[0], words[1])
    elif verb == "delete":
        await call.out(f"Deleted {int(settings.delete(namespace, words[0]))} rows")
    else:
        lines = sorted(f"{key}={value}\n" for key, value in settings.items(namespace))
        await call.invocation.out("".join(lines))


async def getprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Print one property, or all of them."""
    words = [word for word in invocation.args[1:] if not word.startswith("-")]
    if not words:
        lines = (f"[{key}]: [{value}]\n" for key, value in system.properties.items())
        await invocation.out("".join(lines))
        return 0
    if len(words) > 2:
        await invocation.err('getprop: Max 2 arguments (see "getprop --help")\n')
        return 1
    default = words[1] if len(words) == 2 else ""
    await invocation.out(f"{system.properties.get(words[0]) or default}\n")
    return 0


async def setprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Set a property."""
    words = invocation.args[1:]
    if len(words) != 2:
        problem = "Need 2 arguments" if len(words) < 2 else "Max 2 arguments"
        await invocation.err(f'setprop: {problem} (see "setprop --help")\n')
        return 1
    refused = system.properties.set(words[0], words[1])
    if refused is not None:
        await invocation.err(f"setprop: {refused}\n")
        return 1
    return 0


_CONTENT_USAGE = """usage: adb shell content [subcommand] [options]
  content query --uri content://settings/NAMESPACE [--projection COLUMN:...] [--where WHERE]
  content insert --uri content://settings/NAMESPACE --bind name:s:KEY --bind value:s:VALUE
  content delete --uri content://settings/NAMESPACE --where "name='KEY'"
"""
_SETTINGS_URI = re.compile(r"content://settings/(system|secure|global)(?:/([^/]+))?/?$")
_WHERE_NAME = re.compile(r"\s*name\s*=\s*(['\"])(.*)\1\s*$", re.DOTALL)
_COLUMNS = ("_id", "name", "value", "is_preserved_in_restore")


async def content(system: AndroidSystem, invocation: Invocation) -> int:
    """Ask a content provider; the one for settings is there."""
    words = invocation.args[1:]
    if not words or words[0] not in ("query", "insert", "delete"):
        if words:
            await invocation.err(f"[ERROR] Unsupported operation: {words[0]}\n")
        await invocation.err(_CONTENT_USAGE)
        return 1 if words else 0
    options = _content_options(words[1:])
    uri = (options.get("--uri") or [""])[-1]
    found = _SETTINGS_URI.match(uri)
    if found is None:
        provider = uri.removeprefix("content://").partition("/")[0]
        await invocation.err(
            f"Error while accessing provider:{provider}\n"
            f"java.lang.IllegalStateException: Could not find provider: {provider}\n"
        )
        return 1
    namespace, key = found[1], found[2]
    where = _WHERE_NAME.match((options.get("--where") or [""])[-1])
    key = where[2] if where else key
    if words[0] == "insert":
        return await _content_insert(system, invocation, namespace, options.get("--bind", []))
    if words[0] == "delete":
        if key is not None:
            system.settings.delete(namespace, key)
        return 0
    columns = (options.get("--projection") or [":".join(_COLUMNS)])[-1].split(":")
    rows = [row for row in _rows(system, namespace) if key in (None, row["name"])]
    for number, row in enumerate(rows):
        shown = ", ".join(f"{name}={row.get(name, 'NULL')}" for name in columns)
        await invocation.out(f"Row: {number} {shown}\n")
    if not rows:
        await invocation.out("No result found.\n")
    return 0


def _content_options(words: list[str]) -> dict[str, list[str]]:
    options: dict[str, list[str]] = {}
    queue = iter(words)
    for word in queue:
        options.setdefault(word, []).append(next(queue, ""))
    return options


def _rows(system: AndroidSystem, namespace: str) -> list[dict[str, str]]:
    return [
        {"_id": str(number), "name": key, "value": value, "is_preserved_in_restore": "0"}
        for number, (key, value) in enumerate(system.settings.items(namespace), 1)
    ]


async def _content_insert(
    system: AndroidSystem, invocation: Invocation, namespace: str, binds: list[str]
) -> int:
    values: dict[str, str] = {}
    for bind in binds:
        name, _, rest = bind.partition(":")
        values[name] = rest.partition(":")[2]
    if "name" not in values or "value" not in values:
        await invocation.err(
            "[ERROR] Bindings not specified. Did you specify --bind argument(s)?\n\n"
            + _CONTENT_USAGE
        )
        return 1
    system.settings.put(namespace, values["name"], values["value"])
    return 0
