"""The message of a failure, its log, and how late it was."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ExpectationError
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import SERIAL, SHOP, Phone, client, first, node, screen


def test_the_log_lists_what_was_found_meanwhile() -> None:
    """Values that changed while waiting are listed in their order."""
    loading = screen(node(text="Loading", id="total", kind="TextView"))
    ready = screen(node(text="$11", id="total", kind="TextView"))
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(screen(), screen(), loading, ready), timeout=0.1)

    message = failure(lambda: expect(claw.node(id="total")).to_have_text("$12"))

    assert "  waited 0.1 s:\n    2 × no match in 40 ms\n" in message
    assert '\n    1 × "Loading" in 20 ms\n    3 × "$11" in 40 ms\n' in message


def test_a_late_node_fails_with_how_late_it_was() -> None:
    """A node that appears after the deadline fails, with the time that was missing."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(*[screen()] * 16, FORM), timeout=0.1)

    message = failure(expect(claw.node(text="Sign in")).to_be_visible)

    assert "\n  appeared 0.2 s after the deadline\n" in message
    assert "set timeout= to more than 0.3 s" in message


def test_a_failure_has_all_its_parts() -> None:
    """What was expected and found, log, near misses, screen and hint; it crosses a process."""
    with pytest.raises(ExpectationError) as caught:
        assertions({"text": "Sign out"}).to_be_visible()

    again = pickle.loads(pickle.dumps(caught.value))
    lines = str(again).split("\n")
    assert lines[0] == (
        f"[{SERIAL}] EXPECTATION_FAILED: expected node(text='Sign out') to be visible, "
        "found no match"
    )
    assert lines[1] == "  waited: 6 × no match in 0.1 s"
    assert lines[2].startswith('  nearest: text "Sign in" com.example.shop:id/heading')
    assert lines[2].endswith(": text is `Sign in`, wanted `Sign out`")
    assert "  on the screen:" in lines
    assert '    - button "Pay" #pay [disabled] [0,0][100,50]' in lines
    assert lines[-1].startswith("  hint: ")
    assert str(again) == str(caught.value)
    assert again.details == caught.value.details
    assert again.details["log"] == ["6 × no match in 0.1 s"]
    assert "Sign in" in again.details["xml"]


@pytest.mark.parametrize(
    ("hold", "parts"),
    [
        (lambda expect, claw: expect(claw.node(text="x"), "signed in").to_be_visible(),
         ["EXPECTATION_FAILED: signed in: expected node(text='x') to be visible"]),
        (lambda expect, claw: expect(claw.node(id="name")).to_have_text("Milk"),
         ['expected node(id=\'name\') (1st of 3) to have text "Milk", found "Tea"',
          "hint: Another node that matches is as expected, text ", "choose it with .nth(1)"]),
        (lambda expect, claw: expect(claw.node(id="list").node(text="Shop")).to_be_visible(),
         ["text \"Shop\" [0,0][100,50]: not inside node(id='list')",
          "hint: Such a node is on the screen, but not inside node(id='list')."]),
    ],
)  # fmt: skip
def test_a_failure_names_which_node(hold: Callable[..., None], parts: list[str]) -> None:
    """The test's own message comes first; the nearest miss has a hint."""
    message = failure(lambda: hold(Expect(clock=FakeTime().clock), first(Phone(SHOP), timeout=0)))

    assert [part for part in parts if part not in message] == []


def test_a_node_off_the_screen_is_answered_with_a_scroll() -> None:
    """It is in the tree."""
    message = failure(assertions({"text": "Away"}).to_be_visible)

    assert "hint: It is in the tree, and off the screen: scroll_into_view()" in message


def test_a_node_without_an_area_needs_no_scroll() -> None:
    """An empty text is as wide as nothing."""
    empty = screen(node(id="note", kind="TextView", bounds="[40,300][40,360]"))
    expected = assertions({"id": "note"}, empty)

    for hold in (expected.to_have_text, expected.not_to_have_text):
        message = failure(partial(hold, ""))

        assert "found no visible area" in message
        assert "scroll_into_view" not in message


def test_a_window_over_the_app_is_named() -> None:
    """A failure names the window over the app, and the hint is to close it."""
    prompt = "com.android.permissioncontroller"

    def shown(action: object) -> dict[str, str]:
        return {"text": FORM, "has_overlay": "true", "overlay_package": prompt}

    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(data={"snapshot_ui": shown}), timeout=0.0)

    message = failure(expect(claw.node(text="Item 1")).to_be_visible)

    assert f"  overlay: a window of {prompt} lies over the app\n" in message
    assert f"hint: Answer or close the window of {prompt} first." in message


def test_texts_of_the_screen_cannot_forge_lines() -> None:
    """Line breaks and control characters of a text are escaped, and long texts cut."""
    shown = screen(node(text="a&#10;b\u202e&#x9b;31m" + "x" * 500, id="evil", kind="TextView"))

    message = failure(lambda: assertions({"id": "evil"}, shown).to_have_text("a"))

    assert 'found "a\\nb\\u202e\\x9b31m' in message
    assert max(map(len, message.split("\n"))) < 300
