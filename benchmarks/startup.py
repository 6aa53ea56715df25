"""What the plugin costs when pytest starts: unused, and until the first test runs.

Unused: the CPU time of ``pytest --collect-only`` in a project without devices, with the
plugin and without it, the minimum of alternating runs. In use: how long after collection the
first test starts on a simulated phone.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path

RUNS = 40
LIMIT = 1.06
FIRST_TEST_WITHIN = 1.0
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
    """Keep compiled modules, as where a package is installed to stay."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def without_others() -> list[str]:
    """Leave out the plugins of others that happen to be installed."""
    names = {entry.name for entry in entry_points(group="pytest11")} - {PLUGIN}
    return [option for name in sorted(names) for option in ("-p", f"no:{name}")]


def run(folder: Path, *options: str) -> float:
    """Run pytest in a process of its own and give the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *without_others(), *options],
        cwd=folder,
        env=environment(folder),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def unused(folder: Path) -> float:
    """Give the ratio of the CPU times with and without the plugin."""
    (folder / "test_project.py").write_text(PROJECT)
    plain, loaded = ["--collect-only", "-p", f"no:{PLUGIN}"], ["--collect-only"]
    for options in (plain, loaded):
        run(folder, *options)  # compiles
    without, with_it = [], []
    for _ in range(RUNS):
        without.append(run(folder, *plain))
        with_it.append(run(folder, *loaded))
    print(
        f"pytest --collect-only, least CPU time of {RUNS} runs: {min(without) * 1000:.0f} ms"
        f" without the plugin, {min(with_it) * 1000:.0f} ms with it"
    )
    return min(with_it) / min(without)


def first_test(folder: Path) -> float:
    """Give the least seconds from the end of the collection to the first test's start."""
    (folder / "test_project.py").write_text("def test_it(clawperator): pass\n")
    (folder / "conftest.py").write_text(CONFTEST)
    took = []
    for _ in range(5):
        run(folder, "--claw-device", "sim")
        took.append(float((folder / "first").read_text()))
    return sorted(took[1:])[len(took) // 2 - 1]


def main() -> None:
    """Measure both."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        ratio = unused(Path(name))
    verdict = "ok" if ratio <= LIMIT else "TOO MUCH"
    print(f"unused: {ratio:.3f}x (at most {LIMIT}x): {verdict}")
    with tempfile.TemporaryDirectory() as name:
        seconds = first_test(Path(name))
    verdict = "ok" if seconds <= FIRST_TEST_WITHIN else "TOO SLOW"
    print(f"in use: first test {seconds:.2f} s after collection, simulator included: {verdict}")
    print(f"measured in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
