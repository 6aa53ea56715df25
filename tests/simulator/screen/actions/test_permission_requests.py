"""Asking for runtime permissions."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, demo
from tests.simulator.screen.sample_apps import DEMO, DIALOGS, SYSTEM_UI

CONTROLLER = "com.android.permissioncontroller"


def test_a_permission_is_asked_for_by_another_package() -> None:
    """The prompt is an active window above the app; the answer is remembered."""
    phone = demo(DIALOGS)
    phone.tap("Notify")
    assert phone.window_packages() == [DEMO, CONTROLLER, SYSTEM_UI]
    assert phone.ui.view.foreground_package() == CONTROLLER
    assert phone.ui.view.foreground_activity().endswith("GrantPermissionsActivity")
    assert phone.has("Allow Demo to send you notifications?")
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == CONTROLLER

    phone.tap("Allow")

    assert phone.has("Answer allowed")
    assert phone.ui.permissions.granted(DEMO) == {"android.permission.POST_NOTIFICATIONS"}
    phone.tap("Notify")
    assert phone.ui.view.foreground_package() == DEMO


def test_after_two_refusals_android_asks_no_more() -> None:
    """The first two times the user is asked, then the app is told no at once."""
    phone = demo(DIALOGS)
    for _ in range(2):
        phone.tap("Notify")
        phone.tap("Don’t allow")
        assert phone.has("Answer denied")

    phone.tap("Notify")

    assert phone.ui.view.foreground_package() == DEMO
    phone.ui.processes.revoke_permission(DEMO, "android.permission.POST_NOTIFICATIONS")
    phone.tap("Notify")
    assert phone.ui.view.foreground_package() == CONTROLLER


def test_a_prompt_stays_with_its_app() -> None:
    """Home leaves app and prompt behind; coming back finds both."""
    phone = demo(DIALOGS)
    phone.tap("Locate")
    assert {"While using the app", "Only this time", "Don’t allow"} <= set(phone.texts())

    phone.ui.keys.home()
    assert phone.window_packages() == [HOME, SYSTEM_UI]
    phone.ui.launching.start_app(DEMO)

    assert phone.ui.view.foreground_package() == CONTROLLER
    phone.ui.processes.force_stop(DEMO)
    assert phone.ui.view.foreground_package() == HOME
