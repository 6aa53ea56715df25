"""The shipped Settings app, used as a person would."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility import find, role_of
from tests.doubles.simulator.screen_phone import SETTINGS, Phone


def test_the_first_page_looks_as_on_a_phone() -> None:
    """A list of clickable rows with title and summary, as in a capture of a real one."""
    phone = Phone(start=SETTINGS)

    rows = phone.by_id("recycler_view")
    assert rows.resource_id == "com.android.settings:id/recycler_view"
    assert rows.cls == "androidx.recyclerview.widget.RecyclerView"
    assert (rows.scrollable, rows.focusable, role_of(rows)) == (True, True, "list")
    row = phone.node("Connections").parent
    assert row is not None
    assert (row.cls, row.clickable) == ("android.widget.LinearLayout", True)
    assert phone.value_of("Connections") == "Wi-Fi  •  Bluetooth  •  SIM manager"
    search = find(phone.root, {"contentDescEquals": "Search settings"}, phone.ui.display.size)
    assert search is not None
    assert search.cls == "android.widget.Button"


def test_each_of_many_rows_leads_somewhere_and_back() -> None:
    """Thirty rows and more, each of which leads somewhere and back."""
    phone = Phone(start=SETTINGS)
    titles: list[str] = []
    for _ in range(20):
        rows = phone.by_id("recycler_view").children
        titles += [row.children[1].text for row in rows if row.children[1].visible_to_user]
        phone.swipe_up(phone.by_id("recycler_view"))
    assert len(dict.fromkeys(titles)) >= 30
    assert titles[-1] == "About phone"

    for title in dict.fromkeys(titles):
        phone.ui.processes.force_stop(SETTINGS)
        phone.ui.launching.start_app(SETTINGS)
        phone.scroll_to(title)
        row = phone.node(title).parent
        assert row is not None
        assert phone.ui.nodes.click(row)
        assert phone.ui.view.title() not in ("Settings", None)
        phone.ui.keys.back()
        assert phone.ui.view.title() == "Settings"


def test_developer_options_come_after_seven_taps() -> None:
    """As on a phone, with a message on the way."""
    phone = Phone(start=SETTINGS)
    phone.scroll_to("About phone")
    phone.tap("About phone")
    for _ in range(7):
        phone.tap("Build number")
    toasts = [event.texts for event in phone.events if "NOTIFICATION" in event.type]
    assert toasts[0] == ("You are now 3 steps away from being a developer.",)
    assert toasts[-1] == ("You are now a developer!",)

    phone.ui.keys.back()

    phone.scroll_to("Developer options")


def test_wifi_and_bluetooth_stay_as_they_were_switched() -> None:
    """Wi-Fi and Bluetooth are turned on and off, and stay so."""
    phone = Phone(start=SETTINGS)
    phone.tap("Connections")
    assert phone.by_id("wifi_row").children[-1].checked
    phone.tap("Wi-Fi")
    phone.tap("Bluetooth")
    assert phone.value_of("Wi-Fi") == "Off"

    phone.ui.processes.force_stop(SETTINGS)
    phone.ui.launching.start_intent("android.settings.WIRELESS_SETTINGS")

    switches = [node.checked for node in phone.root.walk() if node.kind == "switch"]
    assert switches[:2] == [False, True]


def test_looking_for_networks_takes_a_while() -> None:
    """A progress bar shows while networks are looked for; connecting shows a message."""
    phone = Phone(start=SETTINGS)
    phone.ui.launching.start_intent("android.settings.WIFI_SETTINGS")
    assert phone.has("Searching for networks")
    assert not phone.has("Coffee Shop")

    phone.wait(1.2)
    assert not phone.has("Searching for networks")
    phone.tap("Coffee Shop")
    assert phone.value_of("Coffee Shop") == "Connected"
    phone.tap("Neighbour's Wi-Fi")
    phone.ui.nodes.set_text(phone.by_id("password"), "guess")
    phone.tap("Connect")

    assert phone.ui.view.title() == "Wi-Fi"
