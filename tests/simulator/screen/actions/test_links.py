"""Deep links."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.apps.schema import App
from tests.doubles.simulator.screen_phone import HOME, Phone, app
from tests.simulator.screen.sample_apps import DEMO

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


def test_a_link_that_no_app_handles_is_not_opened() -> None:
    """Nothing happens, and the caller is told."""
    phone = Phone(app(LINKED))

    assert not phone.ui.links.open_uri("demo://item/x")
    assert not phone.ui.links.open_uri("nothing at all")
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
