"""What happens by itself: things that come and go with the clock."""

from __future__ import annotations

from tests.simulator.screen.phone import HOME, demo

DEMO = "com.example.demo"
SYSTEM_UI = "com.android.systemui"

TIMED = """\
state: {loading: true, blinks: 0}
screens:
  main:
    title: Main
    timers:
      - {after: 2s, do: {set: {loading: false}}}
      - {after: 3s, if: loading, do: {dialog: slow}}
      - {after: 5s, do: {navigate: done}}
    items:
      - {text: Early, appears_after: 800ms, disappears_after: 1.5s}
      - {text: Loading, visible_if: loading}
      - {button: Later, on_tap: {after: 400ms, do: {snackbar: Hello}}}
      - {button: Toast, on_tap: {toast: Crunch}}
  done:
    title: Done
dialogs:
  slow: {title: Slow}
"""


def test_things_come_and_go_with_the_clock() -> None:
    """A widget appears and disappears at its times, and each is a new version of the screen."""
    phone = demo(TIMED)
    assert not phone.has("Early")
    version = phone.ui.view.version

    phone.wait(0.7)
    assert phone.ui.view.version == version
    phone.wait(0.1)
    assert phone.ui.view.version != version
    assert phone.has("Early")
    phone.wait(0.7)
    assert not phone.has("Early")
    assert phone.has("Loading")


def test_timers_act_once_and_in_order() -> None:
    """A timer whose condition does not hold does nothing; the rest act though nobody looked."""
    phone = demo(TIMED)

    phone.wait(10)

    assert phone.ui.view.title() == "Done"
    phone.ui.keys.back()
    assert not phone.has("Loading")
    assert not phone.has("Slow")


def test_timers_end_with_their_screen() -> None:
    """What a screen had planned does not happen once it has gone."""
    phone = demo(TIMED)
    phone.ui.processes.force_stop(DEMO)

    phone.wait(10)

    assert phone.ui.view.foreground_package() == HOME


def test_a_snackbar_and_a_toast_vanish() -> None:
    """One is part of the app's window for a while, the other a window of the system."""
    phone = demo(TIMED)
    phone.tap("Later")
    assert not phone.has("Hello")
    phone.wait(0.4)
    assert phone.has("Hello")
    phone.wait(1.5)
    assert phone.has("Hello")
    phone.wait(1.3)
    assert not phone.has("Hello")

    phone = demo(TIMED)
    phone.tap("Toast")
    toast = phone.ui.view.windows()[1]
    assert (toast.type, toast.package, toast.active) == ("system", SYSTEM_UI, False)
    assert [node.text for node in toast.root.walk() if node.text] == ["Crunch"]
    assert not phone.has("Crunch")
    phone.wait(3.5)
    assert phone.window_packages() == [DEMO, SYSTEM_UI]


def test_a_timer_that_plans_itself_anew_does_not_hang() -> None:
    """Even after a long time away, a blinking app is caught up with in bounded work."""
    phone = demo(
        """\
        state: {blinks: 0}
        screens:
          main:
            on_open: {after: 1ms, do: [{add: {blinks: 1}}, {replace: main}]}
            items: [{text: "Blinks {blinks}"}]
        """
    )

    phone.wait(3600)

    assert phone.root.package == DEMO


def test_actions_that_call_each_other_crash_the_app() -> None:
    """Endless navigation ends as it does on a phone."""
    phone = demo("screens: {main: {on_open: {navigate: main}}}\n")

    assert phone.crashes[0][0] == DEMO
    assert "StackOverflowError" in phone.crashes[0][1]
    assert phone.has("Demo has stopped")
