"""What an app does with what it fetches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.screen.phone_state import WebAnswer
from tests.doubles.simulator.screen_phone import Phone, app

NEWS = """\
state: {news: none, count: 0, done: 0}
screens:
  main:
    items:
      - {text: "News {news}, {count}, {done}"}
      - button: Text
        on_tap: [{fetch: {url: "http://localhost/{news}", into: news, on_answer: {add: {done: 1}}}}]
      - {button: Number, on_tap: [{fetch: {url: "http://localhost/", into: count}}]}
      - {button: Away, on_tap: [{navigate: other}]}
  other:
    items: [{text: "Other {news}"}]
"""


class Asked:
    """A web whose answers the test gives."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.answer: Callable[[WebAnswer], None] = lambda answer: None

    def fetch(self, url: str, answered: Callable[[WebAnswer], None]) -> None:
        """Keep who is to be answered."""
        self.urls.append(url)
        self.answer = answered


def test_an_answer_goes_into_its_variable() -> None:
    """The address is filled in, and the text and what follows it show."""
    web = Asked()
    phone = Phone(app(NEWS), fetch=web.fetch)
    phone.tap("Text")
    version = phone.ui.changes.version

    web.answer(WebAnswer(text="rain"))

    assert web.urls == ["http://localhost/none"]
    assert phone.has("News rain, 0, 1")
    assert phone.ui.changes.version > version


def test_a_text_that_does_not_fit_is_told_in_the_log() -> None:
    """A variable for numbers keeps its value."""
    web = Asked()
    phone = Phone(app(NEWS), fetch=web.fetch)
    phone.tap("Number")

    web.answer(WebAnswer(text="many"))

    assert phone.has("News none, 0, 0")
    assert "a whole number is wanted" in phone.complaints[0]


def test_an_answer_after_the_app_was_ended_does_nothing() -> None:
    """Nobody is there any more who would take it."""
    web = Asked()
    phone = Phone(app(NEWS), fetch=web.fetch)
    phone.tap("Text")
    phone.ui.processes.force_stop("com.example.demo")

    web.answer(WebAnswer(text="rain"))
    phone.ui.launching.start_app("com.example.demo")

    assert phone.has("News none, 0, 0")


def test_a_phone_without_a_network_says_so() -> None:
    """The app's log tells why nothing came."""
    phone = Phone(app(NEWS))

    phone.tap("Text")

    assert "the phone has no network" in phone.complaints[0]


def test_into_names_a_declared_variable() -> None:
    """A variable that there is not is a mistake in the file."""
    with pytest.raises(ConfigurationError, match="there is no variable `new`"):
        app(NEWS.replace("into: news", "into: new"))
