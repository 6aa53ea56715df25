"""``simulate``: simulated phones that run in the background."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Piece, Table
from pytest_clawperator.cli.simulated import NameTakenError, RunningPhones, running, start, stop

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)


@command(
    "simulate",
    examples=[
        "simulate",
        "simulate --devices 4 --app shop.yaml --name shop",
        "simulate --devices 'phone,tablet;api=30,35'",
        "simulate list",
        "simulate stop shop",
    ],
)
@click.option("--name", metavar="NAME", help="What to call them; default: phones-1, phones-2, ...")
@click.option(
    "--devices",
    default="1",
    metavar="PHONES",
    help="How many, or of which kinds: 'phone,tablet+dark;api=30,35'; default: 1.",
)
@click.option("--emulators", type=int, default=0, metavar="N", help="How many emulators.")
@click.option("--app", "apps", multiple=True, metavar="FILE", help="An app of your own, as YAML.")
@click.option("--fault", "faults", multiple=True, metavar="'NAME KEY=VALUE'", help="What is wrong.")
@click.option("--api", type=int, metavar="LEVEL", help="Android's API level.")
@click.option(
    "--profile", type=click.Choice(["documented", "0.5.3"]), help="The Operator's behaviour."
)
@click.option("--operator", type=click.Choice(["release", "dev", "absent"]), help="Which variant.")
@click.option("--seed", type=int, metavar="N", help="The same seed gives the same phones.")
@click.option("--time-scale", type=float, metavar="F", help="0.1 makes pauses ten times shorter.")
@click.option("--chatter", type=float, metavar="RATE", help="Log lines of others a second.")
@click.option("--dark", is_flag=True, help="With a dark theme.")
def simulate(options: GlobalOptions, name: str | None, **phones: Any) -> Answer:
    """Start simulated phones behind an adb server of their own, and leave them running.

    They go on when the shell ends, until `simulate stop`.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise Mistake(
            f"{name!r} is no name for phones",
            hint="It begins with a letter and has letters, digits, hyphens and underscores.",
        )
    try:
        started = start(name, **{key: each for key, each in phones.items() if each is not None})
    except NameTakenError as error:
        raise Mistake(
            f"phones called {name} run already",
            hint=f"Give another --name, or end those: `clawperator-py simulate stop {name}`.",
        ) from error
    return Answer(started.to_document(), _how_to_use(started))


@command("simulate list", examples=["simulate list"])
def simulate_list(options: GlobalOptions) -> Answer:
    """List the simulated phones that were left running."""
    found = running()
    rows = [
        (one.name, str(one.pid), one.adb or "starting", ", ".join(one.serials)) for one in found
    ]
    page: list[Piece] = [Table(("name", "process", "adb server", "serials"), rows)]
    document = {"simulators": [one.to_document() for one in found]}
    return Answer(document, page if found else ["No simulated phones run."])


@command("simulate stop", examples=["simulate stop", "simulate stop shop", "simulate stop --all"])
@click.argument("names", nargs=-1, metavar="[NAME|PROCESS]...")
@click.option("--all", "is_all", is_flag=True, help="All that were left running.")
def simulate_stop(options: GlobalOptions, names: tuple[str, ...], is_all: bool) -> Answer:
    """End simulated phones: those of these names or process ids, or the only ones."""
    wanted = _chosen(running(), names, is_all=is_all)
    for one in wanted:
        stop(one)
    running()  # removes the folder, if it is empty now
    told: list[Piece] = [f"Ended {one.name} (process {one.pid})." for one in wanted]
    stopped = [one.to_document() for one in wanted]
    return Answer({"ok": True, "stopped": stopped}, told or ["No phones ran."])


def _chosen(
    found: Sequence[RunningPhones], names: Sequence[str], *, is_all: bool
) -> list[RunningPhones]:
    """Return the phones that are meant; raise for a name that none has."""
    known = {name for one in found for name in (one.name, str(one.pid))}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Mistake(
            f"no simulated phones are called {unknown[0]}, and none run in such a process",
            hint="`clawperator-py simulate list` shows those that run.",
        )
    if names and not is_all:
        return [one for one in found if one.name in names or str(one.pid) in names]
    if len(found) > 1 and not is_all:
        raise Mistake(
            f"several groups of phones run: {', '.join(one.name for one in found)}",
            hint="Say which: `clawperator-py simulate stop NAME`, or --all.",
        )
    return list(found)


def _how_to_use(phones: RunningPhones) -> list[Piece]:
    count = len(phones.serials)
    noun = "simulated phone runs" if count == 1 else "simulated phones run"
    return [
        f"{count} {noun} as {phones.name}: {', '.join(phones.serials)}",
        "",
        f"  in this shell   export ADB_SERVER_SOCKET=tcp:{phones.adb}",
        f"  one command     clawperator-py --adb {phones.adb} devices",
        f"  in tests        pytest --claw-adb {phones.adb} --claw-device auto",
        f"  end them        clawperator-py simulate stop {phones.name}",
    ]
