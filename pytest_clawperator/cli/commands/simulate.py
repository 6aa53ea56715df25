"""``simulate``: simulated phones that run in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Piece, Table
from pytest_clawperator.cli.simulated import RunningPhones, running, start, stop


@command(
    "simulate",
    examples=[
        "simulate",
        "simulate --devices 4 --app shop.yaml",
        "simulate list",
        "simulate stop",
    ],
)
@click.option("--devices", type=int, default=1, metavar="N", help="How many phones; default: 1.")
@click.option("--emulators", type=int, default=0, metavar="N", help="How many emulators.")
@click.option("--app", "apps", multiple=True, metavar="FILE", help="An app of your own, as YAML.")
@click.option("--fault", "faults", multiple=True, metavar="'NAME KEY=VALUE'", help="What is wrong.")
@click.option("--api", type=int, metavar="LEVEL", help="Android's API level.")
@click.option("--operator", type=click.Choice(["release", "dev", "absent"]), help="Which variant.")
@click.option("--time-scale", type=float, metavar="F", help="0.1 makes pauses ten times shorter.")
@click.option("--dark", is_flag=True, help="With a dark theme.")
def simulate(options: GlobalOptions, **phones: Any) -> Answer:
    """Start simulated phones behind an adb server of their own, and leave them running.

    They go on when the shell ends, until `simulate stop`.
    """
    started = start(**{key: value for key, value in phones.items() if value is not None})
    return Answer(started.to_document(), _how_to_use(started))


@command("simulate list", examples=["simulate list"])
def simulate_list(options: GlobalOptions) -> Answer:
    """List the simulated phones that were left running."""
    found = running()
    rows = [(str(one.pid), one.adb, ", ".join(one.serials)) for one in found]
    page: list[Piece] = [Table(("process", "adb server", "serials"), rows)]
    document = {"simulators": [one.to_document() for one in found]}
    return Answer(document, page if found else ["No simulated phones run."])


@command("simulate stop", examples=["simulate stop", "simulate stop 4711"])
@click.argument("pids", nargs=-1, type=int, metavar="[PROCESS]...")
def simulate_stop(options: GlobalOptions, pids: tuple[int, ...]) -> Answer:
    """End simulated phones: those of these processes, or all that were left running."""
    found = running()
    unknown = set(pids) - {one.pid for one in found}
    if unknown:
        raise Mistake(
            f"no simulated phones run in process {min(unknown)}",
            hint="`clawperator-py simulate list` shows those that run.",
        )
    wanted = [one for one in found if not pids or one.pid in pids]
    for one in wanted:
        stop(one)
    running()  # removes the folder, if it is empty now
    told = f"Ended the simulated phones of {_processes(wanted)}."
    stopped = [one.to_document() for one in wanted]
    return Answer({"ok": True, "stopped": stopped}, [told if wanted else "No phones ran."])


def _processes(phones: Sequence[RunningPhones]) -> str:
    numbers = ", ".join(str(one.pid) for one in phones)
    return f"process {numbers}" if len(phones) == 1 else f"processes {numbers}"


def _how_to_use(phones: RunningPhones) -> list[Piece]:
    port = phones.adb.rpartition(":")[2]
    count = len(phones.serials)
    noun = "simulated phone runs" if count == 1 else "simulated phones run"
    return [
        f"{count} {noun} in process {phones.pid}: {', '.join(phones.serials)}",
        "",
        f"  in this shell   export ANDROID_ADB_SERVER_PORT={port}",
        f"  one command     clawperator-py --adb {phones.adb} devices",
        f"  in tests        pytest --claw-adb {phones.adb} --claw-device auto",
        f"  end them        clawperator-py simulate stop {phones.pid}",
    ]
