"""``--claw-pause`` and ``clawperator.pause()``: stop, and leave the device as it is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType, TracebackType

import pytest

from pytest_clawperator.client.client import Clawperator, ask, is_interactive
from pytest_clawperator.errors import ClawperatorWarning
from pytest_clawperator.plugin.clients import ClientActivity, clients_of
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.settings import settings_of_item, source_of
from pytest_clawperator.plugin.stash import CURRENT_TEST, SETTINGS

#: The title of the section of a report that explains why there was no pause.
SECTION = "clawperator"
_NO_TERMINAL = (
    "not paused, because there is no terminal to ask on; run pytest in a terminal, and without -n"
)


def refuse_pausing_with_workers(config: pytest.Config) -> None:
    """Raise a usage error for ``--claw-pause`` with ``-n``: workers have no terminal."""
    settings = config.stash.get(SETTINGS, None)
    is_spread = config.getoption("dist", "no") != "no" and not config.option.collectonly
    if is_spread and settings is not None and settings.pause:
        raise pytest.UsageError(
            f"{source_of(config, 'pause')}: with -n tests run in workers, which have no terminal"
            " to ask on; run without -n, or with -n 0"
        )


def pytest_exception_interact(
    node: pytest.Item | pytest.Collector,
    call: pytest.CallInfo[object],
    report: pytest.CollectReport | pytest.TestReport,
) -> None:
    """Stop at a test that failed; ``--pdb`` stops there by itself."""
    if not isinstance(node, pytest.Item) or not clients_of(node):
        return
    config = node.config
    if not settings_of_item(node).pause or config.getoption("usepdb", False):
        return
    assert call.excinfo is not None
    why = f"{node.nodeid} failed: {call.excinfo.exconly(tryshort=True).splitlines()[0]}"
    frame = _frame_of_test(node, call.excinfo.tb)
    if not _pause(config, clients_of(node)[0].client, why=why, frame=frame):
        report.sections.append((SECTION, _NO_TERMINAL))


def set_pauser(item: pytest.Item, activity: ClientActivity) -> None:
    """Let ``clawperator.pause()`` use the terminal of this run."""
    # The client's next test may use it unnoticed, so this test is not remembered.
    activity.client.pauser = partial(_pause_here, item.config)


def _pause_here(config: pytest.Config, client: Clawperator, frame: FrameType | None) -> None:
    item = config.stash[CURRENT_TEST]
    place = f" at line {frame.f_lineno}" if frame is not None else ""
    where = f"{item.nodeid}{place}"
    is_asked = _pause(config, client, why=where, frame=frame, asking="paused in ")
    if not is_asked and config.get_verbosity() < 0:
        _warn(item, f"{where}: {_NO_TERMINAL}")


def _warn(item: pytest.Item, text: str) -> None:
    """Warn in a run that is otherwise quiet; never as an error, even if warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ClawperatorWarning)
        item.warn(ClawperatorWarning(text))


def _pause(
    config: pytest.Config,
    client: Clawperator,
    *,
    why: str,
    frame: FrameType | None,
    asking: str = "",
) -> bool:
    """Offer a prompt; without a terminal show a notice instead."""
    with _terminal(config):
        can_ask = is_interactive()
        if can_ask:
            ask(client, why=f"\n{asking}{why}", frame=frame)
    if not can_ask:
        events_of(config).notice(client.serial, f"{why}: {_NO_TERMINAL}")
    return can_ask


@contextmanager
def _terminal(config: pytest.Config) -> Iterator[None]:
    """Take the terminal from pytest for a while."""
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend(in_=True)
    try:
        yield
    finally:
        if capture is not None:
            capture.resume()


def _frame_of_test(item: pytest.Item, trace: TracebackType | None) -> FrameType | None:
    """Return the innermost frame in the test's own file, or else the outermost."""
    found = None
    while trace is not None:
        frame = trace.tb_frame
        if found is None or frame.f_code.co_filename == str(item.path):
            found = frame
        trace = trace.tb_next
    return found
