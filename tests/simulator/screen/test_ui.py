"""What touching the screen does, and moving between apps."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.app_files.load import plain_app, shipped_apps
from tests.simulator.screen.phone import HOME, SETTINGS, SHOP, Phone, app, demo, screen_app

DEMO = "com.example.demo"

COUNTER = """\
state: {count: 0}
saved: {best: 0}
screens:
  main:
    title: "Counter {count}"
    items:
      - {text: "Count {count}, best {best}"}
      - {button: Add, on_tap: [{add: {count: 1}}, {set: {best: "{count}"}}]}
      - {button: Never, enabled_if: count > 99, on_tap: {set: {count: 0}}}
      - {text: Hold me, on_long_press: {set: {count: 50}}}
      - {button: Next, on_tap: {navigate: next}}
  next:
    title: Next
    activity: .NextActivity
    items:
      - {button: Back, on_tap: {back: true}}
      - {button: Again, on_tap: {navigate: next}}
      - {button: Finish, on_tap: {finish: true}}
      - {button: Start over, on_tap: {root: main}}
      - {button: Instead, on_tap: {replace: main}}
"""


def test_the_home_screen_shows_every_app_with_an_icon() -> None:
    """A fresh phone shows its home screen; a tap on an icon starts the app."""
    phone = Phone(*shipped_apps(), plain_app("com.example.hidden", name="Hidden", launcher=False))
    assert phone.ui.view.foreground_package() == HOME
    assert {"Settings", "Shop", "Conformance"} <= set(phone.texts())
    assert not phone.has("Hidden")

    phone.tap("Settings")

    assert phone.ui.view.foreground_package() == SETTINGS
    assert phone.ui.view.foreground_activity() == "com.android.settings.Settings"
    assert phone.ui.view.title() == "Settings"


def test_starting_brings_what_was_open_back() -> None:
    """An app that was left is as it was; what is not there cannot be started."""
    phone = Phone(*shipped_apps(), start=SETTINGS)
    phone.tap("Display")
    phone.ui.keys.home()
    assert phone.ui.view.foreground_package() == HOME

    assert phone.ui.launching.start_app(SETTINGS)

    assert phone.ui.view.title() == "Display"
    assert not phone.ui.launching.start_app("com.example.nothing")
    assert not phone.ui.launching.start_app(SETTINGS, ".Nothing")


def test_an_activity_can_be_started_by_name() -> None:
    """A screen with an activity of its own opens by it, in short or in full."""
    phone = Phone(app(COUNTER), start=DEMO)

    assert phone.ui.launching.start_app(DEMO, ".NextActivity")

    assert phone.ui.view.foreground_activity() == "com.example.demo.NextActivity"
    assert phone.ui.launching.start_app(DEMO, "com.example.demo.NextActivity")
    phone.ui.keys.back()
    assert phone.ui.view.title() == "Counter 0"


def test_an_intent_opens_its_screen() -> None:
    """The well-known actions of Settings lead to their pages."""
    phone = Phone()

    assert phone.ui.launching.start_intent("android.settings.BLUETOOTH_SETTINGS")

    assert phone.ui.view.title() == "Bluetooth"
    assert not phone.ui.launching.start_intent("android.settings.NOTHING")


def test_back_goes_screen_by_screen_and_out() -> None:
    """The last screen is left for home, and the app stays alive behind it."""
    phone = demo(COUNTER)
    phone.tap("Next")
    phone.tap("Again")

    titles = []
    for _ in range(3):
        phone.ui.keys.back()
        titles.append((phone.ui.view.foreground_package(), phone.ui.view.title()))

    assert titles == [(DEMO, "Next"), (DEMO, "Counter 0"), (HOME, None)]
    assert DEMO in phone.ui.processes.running_packages()
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == HOME


def test_navigation() -> None:
    """A screen can be put on top, instead, or at the bottom; the arrow goes up."""
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


def test_finishing_closes_all_screens() -> None:
    """An app that finishes starts anew, with its variables as they were."""
    phone = demo(COUNTER)
    phone.tap("Add")
    phone.tap("Next")
    phone.tap("Finish")
    assert phone.ui.view.foreground_package() == HOME

    phone.ui.launching.start_app(DEMO)

    assert phone.ui.view.title() == "Counter 1"


def test_stopping_forgets_and_clearing_forgets_all() -> None:
    """Plain state goes with the process, saved state and permissions with the data."""
    phone = demo(COUNTER)
    phone.ui.permissions.grant(DEMO, "android.permission.CAMERA")
    phone.tap("Add")
    phone.tap("Next")

    phone.ui.processes.force_stop(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert DEMO not in phone.ui.processes.running_packages()
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")
    assert phone.ui.permissions.granted(DEMO) == {"android.permission.CAMERA"}

    phone.ui.processes.clear_data(DEMO)
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 0")
    assert phone.ui.permissions.granted(DEMO) == set()


def test_installing_and_uninstalling() -> None:
    """An app comes and goes with its icon; a new version keeps what was saved."""
    phone = demo(COUNTER)
    phone.tap("Add")
    phone.ui.apps.install(app(COUNTER))
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")

    assert phone.ui.apps.uninstall(DEMO)

    assert not phone.ui.apps.uninstall(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert not phone.has("Demo")
    assert not phone.ui.launching.start_app(DEMO)
    assert DEMO not in phone.ui.apps


def test_recent_apps() -> None:
    """They stand as cards, the latest first; a tap opens one, an upward swipe closes one."""
    phone = Phone(*shipped_apps(), start=SETTINGS)
    phone.ui.launching.start_app(SHOP)
    phone.ui.keys.recents()
    cards = [node for node in phone.root.walk() if node.kind == "card"]
    assert [card.content_desc for card in cards] == ["Shop", "Settings"]
    assert phone.ui.view.foreground_package() == HOME

    phone.ui.keys.recents()
    assert phone.ui.view.foreground_package() == SHOP
    phone.ui.keys.recents()
    x, y = next(node for node in phone.root.walk() if node.kind == "card").bounds.centre
    phone.ui.touch.swipe((x, y), (x, y - 700))
    assert SHOP not in phone.ui.processes.running_packages()
    phone.tap_id("task")
    assert phone.ui.view.foreground_package() == SETTINGS

    phone.ui.keys.recents()
    phone.tap("Clear all")
    phone.ui.keys.recents()
    assert phone.has("No recent items")
    phone.ui.keys.back()
    assert phone.ui.view.title() is None


def test_a_launch_takes_its_time() -> None:
    """With a delay, what was in front stays there until the app comes."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    assert phone.ui.launching.start_app(SETTINGS)
    assert phone.ui.view.foreground_package() == HOME
    phone.wait(0.29)
    assert phone.ui.view.foreground_package() == HOME

    phone.wait(0.01)

    assert phone.ui.view.foreground_package() == SETTINGS
    assert phone.ui.links.open_uri("shop://item/3")
    assert phone.ui.view.foreground_package() == SETTINGS
    phone.wait(0.3)
    assert phone.ui.view.title() == "Item 3"


