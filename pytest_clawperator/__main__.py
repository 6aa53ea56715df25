"""``python -m pytest_clawperator``: the same as ``clawperator-py``."""

from __future__ import annotations

from pytest_clawperator.cli.entry import main

if __name__ == "__main__":
    main()
