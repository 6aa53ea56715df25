"""The app that a test is about, made ready before it and put away after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.execution.device import NoDevice

if TYPE_CHECKING:
    from pytest_clawperator.execution.client import Clawperator
    from pytest_clawperator.plugin.markers import AppUse


def is_missing(client: Clawperator, use: AppUse) -> bool:
    """Tell whether the app is not installed; behind a url that cannot be known."""
    return not isinstance(client.device, NoDevice) and not client.device.is_installed(use.package)


@contextmanager
def using_app(client: Clawperator, use: AppUse) -> Iterator[None]:
    """Make the app ready as its marker asks, and put it away afterwards."""
    __tracebackhide__ = True
    if use.clear:
        client.device.clear_data(use.package)
    elif use.stop:
        client.close_app(use.package)
    if use.grant:
        client.device.grant(use.package, *use.grant)
    if use.launch:
        client.open_app(use.package)
        expect(client).to_be_in_app(use.package)
    yield
    if use.stop:
        client.close_app(use.package)
