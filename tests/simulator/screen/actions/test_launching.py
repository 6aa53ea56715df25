"""Starting apps, the home screen, and the recent apps."""

from __future__ import annotations

from pytest_clawperator.simulator.apps.load import plain_app, shipped_apps
from tests.doubles.simulator.screen_phone import HOME, SETTINGS, SHOP, Phone, app
from tests.simulator.screen.sample_apps import COUNTER, DEMO


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


def test_an_activity_can_be_started_by_name() -> None:
    """A screen with an activity of its own opens by it, in short or in full."""
    phone = Phone(app(COUNTER), start=DEMO)

    assert phone.ui.launching.start_app(DEMO, ".NextActivity")

    assert phone.ui.view.foreground_activity() == "com.example.demo.NextActivity"
    assert phone.ui.launching.start_app(DEMO, "com.example.demo.NextActivity")
    phone.ui.keys.back()
    assert phone.ui.view.title() == "Counter 0"


def test_an_intent_opens_its_screen() -> None:
    """The well-known actions of Settings lead to their pages."""
    phone = Phone()

    assert phone.ui.launching.start_intent("android.settings.BLUETOOTH_SETTINGS")

    assert phone.ui.view.title() == "Bluetooth"
    assert not phone.ui.launching.start_intent("android.settings.NOTHING")


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


def test_a_launch_takes_its_time() -> None:
    """With a delay, what was in front stays there until the app comes."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    assert phone.ui.launching.start_app(SETTINGS)
    assert phone.ui.view.foreground_package() == HOME
    phone.wait(0.29)
    assert phone.ui.view.foreground_package() == HOME

    phone.wait(0.01)

    assert phone.ui.view.foreground_package() == SETTINGS
    assert phone.ui.links.open_uri("shop://item/3")
    assert phone.ui.view.foreground_package() == SETTINGS
    phone.wait(0.3)
    assert phone.ui.view.title() == "Item 3"


def test_leaving_takes_its_time_too() -> None:
    """Home, back out of an app and icons all take the same moment."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    seen = []
    for deed in (
        lambda: phone.tap("Settings"),
        phone.ui.keys.home,
        lambda: phone.tap("Shop"),
        phone.ui.keys.back,
    ):
        before = phone.ui.view.foreground_activity()
        deed()
        assert phone.ui.view.foreground_activity() == before
        phone.wait(0.3)
        seen.append(phone.ui.view.foreground_package())

    assert seen == [SETTINGS, HOME, SHOP, HOME]


def test_recent_apps_show_at_once() -> None:
    """No app has to start for them: whoever looks next sees them."""
    phone = Phone(*shipped_apps(), start=SETTINGS, launch_delay=0.3)
    phone.wait(0.3)

    phone.ui.keys.recents()

    assert phone.has("Clear all")


def test_a_launch_that_is_stopped_does_not_happen() -> None:
    """Stopping an app before it came up leaves it stopped."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    phone.ui.launching.start_app(SETTINGS)

    phone.ui.processes.force_stop(SETTINGS)

    phone.wait(1)
    assert phone.ui.view.foreground_package() == HOME
