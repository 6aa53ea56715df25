"""Actions that run, and moving within an app."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO, DIALOGS, TIMED


def test_actions_that_call_each_other_crash_the_app() -> None:
    """Endless navigation ends as it does on a phone."""
    phone = demo("screens: {main: {on_open: {navigate: main}}}\n")

    assert phone.crashes[0][0] == DEMO
    assert "StackOverflowError" in phone.crashes[0][1]
    assert phone.has("Demo has stopped")


def test_a_screen_opens_on_top_instead_or_at_the_bottom() -> None:
    """A screen can be put on top, instead, or at the bottom; the arrow goes up.

    An app that finishes starts again, with its variables as they were.
    """
    phone = demo(COUNTER)
    phone.tap("Next")
    phone.tap("Instead")
    phone.ui.keys.back()
    assert phone.ui.view.title() == "Counter 0"
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == HOME

    phone.ui.launching.start_app(DEMO)
    phone.tap("Next")
    phone.tap("Again")
    phone.tap("Start over")
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == HOME

    phone.ui.launching.start_app(DEMO)
    phone.tap("Next")
    phone.tap("Navigate up")
    assert phone.ui.view.title() == "Counter 0"

    phone.tap("Add")
    phone.tap("Next")
    phone.tap("Finish")
    assert phone.ui.view.foreground_package() == HOME
    phone.ui.launching.start_app(DEMO)
    assert phone.ui.view.title() == "Counter 1"


def test_timers_act_once_and_in_order() -> None:
    """One whose condition does not hold does nothing; those of a stopped app neither."""
    phone = demo(TIMED)

    phone.wait(10)

    assert phone.ui.view.title() == "Done"
    phone.ui.keys.back()
    assert not phone.has("Loading")
    assert not phone.has("Slow")
    stopped = demo(TIMED)
    stopped.ui.processes.force_stop(DEMO)
    stopped.wait(10)
    assert stopped.ui.view.foreground_package() == HOME


def test_a_dialog_is_modal() -> None:
    """It has its own window, its buttons close it, and what lies below gets no touch."""
    phone = demo(DIALOGS)
    behind = phone.node("Must").bounds.centre
    phone.tap("Ask")
    windows = phone.ui.view.windows()
    assert [(w.package, w.type, w.active) for w in windows[:2]] == [
        (DEMO, "application", False),
        (DEMO, "application", True),
    ]
    assert {"Delete all of it?", "This cannot be undone.", "Always"} <= set(phone.texts())
    assert phone.node("Delete").resource_id == "android:id/button1"
    assert phone.node("Keep").bounds.right <= phone.node("Delete").bounds.left

    phone.tap("Delete")

    assert phone.has("Answer deleted all of it")
    phone.tap("Ask")
    phone.ui.touch.tap(*behind)
    assert phone.has("Answer cancelled")
    assert not phone.has("Really")


def test_back_cancels_only_a_dialog_that_can_be_cancelled() -> None:
    """Others stay until they are answered."""
    phone = demo(DIALOGS)
    phone.tap("Ask")
    phone.ui.keys.back()
    assert phone.has("Answer cancelled")

    phone.tap("Must")
    phone.ui.keys.back()
    phone.ui.touch.tap(5, 2390)
    assert phone.has("Really")
    phone.tap("Fine")
    assert phone.ui.view.title() == "Main"
