"""The shipped Shop app, used as a person would."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import SHOP, Phone


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
    """The last one is found by searching; a long press keeps one, and each has its price."""
    phone = signed_in()
    phone.ui.touch.long_press(*phone.node("Item 3").bounds.centre)
    assert phone.has("Item 3 is a favourite now")
    phone.ui.nodes.set_text(phone.by_id("search"), "Item 200")
    assert [node.text for node in phone.root.walk() if node.kind == "row_title"] == ["Item 200"]
    phone.ui.nodes.set_text(phone.by_id("search"), "")

    phone.scroll_to("Item 60")
    phone.tap("Item 60")

    assert phone.ui.view.title() == "Item 60"
    assert phone.by_id("item_price").text == f"${5 + 59 * 7 % 46}.00"


def test_an_order_is_placed_with_express_shipping() -> None:
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
    assert phone.value_of("To pay") == "$22.00"
    phone.tap("Place order")
    assert phone.has("Paying")
    phone.wait(1.5)

    assert phone.has("Order #1001")
    phone.tap("Continue shopping")
    assert phone.has("Cart: 0")


def test_the_sale_dialog_comes_once() -> None:
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
