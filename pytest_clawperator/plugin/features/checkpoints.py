"""Checkpoints of tests: a state that a test begins in, built once and restored for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.emulators.checkpoints import Build, Checkpoints, Reached, Step
from pytest_clawperator.plugin.evidence.on_failure import recorder_of
from pytest_clawperator.plugin.evidence.used_clients import clients_of
from pytest_clawperator.plugin.input.marker_values import app_of
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.stash import CHECKPOINTS, CURRENT_TEST


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
    """Return the checkpoints of a client, for the whole run: some things are told once."""
    known = config.stash.setdefault(CHECKPOINTS, {})
    if client not in known:
        known[client] = Checkpoints(
            client,
            tell=partial(_tell, config, client),
            check=check,
            around=partial(_around, config, client),
        )
    return known[client]


def _tell(config: pytest.Config, client: Clawperator, message: str) -> None:
    """Show a line while the tests run, at their end, and in the report of this test."""
    events_of(config).notice(client.serial, message)
    recorder_of(config.stash[CURRENT_TEST]).note(message)


@contextmanager
def _around(config: pytest.Config, client: Clawperator, step: Step, name: str) -> Iterator[None]:
    """Keep the evidence of this test apart from what the device restores of earlier ones.

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
