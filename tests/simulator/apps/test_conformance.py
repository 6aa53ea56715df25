"""The shipped Conformance app, used as a person would."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import CONFORMANCE, Phone


def test_it_counts_toggles_and_shows_the_chosen_row() -> None:
    """It counts, toggles, lists two hundred rows and shows the one that was chosen."""
    phone = Phone(start=CONFORMANCE)
    phone.tap("Increment")
    phone.tap("Increment")
    assert phone.by_id("txt_counter").text == "Counter: 2"
    phone.tap_id("tgl_enabled")
    assert phone.by_id("txt_enabled_state").text == "Status: Disabled"

    phone.tap("Open List")
    phone.scroll_to("row_150")
    assert phone.by_id("item_row_150").clickable
    phone.tap("row_150")

    assert phone.by_id("txt_selected_row").text == "Selected: row_150"
    phone.tap("Back to List")
    assert phone.has("row_150")
    phone.tap("Back")
    assert phone.has("Counter: 2")
    assert phone.ui.view.foreground_activity() == "clawperator.conformance.MainActivity"
