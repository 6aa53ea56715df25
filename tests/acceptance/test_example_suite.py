"""The example suite is what its users copy from, so it runs as they would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["plain", "xdist"])
def test_example_suite_passes(options: list[str], tmp_path: Path) -> None:
    """Every lesson passes in a process of its own, plain and spread over two workers."""
    command = [sys.executable, "-m", "pytest", "example_suite", "-p", "no:cacheprovider", *options]

    run = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "did you mean `maxScrolls`?" in run.stdout
