"""The shipped apps, used as a person would."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_clawperator.simulator.screen.accessibility.hierarchy import (
    children_on_screen,
    find,
    role_of,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.load import shipped_apps
from tests.simulator.screen.phone import CONFORMANCE, SETTINGS, SHOP, Phone


def scroll_to(phone: Phone, text: str) -> None:
    """Scroll the first list down until a text shows."""
    for _ in range(100):
        if phone.has(text):
            return
        phone.swipe_up(phone.scrollable())
    raise AssertionError(f"{text!r} never came")


def value_of(phone: Phone, label: str) -> str:
    """Give what stands below a label in its row."""
    row = phone.node(label).parent
    assert row is not None
    return next(part.text for part in row.children if part.resource_id.endswith("/summary"))


def signed_in() -> Phone:
    """Make a phone that shows the shop's catalogue."""
    phone = Phone(start=SHOP)
    phone.ui.nodes.set_text(phone.by_id("email"), "ann@example.org")
    phone.ui.nodes.set_text(phone.by_id("password"), "secret")
    phone.tap_id("sign_in")
    phone.wait(0.6)
    assert phone.ui.view.title() == "Shop"
    phone.wait(0.8)
    return phone


def test_settings_looks_as_on_a_phone() -> None:
    """A list of clickable rows with title and summary, as in a capture of a real one."""
    phone = Phone(start=SETTINGS)

    rows = phone.by_id("recycler_view")
    assert rows.resource_id == "com.android.settings:id/recycler_view"
    assert rows.cls == "androidx.recyclerview.widget.RecyclerView"
    assert (rows.scrollable, rows.focusable, role_of(rows)) == (True, True, "list")
    row = phone.node("Connections").parent
    assert row is not None
    assert (row.cls, row.clickable) == ("android.widget.LinearLayout", True)
    assert value_of(phone, "Connections") == "Wi-Fi  •  Bluetooth  •  SIM manager"
    search = find(phone.root, {"contentDescEquals": "Search settings"}, phone.ui.display.size)
    assert search is not None
    assert search.cls == "android.widget.Button"


def test_settings_has_a_long_list() -> None:
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
        scroll_to(phone, title)
        row = phone.node(title).parent
        assert row is not None
        assert phone.ui.nodes.click(row)
        assert phone.ui.view.title() not in ("Settings", None)
        phone.ui.keys.back()
        assert phone.ui.view.title() == "Settings"


def test_settings_about_phone() -> None:
    """The Android version stands beside its label."""
    phone = Phone(start=SETTINGS)
    scroll_to(phone, "About phone")
    phone.tap("About phone")

    assert value_of(phone, "Android version") == "16"
    assert role_of(phone.by_id("recycler_view").children[0]) == "listitem"


def test_settings_developer_options_come_after_seven_taps() -> None:
    """As on a phone, with a message on the way."""
    phone = Phone(start=SETTINGS)
    scroll_to(phone, "About phone")
    phone.tap("About phone")
    for _ in range(7):
        phone.tap("Build number")
    toasts = [event.texts for event in phone.events if "NOTIFICATION" in event.type]
    assert toasts[0] == ("You are now 3 steps away from being a developer.",)
    assert toasts[-1] == ("You are now a developer!",)

    phone.ui.keys.back()

    scroll_to(phone, "Developer options")


def test_settings_switches() -> None:
    """Wi-Fi and Bluetooth are turned on and off, and stay so."""
    phone = Phone(start=SETTINGS)
    phone.tap("Connections")
    assert phone.by_id("wifi_row").children[-1].checked
    phone.tap("Wi-Fi")
    phone.tap("Bluetooth")
    assert value_of(phone, "Wi-Fi") == "Off"

    phone.ui.processes.force_stop(SETTINGS)
    phone.ui.launching.start_intent("android.settings.WIRELESS_SETTINGS")

    switches = [node.checked for node in phone.root.walk() if node.kind == "switch"]
    assert switches[:2] == [False, True]


def test_settings_search() -> None:
    """What is typed into the search field filters the rows."""
    phone = Phone(start=SETTINGS)

    phone.tap_id("search_src_text")
    phone.ui.typing.type_text("batt")

    titles = [row.children[1].text for row in phone.by_id("recycler_view").children]
    assert titles == ["Battery"]


def test_settings_networks_take_a_while() -> None:
    """A progress bar shows while networks are looked for; connecting shows a message."""
    phone = Phone(start=SETTINGS)
    phone.ui.launching.start_intent("android.settings.WIFI_SETTINGS")
    assert phone.has("Searching for networks")
    assert not phone.has("Coffee Shop")

    phone.wait(1.2)
    assert not phone.has("Searching for networks")
    phone.tap("Coffee Shop")
    assert value_of(phone, "Coffee Shop") == "Connected"
    phone.tap("Neighbour's Wi-Fi")
    phone.ui.nodes.set_text(phone.by_id("password"), "guess")
    phone.tap("Connect")

    assert phone.ui.view.title() == "Wi-Fi"


