"""``am get-standby-bucket`` and ``set-standby-bucket``: how freely an app may run unseen."""

from __future__ import annotations

from pytest_clawperator.simulator.android.java import java_int
from pytest_clawperator.simulator.android.services.service_call import FAILED, ServiceCall

_BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}
_USUAL = _BUCKETS["active"]


async def get_standby_bucket(call: ServiceCall) -> int:
    """Print the bucket of an app."""
    if not await call.user_only():
        return FAILED
    await call.out(str(call.system.standby_buckets.get(call.required(), _USUAL)))
    return 0


async def set_standby_bucket(call: ServiceCall) -> int:
    """Put an app into a bucket, by its name or its number."""
    if not await call.user_only():
        return FAILED
    name, word = call.required(), call.required()
    bucket = _BUCKETS[word] if word in _BUCKETS else java_int(word)
    call.system.standby_buckets[name] = bucket
    return 0
