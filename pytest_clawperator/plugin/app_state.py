"""The state that a test starts in: its app, started and stopped, and checkpoints."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import NoReturn, Protocol

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.client.device_commands import parse_packages
from pytest_clawperator.emulators.checkpoints import Build, Checkpoints, Reached, Step
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    ExecutionsOnlyError,
    ExpectationError,
    NodeNotFoundError,
    ShellError,
    StepFailedError,
)
from pytest_clawperator.execution.crashes import EXPECTING
from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.marker_values import AppUse, app_of
from pytest_clawperator.plugin.recorder import recorder_of
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.stash import CHECKPOINTS, CURRENT_TEST, IS_BEING_SET_UP
from pytest_clawperator.snapshot.near_miss import crash_dialog

# Android's names for the windows that report that an app has stopped, or hangs; the
# button that closes them has the same id in both.
_DIALOGS = {"Error": "crashed", "Not Responding": "does not respond"}
_WINDOW = re.compile(rf"Application ({'|'.join(_DIALOGS)}): ([\w.:]+)")
_CLOSE = "android:id/aerr_close"
# How many packages an error suggests, and how similar names must be: many start the same.
_NEAR, _ALIKE = 3, 0.8


def is_missing(client: Clawperator, use: AppUse) -> bool:
    """Return whether the app is missing; False behind a url, where that cannot be known."""
    return not isinstance(client.device, NoDevice) and not client.device.is_installed(use.package)


def missing_app(client: Clawperator, use: AppUse) -> ConfigurationError:
    """Return the error for an app that is not installed, with packages of similar names."""
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
    """Return packages that may be meant: spelt similarly, or with the same last word."""
    alike = get_close_matches(package, sorted(installed), n=_NEAR, cutoff=_ALIKE)
    last = package.rpartition(".")[2].lower()
    same = [name for name in sorted(installed) if name.rpartition(".")[2].lower() == last]
    return list(dict.fromkeys([*alike, *same]))[:_NEAR]


def begin_app(client: Clawperator, use: AppUse) -> None:
    """Start the app as its marker asks."""
    __tracebackhide__ = True
    try:
        _begin(client, use)
    except ClawperatorError as error:
        error.message = f"claw_app({use.package!r}): {error.message}"
        raise error.with_traceback(None) from None  # the message is enough


def _begin(client: Clawperator, use: AppUse) -> None:
    __tracebackhide__ = True
    if use.clear:
        client.device.clear_data(use.package)
    elif use.stop:
        client.close_app(use.package)
    client.performer.apps.name(use.package, is_fresh=use.stop or use.clear)
    if use.grant:
        client.device.grant(use.package, *use.grant)
    if use.launch:
        _open(client, use.package)
        expect(client).to_be_in_app(use.package)


def _open(client: Clawperator, package: str) -> None:
    """Open the app; behind a url only this shows that it is not installed."""
    __tracebackhide__ = True
    try:
        client.open_app(package)
    except StepFailedError as error:
        if error.code != ErrorCode.APP_NOT_FOUND or not isinstance(client.device, NoDevice):
            raise
        problem = f"it is not installed on {client.device.info}, or cannot be opened"
        raise ExecutionsOnlyError(problem, code=error.code, serial=client.serial) from None


def end_app(item: pytest.Item, client: Clawperator, use: AppUse) -> None:
    """Stop the app if its marker asks for it; a device that failed the test is left alone."""
    __tracebackhide__ = True
    if use.stop and not recorder_of(item).is_broken:
        try:
            client.close_app(use.package)
        except ShellError as error:
            if error.code != ErrorCode.APP_NOT_FOUND:  # the test may have removed it
                raise


def close_dialogs(client: Clawperator, *, notice: Callable[[str], None]) -> None:
    """Close Android's dialogs about crashes before the test, which would cover everything.

    ``notice`` gets a line about each. A crash of the test itself is in the log.
    """
    __tracebackhide__ = True
    apps = client.performer.apps
    apps.read_log()
    if not apps.may_show_dialog:
        return
    own = apps.seen.dialog
    closed: list[str] = []
    # The one in front is found first; some devices name the others only then.
    while (found := _dialog(client, closed)) is not None:
        closed.append(found)
        try:
            client.click(id=_CLOSE)
        except NodeNotFoundError:  # what the test does will show whether it is in the way
            notice(f"{found}: its dialog has no button that closes it")
        else:
            notice(f"{found}: its dialog was closed")
    apps.may_show_dialog, apps.seen.dialog = False, own


def _dialog(client: Clawperator, closed: Sequence[str]) -> str | None:
    """Return what a dialog about a crash says that was not closed yet, or None."""
    if isinstance(client.device, NoDevice):
        title = crash_dialog(client.snapshot())
        found = [] if title is None else [title]
    else:
        windows = client.device.shell("dumpsys window | grep 'Application '").stdout
        found = [f"{name} {_DIALOGS[kind]}" for kind, name in _WINDOW.findall(windows)]
    return next((one for one in found if one not in closed), None)


def fail_for_crash(item: pytest.Item) -> None:
    """Raise if the app under test crashed, and the test neither expected it nor failed for it."""
    __tracebackhide__ = True
    is_over = IS_BEING_SET_UP not in item.stash
    for used in clients_of(item):
        crash = used.apps.crash_at_end(is_over=is_over)
        if crash is not None:
            settle_crashes(item)
            error = ExpectationError(
                "\n".join([str(crash), *(f"  {line}" for line in crash.head)]),
                code=ErrorCode.APP_CRASHED,
                serial=used.client.serial,
                hint=EXPECTING,
            )
            _raise_at(item, error)


def _raise_at(item: pytest.Item, error: ExpectationError) -> NoReturn:
    """Raise an error at the first line of a test, because no line of it led to the error."""
    __tracebackhide__ = True
    path, line, _ = item.reportinfo()
    statement = ast.fix_missing_locations(
        ast.Module([ast.Raise(ast.Name("error", ast.Load()))], [])
    )
    code = compile(statement, str(path), "exec").replace(co_firstlineno=(line or 0) + 1)
    exec(code, {"error": error})  # noqa: S102 - it only has a place in the test
    raise AssertionError("unreachable")


def settle_crashes(item: pytest.Item) -> None:
    """Note that a test has failed, so that a crash does not fail it once more."""
    for used in clients_of(item):
        used.apps.is_settled = True


class ReachCheckpoint(Protocol):
    """What ``clawperator_checkpoint`` returns."""

    def __call__(
        self, name: str, *, build: Build, app: str | Sequence[str] | None = None
    ) -> Reached:
        """Bring the device into the state that ``build`` makes: restored, or else built.

        ``build`` is called with the client. ``app`` is the package that the state is of, or
        several; without it, it is that of the test's ``claw_app`` marker.
        """


def reach_checkpoint(
    item: pytest.Item, client: Clawperator, *, check: Callable[[], None]
) -> ReachCheckpoint:
    """Return the function for a test; ``check`` raises if its device cannot be used."""

    def reach(name: str, *, build: Build, app: str | Sequence[str] | None = None) -> Reached:
        __tracebackhide__ = True
        apps = _marked_app(item) if app is None else [app] if isinstance(app, str) else app
        return _checkpoints_of(item.config, client, check).reach(name, build=build, apps=apps)

    return reach


def _marked_app(item: pytest.Item) -> Sequence[str]:
    use = app_of(item)
    return [use.package] if use is not None else []


def _checkpoints_of(
    config: pytest.Config, client: Clawperator, check: Callable[[], None]
) -> Checkpoints:
    """Return the checkpoints of a client for the whole run: some notices are shown only once."""
    known = config.stash.setdefault(CHECKPOINTS, {})
    if client not in known:
        known[client] = Checkpoints(
            client,
            notify=partial(_show, config, client),
            check=check,
            around=partial(_around, config, client),
        )
    return known[client]


def _show(config: pytest.Config, client: Clawperator, message: str) -> None:
    """Show a line while the tests run, at their end, and in the report of this test."""
    events_of(config).notice(client.serial, message)
    recorder_of(config.stash[CURRENT_TEST]).note(message)


@contextmanager
def _around(config: pytest.Config, client: Clawperator, step: Step, name: str) -> Iterator[None]:
    """Keep the evidence of this test apart from what the device restores from earlier tests.

    A recording would be saved as well, and go on after each restore.
    """
    item = config.stash[CURRENT_TEST]
    activity = next((one for one in clients_of(item) if one.client is client), None)
    if activity is None:
        yield
        return
    with recorder_of(item).pausing_video(activity):
        if step == "restore":
            with activity.going_back(f"restored to checkpoint {name!r}"):
                yield
        else:
            yield
