"""Failures of tests that use devices show the control characters in what the tests compared.

Errors of the package do so by themselves. What a test prints is left as it is.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_clawperator.errors import ClawperatorError, ExpectationError
from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.stash import CURRENT_TEST
from pytest_clawperator.text import visible

_Explained = list[list[str]]


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare(config: pytest.Config) -> Generator[None, _Explained, _Explained]:
    """Show how values differ without colours: those of pytest look like those of a phone."""
    item = config.stash.get(CURRENT_TEST, None)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if item is None or reporter is None or not clients_of(item):
        return (yield)
    writer = config.get_terminal_writer()
    is_highlighted, writer.code_highlight = writer.code_highlight, False
    try:
        return (yield)
    finally:
        writer.code_highlight = is_highlighted


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Show the control characters in the messages of other errors, and of their causes."""
    error = call.excinfo.value if call.excinfo is not None and clients_of(item) else None
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if not isinstance(error, (ClawperatorError, ExpectationError)):
            _show(error)
        error = error.__cause__ or error.__context__


def _show(error: BaseException) -> None:
    error.args = tuple(visible(one) if isinstance(one, str) else one for one in error.args)
    if isinstance(error, pytest.fail.Exception | pytest.skip.Exception) and error.msg:
        error.msg = visible(error.msg)
