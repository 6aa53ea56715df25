"""``settings``: Android's three tables of settings."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
)
from pytest_clawperator.simulator.android.state.settings import NAMESPACES

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
