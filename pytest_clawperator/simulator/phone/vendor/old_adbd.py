"""adbd before Android 7: a command has a terminal, both its outputs are one, and no exit code."""

from __future__ import annotations

from pytest_clawperator.simulator.wire.stream import ServiceRefused


def old_destination(destination: str) -> str:
    """Return what an old adbd makes of a service; raise for those that it does not know."""
    kind, colon, command = destination.partition(":")
    if kind.startswith("shell,"):
        raise ServiceRefused(destination)
    return f"shell,pty:{command}" if colon and kind == "shell" else destination
