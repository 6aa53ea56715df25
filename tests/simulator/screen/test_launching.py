"""Apps that are started, installed, killed and crash, and deep links."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.apps.load import parse_app, plain_app, shipped_apps
from pytest_clawperator.simulator.apps.schema import App
from tests.doubles.simulator.screen_phone import HOME, SETTINGS, SHOP, Phone, app, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO, DIALOGS


def test_stopping_loses_plain_state_and_clearing_loses_all() -> None:
    """Plain state goes with the process, saved state and permissions with the data.

    Taking back a permission kills the app, if it had it.
    """
    phone = demo(COUNTER)
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")
    phone.ui.processes.revoke_permission(DEMO, "android.permission.NONE")
    assert phone.ui.view.foreground_package() == DEMO
    phone.tap("Add")
    phone.tap("Next")

    phone.ui.processes.force_stop(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert DEMO not in phone.ui.processes.running_packages()
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")
    assert phone.ui.permissions.granted(DEMO) == {"android.permission.CAMERA"}

    phone.ui.processes.revoke_permission(DEMO, "android.permission.CAMERA")
    assert phone.ui.view.foreground_package() == HOME
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")
    phone.ui.processes.clear_data(DEMO)
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 0")
    assert phone.ui.permissions.granted(DEMO) == set()


def test_the_home_screen_shows_every_app_with_an_icon() -> None:
    """A fresh phone shows its home screen; a tap on an icon starts the app."""
    phone = Phone(*shipped_apps(), plain_app("com.example.hidden", name="Hidden", launcher=False))
    assert phone.ui.view.foreground_package() == HOME
    assert {"Settings", "Shop", "Conformance"} <= set(phone.texts())
    assert not phone.has("Hidden")

    phone.tap("Settings")

    assert phone.ui.view.foreground_package() == SETTINGS
    assert phone.ui.view.foreground_activity() == "com.android.settings.Settings"
    assert phone.ui.view.title() == "Settings"


def test_starting_brings_what_was_open_back() -> None:
    """An app that was left is as it was; what is not there cannot be started."""
    phone = Phone(*shipped_apps(), start=SETTINGS)
    phone.tap("Display")
    phone.ui.keys.home()
    assert phone.ui.view.foreground_package() == HOME

    assert phone.ui.launching.start_app(SETTINGS)

    assert phone.ui.view.title() == "Display"
    assert not phone.ui.launching.start_app("com.example.nothing")
    assert not phone.ui.launching.start_app(SETTINGS, ".Nothing")
    assert phone.ui.launching.start_intent("android.settings.BLUETOOTH_SETTINGS")
    assert phone.ui.view.title() == "Bluetooth"
    assert not phone.ui.launching.start_intent("android.settings.NOTHING")


def test_an_activity_can_be_started_by_name() -> None:
    """A screen with its own activity opens by it, in short or in full."""
    phone = Phone(app(COUNTER), start=DEMO)

    assert phone.ui.launching.start_app(DEMO, ".NextActivity")

    assert phone.ui.view.foreground_activity() == "com.example.demo.NextActivity"
    assert phone.ui.launching.start_app(DEMO, "com.example.demo.NextActivity")
    phone.ui.keys.back()
    assert phone.ui.view.title() == "Counter 0"


def test_recent_apps_are_opened_and_closed_by_their_cards() -> None:
    """They stand as cards, the latest first; a tap opens one, an upward swipe closes one."""
    phone = Phone(*shipped_apps(), start=SETTINGS)
    phone.ui.launching.start_app(SHOP)
    phone.ui.keys.recents()
    cards = [node for node in phone.root.walk() if node.kind == "card"]
    assert [card.content_desc for card in cards] == ["Shop", "Settings"]
    assert phone.ui.view.foreground_package() == HOME

    phone.ui.keys.recents()
    assert phone.ui.view.foreground_package() == SHOP
    phone.ui.keys.recents()
    x, y = next(node for node in phone.root.walk() if node.kind == "card").bounds.centre
    phone.ui.touch.swipe((x, y), (x, y - 700))
    assert SHOP not in phone.ui.processes.running_packages()
    phone.tap_id("task")
    assert phone.ui.view.foreground_package() == SETTINGS

    phone.ui.keys.recents()
    phone.tap("Clear all")
    phone.ui.keys.recents()
    assert phone.has("No recent items")
    phone.ui.keys.back()
    assert phone.ui.view.title() is None


def test_going_from_one_app_to_another_takes_its_time() -> None:
    """With a delay, what was in front stays there; the recent apps need no start."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    seen = []
    for deed in (
        lambda: phone.tap("Settings"),
        phone.ui.keys.home,
        lambda: phone.tap("Shop"),
        phone.ui.keys.back,
        lambda: phone.ui.links.open_uri("shop://item/3"),
    ):
        before = phone.ui.view.foreground_activity()
        deed()
        phone.wait(0.29)
        assert phone.ui.view.foreground_activity() == before
        phone.wait(0.01)
        seen.append(phone.ui.view.foreground_package())

    assert seen == [SETTINGS, HOME, SHOP, HOME, SHOP]
    phone.ui.keys.recents()
    assert phone.has("Clear all")
    phone.ui.launching.start_app(SETTINGS)
    phone.ui.processes.force_stop(SETTINGS)
    phone.wait(1)
    assert phone.ui.view.foreground_package() == HOME


OTHER = "com.example.other"


def other(uri: str = "demo://a") -> App:
    """Make a second app that takes a link."""
    return parse_app(
        f"package: {OTHER}\nname: Other\nstart: main\nlinks: [{{uri: '{uri}', screen: main}}]\n"
        "screens:\n  main: {title: Other app}\n"
    )


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
    for unhandled in ("demo://item/x", "nothing at all"):
        assert not phone.ui.links.open_uri(unhandled)
    assert not phone.ui.links.open_uri("demo://a", package=OTHER)


def test_a_chooser_asks_which_of_two_apps_opens_a_link() -> None:
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


def test_an_app_comes_and_goes_with_its_icon() -> None:
    """An app comes and goes with its icon; a new version keeps what was saved."""
    phone = demo(COUNTER)
    phone.tap("Add")
    phone.ui.apps.install(app(COUNTER))
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")

    assert phone.ui.apps.uninstall(DEMO)

    assert not phone.ui.apps.uninstall(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert not phone.has("Demo")
    assert not phone.ui.launching.start_app(DEMO)
    assert DEMO not in phone.ui.apps


def test_a_crash_kills_the_app_and_shows_that_it_stopped() -> None:
    """The app dies, listeners are called, and Android shows a dialog until it is closed."""
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
