"""Run pytest in a process, as users do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).parents[2]
#: The plugins of most runs: simulated phones that pause briefly, and xdist.
QUICK = ("no:cacheprovider", "xdist", "pytest_clawperator.plugin", "tests.doubles.quick_phones")


def run_pytest(
    *options: str, folder: Path = TOP, plugins: Sequence[str] = QUICK, columns: int = 200
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with these plugins only: others would delay each process."""
    kept = {
        name: text for name, text in os.environ.items() if "PYTEST" not in name and name != "CI"
    }
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(TOP)}
    loaded = [f"-p{plugin}" for plugin in plugins]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, *options],
        cwd=folder,
        env={**kept, **alone, "COLUMNS": str(columns)},
        capture_output=True,
        text=True,
        check=False,
    )


def skips(output: str) -> list[str]:
    """Return why tests were skipped."""
    return re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", output, re.MULTILINE)


def passes(output: str) -> int:
    """Return how many tests passed, if others were skipped and none failed."""
    counts = re.search(r"(\d+) passed, (\d+) skipped in", output)
    assert counts is not None, output
    return int(counts[1])
