"""The steps click and enter_text."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    OK,
    PROFILES,
    Bench,
    button,
    node,
    screen,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestTouches:
    """What the specification and the published app agree upon."""

    def test_click_goes_to_the_clickable_parent(self, profile: Profile) -> None:
        """A label is clicked by way of its row."""
        row = node("", node("OK"), clickable=True, resource_id="row")
        bench = Bench(screen(row), profile=profile)

        assert bench.step("click", matcher=OK)["data"] == {"click_types": "click"}
        assert bench.ui.done == ["click row"]

    def test_click_falls_back_to_a_tap(self, profile: Profile) -> None:
        """What takes no click gets a tap in its middle."""
        bench = Bench(screen(button(clickable=False)), profile=profile)
        bench.step("click", matcher=OK)
        refusing = Bench(screen(button()), profile=profile)
        refusing.ui.refuse = {"click"}
        refusing.step("click", matcher=OK)

        assert bench.ui.done == ["tap 200 1050"]
        assert refusing.ui.done == ["click OK", "tap 200 1050"]

    def test_a_long_click_falls_back_to_a_long_press(self, profile: Profile) -> None:
        """A long click is an action where there is one, else a long press."""
        bench = Bench(screen(button()), profile=profile)
        bench.ui.refuse = {"long_click"}

        assert bench.step("click", matcher=OK, clickType="long_click")["data"] == {
            "click_types": "long_click"
        }
        assert bench.ui.done == ["long_click OK", "long_press 200 1050"]

    def test_focus_goes_to_the_closest_focusable_node(self, profile: Profile) -> None:
        """Focus goes to the closest node that takes it."""
        inner = button(clickable=False)
        bench = Bench(screen(node("", inner, focusable=True, resource_id="row")), profile=profile)

        assert bench.step("click", matcher=OK, clickType="focus")["data"] == {
            "click_types": "focus"
        }
        assert bench.ui.done == ["focus row"]

    def test_click_at_a_point(self, profile: Profile) -> None:
        """A point is tapped as it is."""
        bench = Bench(profile=profile)

        assert bench.step("click", coordinate={"x": 12, "y": 34})["data"] == {
            "coordinate": "(12,34)",
            "click_types": "click",
        }
        assert bench.ui.done == ["tap 12 34"]

    def test_enter_text_focuses_the_field_and_replaces_its_text(self, profile: Profile) -> None:
        """A field that is not focused is focused and clicked, then its text is replaced."""
        field = node("Name", cls="android.widget.EditText", editable=True)
        bench = Bench(screen(field), profile=profile)

        step = bench.step("enter_text", matcher={"role": "textfield"}, text="Zoë")

        assert step["data"] == {"text": "Zoë", "submit": "false"}
        assert bench.ui.done == ["focus Name", "click Name", "set_text Name Zoë"]
