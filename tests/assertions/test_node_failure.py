"""What the failure of a check of a node says."""

from __future__ import annotations

from pytest_clawperator.assertions.expect import Expect
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import SERIAL, SHOP, Phone, client, first, node, screen


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

    told = failure(lambda: expect(claw.node(id="name")).to_have_text("Milk"))

    assert 'expected node(id=\'name\') (1st of 3) to have text "Milk", found "Tea"' in told
    assert "hint: Another node that matches is as expected, text " in told
    assert "say so with .nth(1)" in told


def test_a_node_outside_its_container_is_named() -> None:
    """A node that matches, but outside the container, is the nearest miss."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    told = failure(expect(claw.node(id="list").node(text="Shop")).to_be_visible)

    assert "text \"Shop\" [0,0][100,50]: not inside node(id='list')" in told
    assert "hint: Such a node is on the screen, but not inside node(id='list')." in told


def test_a_node_off_the_screen_is_answered_with_a_scroll() -> None:
    """The hint for a node off the screen is to scroll."""
    told = failure(assertions({"text": "Away"}).to_be_visible)

    assert "hint: It is in the tree, and off the screen: scroll_into_view()" in told


def test_a_window_over_the_app_is_named() -> None:
    """A failure names the window over the app, and the hint is to close it."""
    prompt = "com.android.permissioncontroller"

    def shown(action: object) -> dict[str, str]:
        return {"text": FORM, "has_overlay": "true", "overlay_package": prompt}

    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(data={"snapshot_ui": shown}), timeout=0.0)

    told = failure(expect(claw.node(text="Item 1")).to_be_visible)

    assert f"  overlay: a window of {prompt} lies over the app\n" in told
    assert f"hint: Answer or close the window of {prompt} first." in told


def test_texts_of_the_screen_cannot_forge_lines() -> None:
    """Line breaks and control characters of a text are escaped, and long texts cut."""
    shown = screen(node(text="a&#10;b\u202e&#x9b;31m" + "x" * 500, id="evil", kind="TextView"))

    told = failure(lambda: assertions({"id": "evil"}, shown).to_have_text("a"))

    assert 'found "a\\nb\\u202e\\x9b31m' in told
    assert max(map(len, told.split("\n"))) < 300
