"""``python -m pytest_clawperator.report``: write the pages and the index of runs again."""

from __future__ import annotations

import sys

from pytest_clawperator.report.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
