"""The rack's page in Chromium: what people see and can do.

Untrusted text cannot do anything.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.doubles.chromium import browser, watched_tab
from tests.doubles.service import RunningService
from tests.doubles.shown_page import ShownRack, serving, shown_device, shown_run
from tests.service.conftest import execution

__all__ = ["browser"]

DESK, PHONE = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)

TOKEN = "token-of-the-lab"

STATES = ("ready", "busy", "held", "trouble", "unauthorized", "offline")

HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><b>" + "W" * 90


# The contrast of a text with what is behind it, as WCAG defines it.
CONTRAST = """(node) => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => [red, green, blue]
    .map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  let ground = node;
  while (parts(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
  const two = [getComputedStyle(node).color, getComputedStyle(ground).backgroundColor];
  const [low, high] = two.map((text) => light(parts(text))).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a tab; the console may report refused requests, but no error of the page."""

    def is_wrong(line: str) -> bool:
        return "Content Security Policy" in line or "Uncaught" in line

    own = ("http://127.0.0.1:", "blob:http://127.0.0.1:")
    with watched_tab(browser, own=own, is_wrong=is_wrong) as tab:
        yield tab


def forty_devices() -> list[dict[str, Any]]:
    """Return a rack in which each state occurs."""
    problem = {"code": "OPERATOR_NOT_INSTALLED", "isOperator": True, "message": "m", "hint": "h"}
    holder = {"who": "alice on build-7", "how": "run 7", "since": time.time() - 60}
    running = {"commandId": "c", "actions": ["click"], "moreActions": 2}
    fields: dict[str, dict[str, Any]] = {
        "busy": {"running": running},
        "held": {"holder": holder},
        "trouble": {"problem": problem},
    }
    return [
        shown_device(
            f"R5CT{number:04}",
            state,
            name=f"Phone {number}",
            executions=[shown_run(), shown_run("c-0", code="NODE_NOT_FOUND")],
            **fields.get(state, {}),
        )
        for number in range(40)
        for state in (STATES[number % len(STATES)],)
    ]


def overflow(page: Page) -> int:
    """Return how many pixels the page is wider than its window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return wider


def test_forty_devices_are_legible_in_light_and_dark(page: Page) -> None:
    """Every state has words with enough contrast, and nothing is wider than the window.

    Devices below the window are asked for no picture until they are scrolled to.
    """
    rack = ShownRack(*forty_devices())
    with serving(rack) as url:
        page.goto(url)
        expect(page.locator(".device")).to_have_count(40)
        expect(page.locator(".screen img:visible").first).to_be_visible()
        assert "R5CT0039" not in rack.asked
        last = page.locator(".device").last
        last.scroll_into_view_if_needed()
        expect(last.locator("img")).to_be_visible()
        assert "R5CT0039" in rack.asked
        words = {one: page.locator(f".device.{one} .word").first for one in STATES}
        texts = [*words.values(), page.locator(".when").first, page.locator(".hint").first]

        assert [word.inner_text() for word in words.values()] == [
            *("Ready", "Busy", "Held", "Operator trouble", "Unauthorized", "Offline")
        ]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            for size in (DESK, PHONE):
                page.set_viewport_size(size)
                assert min(text.evaluate(CONTRAST) for text in texts) >= 4.5, (scheme, size)
                assert overflow(page) <= 0


def test_all_that_is_known_of_a_device_is_shown(page: Page) -> None:
    """Picture, state, holder, executions and errors; changes appear without a reload."""
    holder = {"who": "alice on build-7", "how": "run 7", "since": time.time() - 130}
    runs = [shown_run(elapsedMs=2340), shown_run("c-0", code="NODE_NOT_FOUND", message="no node")]
    device = shown_device("R5CT1", "held", holder=holder, executions=runs)
    rack = ShownRack(device, shown_device("B", name="Second"))
    with serving(rack) as url:
        page.goto(url)
        card = page.get_by_role("article", name="Google Pixel 9, R5CT1")

        expect(card.get_by_role("img", name="Screen of Google Pixel 9")).to_be_visible()
        expect(card).to_contain_text("Held by alice on build-7, since 2 min ago")
        last = card.get_by_role("list", name="Last executions")
        expect(last).to_contain_text(re.compile(r"2\.3 s, \d+ s ago"))
        card.get_by_text("NODE_NOT_FOUND").click()
        expect(card.get_by_text("no node")).to_be_visible()
        expect(page.locator("#link")).to_have_text("Live")
        rack.change(shown_device("R5CT1", "offline", name="First"), shown_device("C", name="Third"))
        rack.remove("B")

        expect(page.locator(".name")).to_have_text(["First", "Third"])
        expect(page.locator(".device.offline .name")).to_have_text("First")
        expect(page.locator("#said")).to_have_text("First: Offline")


def test_texts_of_others_stay_texts(page: Page) -> None:
    """Names, holders, messages and serials with markup are shown as they are."""
    problem = {"code": HOSTILE, "isOperator": False, "message": HOSTILE, "hint": HOSTILE}
    device = shown_device(
        HOSTILE,
        "held",
        name=HOSTILE,
        about=[HOSTILE],
        holder={"who": HOSTILE, "how": HOSTILE, "since": None},
        problem=problem,
        executions=[shown_run(HOSTILE, code=HOSTILE, message=HOSTILE, actions=[HOSTILE])],
    )
    rack = ShownRack(device)
    page.set_viewport_size(PHONE)
    with serving(rack) as url:
        page.goto(url)
        expect(page.get_by_role("img", name="Screen of")).to_be_visible()

        assert page.locator(".name").inner_text() == HOSTILE
        assert page.locator("#devices img").count() == 1
        assert page.title().startswith("Rack")
        assert rack.asked == [HOSTILE]
        assert overflow(page) <= 0


def test_the_page_survives_a_restart_of_the_service(page: Page) -> None:
    """It reports that the service is away, shows the new state, and asks for another token."""
    with serving(ShownRack(shown_device("A", name="Before"))) as url:
        page.goto(url)
        expect(page.locator(".name")).to_have_text("Before")
    port = int(url.rpartition(":")[2])
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer")
    expect(page.locator("#link")).to_have_text("Not connected")
    expect(page.locator(".name")).to_have_text("Before")

    with serving(ShownRack(shown_device("A", name="After")), port=port):
        expect(page.locator(".name")).to_have_text("After")
        expect(page.locator("#link")).to_have_text("Live")
        expect(page.locator("#banner")).to_be_hidden()
    for number in (1, 2):
        token = f"{TOKEN}-{number}"
        with serving(ShownRack(shown_device("A")), token=token, port=port):
            expect(page.get_by_label("Token")).to_be_visible()
            assert page.evaluate("sessionStorage.length") == 0
            page.get_by_label("Token").fill(token)
            page.keyboard.press("Enter")
            expect(page.locator(".device")).to_be_visible()
            if number == 2:
                page.goto("about:blank")  # else it asks until the service has ended


def test_the_token_is_asked_for_once_in_a_tab(page: Page, browser: Browser) -> None:
    """A wrong one is refused; the right one is kept by this tab, and is in no address."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    with serving(ShownRack(shown_device("A")), token=TOKEN) as url:
        page.goto(url)
        page.get_by_label("Token").fill("not-the-token")
        page.keyboard.press("Enter")
        expect(page.locator("#wrong")).to_have_text(re.compile("does not accept"))
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator(".device img")).to_be_visible()
        page.reload()
        expect(page.locator(".device img")).to_be_visible()

        assert not [one for one in asked if TOKEN in one]
        with browser.new_context() as elsewhere:
            other = elsewhere.new_page()
            other.goto(url)
            expect(other.get_by_label("Token")).to_be_focused()
            assert other.locator(".device").count() == 0


def test_devices_are_filtered_and_enlarged_with_the_keyboard_alone(page: Page) -> None:
    """By state, and by words of the name, the serial or the holder; the focus comes back."""
    holder = {"who": "alice on build-7", "how": "run 7", "since": None}
    rack = ShownRack(
        shown_device("R5CT1", name="Galaxy S24"),
        shown_device("R5CT2", "busy", name="At work", holder=holder),
    )
    with serving(rack) as url:
        page.goto(url)
        expect(page.locator(".device img:visible")).to_have_count(2)
        busy = page.get_by_role("button", name="1 Busy")
        busy.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".device:visible .name")).to_have_text(["At work"])
        expect(busy).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("Tab")
        search = page.get_by_role("searchbox", name="Find a device")
        expect(search).to_be_focused()
        page.keyboard.press("Tab")
        enlarge = page.get_by_role("button", name="Enlarge the picture of At work")
        expect(enlarge).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog", name="At work").get_by_role("img")).to_be_visible()
        page.keyboard.press("Escape")
        expect(enlarge).to_be_focused()
        busy.press("Enter")

        for words, found in (("s24 galaxy", "R5CT1"), ("r5ct2", "R5CT2"), ("ALICE", "R5CT2")):
            search.fill(words)
            expect(page.locator(".device:visible .serial")).to_have_text([found])
        search.fill("bob")
        expect(page.get_by_text("None of the devices is like that.")).to_be_visible()


def test_an_empty_rack_states_why(page: Page) -> None:
    """Nothing is connected, or adb does not answer."""
    problem = {"code": "c", "isOperator": False, "message": "no adb", "hint": "start it"}
    rack = ShownRack()
    with serving(rack) as url:
        page.goto(url)
        expect(page.get_by_text("No device is connected")).to_be_visible()
        rack.adb = problem
        page.reload()
        expect(page.get_by_text("no adb")).to_be_visible()


def test_a_simulated_phone_is_seen_at_work(
    page: Page, service: RunningService, http: httpx.Client, serial: str
) -> None:
    """Its picture, an execution that failed, a lease, and the end of the lease."""
    page.goto(service.url)
    card = page.locator(".device").filter(has_text=serial)
    expect(card.locator(".word")).to_have_text("Ready")
    expect(card.get_by_role("img", name="Screen of")).to_be_visible()
    missing = {"id": "m", "type": "click", "params": {"matcher": {"textEquals": "nowhere"}}}
    http.post(
        "/execute", json={"deviceId": serial, "execution": execution(missing, command_id="seen")}
    )

    expect(card.get_by_title("click (seen)")).to_be_visible()
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "nightly on ci-3"}).json()
    expect(card.locator(".state")).to_contain_text("Held by nightly on ci-3")
    http.delete(f"/v1/leases/{lease['lease']}")
    expect(card.locator(".word")).to_have_text("Ready")