def test_the_shop_refuses_a_wrong_password() -> None:
    """An error shows, and goes when something is typed."""
    phone = Phone(start=SHOP)
    phone.ui.nodes.set_text(phone.by_id("email"), "ann@example.org")
    phone.ui.nodes.set_text(phone.by_id("password"), "wrong")

    phone.tap_id("sign_in")

    assert phone.has("Wrong e-mail or password")
    phone.ui.nodes.set_text(phone.by_id("password"), "secret")
    assert not phone.has("Wrong e-mail or password")


def test_the_shop_signs_in_after_a_moment() -> None:
    """It shows progress and takes no second tap meanwhile; then the products load."""
    phone = Phone(start=SHOP)
    phone.ui.nodes.set_text(phone.by_id("email"), "ann@example.org")
    phone.tap_id("password")
    phone.ui.typing.type_text("secret")
    phone.ui.typing.enter()
    assert phone.has("Signing in")
    assert not phone.by_id("sign_in").enabled

    phone.wait(0.6)
    assert phone.has("Loading products")
    phone.wait(0.8)

    assert phone.has("Item 1")
    phone.ui.processes.force_stop(SHOP)
    phone.ui.launching.start_app(SHOP)
    assert phone.ui.view.title() == "Shop"


def test_the_shop_has_two_hundred_items() -> None:
    """The last one is reached by scrolling, found by searching, and has its price."""
    phone = signed_in()
    phone.ui.nodes.set_text(phone.by_id("search"), "Item 200")
    assert [node.text for node in phone.root.walk() if node.kind == "row_title"] == ["Item 200"]
    phone.ui.nodes.set_text(phone.by_id("search"), "")

    scroll_to(phone, "Item 60")
    phone.tap("Item 60")

    assert phone.ui.view.title() == "Item 60"
    assert phone.by_id("item_price").text == f"${5 + 59 * 7 % 46}.00"


def test_the_shop_sells() -> None:
    """Two items in the cart, one taken out again, express shipping, and an order number."""
    phone = signed_in()
    for item in ("Item 1", "Item 2"):
        phone.tap(item)
        phone.tap("Add to cart")
        assert phone.has(f"{item} added to cart")
        phone.ui.keys.back()
    assert phone.by_id("cart_badge").text == "2"
    phone.tap("Cart: 2")
    assert phone.by_id("cart_total").text == "$17.00"

    phone.tap("Remove Item 1")
    phone.tap("Remove")
    assert (phone.ui.view.title(), phone.by_id("cart_total").text) == ("Cart (1)", "$12.00")
    phone.tap("Checkout")
    assert not phone.by_id("place_order").enabled
    phone.ui.nodes.set_text(phone.by_id("full_name"), "Ann")
    phone.ui.nodes.set_text(phone.by_id("address"), "1 Road")
    phone.tap("I accept the terms")
    phone.tap("Express, $10.00")
    assert value_of(phone, "To pay") == "$22.00"
    phone.tap("Place order")
    assert phone.has("Paying")
    phone.wait(1.5)

    assert phone.has("Order #1001")
    phone.tap("Continue shopping")
    assert phone.has("Cart: 0")


def test_the_shop_has_a_sale() -> None:
    """A dialog comes after four seconds, once."""
    phone = signed_in()
    phone.wait(3)
    assert not phone.has("Summer sale")
    phone.wait(0.3)
    assert phone.has("Summer sale")

    phone.tap("Show me")

    assert phone.has("Deals of the day")
    phone.tap("Deal 2")
    assert phone.ui.view.title() == "Item 20"
    phone.ui.processes.force_stop(SHOP)
    phone.ui.launching.start_app(SHOP)
    phone.wait(10)
    assert not phone.has("Summer sale")


@pytest.mark.parametrize(
    ("answer", "says", "on"),
    [
        ("Allow", "Notifications are on", True),
        ("Don’t allow", "Notifications are not allowed", False),
    ],
)
def test_the_shop_asks_for_permission(answer: str, says: str, on: bool) -> None:
    """The switch stays on only where notifications are allowed."""
    phone = signed_in()
    phone.tap("Account")
    phone.tap("Offers by notification")

    phone.tap(answer)

    assert phone.has(says)
    assert phone.by_id("switch_widget").checked is on
    assert bool(phone.ui.permissions.granted(SHOP)) is on


def test_the_shop_crashes_on_demand() -> None:
    """At the end of the account page there is a button for it."""
    phone = signed_in()
    phone.tap("Account")
    scroll_to(phone, "Crash")

    phone.tap("Crash")

    assert phone.crashes == [(SHOP, "java.lang.IllegalStateException: The cart has no owner")]