def test_leaving_takes_its_time_too() -> None:
    """Home, back out of an app, recent apps and icons all take the same moment."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    seen = []
    for deed in (
        lambda: phone.tap("Settings"),
        phone.ui.keys.home,
        lambda: phone.tap("Shop"),
        phone.ui.keys.back,
        phone.ui.keys.recents,
        lambda: phone.tap_id("task"),
    ):
        before = phone.ui.view.foreground_activity()
        deed()
        assert phone.ui.view.foreground_activity() == before
        phone.wait(0.3)
        seen.append(phone.ui.view.foreground_package())

    assert seen == [SETTINGS, HOME, SHOP, HOME, HOME, SHOP]


def test_a_launch_that_is_stopped_does_not_happen() -> None:
    """Stopping an app before it came up leaves it stopped."""
    phone = Phone(*shipped_apps(), launch_delay=0.3)
    phone.ui.launching.start_app(SETTINGS)

    phone.ui.processes.force_stop(SETTINGS)

    phone.wait(1)
    assert phone.ui.view.foreground_package() == HOME


def test_a_tap_goes_to_the_innermost_thing_that_takes_it() -> None:
    """A text in a clickable row is tapped with the row; beside everything nothing happens."""
    phone = Phone(
        screen_app(
            """\
            - card:
                - {text: Inside}
                - {button: Own, on_tap: {add: {count: 10}}}
              on_tap: {add: {count: 1}}
            - {text: "Count {count}"}
            """,
            "state: {count: 0}\n",
        )
    )

    phone.tap("Inside")
    assert phone.has("Count 1")
    phone.tap("Own")
    assert phone.has("Count 11")
    phone.tap("Count 11")
    assert phone.has("Count 11")


def test_what_is_disabled_takes_the_touch_and_does_nothing() -> None:
    """Neither a tap nor a click does anything to it, and only the click says so."""
    phone = demo(COUNTER)
    phone.tap("Add")

    phone.tap("Never")

    assert not phone.ui.nodes.click(phone.node("Never"))
    assert phone.has("Count 1, best 1")


def test_gestures_tell_whether_they_met_the_screen() -> None:
    """A gesture is delivered wherever it hits the screen, and nowhere else."""
    ui = demo(COUNTER).ui

    assert ui.touch.tap(5, 2395)
    assert ui.touch.swipe((5, 2000), (5, 5000))
    assert [ui.touch.tap(-1, 5), ui.touch.tap(1080, 5), ui.touch.long_press(5, 2400)] == [False] * 3
    assert not ui.touch.swipe((2000, 5), (5, 5))


def test_a_click_needs_a_node_that_takes_it() -> None:
    """A node that is not clickable, or has gone, cannot be clicked."""
    phone = demo(COUNTER)
    add, text = phone.node("Add"), phone.node("Count 0, best 0")
    assert not phone.ui.nodes.click(text)
    assert phone.ui.nodes.click(add)
    assert phone.ui.nodes.click(add)
    assert phone.has("Count 2, best 2")

    phone.tap("Next")

    assert not phone.ui.nodes.click(add)


def test_a_long_press() -> None:
    """Who listens for it gets it; for others it is a click."""
    phone = demo(COUNTER)

    assert not phone.ui.nodes.long_click(phone.node("Add"))
    assert phone.ui.touch.long_press(*phone.node("Add").bounds.centre)
    assert phone.has("Count 1, best 1")
    assert phone.ui.touch.long_press(*phone.node("Hold me").bounds.centre)
    assert phone.has("Count 50, best 1")
    assert phone.ui.nodes.long_click(phone.node("Hold me"))


def test_a_swipe_that_does_not_move_is_a_press() -> None:
    """As with `input swipe x y x y 800`, which testers use for a long press."""
    phone = demo(COUNTER)
    at = phone.node("Hold me").bounds.centre

    phone.ui.touch.swipe(at, at, duration_ms=100)
    assert phone.has("Count 0, best 0")
    phone.ui.touch.swipe(at, (at[0] + 3, at[1]), duration_ms=800)

    assert phone.has("Count 50, best 0")


def test_switches_checkboxes_and_radio_buttons() -> None:
    """A tap turns them over; bound ones change their variable, others remember by themselves."""
    phone = Phone(
        screen_app(
            """\
            - {switch: Bound, checked: on, on_change: {add: {changes: 1}}}
            - {row: In a row, switch: on}
            - {checkbox: Own}
            - {switch: Derived, checked: not on}
            - {radio: Small, bind: size, value: s}
            - {radio: Large, bind: size, value: l, on_change: {add: {changes: 1}}}
            - {text: "{on} {size} {changes}"}
            """,
            "state: {on: false, size: s, changes: 0}\n",
        )
    )

    for text in ("Bound", "In a row", "Bound", "Own", "Derived", "Large", "Large"):
        phone.tap(text)

    assert phone.has("true l 3")
    checked = [n.text for n in phone.root.walk() if n.checkable and n.checked and n.text]
    assert checked == ["Bound", "Own", "Large"]


def test_tabs() -> None:
    """Exactly one tab is selected, and a tap on another chooses that."""
    phone = Phone(
        screen_app(
            """\
            - {tabs: [{tab: One, value: one}, {tab: Two, value: two}], bind: tab}
            - {text: First, visible_if: tab == 'one'}
            - {text: Second, visible_if: tab == 'two'}
            """,
            "state: {tab: one}\n",
        )
    )
    assert phone.has("First")

    phone.tap("Two")

    assert phone.has("Second")
    assert [n.content_desc for n in phone.root.walk() if n.selected and n.content_desc] == ["Two"]


def test_scrolling_does_what_the_app_wants() -> None:
    """A list can act on each scroll, and when its end is reached."""
    phone = Phone(
        screen_app(
            """\
            - {text: "{scrolls} {more}"}
            - list: rows
              items: [{row: "R{number}", repeat: 20 + more}]
              on_scroll: {add: {scrolls: 1}}
              on_end: {add: {more: 10}}
            """,
            "state: {scrolls: 0, more: 0}\n",
        )
    )

    while not phone.has("R30"):
        phone.swipe_up(phone.by_id("rows"))

    assert phone.has("R30")
    phone.swipe_down(phone.by_id("rows"))
    assert not phone.has("R30")


def test_an_inner_list_at_its_end_lets_the_outer_one_move() -> None:
    """A swipe goes to the innermost list that can still move that way."""
    phone = Phone(
        screen_app(
            """\
            - list: outer
              items:
                - {list: inner, height: 200, items: [{text: "I{number}", repeat: 12}]}
                - {row: "O{number}", repeat: 30}
            """
        )
    )
    x, y = phone.by_id("inner").bounds.centre

    phone.ui.touch.swipe((x, y), (x, y - 400))
    assert phone.has("O1")
    assert not phone.has("I1")
    for _ in range(5):
        phone.ui.touch.swipe((x, y), (x, 100))

    assert not phone.has("O1")


def test_turning_the_phone() -> None:
    """The screen is as wide as it was high, the same app is in front, and it fills it."""
    phone = demo(COUNTER)
    version = phone.ui.view.version

    phone.ui.display.rotation = 1

    assert phone.ui.display.size == (2400, 1080)
    assert phone.root.bounds == (0, 0, 2400, 1080)
    assert phone.ui.view.version != version
    phone.tap("Add")
    assert phone.has("Count 1, best 1")


def test_a_change_of_looks_is_a_change() -> None:
    """Dark, density and size make the screen look different."""
    phone = demo(COUNTER)
    versions = [phone.ui.view.version]

    phone.ui.display.dark = True
    versions.append(phone.ui.view.version)
    phone.ui.display.density = 300
    versions.append(phone.ui.view.version)
    phone.ui.display.resize((720, 1280))
    versions.append(phone.ui.view.version)

    assert len(set(versions)) == 4
    assert phone.root.bounds == (0, 0, 720, 1280)


def test_unchanged_windows_are_not_built_again() -> None:
    """Looking twice gives the same objects; a change gives new ones."""
    phone = demo(COUNTER)
    first = phone.ui.view.windows()[0].root
    assert phone.ui.view.windows()[0].root is first
    version = phone.ui.view.version

    phone.tap("Add")

    assert phone.ui.view.windows()[0].root is not first
    assert phone.ui.view.version != version
