"""What the controller and a worker tell each other."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import execnet
import pytest

from pytest_clawperator.plugin.worker_input import CHANNEL, ask, open_channel, reply


@pytest.fixture(scope="module")
def gateway() -> Iterator[execnet.Gateway]:
    """Start another process, as xdist does for a worker."""
    gateway = execnet.makegateway("popen")
    yield gateway
    gateway.exit()


def asking(channel: Any) -> Any:
    """Give what is of interest here of a worker's config."""
    return SimpleNamespace(workerinput={CHANNEL: channel})


def test_a_missing_answer_is_a_timeout(gateway: execnet.Gateway) -> None:
    """A worker that gets no answer in time is told with Python's own error."""
    silent = gateway.remote_exec("channel.receive(); channel.receive()")

    with pytest.raises(TimeoutError, match=r"did not answer within 0\.01 s"):
        ask(asking(silent), "anybody", None, timeout=0.01)


def test_a_late_answer(gateway: execnet.Gateway) -> None:
    """An answer to something else, which came too late, is not taken for this one."""
    source = "channel.receive(); channel.send(('old', 1)); channel.send(('new', 2))"
    talkative = gateway.remote_exec(source)

    told = ask(asking(talkative), "new", None, timeout=30)

    assert told == 2


def test_there_and_back(gateway: execnet.Gateway) -> None:
    """The controller hears a word and a value, and its answer goes to who asked."""
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
    heard = worker.receive(timeout=30)

    assert heard == ("sum", 3)
