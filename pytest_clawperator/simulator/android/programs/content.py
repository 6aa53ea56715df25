"""``content``: the content provider for settings."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

_CONTENT_USAGE = """usage: adb shell content [subcommand] [options]
  content query --uri content://settings/NAMESPACE [--projection COLUMN:...] [--where WHERE]
  content insert --uri content://settings/NAMESPACE --bind name:s:KEY --bind value:s:VALUE
  content delete --uri content://settings/NAMESPACE --where "name='KEY'"
"""

_SETTINGS_URI = re.compile(r"content://settings/(system|secure|global)(?:/([^/]+))?/?$")

_WHERE_NAME = re.compile(r"\s*name\s*=\s*(['\"])(.*)\1\s*$", re.DOTALL)

_COLUMNS = ("_id", "name", "value", "is_preserved_in_restore")


async def content(system: AndroidSystem, invocation: Invocation) -> int:
    """Query or change a content provider; only the one for settings exists."""
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
