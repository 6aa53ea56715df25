"""Rows as in a settings list."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, screen_app


def test_a_row_has_icon_title_summary_and_switch_as_parts() -> None:
    """A row is a layout that takes the touch, with icon, title, summary and switch inside."""
    phone = Phone(
        screen_app(
            "- {row: Wi-Fi, summary: HomeNet, icon: true, switch: on, id: wifi}\n",
            "state: {on: true}\n",
        )
    )

    row = phone.by_id("wifi")
    assert row.cls == "android.widget.LinearLayout"
    assert (row.clickable, row.text) == (True, "")
    assert [part.resource_id for part in row.children] == [
        "android:id/icon", "android:id/title", "android:id/summary", "android:id/switch_widget",
    ]  # fmt: skip
    assert [part.kind for part in row.children] == ["icon", "row_title", "row_summary", "switch"]
    assert row.children[-1].checked
    assert not any(part.clickable for part in row.children)
