"""Which lines the phone keeps: as its properties say, and as its maker has it."""

from __future__ import annotations

from pytest_clawperator.simulator.android.properties import Properties

# In rising order; S lets nothing through.
_LEVELS = "VDIWEFS"
_PROPERTIES = ("log.tag", "persist.log.tag")


def is_logged(priority: str, properties: Properties, *, suppressed: bool) -> bool:
    """Whether a line of this priority comes into the log."""
    asked = [_LEVELS.find(properties.get(name)[:1].upper() or "?") for name in _PROPERTIES]
    least = next((level for level in asked if level >= 0), 0)
    if suppressed:
        least = max(least, _LEVELS.index("E"))
    return _LEVELS.index(priority) >= least
