"""``python -m pytest_clawperator.report``: pages of traces and the index of runs, made anew."""

from __future__ import annotations

import sys

from pytest_clawperator.report.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
