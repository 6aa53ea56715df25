"""``python -m pytest_clawperator.simulator``: run simulated phones."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import sys
from pathlib import Path

from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.simulator.fleet import Fleet, FleetOptions
from pytest_clawperator.simulator.phone_kinds import QUIRKS
from pytest_clawperator.simulator.wire.adb_server import HOST

# How often the parent's id is checked, in seconds.
_CHECK_EVERY = 0.1
# How long a thread that draws may hold up the phones, which answer within a millisecond.
_SWITCH_SECONDS = 0.0005


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    options = argparse.ArgumentParser(
        prog="python -m pytest_clawperator.simulator",
        description="Run simulated Android phones behind an adb server of their own. Once they "
        "answer, one JSON line is printed: the server's address, the serials, the process id.",
    )
    add = options.add_argument
    add("--devices", default="1", metavar="PHONES",
        help="how many, or of which kinds: 'phone,tablet+dark;api=30,35' (default: 1)")  # fmt: skip
    add("--emulators", type=int, default=0, metavar="N", help="emulators with a console")
    add("--app", dest="apps", type=Path, action="append", default=[], metavar="FILE",
        help="an app of your own, as YAML")  # fmt: skip
    add("--profile", choices=["documented", "0.5.3"], default="documented",
        help="the Operator as specified, or as published (default: documented)")  # fmt: skip
    add("--operator", choices=["release", "dev", "absent"], default="release",
        help="which variant of the Operator is installed")  # fmt: skip
    add("--api", type=int, default=36, metavar="LEVEL", help="Android API level (default: 36)")
    add("--seed", type=int, default=0, metavar="N", help="the same seed gives the same phones")
    add("--time-scale", type=float, default=1.0, metavar="F",
        help="factor for the Operator's pauses: 0.1 is ten times faster")  # fmt: skip
    add("--chatter", type=float, default=0.0, metavar="RATE", help="log lines a second of others")
    add("--fault", dest="faults", action="append", default=[], metavar="'NAME [KEY=VALUE ...]'",
        help="what goes wrong from the start; `adb shell sim help` lists it")  # fmt: skip
    add("--quirk", dest="quirks", action="append", default=[], metavar="NAME", choices=list(QUIRKS),
        help="how the phones differ from a Pixel: " + ", ".join(QUIRKS))  # fmt: skip
    add("--dark", action="store_true", help="dark theme")
    add("--stay", action="store_true", help="go on when the parent process ends")
    return options


async def run(options: FleetOptions, *, stay: bool) -> None:
    """Run the phones until a signal arrives or the parent process ends."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    # A terminal that is closed ends what was started in it, except with --stay.
    loop.add_signal_handler(signal.SIGHUP, (lambda: None) if stay else stopped.set)
    watch = None if stay else loop.create_task(_stop_with_parent(stopped, os.getppid()))
    async with Fleet(options) as fleet:
        ready = {
            "adb": {"host": HOST, "port": fleet.adb_port},
            "serials": fleet.serials,
            "pid": os.getpid(),
        }
        # What is there now stays: searching it for garbage again and again costs a tenth.
        gc.freeze()
        print(json.dumps(ready), flush=True)
        await fleet.run_until(stopped)
    if watch is not None:
        watch.cancel()


async def _stop_with_parent(stopped: asyncio.Event, parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(_CHECK_EVERY)
    stopped.set()


def main(arguments: list[str] | None = None) -> int:
    """Parse the options and run; return 2 for invalid options, 1 for a failed start."""
    given = vars(parser().parse_args(arguments))
    stay = given.pop("stay")
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        asyncio.run(run(FleetOptions(**given), stay=stay))
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    except ClawperatorError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
