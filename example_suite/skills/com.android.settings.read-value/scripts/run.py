#!/usr/bin/env python3
"""Print a value of the page “About phone”: run.py SERIAL LABEL."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

SETTINGS = "com.android.settings"


def clawperator(device: str, *words: str) -> str:
    """Run a command of the host program on the device, and return what it prints."""
    program = shlex.split(os.environ.get("CLAWPERATOR_BIN", "clawperator-py"))
    command = [*program, *words, "--device", device, "--output", "pretty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr or done.stdout)
    return done.stdout.strip()


def main(device: str, label: str) -> None:
    """Open Settings, go to the page, and read."""
    clawperator(device, "close", "--app", SETTINGS)
    clawperator(device, "open", SETTINGS)
    clawperator(device, "wait", "--id", f"{SETTINGS}:id/recycler_view", "--timeout", "10000")
    clawperator(device, "scroll-and-click", "--text-contains", "About")
    clawperator(device, "wait", "--text", label, "--timeout", "10000")
    print(f"{label}: {clawperator(device, 'read-value', '--label', label)}")


if len(sys.argv) != 3:
    sys.exit("usage: run.py SERIAL LABEL")
main(*sys.argv[1:])
