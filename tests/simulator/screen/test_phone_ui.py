"""The user interface of a phone as a whole."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from tests.doubles.simulator.screen_phone import CONFORMANCE, HOME, SETTINGS, SHOP, Phone, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO


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


def test_what_is_due_happens_before_a_touch() -> None:
    """A touch after a while meets the screen of that time, although nothing was read in between."""
    phone = demo(
        """\
        state: {taps: 0}
        screens:
          main:
            timers: [{after: 2s, do: {navigate: next}}]
            items: [{button: Tap, on_tap: {add: {taps: 100}}}]
          next:
            toolbar: false
            items: [{button: "Tapped {taps}", on_tap: {add: {taps: 1}}}]
        """
    )
    button = phone.node("Tap").bounds.centre

    phone.wait(3)
    phone.ui.touch.tap(*button)

    assert phone.has("Tapped 1")


def test_a_timer_that_plans_itself_again_does_not_hang() -> None:
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


@pytest.mark.parametrize("pause", ["0ms", "1ms"])
def test_a_timer_that_plans_itself_again_leaves_time_for_others(pause: str) -> None:
    """It is always due later, so the phone is not busy with it alone."""
    phone = demo(
        f"""\
        screens:
          main:
            timers: [{{after: {pause}, do: {{replace: main}}}}]
            items: [{{text: Hello}}]
        """
    )

    phone.wait(1)
    phone.ui.catch_up()

    assert phone.ui.next_due is not None
    assert phone.ui.next_due > phone.now


@pytest.mark.parametrize("seed", range(6))
def test_a_monkey_breaks_nothing(seed: int) -> None:
    """Whatever is tapped, typed, swiped and pressed, there is one active screen within bounds."""
    rng = random.Random(seed)
    phone = Phone(*shipped_apps(), size=rng.choice([(1080, 2400), (720, 1280), (400, 500)]))
    ui = phone.ui

    def point() -> tuple[int, int]:
        return rng.randrange(ui.display.size[0]), rng.randrange(ui.display.size[1])

    def click() -> object:
        clickable = [node for node in phone.root.walk() if node.clickable]
        return ui.nodes.click(rng.choice(clickable)) if clickable else ui.keys.home()

    deeds: list[Callable[[], object]] = [
        *[lambda: ui.touch.tap(*point()), click] * 8,
        *[lambda: ui.touch.swipe(point(), point())] * 4,
        lambda: ui.touch.long_press(*point()),
        lambda: ui.typing.type_text(rng.choice(["secret", "a", "😀 {x}"])),
        lambda: ui.typing.enter(),
        lambda: ui.typing.backspace(),
        *[lambda: ui.keys.back()] * 2,
        lambda: ui.keys.home(),
        lambda: ui.keys.recents(),
        lambda: ui.launching.start_app(rng.choice([SETTINGS, SHOP, CONFORMANCE])),
        lambda: ui.links.open_uri(rng.choice(["shop://item/3", "demo://open", "shop://cart"])),
        lambda: ui.launching.start_intent("android.settings.WIFI_SETTINGS"),
        lambda: setattr(ui.display, "rotation", rng.randrange(4)),
        lambda: phone.wait(rng.random() * 3),
        lambda: ui.processes.force_stop(SHOP),
    ]
    for _ in range(250):
        rng.choice(deeds)()
        bounds = Bounds(0, 0, *ui.display.size)
        assert all(node.bounds.clipped(bounds) == node.bounds for node in visible(phone.root))
        assert sum(window.active for window in ui.view.windows()) == 1


def visible(root: UiNode) -> list[UiNode]:
    """List what a user can see."""
    return [node for node in root.walk() if node.visible_to_user]
