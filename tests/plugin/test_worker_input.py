"""The channel between the controller and a worker."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import execnet
import pytest

from pytest_clawperator.plugin.stash import CHANNEL
from pytest_clawperator.plugin.worker_input import ask, open_channel, reply


@pytest.fixture(scope="module")
def gateway() -> Iterator[execnet.Gateway]:
    """Start another process, as xdist does for a worker."""
    gateway = execnet.makegateway("popen")
    yield gateway
    gateway.exit()


def asking(channel: Any) -> Any:
    """Return what is asked of a worker's config."""
    return SimpleNamespace(workerinput={CHANNEL: channel})


def test_a_missing_answer_is_a_timeout(gateway: execnet.Gateway) -> None:
    """Of Python's own class; a late answer to something else is not taken for this one."""
    silent = gateway.remote_exec("channel.receive(); channel.receive()")
    late = "channel.receive(); channel.send(('old', 1)); channel.send(('new', 2))"

    with pytest.raises(TimeoutError, match=r"did not answer within 0\.01 s"):
        ask(asking(silent), "question", None, timeout=0.01)
    assert ask(asking(gateway.remote_exec(late)), "new", None, timeout=30) == 2


def test_an_answer_goes_to_the_worker_that_asked(gateway: execnet.Gateway) -> None:
    """The controller gets a topic and a value."""
    worker = gateway.remote_exec(
        """
        there = channel.receive()
        there.send(("sum", [1, 2]))
        channel.send(there.receive())
        """
    )
    node = SimpleNamespace(gateway=gateway, workerinput={})
    open_channel(node, lambda node, topic, value: reply(node, topic, sum(value)))

    worker.send(node.workerinput[CHANNEL])

    assert worker.receive(timeout=30) == ("sum", 3)
