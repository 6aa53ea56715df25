"""The app that a test is about, made ready before it and put away after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from difflib import get_close_matches

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.client.device_commands import parse_packages
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    ExecutionsOnlyError,
    StepFailedError,
)
from pytest_clawperator.plugin.input.marker_values import AppUse

# What Android calls the windows in which it says that an app has stopped, or hangs; the
# button that closes them has the same id in both.
_DIALOGS = {"Error": "crashed", "Not Responding": "does not respond"}
_CLOSE = "android:id/aerr_close"
# How many packages an error suggests, and how much alike names must be: many begin alike.
_NEAR, _ALIKE = 3, 0.8


def is_missing(client: Clawperator, use: AppUse) -> bool:
    """Whether the app is not installed; behind a url that cannot be known."""
    return not isinstance(client.device, NoDevice) and not client.device.is_installed(use.package)


def missing_app(client: Clawperator, use: AppUse) -> ConfigurationError:
    """Return the error about an app that is not there, with packages of similar names."""
    installed = parse_packages(client.device.shell("pm list packages").stdout)
    near = _near(use.package, installed)
    meant = f"Did you mean {' or '.join(map(repr, near))}? Else install" if near else "Install"
    return ConfigurationError(
        f"claw_app({use.package!r}): the app is not installed on {client.device.info}",
        code=ErrorCode.APP_NOT_FOUND,
        serial=client.serial,
        hint=f"{meant} it before the test, as a fixture can with device.install(apk); to skip such"
        f" tests instead, write claw_app({use.package!r}, missing='skip').",
        details={"near": near},
    )


def _near(package: str, installed: Collection[str]) -> list[str]:
    """Return packages that may be meant: spelt alike, or with the same last word."""
    alike = get_close_matches(package, sorted(installed), n=_NEAR, cutoff=_ALIKE)
    last = package.rpartition(".")[2].lower()
    same = [name for name in sorted(installed) if name.rpartition(".")[2].lower() == last]
    return list(dict.fromkeys([*alike, *same]))[:_NEAR]


def begin_app(client: Clawperator, use: AppUse, *, notice: Callable[[str], None]) -> None:
    """Make the app ready as its marker asks; ``notice`` gets what stood in its way."""
    __tracebackhide__ = True
    try:
        _begin(client, use, notice)
    except ClawperatorError as error:
        error.message = f"claw_app({use.package!r}): {error.message}"
        raise error.with_traceback(None) from None  # the message says it all


def _begin(client: Clawperator, use: AppUse, notice: Callable[[str], None]) -> None:
    __tracebackhide__ = True
    if use.clear:
        client.device.clear_data(use.package)
    elif use.stop:
        client.close_app(use.package)
    _close_dialog(client, use.package, notice)
    if use.grant:
        client.device.grant(use.package, *use.grant)
    if use.launch:
        _open(client, use.package)
        expect(client).to_be_in_app(use.package)


def _open(client: Clawperator, package: str) -> None:
    """Open the app; behind a url it turns out only now that it is not there."""
    __tracebackhide__ = True
    try:
        client.open_app(package)
    except StepFailedError as error:
        if error.code != ErrorCode.APP_NOT_FOUND or not isinstance(client.device, NoDevice):
            raise
        told = f"it is not installed on {client.device.info}, or cannot be opened"
        raise ExecutionsOnlyError(told, code=error.code, serial=client.serial) from None


def end_app(client: Clawperator, use: AppUse) -> None:
    """Put the app away as its marker asks."""
    __tracebackhide__ = True
    if use.stop:
        client.close_app(use.package)


def _close_dialog(client: Clawperator, package: str, notice: Callable[[str], None]) -> None:
    """Close what Android shows of an earlier crash of the app: it would lie over everything.

    Most devices close it when the app is stopped, some do not.
    """
    __tracebackhide__ = True
    if isinstance(client.device, NoDevice):
        return
    windows = client.device.shell("dumpsys window | grep 'Application '").stdout
    names = "|".join(_DIALOGS)
    found = re.search(rf"Application ({names}): {re.escape(package)}(?![\w.])", windows)
    if found:
        client.click(id=_CLOSE)
        notice(f"{package} {_DIALOGS[found[1]]}: the dialog that says so was closed")
