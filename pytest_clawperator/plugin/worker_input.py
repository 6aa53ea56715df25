"""What the controller and a worker of ``-n`` exchange: the worker's input, and a channel.

Each worker has its own channel, over the connection that xdist opened anyway: what a
worker sends arrives in the order in which it was sent, also among xdist's own messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.plugin.stash import CHANNEL

#: The id of the run, which all its processes share.
SHARED_RUN_ID = "clawperator_run"
#: The lease of the worker, or the code, message and hint that say why it has none.
LEASE, WHY_NO_LEASE = "clawperator_lease", "clawperator_no_lease"
#: The classes of a matrix: all, those of the worker's device, those without a device and why,
#: and a device of each.
CLASSES, OWN_CLASSES, EMPTY_CLASSES, CLASS_MEMBERS = (
    "clawperator_classes",
    "clawperator_own_classes",
    "clawperator_empty_classes",
    "clawperator_class_members",
)


def worker_input(config: pytest.Config) -> dict[str, Any]:
    """Return the input of this worker; empty in a process that is not a worker."""
    found: dict[str, Any] = getattr(config, "workerinput", {})
    return found


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of ``-n``."""
    return hasattr(config, "workerinput")


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
    while about != topic:  # a late answer to an earlier question may come first
        try:
            about, answer = channel.receive(max(0.0, deadline - time.monotonic()))
        except channel.TimeoutError as exc:  # which is not Python's own
            raise TimeoutError(f"the controller did not answer within {timeout:g} s") from exc
    return answer
