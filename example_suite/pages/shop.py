"""The shop: sign-in, products, cart and checkout."""

from __future__ import annotations

from pytest_clawperator import Clawperator, Locator, expect

PACKAGE = "com.example.shop"
PASSWORD = "secret"


class Shop:
    """What can be done in the shop."""

    def __init__(self, claw: Clawperator) -> None:
        self.claw = claw
        self.email = claw.node(id="email")
        self.password = claw.node(id="password")
        self.error = claw.node(id="error")
        self.products = claw.node(id="product_list")
        self.search = claw.node(id="search")
        self.cart_lines = claw.node(id="cart_line")

    def sign_in(self, email: str = "ada@example.com", password: str = PASSWORD) -> None:
        """Fill in the sign-in form and send it."""
        self.email.enter_text(email)
        self.password.enter_text(password)
        self.claw.click(id="sign_in")

    def show_item(self, number: int) -> None:
        """Open an item directly, by a link."""
        self.claw.open_uri(f"shop://item/{number}")
        expect(self.claw.node(id="item_name")).to_have_text(f"Item {number}")

    def add_to_cart(self, *numbers: int) -> None:
        """Put items into the cart."""
        for number in numbers:
            self.show_item(number)
            self.claw.click(text="Add to cart")

    def show_cart(self) -> None:
        """Open the cart."""
        self.claw.open_uri("shop://cart")
        expect(self.claw.node(text="Total")).to_be_visible()

    def cart_line(self, name: str) -> Locator:
        """Return the locator of the cart line of an item."""
        return self.claw.node(id="cart_line", has=self.claw.node(text=name))

    def total(self) -> str:
        """Read the total of the cart."""
        return self.claw.read_value("Total")
