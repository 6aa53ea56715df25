"""What the controller and a worker of ``-n`` tell each other beside xdist's own messages.

Each worker has a channel of its own, over the connection that xdist opened anyway: what a
worker sends arrives in the order in which it was sent, also among xdist's own messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.plugin.worker_input import CHANNEL, worker_input

Message = tuple[str, Any]
Receive = Callable[[Any, str, Any], None]


def open_channel(node: Any, receive: Receive) -> None:
    """Open the channel of a worker that is about to start.

    ``receive`` is called with the worker, a topic and a value for whatever it sends.
    """
    channel = node.gateway.newchannel()

    def received(message: Message) -> None:
        topic, value = message
        receive(node, topic, value)

    channel.setcallback(received)
    node.workerinput[CHANNEL] = channel


def reply(node: Any, topic: str, value: Any) -> None:
    """Answer a worker that asked about this topic."""
    channel = node.workerinput[CHANNEL]
    if not channel.isclosed():
        channel.send((topic, value))


def has_channel(config: pytest.Config) -> bool:
    """Whether this process has a controller to talk to."""
    return CHANNEL in worker_input(config)


def send(config: pytest.Config, topic: str, value: Any) -> None:
    """Send something to the controller; without a controller nothing happens."""
    if has_channel(config):
        worker_input(config)[CHANNEL].send((topic, value))


def ask(config: pytest.Config, topic: str, value: Any, *, timeout: float) -> Any:
    """Ask the controller, and return its answer."""
    channel = worker_input(config)[CHANNEL]
    channel.send((topic, value))
    deadline = time.monotonic() + timeout
    about = None
    while about != topic:  # an answer that nobody waited for may come first
        try:
            about, answer = channel.receive(max(0.0, deadline - time.monotonic()))
        except channel.TimeoutError as exc:  # which is not Python's own
            raise TimeoutError(f"the controller did not answer within {timeout:g} s") from exc
    return answer
