"""What lies over an app: its dialogs, and what Android asks or tells."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.app_files.load import App, parse_app
from tests.simulator.screen.phone import HOME, Phone, app, demo

DEMO = "com.example.demo"
OTHER = "com.example.other"
CONTROLLER = "com.android.permissioncontroller"
SYSTEM_UI = "com.android.systemui"


def other(uri: str = "demo://a") -> App:
    """Make a second app that takes a link."""
    return parse_app(
        f"package: {OTHER}\nname: Other\nstart: main\nlinks: [{{uri: '{uri}', screen: main}}]\n"
        "screens:\n  main: {title: Other app}\n"
    )


DIALOGS = """\
permissions: [android.permission.POST_NOTIFICATIONS, android.permission.ACCESS_FINE_LOCATION]
state: {answer: none}
screens:
  main:
    title: Main
    items:
      - {text: "Answer {answer}"}
      - {button: Ask, on_tap: {dialog: {to: ask, with: {what: "all of it"}}}}
      - {button: Must, on_tap: {dialog: must}}
      - button: Notify
        on_tap:
          request_permission:
            permission: android.permission.POST_NOTIFICATIONS
            on_granted: {set: {answer: allowed}}
            on_denied: {set: {answer: denied}}
      - {button: Locate, on_tap: {request_permission: android.permission.ACCESS_FINE_LOCATION}}
      - {button: Crash, on_tap: [{crash: "java.lang.Error: boom"}, {set: {answer: survived}}]}
dialogs:
  ask:
    title: "Delete {what}?"
    text: This cannot be undone.
    args: {what: it}
    items: [{checkbox: Always}]
    on_cancel: {set: {answer: cancelled}}
    buttons:
      - {button: Delete, do: {set: {answer: "deleted {what}"}}}
      - {button: Keep, do: {set: {answer: kept}}}
  must:
    title: Really
    cancelable: false
    buttons: [{button: Fine}]
"""


def test_a_dialog_is_modal() -> None:
    """It has a window of its own, its buttons close it, and what lies below gets no touch."""
    phone = demo(DIALOGS)
    behind = phone.node("Must").bounds.centre
    phone.tap("Ask")
    windows = phone.ui.view.windows()
    assert [(w.package, w.type, w.active) for w in windows[:2]] == [
        (DEMO, "application", False),
        (DEMO, "application", True),
    ]
    assert {"Delete all of it?", "This cannot be undone.", "Always"} <= set(phone.texts())
    assert phone.node("Delete").resource_id == "android:id/button1"
    assert phone.node("Keep").bounds.right <= phone.node("Delete").bounds.left

    phone.tap("Delete")

    assert phone.has("Answer deleted all of it")
    phone.tap("Ask")
    phone.ui.touch.tap(*behind)
    assert phone.has("Answer cancelled")
    assert not phone.has("Really")


def test_back_cancels_a_dialog_that_lets_itself_be_cancelled() -> None:
    """Others stay until they are answered."""
    phone = demo(DIALOGS)
    phone.tap("Ask")
    phone.ui.keys.back()
    assert phone.has("Answer cancelled")

    phone.tap("Must")
    phone.ui.keys.back()
    phone.ui.touch.tap(5, 2390)
    assert phone.has("Really")
    phone.tap("Fine")
    assert phone.ui.view.title() == "Main"


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


def test_taking_a_permission_back_kills_the_app() -> None:
    """As on a phone; where there was nothing to take, nothing happens."""
    phone = demo(DIALOGS)
    phone.ui.processes.revoke_permission(DEMO, "android.permission.CAMERA")
    assert phone.ui.view.foreground_package() == DEMO
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")

    phone.ui.processes.revoke_permission(DEMO, "android.permission.CAMERA")

    assert phone.ui.view.foreground_package() == HOME


def test_a_crash() -> None:
    """The app dies, whoever listens is told, and Android says so until it is closed."""
    phone = demo(DIALOGS)

    phone.tap("Crash")

    assert phone.crashes == [(DEMO, "java.lang.Error: boom")]
    assert DEMO not in phone.ui.processes.running_packages()
    window = phone.ui.view.windows()[1]
    assert (window.type, window.package, window.active) == ("system", "android", True)
    phone.tap("Close app")
    assert phone.ui.view.foreground_package() == HOME
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Answer none")


LINKED = """\
links:
  - {uri: "demo://item/{id:int}", screen: item}
  - {uri: "demo://named/{name}", screen: item, with: {id: 7, name: "dear {name}"}}
  - {uri: "https://demo.example/*", screen: main}
  - {uri: "demo://a", screen: main}
screens:
  main: {title: Main}
  item: {title: "Item {id} {name}", args: {id: 0, name: nobody}}
"""


@pytest.mark.parametrize(
    ("uri", "title"),
    [
        ("demo://item/42", "Item 42 nobody"),
        ("demo://named/J%C3%B6rg%20B", "Item 7 dear Jörg B"),
        ("https://demo.example/any/thing?x=1", "Main"),
    ],
)
def test_a_link_opens_its_screen(uri: str, title: str) -> None:
    """Parts of the path become values; back leads out."""
    phone = Phone(app(LINKED))
    phone.ui.processes.force_stop(DEMO)

    assert phone.ui.links.open_uri(uri)

    assert phone.ui.view.title() == title
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == HOME


def test_a_link_that_nobody_takes() -> None:
    """Nothing happens, and the caller is told."""
    phone = Phone(app(LINKED))

    assert not phone.ui.links.open_uri("demo://item/x")
    assert not phone.ui.links.open_uri("nothing at all")
    assert not phone.ui.links.open_uri("demo://a", package=OTHER)


def test_two_takers_make_a_chooser() -> None:
    """Android asks once, or remembers; until an app is chosen nothing can be confirmed."""
    phone = Phone(app(LINKED), other(), start=DEMO)
    assert phone.ui.links.open_uri("demo://a")
    assert phone.ui.view.foreground_package() == "android"
    assert {"Open with", "Demo", "Other"} <= set(phone.texts())
    assert not phone.ui.nodes.click(phone.node("Just once"))

    phone.tap("Other")
    phone.tap("Just once")
    assert phone.ui.view.title() == "Other app"

    phone.ui.links.open_uri("demo://a")
    phone.ui.keys.back()
    assert phone.ui.view.title() == "Other app"
    phone.ui.links.open_uri("demo://a")
    phone.tap("Demo")
    phone.tap("Always")
    assert phone.ui.view.title() == "Main"
    phone.ui.keys.home()
    phone.ui.links.open_uri("demo://a")
    assert phone.ui.view.foreground_package() == DEMO
    assert phone.ui.links.open_uri("demo://a", package=OTHER)
    assert phone.ui.view.foreground_package() == OTHER
