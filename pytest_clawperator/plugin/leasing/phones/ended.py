"""Whether the process of a simulated phone ended, asked in the process that started it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.plugin.session.channel import ask, has_channel, reply
from pytest_clawperator.plugin.stash import ENDED_PHONES
from pytest_clawperator.plugin.worker_input import LEASE, is_worker, worker_input

#: The name of the plugin that has the phones that this process started.
PHONES_PLUGIN = "clawperator-simulated"
#: What to do about phones that ended.
PHONES_HINT = (
    "See what ended it (the system's log tells of memory that ran out), and run the tests again."
)
#: The topic about which a worker asks the controller.
TOPIC = "phones ended how"

_ANSWER_WITHIN = 10.0


def end_of_phones(
    config: pytest.Config, serial: str | None, *, in_trouble: bool = True
) -> str | None:
    """Return how the process of a simulated phone ended; None where it runs, or is not ours.

    A worker asks the controller, whose phones they are, but only where there is trouble.
    """
    if is_worker(config):
        serial = serial or worker_input(config).get(LEASE, {}).get("serial")
        known = config.stash.setdefault(ENDED_PHONES, {})
        if in_trouble and serial not in known and (end := _ask(config, serial)):
            known[serial] = end
        return known.get(serial)
    phones = config.pluginmanager.get_plugin(PHONES_PLUGIN)
    found: str | None = None if phones is None else phones.end_of(serial, in_trouble=in_trouble)
    return found


def reply_how(node: Any, serial: str | None) -> None:
    """Answer a worker that asks how the process of a simulated phone ended."""
    phones = node.config.pluginmanager.get_plugin(PHONES_PLUGIN)
    reply(node, TOPIC, phones.end_unshown(serial) if phones is not None else None)


def _ask(config: pytest.Config, serial: str | None) -> str | None:
    if not has_channel(config):
        return None
    try:
        end: str | None = ask(config, TOPIC, serial, timeout=_ANSWER_WITHIN)
    except (OSError, EOFError):  # the controller is gone, or busy
        return None
    return end
