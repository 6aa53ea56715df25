"""The entry point; it explains itself also where the packages of the command line are missing."""

from __future__ import annotations

import sys

_MISSING = (
    "HOST_DEPENDENCY_MISSING: the command line needs the package {name}."
    " Install it: pip install 'pytest-clawperator[cli]'"
)


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        from pytest_clawperator.cli.app import run
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        sys.exit(_MISSING.format(name=missing.name))
    sys.exit(run(sys.argv[1:]))
