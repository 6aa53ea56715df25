"""What every failure says: message, log, and how late it was."""

from __future__ import annotations

import pickle

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ExpectationError
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import SERIAL, SHOP, Phone, client, first, node, screen


def test_the_message_of_the_test_comes_first() -> None:
    """The message of the test stands at the beginning of the failure."""
    expect = Expect(clock=FakeTime().clock)
    expect.set_timeout(0)

    message = failure(expect(client(Phone()).node(text="x"), "signed in").to_be_visible)

    assert "EXPECTATION_FAILED: signed in: expected node(text='x') to be visible" in message


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


def test_a_failure_pickles_with_all_details() -> None:
    """A failure keeps its text and details on the way from a worker."""
    with pytest.raises(ExpectationError) as caught:
        assertions({"text": "Sign out"}).to_be_visible()

    again = pickle.loads(pickle.dumps(caught.value))

    assert str(again) == str(caught.value)
    assert again.details == caught.value.details
    assert again.details["log"] == ["6 × no match in 0.1 s"]
    assert "Sign in" in again.details["xml"]


def test_a_failure_has_all_its_parts() -> None:
    """A failure has what was expected and found, log, near misses, screen and hint."""
    expected = assertions({"text": "Sign out"})

    lines = failure(expected.to_be_visible).split("\n")

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


def test_one_of_several_nodes_is_numbered() -> None:
    """A failure about one of several matching nodes says which one."""
    expect = Expect(clock=FakeTime().clock)
    claw = first(Phone(SHOP), timeout=0.0)

    message = failure(lambda: expect(claw.node(id="name")).to_have_text("Milk"))

    assert 'expected node(id=\'name\') (1st of 3) to have text "Milk", found "Tea"' in message
    assert "hint: Another node that matches is as expected, text " in message
    assert "choose it with .nth(1)" in message


def test_a_node_outside_its_container_is_named() -> None:
    """A node that matches, but outside the container, is the nearest miss."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    message = failure(expect(claw.node(id="list").node(text="Shop")).to_be_visible)

    assert "text \"Shop\" [0,0][100,50]: not inside node(id='list')" in message
    assert "hint: Such a node is on the screen, but not inside node(id='list')." in message


def test_a_node_off_the_screen_is_answered_with_a_scroll() -> None:
    """The hint for a node off the screen is to scroll."""
    message = failure(assertions({"text": "Away"}).to_be_visible)

    assert "hint: It is in the tree, and off the screen: scroll_into_view()" in message


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
