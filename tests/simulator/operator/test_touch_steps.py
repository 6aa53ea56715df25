"""Steps that act."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import APP, OK, PROFILES, Bench, action, button, node, screen


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


@pytest.mark.parametrize("profile", PROFILES)
class TestSystem:
    """What the specification and the published app agree upon."""

    def test_take_screenshot_is_left_to_the_host(self, profile: Profile) -> None:
        """A take_screenshot step fails in the known way, and the run goes on."""
        envelope = Bench(profile=profile).execute(action("take_screenshot"), action("scroll_until"))

        assert envelope["stepResults"][0]["data"]["error"] == "UNSUPPORTED_RUNTIME_SCREENSHOT"
        assert len(envelope["stepResults"]) == 2

    def test_press_key_presses_each_key(self, profile: Profile) -> None:
        """Each key is pressed."""
        for key in ("back", "home", "recents"):
            bench = Bench(profile=profile)
            assert bench.step("press_key", key=key)["data"] == {"key": key}
            assert bench.ui.done == [key]

    def test_doctor_ping_reads_the_developer_settings(self, profile: Profile) -> None:
        """Developer options and USB debugging are read from the settings."""
        bench = Bench(profile=profile)
        bench.settings.put("global", "adb_enabled", "0")

        assert bench.step("doctor_ping")["data"] == {
            "developer_options_enabled": "true",
            "usb_debugging_enabled": "false",
        }


@pytest.mark.parametrize("profile", PROFILES)
class TestApps:
    """What the specification and the published app agree upon."""

    def test_open_app_starts_the_app(self, profile: Profile) -> None:
        """An app is started and named."""
        bench = Bench(profile=profile)

        assert bench.step("open_app", applicationId=APP) == {
            "id": "a1",
            "actionType": "open_app",
            "success": True,
            "data": {"application_id": APP},
        }
        assert bench.ui.done == [f"start {APP}"]

    def test_open_uri_opens_the_address(self, profile: Profile) -> None:
        """An address is opened and repeated."""
        bench = Bench(profile=profile)

        assert bench.step("open_uri", uri="market://x")["data"] == {"uri": "market://x"}
        assert bench.ui.done == ["open_uri market://x"]

    def test_close_app_is_left_to_the_host(self, profile: Profile) -> None:
        """A close_app step fails in the known way, and the run goes on and succeeds."""
        envelope = Bench(profile=profile).execute(
            action("close_app", applicationId=APP), action("doctor_ping")
        )

        assert envelope["status"] == "success"
        assert envelope["stepResults"][0]["success"] is False
        data = envelope["stepResults"][0]["data"]
        assert list(data) == ["application_id", "error", "message"]
        assert data["error"] == "UNSUPPORTED_RUNTIME_CLOSE"
        assert envelope["stepResults"][1]["success"] is True
