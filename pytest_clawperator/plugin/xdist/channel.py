"""What the controller and a worker tell each other beside what xdist has words for.

Each worker has a channel of its own, over the connection that xdist opened anyway: what a
worker says arrives in the order in which it was said, also among xdist's own messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.plugin.options import COURIER as COURIER

Message = tuple[str, Any]


def open_courier(node: Any, hear: Callable[[Any, str, Any], None]) -> None:
    """Let a worker that is about to start talk: ``hear`` gets it, a word and a value."""
    channel = node.gateway.newchannel()

    def heard(message: Message) -> None:
        word, value = message
        hear(node, word, value)

    channel.setcallback(heard)
    node.workerinput[COURIER] = channel


def answer(node: Any, word: str, value: Any) -> None:
    """Say something to a worker that asked with this word."""
    channel = node.workerinput[COURIER]
    if not channel.isclosed():
        channel.send((word, value))


def tell(config: pytest.Config, word: str, value: Any) -> None:
    """Say something to the controller; without one nobody hears it."""
    channel = getattr(config, "workerinput", {}).get(COURIER)
    if channel is not None:
        channel.send((word, value))


def ask(config: pytest.Config, word: str, value: Any, *, timeout: float) -> Any:
    """Ask the controller, and wait for its answer."""
    channel = config.workerinput[COURIER]  # type: ignore[attr-defined]  # xdist adds it
    channel.send((word, value))
    deadline = time.monotonic() + timeout
    about = None
    while about != word:  # an answer that nobody waited for may come first
        try:
            about, told = channel.receive(max(0.0, deadline - time.monotonic()))
        except channel.TimeoutError as exc:  # which is not Python's own
            raise TimeoutError(f"the controller did not answer within {timeout:g} s") from exc
    return told
