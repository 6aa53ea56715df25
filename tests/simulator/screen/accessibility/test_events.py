"""Accessibility events."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import FORM


def test_events_say_what_happened_as_android_prints_it() -> None:
    """What happens is told in Android's words, with its parts at hand."""
    phone = demo(FORM)
    phone.events.clear()

    phone.ui.nodes.click(phone.node("Write"))
    phone.ui.nodes.set_text(phone.by_id("name"), "Ann")
    phone.swipe_up(phone.by_id("rows"))
    phone.ui.keys.home()

    told = [event for event in phone.events if "CONTENT" not in event.type]
    assert [event.type for event in told] == [
        "TYPE_VIEW_CLICKED",
        "TYPE_VIEW_TEXT_CHANGED",
        "TYPE_VIEW_SCROLLED",
        "TYPE_WINDOW_STATE_CHANGED",
    ]
    clicked, typed, scrolled, _ = told
    assert clicked.startswith("EventType: TYPE_VIEW_CLICKED; EventTime: 1000000; PackageName: ")
    assert clicked.source is not None
    assert clicked.source.content_desc == "Write"
    assert typed.texts == ("Ann",)
    assert 0 < scrolled.scroll[1] < scrolled.scroll[3]
