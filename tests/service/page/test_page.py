"""The rack's page in a real browser: one device and forty, light and dark, hostile texts."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from pytest_clawperator.errors import DeviceUnavailableError
from pytest_clawperator.service.server import Service, ServiceOptions
from tests.doubles.service import RunningService, serving
from tests.doubles.shown_rack import ShownDevices, past_run
from tests.programs import CHROMIUM, missing

pytestmark = pytest.mark.skipif(missing(CHROMIUM) is not None, reason=missing(CHROMIUM) or "")

SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
#: How many devices are shown, and on which ground.
LOOKS = [(1, "light"), (40, "dark"), *([(1, "dark"), (40, "light")] if SOAK else [])]
HOSTILE = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium, which needs no sandbox for a page of ours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(CHROMIUM.name), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@contextmanager
def rack(devices: ShownDevices, *, token: str | None = None) -> Iterator[RunningService]:
    """Serve some devices."""
    service = Service(ServiceOptions(port=0), token=token, connector=devices)
    with serving(service) as running:
        yield running


@contextmanager
def page_of(browser: Browser, url: str, **how: Any) -> Iterator[tuple[Page, list[str], list[str]]]:
    """Open the page; also return what it asked for and what it complained about."""
    context = browser.new_context(**how)
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(url)
    yield page, asked, complaints
    context.close()


def test_a_device_is_shown_with_its_picture(browser: Browser, tmp_path: Path) -> None:
    """What it is, its state, and what was run on it; from this service and nowhere else."""
    devices = ShownDevices({"R58M123": "device"})
    with rack(devices) as service, page_of(browser, service.url) as (page, asked, complaints):
        station = service.service.rack.station_of("R58M123")
        station._remember(past_run("sleep", at=time.time()))
        station._remember(past_run("sleep", code="NODE_NOT_FOUND", at=time.time()))
        page.wait_for_selector("img[alt='Screen of R58M123']")
        page.wait_for_selector(".past .failed")

        assert page.inner_text("h2") == "R58M123"
        assert "Google Pixel 8 · Android 16, API 36" in page.inner_text(".model")
        assert page.inner_text(".state") == "free"
        assert "1 device · 1 free" in page.inner_text("#summary")
        assert "NODE_NOT_FOUND" in page.inner_text(".past .failed")
        assert page.evaluate("document.querySelector('img').naturalWidth") == 360

    assert all(url.startswith((service.url, "blob:")) for url in asked)
    assert complaints == []


def test_holder_trouble_and_absence_are_told(browser: Browser) -> None:
    """A device that is leased, one that is broken, one that is not usable."""
    devices = ShownDevices({"A": "device", "B": "device", "C": "unauthorized"})
    with rack(devices) as service, page_of(browser, service.url) as (page, _, _complaints):
        httpx.post(f"{service.url}/v1/leases", json={"serial": "A", "owner": "ada on laptop"})
        station = service.service.rack.station_of("B")
        station.picture = _broken(station)  # type: ignore[method-assign] # a device that fails
        page.wait_for_selector("[data-serial=A] .busy")
        page.wait_for_selector("[data-serial=B] .problem:not([hidden])")
        page.wait_for_selector("[data-serial=C] .away")

        assert page.inner_text("[data-serial=A] .holder") == "held by ada on laptop"
        assert "DEVICE_OFFLINE" in page.inner_text("[data-serial=B] .problem")
        assert page.inner_text("[data-serial=C] .state") == "unauthorized"
        told = page.inner_text("#summary")

    assert "3 devices · 0 free · 1 in use · 1 in trouble · 1 not usable" in told


def test_hostile_text_is_only_text(browser: Browser) -> None:
    """In the name of a model, of an owner, of a command."""
    devices = ShownDevices({"A": "device"}, names={"A": HOSTILE})
    with rack(devices) as service, page_of(browser, service.url) as (page, asked, complaints):
        httpx.post(f"{service.url}/v1/leases", json={"serial": "A", "owner": HOSTILE})
        service.service.rack.station_of("A").running = HOSTILE
        page.wait_for_selector(".running:not([hidden])")

        assert HOSTILE in page.inner_text(".model")
        assert page.title() == "Rack"
        assert page.locator("main script, main img[src=x]").count() == 0

    assert not any(url.endswith("/x") for url in asked)
    assert complaints == []


@pytest.mark.parametrize(("count", "scheme"), LOOKS)
def test_one_and_forty_devices_are_readable(browser: Browser, count: int, scheme: str) -> None:
    """Nothing is wider than the window, on a desk and on a phone; texts stand out enough."""
    devices = ShownDevices({f"R58M{number:03}": "device" for number in range(count)})
    with rack(devices) as service:
        for width, height in ((1440, 900), (390, 844)):
            viewport = {"width": width, "height": height}
            how = {"color_scheme": scheme, "viewport": viewport}
            with page_of(browser, service.url, **how) as (page, _, complaints):
                page.locator("article").nth(count - 1).wait_for()
                page.wait_for_selector("article img:not([hidden])")

                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                for selector in ("h2", ".model", ".state"):
                    assert page.evaluate(_CONTRAST, selector) >= 4.5
            assert complaints == []


def test_the_page_asks_people_for_the_token(browser: Browser) -> None:
    """A wrong one is asked for again; the right one is kept for the tab."""
    devices = ShownDevices({"A": "device"})
    with (
        rack(devices, token="correct-horse") as service,
        page_of(browser, service.url) as (page, _, _complaints),
    ):
        page.fill("#token", "wrong")
        page.click("#ask button")
        page.locator("#summary", has_text="TOKEN_WRONG").wait_for()
        page.fill("#token", "correct-horse")
        page.click("#ask button")
        page.wait_for_selector("img[alt='Screen of A']")

        assert page.locator("#ask").is_hidden()
        page.goto(f"{service.url}/#token=other")
        page.reload()
        page.wait_for_selector("#ask:not([hidden])")


def test_devices_are_found_by_what_is_told_of_them(browser: Browser) -> None:
    """Serial, model or holder."""
    devices = ShownDevices({"A1": "device", "B2": "device"}, names={"B2": "Galaxy S24"})
    with rack(devices) as service, page_of(browser, service.url) as (page, _, _complaints):
        page.wait_for_selector("[data-serial=B2] .model:not([hidden])")
        page.fill("#filter", "galaxy")

        assert page.locator("article:visible").count() == 1
        assert page.inner_text("article:visible h2") == "B2"


def _broken(station: Any) -> Any:
    def picture() -> bytes:
        error = DeviceUnavailableError("adb says: device offline", serial="B", hint="Reconnect it.")
        station.problem = error
        raise error

    return picture


# The contrast of a text with its card, as the guidelines for accessible pages compute it.
_CONTRAST = """selector => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const text = light(getComputedStyle(document.querySelector(selector)).color);
  const ground = light(getComputedStyle(document.querySelector('article')).backgroundColor);
  return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
}"""
