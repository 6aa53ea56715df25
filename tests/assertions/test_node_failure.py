"""What the failure of a check of a node says."""

from __future__ import annotations

from pytest_clawperator.assertions.expect import Expect
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import SERIAL, SHOP, Phone, client, node, screen


def test_failure_says_all_there_is_to_say() -> None:
    """One failure tells subject, wish, finding, log, near misses, screen and what to try."""
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


def test_first_of_several_is_said_to_be() -> None:
    """A failure about one of several nodes says which one it is about."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    told = failure(lambda: expect(claw.node(id="name")).to_have_text("Milk"))

    assert 'expected node(id=\'name\') (1st of 3) to have text "Milk", found "Tea"' in told


def test_node_outside_its_container_is_named() -> None:
    """A node that fits, but not inside what it was looked for in, is the nearest miss."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    told = failure(expect(claw.node(id="list").node(text="Shop")).to_be_visible)

    assert "text \"Shop\" [0,0][100,50]: not inside node(id='list')" in told
    assert "hint: Such a node is on the screen, but not inside node(id='list')." in told


def test_off_screen_node_wants_a_scroll() -> None:
    """What is in the tree and off the screen is said to need a scroll."""
    told = failure(assertions({"text": "Away"}).to_be_visible)

    assert "hint: It is in the tree, and off the screen: scroll_into_view()" in told


def test_window_over_the_app_is_named() -> None:
    """A prompt that lies over the app is told, and is what to do something about first."""
    prompt = "com.android.permissioncontroller"

    def shown(action: object) -> dict[str, str]:
        return {"text": FORM, "has_overlay": "true", "overlay_package": prompt}

    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(data={"snapshot_ui": shown}), timeout=0.0)

    told = failure(expect(claw.node(text="Item 1")).to_be_visible)

    assert f"  overlay: a window of {prompt} lies over the app\n" in told
    assert f"hint: Answer or close the window of {prompt} first." in told


def test_hostile_texts_stay_on_their_line() -> None:
    """Text of a screen cannot forge lines or colours of a failure."""
    shown = screen(node(text="a&#10;b\u202e&#x9b;31m" + "x" * 500, id="evil", kind="TextView"))

    told = failure(lambda: assertions({"id": "evil"}, shown).to_have_text("a"))

    assert 'found "a\\nb\\u202e\\x9b31m' in told
    assert max(map(len, told.split("\n"))) < 300