@pytest.mark.parametrize("uri", ["shop://item/7", "https://shop.example/item/7?from=mail"])
def test_the_shop_takes_links(uri: str) -> None:
    """A link leads to the item, signed in or not; one that does not exist says so."""
    phone = Phone()

    assert phone.ui.links.open_uri(uri)

    assert phone.ui.view.title() == "Item 7"
    assert phone.ui.links.open_uri("shop://item/999")
    assert phone.has("This item is no longer sold")
    assert not phone.ui.links.open_uri("shop://item/seven")


def test_the_shop_keeps_favourites() -> None:
    """A long press on an item keeps it."""
    phone = signed_in()
    phone.ui.touch.long_press(*phone.node("Item 3").bounds.centre)
    assert phone.has("Item 3 is a favourite now")

    phone.tap("Favourites")

    assert phone.has("Item 3")


def test_two_shipped_apps_take_the_same_link() -> None:
    """The demo link shows Android's chooser."""
    phone = Phone()

    assert phone.ui.links.open_uri("demo://open")

    assert phone.ui.view.foreground_package() == "android"
    assert {"Shop", "Conformance"} <= set(phone.texts())


def test_the_conformance_app() -> None:
    """It counts, toggles, lists two hundred rows and shows the one that was chosen."""
    phone = Phone(start=CONFORMANCE)
    phone.tap("Increment")
    phone.tap("Increment")
    assert phone.by_id("txt_counter").text == "Counter: 2"
    phone.tap_id("tgl_enabled")
    assert phone.by_id("txt_enabled_state").text == "Status: Disabled"

    phone.tap("Open List")
    scroll_to(phone, "row_150")
    assert phone.by_id("item_row_150").clickable
    phone.tap("row_150")

    assert phone.by_id("txt_selected_row").text == "Selected: row_150"
    phone.tap("Back to List")
    assert phone.has("row_150")
    phone.tap("Back")
    assert phone.has("Counter: 2")
    assert phone.ui.view.foreground_activity() == "clawperator.conformance.MainActivity"


@pytest.mark.parametrize("seed", range(6))
def test_a_monkey_breaks_nothing(seed: int) -> None:
    """Whatever is tapped, typed, swiped and pressed, there is one active screen within bounds."""
    rng = random.Random(seed)
    phone = Phone(*shipped_apps(), size=rng.choice([(1080, 2400), (720, 1280), (400, 500)]))
    ui = phone.ui

    def point() -> tuple[int, int]:
        return rng.randrange(ui.display.size[0]), rng.randrange(ui.display.size[1])

    def click() -> object:
        clickable = [node for node in phone.root.walk() if node.clickable]
        return ui.nodes.click(rng.choice(clickable)) if clickable else ui.keys.home()

    deeds: list[Callable[[], object]] = [
        *[lambda: ui.touch.tap(*point()), click] * 8,
        *[lambda: ui.touch.swipe(point(), point())] * 4,
        lambda: ui.touch.long_press(*point()),
        lambda: ui.typing.type_text(rng.choice(["secret", "a", "😀 {x}"])),
        *[
            ui.typing.enter,
            ui.typing.backspace,
            ui.keys.back,
            ui.keys.back,
            ui.keys.home,
            ui.keys.recents,
        ],
        lambda: ui.launching.start_app(rng.choice([SETTINGS, SHOP, CONFORMANCE])),
        lambda: ui.links.open_uri(rng.choice(["shop://item/3", "demo://open", "shop://cart"])),
        lambda: ui.launching.start_intent("android.settings.WIFI_SETTINGS"),
        lambda: setattr(ui, "rotation", rng.randrange(4)),
        lambda: phone.wait(rng.random() * 3),
        lambda: ui.processes.force_stop(SHOP),
    ]
    for _ in range(250):
        rng.choice(deeds)()
        bounds = Bounds(0, 0, *ui.display.size)
        assert all(node.bounds.clipped(bounds) == node.bounds for node in visible(phone.root))
        assert sum(window.active for window in ui.view.windows()) == 1


def visible(root: UiNode) -> list[UiNode]:
    """List what a user can see."""
    return [node for node in root.walk() if node.visible_to_user]


def signature(phone: Phone, node: UiNode) -> list[str]:
    """Describe a list's position as the Operator does."""
    return [
        f"{child.resource_id}@{child.bounds.top}"
        for child in children_on_screen(node, phone.ui.display.size)[:3]
    ]


@pytest.mark.parametrize("rotation", [0, 1])
@pytest.mark.parametrize("size", [(1080, 2400), (1080, 1920), (720, 1600), (1440, 3120)])
def test_a_scroll_is_never_mistaken_for_the_end(size: tuple[int, int], rotation: int) -> None:
    """The Operator knows a list has moved by where its first rows lie; the apps' lists allow it."""
    phone = Phone(*shipped_apps(), size=size, start=SETTINGS)
    phone.ui.display.rotation = rotation

    before = signature(phone, phone.scrollable())
    for _ in range(3):
        phone.swipe_up(phone.scrollable())
        after = signature(phone, phone.scrollable())
        assert after != before
        before = after
