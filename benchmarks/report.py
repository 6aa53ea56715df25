"""What reports cost: the index of a large run."""

from __future__ import annotations

import random
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.measuring import seconds, show
from pytest_clawperator.report.index import (
    INDEX_FILE,
    ErrorSummary,
    RunBegan,
    RunLog,
    TestEnded,
    read_run,
    write_index,
)
from pytest_clawperator.report.trace import DeviceUsed
from tests.programs import CHROMIUM, find

TESTS = 2_000
DEVICES = 8
START = 1_770_000_000.0

_FILES = ("cart", "search", "payment", "profile", "orders")
_VERBS = ("adds", "removes", "shows", "keeps", "sorts")
_NOUNS = ("item", "address", "voucher", "total", "price")
_OUTCOMES = {"passed": 90, "failed": 4, "skipped": 3, "rerun": 2, "error": 1}
_ERRORS = (
    ("EXPECTATION_FAILED", "expected node(text='Item {0}') to be visible, found no match"),
    ("EXPECTATION_FAILED", "expected the total to be '$ {0}.00', found '$ 0.00'"),
    ("NODE_NOT_FOUND", "click: no node(text='Voucher {0}') on the screen"),
    ("RESULT_ENVELOPE_TIMEOUT", "the Operator did not answer within {0} s"),
)


def write_run(folder: Path, count: int) -> None:
    """Write the file of a run with so many tests on several devices."""
    chance = random.Random(1)
    free = {f"emulator-{5554 + 2 * number}": START for number in range(DEVICES)}
    log = RunLog(folder)
    log.open()
    log.add(RunBegan(at=START, run="20260202-024000-3fa2", environment={"pytest": "9.0.3"}))
    for serial in free:
        log.add(DeviceUsed(at=START, serial=serial, about={"model": "Pixel 9"}))
    for number in range(count):
        serial = min(free, key=lambda one: free[one])
        test = _test(number, chance, serial, free[serial])
        free[serial] = test.stop + 0.1
        log.add(test)
    log.close()


def _test(number: int, chance: random.Random, serial: str, start: float) -> TestEnded:
    (outcome,) = chance.choices(list(_OUTCOMES), list(_OUTCOMES.values()))
    code, message = chance.choice(_ERRORS)
    is_bad = outcome in ("failed", "error", "rerun")
    stop = start + 0.3 + chance.expovariate(0.4)
    name = f"test_{chance.choice(_VERBS)}_{chance.choice(_NOUNS)}"
    return TestEnded(
        at=stop,
        nodeid=f"tests/test_{chance.choice(_FILES)}.py::{name}[{number}]",
        outcome=outcome,  # type: ignore[arg-type]  # one of them
        worker=f"gw{serial[-2:]}",
        devices=(serial,),
        start=start,
        stop=stop,
        seconds={"setup": 0.1, "call": stop - start - 0.2, "teardown": 0.1},
        error=ErrorSummary(message=message.format(number), code=code, phase="call")
        if is_bad
        else None,
        markers=("slow",) if number % 9 == 0 else (),
    )


def time_to_open(browser: Browser, page: Path) -> float:
    """Return how long it takes until all tests of an index are shown, in seconds."""
    with browser.new_context() as context:
        tab = context.new_page()
        # Counted by the browser from the moment it is asked until it has drawn everything.
        tab.add_init_script(
            "addEventListener('load', () => requestAnimationFrame(() => setTimeout(() => {"
            " window.openedAfter = performance.now(); })))"
        )
        tab.goto(page.as_uri())
        opened = tab.wait_for_function("window.openedAfter").json_value()
        assert tab.locator("li.test").count() == TESTS
        return float(opened) / 1000


def index_of_many(folder: Path) -> None:
    """Print what the index of a large run costs."""
    write_run(folder, TESTS)
    page = folder / INDEX_FILE
    written = seconds(lambda: write_index([read_run(folder)], page))
    show(f"index of {TESTS:,} tests, written", f"{written:.2f} s")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        opened = statistics.median(time_to_open(browser, page) for _ in range(7))
        browser.close()
    show(f"index of {TESTS:,} tests, opened", f"{opened:.2f} s", "< 1 s")


def main() -> None:
    """Print one line for each figure."""
    with tempfile.TemporaryDirectory() as name:
        index_of_many(Path(name))


if __name__ == "__main__":
    main()
