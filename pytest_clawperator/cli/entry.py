"""The entry point, which reports missing packages of the command line."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import warnings
from io import TextIOWrapper
from types import FrameType

_MISSING = (
    "HOST_DEPENDENCY_MISSING: the command line needs the package {name}."
    " Install it: pip install 'pytest-clawperator[cli]'"
)


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    # Half of the time of a short command is importing. Garbage collection during it, and the search
    # for pydantic plugins among all installed packages, would prolong it.
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from pytest_clawperator.cli.app import run
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        sys.exit(_MISSING.format(name=missing.name))
    _prepare_process()
    sys.exit(run(sys.argv[1:]))


def _prepare_process() -> None:
    """Close everything on signals, and print each notice and warning once."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    # A terminal that cannot show a character gets its code.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Commands print notices themselves; Python's logging would print them again.
    logging.getLogger("pytest_clawperator").addHandler(logging.NullHandler())
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
