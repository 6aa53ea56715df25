"""``locksettings``: the credential of the lock screen."""

from __future__ import annotations

from functools import partial

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    ServiceHandler,
    dispatch,
)

_KINDS = ("password", "pattern", "pin")
_USAGE = (
    "lockSettings service commands:\n"
    "  get-disabled\n  verify [--old CREDENTIAL]\n  clear [--old CREDENTIAL]\n"
    "  set-password|set-pattern|set-pin [--old CREDENTIAL] NEW\n"
)


async def _is_allowed(call: ServiceCall) -> bool:
    """Whether the old credential, where there is one, was told; say so if not."""
    old, current = None, call.system.lock_credential
    while (option := call.option()) is not None:
        value = call.required()
        old = value if option == "--old" else old
    if old == current:
        return True
    if old is None:
        await call.out("Old password not provided but the user has password")
    elif current is None:
        await call.out("Old password provided but user has no password")
    else:
        await call.out(f"Old password '{old}' didn't match")
    return False


async def _get_disabled(call: ServiceCall) -> int:
    await call.out(str(call.system.lock_credential is None).lower())
    return 0


async def _verify(call: ServiceCall) -> int:
    if not await _is_allowed(call):
        return FAILED
    await call.out("Lock credential verified successfully")
    return 0


async def _clear(call: ServiceCall) -> int:
    if not await _is_allowed(call):
        return FAILED
    call.system.lock_credential = None
    await call.out("Lock credential cleared")
    return 0


async def _set(kind: str, call: ServiceCall) -> int:
    if not await _is_allowed(call):
        return FAILED
    call.system.lock_credential = call.required()
    await call.out(f"{kind.title()} set to '{call.system.lock_credential}'")
    return 0


_COMMANDS: dict[str, ServiceHandler] = {
    "clear": _clear,
    "get-disabled": _get_disabled,
    "verify": _verify,
    **{f"set-{kind}": partial(_set, kind) for kind in _KINDS},
}


async def lock_settings_service(call: ServiceCall) -> int:
    """Answer ``locksettings``."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
