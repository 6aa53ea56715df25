"""What a test without Python costs, compared with the same test in Python.

One run of pytest has both, alternating, on one simulated phone. The cost of a test is its setup,
call and teardown, and its share of collecting its file. What importing the reader costs once in
a run is measured apart.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import show
from pytest_clawperator.test_files.file import as_python, read_test_file

__test__ = False
TESTS, RUNS = 40, 3
LIMIT = 1.1
SETTINGS = "com.android.settings"
FILE = "tests:\n" + "".join(
    f"""\
  case {number}:
    steps:
      - open_app: {SETTINGS}
      - expect: {{to_be_in_app: {SETTINGS}}}
      - title: Look
        steps:
          - expect: {{text: Connections, to_be_visible: true, to_be_enabled: true}}
          - read_value: Connections
            as: value
          - expect: {{text: "${{value}}"}}
      - home
"""
    for number in range(TESTS)
)
CONFTEST = """
import json, time
from pathlib import Path

import pytest

spent = {"yaml": [], "py": []}
collected = {}

def kind(path):
    return path.suffix.lstrip(".")

@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    before = time.perf_counter()
    report = yield
    collected[kind(collector.path)] = time.perf_counter() - before
    return report

def pytest_collection_modifyitems(items):
    # Which of a pair comes first is another one each time.
    number = lambda item: int(item.name.rpartition("_")[2])
    items.sort(key=lambda item: (number(item), (kind(item.path) == "py") == (number(item) % 2)))

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    before = time.perf_counter()
    result = yield
    spent[kind(item.path)].append(time.perf_counter() - before)
    return result

def pytest_sessionfinish():
    Path("spent.json").write_text(json.dumps({"tests": spent, "files": collected}))
"""


def run(folder: Path) -> tuple[float, float]:
    """Run both once; return the ratio of a test's costs, and the seconds to collect the YAML."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    options = ["--claw-device=sim", "-o", "claw_sim_time_scale=0.05"]
    subprocess.run([*command, *options], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    spent = json.loads((folder / "spent.json").read_text(encoding="utf-8"))
    files = spent["files"]
    # A slow moment of the machine must not decide: tests alternate, so each has its neighbour.
    costs = {
        kind: sum(sorted(each)[: TESTS * 3 // 4]) + files[kind] * 3 / 4
        for kind, each in spent["tests"].items()
    }
    return costs["yaml"] / costs["py"], files["yaml"]


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "test_it.claw.yaml"
        path.write_text(FILE, encoding="utf-8")
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        written = as_python(read_test_file(path, root=folder))
        (folder / "test_it.py").write_text(written, encoding="utf-8")
        run(folder)  # compiles what is compiled once
        runs = [run(folder) for _ in range(RUNS)]
    ratios = ", ".join(f"{ratio:.2f}" for ratio, _ in sorted(runs))
    show("a test in YAML, as a multiple of Python", ratios, f"<= {LIMIT}")
    collecting = min(seconds for _, seconds in runs) * 1000
    show(f"reading a file of {TESTS} tests, with imports", f"{collecting:.0f} ms")


if __name__ == "__main__":
    main()
