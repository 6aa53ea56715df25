"""What a maker keeps adb from doing until somebody allows it among the developer options."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clawperator.simulator.shell.shell import Command, Invocation

_INPUT = (
    "java.lang.SecurityException: Injecting input events requires the caller (or the source of"
    " the instrumentation, if any) to have the INJECT_EVENTS permission."
)
_GRANT = (
    "java.lang.SecurityException: grantRuntimePermission: Neither user 2000 nor current process"
    " has android.permission.GRANT_RUNTIME_PERMISSIONS."
)
_SETTINGS = (
    "java.lang.SecurityException: Permission denial: writing to settings requires:"
    "android.permission.WRITE_SECURE_SETTINGS"
)
_FAILED = 255


def _is_input(words: list[str]) -> bool:
    return bool(words)


def _is_grant(words: list[str]) -> bool:
    return words[:1] in (["grant"], ["revoke"])


def _is_change(words: list[str]) -> bool:
    return bool({"put", "delete", "reset"} & set(words[:3]))


_GUARDED: dict[str, tuple[Callable[[list[str]], bool], str]] = {
    "input": (_is_input, _INPUT),
    "pm": (_is_grant, _GRANT),
    "settings": (_is_change, _SETTINGS),
}


def guarded(name: str, command: Command) -> Command:
    """Return a command as it is where adb may not do everything."""
    if name not in _GUARDED:
        return command
    is_guarded, complaint = _GUARDED[name]

    async def run(invocation: Invocation) -> int:
        words = invocation.args[1:]
        if not is_guarded(words):
            return await command(invocation)
        verb = words[0]
        await invocation.err(f"\nException occurred while executing '{verb}':\n{complaint}\n")
        return _FAILED

    return run
