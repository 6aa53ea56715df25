"""Quoting for the device's shell, and the broadcast that carries a payload."""

from __future__ import annotations

from pytest_clawperator.errors import PayloadTooLargeError
from pytest_clawperator.transport.wire import encoded

ACTION = "app.clawperator.operator.ACTION_AGENT_COMMAND"

# The kernel starts no program with an argument longer than this, its final NUL included.
MAX_ARGUMENT = 128 * 1024 - 1


def quote(text: str) -> str:
    """Quote a text so that the device's shell reads it as one word, unchanged."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def broadcast_command(package: str, payload_json: str) -> str:
    """Return the command line that sends a payload to the Operator of this package."""
    payload = payload_json.replace("\n", "")
    size = len(encoded(payload))
    if size > MAX_ARGUMENT:
        raise PayloadTooLargeError(
            f"the payload has {size} bytes, {len(encoded(quote(payload)))} "
            f"quoted for the shell; a device command takes {MAX_ARGUMENT}",
            hint="Split the execution into several, or shorten its texts.",
        )
    return (
        f"am broadcast -a {quote(ACTION)} -p {quote(package)} "
        f"--es 'payload' {quote(payload)} --receiver-foreground"
    )
