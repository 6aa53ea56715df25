"""What the page of a test costs: its size, writing it, and how soon it answers.

An interaction is a key or a click in Chromium: measured in the page from the event to the second
frame after all that it led to, so that what is drawn is counted, too. On a busy machine that is
mostly waiting, so the work of the page's main thread is shown beside it, in time of the processor.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from benchmarks.measuring import show
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import Trace
from tests.doubles.chromium import chromium
from tests.report.made_traces import long_trace

ANSWER_MS = 100
PAGE_BYTES = 1_500_000
TRIES = 30

# Resolves with how long it took until what an action led to was drawn.
ANSWER = """async (act) => {
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  const task = () => new Promise((resolve) => { setTimeout(resolve); });
  await frame();
  const begun = performance.now();
  await act();
  await task();
  await frame();
  await frame();
  return performance.now() - begun;
}"""
KEY = """(key) => {
  const about = { key, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', about));
}"""
NOTHING = "() => {}"
TYPE = """(text) => {
  const box = document.querySelector('claw-matcher input');
  box.value = text;
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
}"""
POINT = """(place) => {
  const glass = document.querySelector('claw-screen .glass');
  const area = glass.getBoundingClientRect();
  const at = { clientX: area.left + area.width * place, clientY: area.top + area.height * place };
  glass.dispatchEvent(new PointerEvent('pointermove', { ...at, bubbles: true }));
}"""


class Answers:
    """Measures how soon a page answers."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._metrics = page.context.new_cdp_session(page)
        self._metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def report(self, name: str, act: str, arguments: list[object]) -> None:
        """Print the median and the longest of the answers to these, and the work of one."""
        self._page.evaluate(f"() => {{ globalThis.answer = {ANSWER}; globalThis.act = {act}; }}")
        before = self._work()
        times = sorted(
            float(self._page.evaluate("(argument) => answer(() => act(argument))", one))
            for one in arguments
        )
        work = (self._work() - before) / len(times)
        p95 = times[int(len(times) * 0.95)]
        figure = f"{statistics.median(times):.0f} ms (95 %: {p95:.0f}), work {work:.0f} ms"
        show(name, figure, f"at most {ANSWER_MS} ms")

    def _work(self) -> float:
        metrics = self._metrics.send("Performance.getMetrics")["metrics"]
        found = {one["name"]: float(one["value"]) for one in metrics}
        return found["TaskDuration"] * 1000


def picture(seed: int) -> bytes:
    """Return a picture of about 15 kB, as traces keep them of a full screen."""
    small = Image.effect_noise((42, 93), 20 + seed % 7).resize((360, 800)).convert("RGB")
    file = BytesIO()
    small.save(file, "WEBP", quality=80)
    return file.getvalue()


def measure_page(folder: Path) -> None:
    """Print what a page of 50 steps takes."""
    trace = long_trace(
        folder / "fifty", steps=50, nodes=120, trees=50, pictures=[picture(n) for n in range(50)]
    )
    begun = time.perf_counter()
    write_page(trace, folder / "fifty.html")
    took = time.perf_counter() - begun
    size = (folder / "fifty.html").stat().st_size
    show("page of 50 steps with pictures", f"{size / 1e6:.2f} MB", f"at most {PAGE_BYTES / 1e6} MB")
    show("  written in", f"{took * 1000:.0f} ms")


def measure_answers(name: str, trace: Trace, folder: Path) -> None:
    """Print how soon the page of a trace answers."""
    write_page(trace, folder / "page.html")
    with chromium() as browser, browser.new_context(viewport={"width": 1440, "height": 900}) as tab:
        page = tab.new_page()
        page.goto((folder / "page.html").as_uri())
        page.locator("claw-screen .glass").first.wait_for()
        show(f"{name}: shown after", f"{page.evaluate('performance.now()'):.0f} ms")
        page.wait_for_timeout(2_000)  # until the film is drawn
        answers = Answers(page)
        answers.report(f"{name}: nothing", NOTHING, [None] * TRIES)
        answers.report(f"{name}: a step for the first time", KEY, ["ArrowLeft"] * TRIES)
        keys: list[object] = ["ArrowLeft", "ArrowRight"] * (TRIES // 2)
        answers.report(f"{name}: another step, tree", KEY, keys)
        page.locator("claw-tree").focus()
        answers.report(f"{name}: down the tree", KEY, ["ArrowDown"] * TRIES)
        typed: list[object] = [f'text_contains="cell {n}"' for n in range(TRIES)]
        answers.report(f"{name}: typing a matcher", TYPE, typed)
        page.wait_for_timeout(2_000)  # until it was looked for at every step
        places: list[object] = [0.1 + n / TRIES * 0.8 for n in range(TRIES)]
        answers.report(f"{name}: pointing at nodes", POINT, places)
        page.get_by_role("tab", name="Changes").click()
        page.locator(".change").first.wait_for()
        page.evaluate("document.activeElement.blur()")  # its tab would take the arrows
        answers.report(f"{name}: another step, changes", KEY, keys)


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_page(folder)
        measure_answers("500 steps", long_trace(folder / "long", steps=500, trees=40), folder)
        wide = long_trace(folder / "wide", steps=60, nodes=5000, trees=TRIES + 2)
        measure_answers("5,000 nodes", wide, folder)


if __name__ == "__main__":
    main()
