"""What a trace costs the test that it is of: time, memory, and the size of its page.

The tests of one run take turns: without a trace, with one that is thrown away because the test
passed, with one that is kept and has pictures. Time is that of the whole test, with its setup
and teardown. Figures are medians of the ratios of neighbours.

Phones are simulated at the pace of the real Operator, whose pauses are what a test mostly waits
for, and in a hurry, as in the tests of this package: there a trace has no pauses to use.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import median_spread, seconds, show
from pytest_clawperator.report.index import PAGE_FILE

MODES = ("off", "retain-on-failure", "on")
ASKED = {"retain-on-failure": "<= 1.05 x", "on": "<= 1.5 x"}
# The pace, and how often each mode takes its turn.
ROUNDS = {1.0: 6, 0.05: 30}
STEPS = 50
# About 5,000 executions, because expectations and typing take several.
MANY_STEPS = 3_200
SUITE_RUNS = 3
SUITE = Path(__file__).resolve().parent.parent / "example_suite"

SETTINGS = """
[pytest]
claw_device = sim
claw_sim_app = notes.yaml
"""
APP = """
package: com.example.notes
name: Notes
start: home
state: {count: 0, note: "", remind: false}
screens:
  home:
    title: Notes
    items:
      - {text: "Notes: {count}", id: count}
      - {field: Note, id: note, bind: note}
      - {switch: Remind me, id: remind, checked: remind}
      - {button: Add, id: add, on_tap: {add: {count: 1}}}
      - list: notes
        items:
          - row: "Note {number}"
            summary: "Written on day {number}"
            icon: true
            repeat: 60
            on_tap: {navigate: {to: detail, with: {note: "{number}"}}}
  detail:
    title: A note
    args: {note: none}
    items:
      - {text: "This is note {note}", id: shown}
      - {button: Done, id: done, on_tap: {back: true}}
"""
CONFTEST = """
import json, time
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_clawperator.plugin import tracing

of_run, took = tracing.settings_of_item, []

def of_test(item):
    return replace(of_run(item), trace=item.callspec.params["mode"])

tracing.settings_of_item = of_test

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    begin = time.perf_counter()
    result = yield
    took.append((item.callspec.params["mode"], time.perf_counter() - begin))
    return result

def pytest_unconfigure():
    Path("took.json").write_text(json.dumps(took))
"""
TESTS = """
import gc
from pathlib import Path

import pytest
from pytest_clawperator import expect

MODES = ("off", "retain-on-failure", "on")

def usual_steps(claw, count):
    counter, note = claw.node(id="count"), claw.node(id="note")
    remind, rows = claw.node(id="remind"), claw.node(id="notes")
    before = int(counter.read().removeprefix("Notes: "))
    for number in range(before + 1, before + 1 + count // 10):
        claw.click(id="add")
        expect(counter).to_have_text(f"Notes: {number}")
        note.enter_text(f"Buy {number} apples")
        expect(note).to_have_text(f"Buy {number} apples")
        remind.click()
        claw.scroll("down" if number % 2 else "up", within=rows)
        row = claw.node(text="Note 4")
        expect(row).to_be_visible()
        row.click()
        expect(claw.node(id="shown")).to_contain_text("This is note")
        claw.click(id="done")

@pytest.fixture(autouse=True)
def open_notes(clawperator):
    clawperator.open_app("com.example.notes")
    expect(clawperator.node(id="count")).to_be_visible()

@pytest.mark.parametrize("mode", ROUNDS * MODES)
def test_usual_steps(clawperator, mode):
    usual_steps(clawperator, STEPS)
"""
MEMORY = (
    TESTS.partition("@pytest.mark.parametrize")[0]
    + """
def kib():
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])

@pytest.mark.parametrize("mode", MODES[1:])
def test_memory(clawperator, mode):
    usual_steps(clawperator, MANY_STEPS // 5)
    early = kib()
    usual_steps(clawperator, MANY_STEPS * 4 // 5)
    Path(f"memory-{mode}").write_text(str(kib() / early))
"""
)


class Project:
    """A folder of tests in which pytest is run on a simulated phone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        files = {"pytest.ini": SETTINGS, "notes.yaml": APP, "conftest.py": CONFTEST}
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8")

    def run(self, tests: str, *, pace: float) -> list[tuple[str, float]]:
        """Run tests; return the mode and the seconds of each."""
        sizes = f"ROUNDS, STEPS, MANY_STEPS = {ROUNDS[pace]}, {STEPS}, {MANY_STEPS}\n"
        (self._folder / "test_notes.py").write_text(sizes + tests, encoding="utf-8")
        run_pytest("test_notes.py", f"--claw-sim-time-scale={pace}", folder=self._folder)
        took = json.loads((self._folder / "took.json").read_text(encoding="utf-8"))
        return [(mode, taken) for mode, taken in took]

    def pages(self) -> list[Path]:
        """Return the pages of the tests that were kept."""
        return list(self._folder.glob(f"claw-results/*/*/{PAGE_FILE}"))

    def memory(self, mode: str) -> float:
        """Return how many times the memory grew while tests ran with a trace."""
        return float((self._folder / f"memory-{mode}").read_text(encoding="utf-8"))


def run_pytest(*options: str, folder: Path) -> None:
    """Run pytest in a process of its own; raise if a test fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the tests failed:\n{done.stdout}{done.stderr}")


def show_ratios(name: str, took: dict[str, list[float]]) -> None:
    """Print what tests take with a trace, beside the same without one."""
    show(f"{name}, no trace", f"{statistics.median(took['off']) * 1000:.0f} ms")
    for mode in MODES[1:]:
        ratios = [one / other for one, other in zip(took[mode], took["off"], strict=True)]
        figure = f"{statistics.median(ratios):.3f} x +- {median_spread(ratios):.3f}"
        show(f"{name}, {mode}", figure, ASKED[mode])


def by_mode(took: list[tuple[str, float]]) -> dict[str, list[float]]:
    """Return the seconds of each mode in their order."""
    return {mode: [taken for one, taken in took if one == mode] for mode in MODES}


def usual_test(project: Project) -> None:
    """Print what the trace of a test of usual steps costs, and how large its page is."""
    for pace in ROUNDS:
        took = project.run(TESTS, pace=pace)[len(MODES) :]  # the first of each mode loads modules
        show_ratios(f"{STEPS} usual steps, pace {pace:g}", by_mode(took))
    largest = max(page.stat().st_size for page in project.pages())
    show(f"page of {STEPS} steps with pictures", f"{largest / 1e6:.2f} MB", "<= 1.5 MB")


def memory(project: Project) -> None:
    """Print how memory grows in a test of very many steps."""
    project.run(MEMORY, pace=0.05)
    for mode in MODES[1:]:
        growth = project.memory(mode)
        show(f"memory, 5,000 executions, {mode}", f"{growth:.2f} x", "flat")


def example_suite(folder: Path) -> None:
    """Print what traces cost a run of the example suite."""
    took: dict[str, list[float]] = {mode: [] for mode in MODES}
    for number in range(SUITE_RUNS):
        for mode in MODES:
            results = f"--claw-output={folder / f'{mode}-{number}'}"
            run = partial(
                run_pytest, str(SUITE), f"--claw-trace={mode}", results, folder=SUITE.parent
            )
            took[mode].append(seconds(run))
    show_ratios("example suite", took)


def main() -> None:
    """Print one line for each figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = Project(folder)
        usual_test(project)
        memory(project)
        example_suite(folder)


if __name__ == "__main__":
    main()
