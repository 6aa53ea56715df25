"""What the plugin costs when pytest starts: unused, and until the first test runs.

Unused: the CPU time (user and system) of ``pytest --collect-only`` in a project without
devices, with the plugin and without it: the median ratio of alternating pairs, with its
spread (half of the 95 % confidence interval). A spread of more than 1 % means a busy machine.
In use: the time from the end of the collection to the first test on a simulated phone.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path

from benchmarks.measuring import median_spread, show

# Pairs are added until the median is this sure, or the time is over.
FEWEST_PAIRS, SPREAD, MOST_SECONDS = 40, 0.01, 120.0
LIMIT = 1.03
STARTS, FIRST_TEST_WITHIN = 5, 0.3
PLUGIN = "pytest_clawperator.plugin"

PROJECT = "\n\n".join(f"def test_{number}():\n    assert {number} >= 0" for number in range(100))
CONFTEST = """
import time
from pathlib import Path

collected = []

def pytest_collection_finish():
    collected.append(time.monotonic())

def pytest_runtest_call():
    Path("first").write_text(str(time.monotonic() - collected[0]))
"""


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which compiled modules are kept, as in an installed package."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONHASHSEED": "0"}


def without_others() -> list[str]:
    """Return the options that switch off all other installed plugins."""
    names = {entry.name for entry in entry_points(group="pytest11")} - {PLUGIN}
    return [option for name in sorted(names) for option in ("-p", f"no:{name}")]


class Project:
    """A folder of tests in which pytest is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._command = [sys.executable, "-m", "pytest", "-q", *without_others()]
        self._environment = environment(folder)

    def run(self, *options: str) -> float:
        """Run pytest in a process of its own; return the CPU seconds of that process."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [*self._command, *options],
            cwd=self.folder,
            env=self._environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def unused(project: Project) -> tuple[list[float], float]:
    """Return the ratios of all pairs, and the median CPU seconds without the plugin."""
    (project.folder / "test_project.py").write_text(PROJECT)
    plain, loaded = ["--collect-only", "-p", f"no:{PLUGIN}"], ["--collect-only"]
    for options in (plain, loaded):
        project.run(*options)  # compiles
    ratios: list[float] = []
    baseline: list[float] = []
    deadline = time.monotonic() + MOST_SECONDS
    while len(ratios) < FEWEST_PAIRS or (
        median_spread(ratios) > SPREAD and time.monotonic() < deadline
    ):
        # Each of the two is first in every other pair.
        order = (plain, loaded) if len(ratios) % 2 else (loaded, plain)
        used = {options is loaded: project.run(*options) for options in order}
        ratios.append(used[True] / used[False])
        baseline.append(used[False])
    return ratios, statistics.median(baseline)


def first_test(project: Project) -> float:
    """Return the median seconds from the end of the collection to the first test."""
    (project.folder / "test_project.py").write_text("def test_it(clawperator): pass\n")
    (project.folder / "conftest.py").write_text(CONFTEST)
    took = []
    for _ in range(STARTS + 1):
        project.run("--claw-device", "sim")
        took.append(float((project.folder / "first").read_text()))
    return statistics.median(took[1:])  # the first run compiles


def main() -> None:
    """Print one line for each figure."""
    with tempfile.TemporaryDirectory() as name:
        ratios, baseline = unused(Project(Path(name)))
    ratio, spread = statistics.median(ratios), median_spread(ratios)
    show(f"pytest --collect-only, {len(ratios)} pairs", f"{baseline * 1000:.0f} ms CPU")
    show("unused plugin, to pytest without it", f"{ratio:.3f} x +- {spread:.1%}", f"<= {LIMIT} x")
    with tempfile.TemporaryDirectory() as name:
        seconds = first_test(Project(Path(name)))
    show("first test after collection, simulated", f"{seconds:.2f} s", f"<= {FIRST_TEST_WITHIN} s")


if __name__ == "__main__":
    main()
