"""Killing apps, with or without their data."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO, DIALOGS


def test_stopping_loses_plain_state_and_clearing_loses_all() -> None:
    """Plain state goes with the process, saved state and permissions with the data."""
    phone = demo(COUNTER)
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")
    phone.tap("Add")
    phone.tap("Next")

    phone.ui.processes.force_stop(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert DEMO not in phone.ui.processes.running_packages()
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")
    assert phone.ui.permissions.granted(DEMO) == {"android.permission.CAMERA"}

    phone.ui.processes.clear_data(DEMO)
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 0")
    assert phone.ui.permissions.granted(DEMO) == set()


def test_taking_a_permission_back_kills_the_app() -> None:
    """As on a phone; where there was nothing to take, nothing happens."""
    phone = demo(DIALOGS)
    phone.ui.processes.revoke_permission(DEMO, "android.permission.CAMERA")
    assert phone.ui.view.foreground_package() == DEMO
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")

    phone.ui.processes.revoke_permission(DEMO, "android.permission.CAMERA")

    assert phone.ui.view.foreground_package() == HOME
