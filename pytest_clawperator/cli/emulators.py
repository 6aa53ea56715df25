"""``emulator`` and ``provision``: Android emulators of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.executions import positive_timeout
from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, notice
from pytest_clawperator.cli.session import leased, open_device
from pytest_clawperator.emulators import Emulators, parse_profile
from pytest_clawperator.emulators.boot import AdbHost, BootLimits, StartOptions
from pytest_clawperator.transport.server import locate_server

_profile = click.option(
    "--profile", metavar="PROFILE", help="What it must be like, as in 'api=34,device=pixel_tablet'."
)

_name = click.argument("words", nargs=-1, metavar="NAME")


@command("emulator list", examples=["emulator list", "emulator list --json"])
@_profile
def emulator_list(options: GlobalOptions, profile: str | None) -> Answer:
    """List the virtual devices, and whether each can be used."""
    emulators = emulators_of(options, profile)
    found = [avd.to_dict(emulators.profile) for avd in emulators.list()]
    return Answer({"avds": found}, _avd_table(found))


@command("emulator inspect", examples=["emulator inspect clawperator-pixel"])
@_name
@_profile
def emulator_inspect(options: GlobalOptions, words: tuple[str, ...], profile: str | None) -> Answer:
    """Describe a virtual device."""
    name = _named("inspect", words)
    emulators = emulators_of(options, profile)
    found = emulators.inspect(name).to_dict(emulators.profile)
    return Answer(found, _avd_table([found]))


@command(
    "emulator create",
    examples=["emulator create", "emulator create --name tablet --profile device=pixel_tablet"],
)
@click.option("--name", metavar="NAME", help="Its name; default: clawperator-pixel.")
@_profile
def emulator_create(options: GlobalOptions, name: str | None, profile: str | None) -> Answer:
    """Create a virtual device with its system image; replace one of the same name."""
    emulators = emulators_of(options, profile)
    made = emulators.create(name).to_dict(emulators.profile)
    return Answer(made, [f"Created {made['name']}."])


@command(
    "emulator start",
    examples=["emulator start clawperator-pixel", "emulator start clawperator-pixel --headless"],
)
@_name
@click.option("--headless", is_flag=True, help="Without a window.")
@click.option("--snapshot", is_flag=True, help="As it was left, which is quick.")
def emulator_start(
    options: GlobalOptions, words: tuple[str, ...], headless: bool, snapshot: bool
) -> Answer:
    """Start a virtual device, wait until Android runs, and leave it running."""
    name = _named("start", words)
    how = StartOptions(headless=headless, boot="snapshot" if snapshot else "cold")
    started = emulators_of(options).start(name, how)
    document = {"type": "emulator", "avdName": name, "serial": started.serial, "booted": True}
    return Answer(document, [f"{name} runs as {started.serial}."])


@command("emulator stop", examples=["emulator stop clawperator-pixel"])
@_name
def emulator_stop(options: GlobalOptions, words: tuple[str, ...]) -> Answer:
    """Stop a running emulator, unless a test run has it."""
    name = _named("stop", words)
    emulators = emulators_of(options)
    with reserved(emulators, name, options):
        emulators.stop(name)
    return Answer({"ok": True, "avdName": name, "stopped": True}, [f"Stopped {name}."])


@command("emulator delete", examples=["emulator delete clawperator-pixel"])
@_name
def emulator_delete(options: GlobalOptions, words: tuple[str, ...]) -> Answer:
    """Delete a virtual device with its files; it must not be running."""
    name = _named("delete", words)
    emulators_of(options).delete(name)
    return Answer({"ok": True, "avdName": name, "deleted": True}, [f"Deleted {name}."])


@command("emulator status", examples=["emulator status"])
@_profile
def emulator_status(options: GlobalOptions, profile: str | None) -> Answer:
    """List the emulators that run."""
    emulators = emulators_of(options, profile)
    found = [
        one.to_dict(emulators.inspect(one.avd_name), emulators.profile)
        for one in emulators.status()
    ]
    rows = [(one["avdName"], one["serial"], _yes(one["booted"])) for one in found]
    page: list[Piece] = [Table(("name", "serial", "booted"), rows)]
    return Answer({"devices": found}, page if found else ["No emulator runs."])


@command(
    "emulator provision",
    examples=["emulator provision", "emulator provision --profile api=34 --json"],
)
@_profile
def emulator_provision(options: GlobalOptions, profile: str | None) -> Answer:
    """Return a ready emulator: a running one, a stopped one that is started, or a new one."""
    ready = emulators_of(options, profile).provision().to_dict()
    return Answer(ready, [f"{ready['avdName']} is ready as {ready['serial']}."])


def emulators_of(options: GlobalOptions, profile: str | None = None) -> Emulators:
    """Return the emulators of this machine, behind the chosen adb server."""
    host = AdbHost(locate_server(options.adb), notify=notice)
    return Emulators(
        profile=None if profile is None else parse_profile(profile),
        host=host,
        notify=notice,
        limits=_limits(options),
    )


def _limits(options: GlobalOptions) -> BootLimits:
    """Return how long a start may take: the default, or --timeout."""
    usual = BootLimits()
    timeout = positive_timeout(options, "--timeout must be a positive number of milliseconds")
    if timeout is None:
        return usual
    seconds = timeout / 1000
    return BootLimits(registration=min(usual.registration, seconds), boot=seconds)


@contextmanager
def reserved(emulators: Emulators, name: str, options: GlobalOptions) -> Iterator[None]:
    """Lease a virtual device while it runs; raise LeaseError naming the holder if it is taken."""
    running = next((one for one in emulators.status() if one.avd_name == name), None)
    if running is None:
        yield
        return
    device = replace(options, device=running.serial)
    with open_device(device) as transport, leased(device, transport):
        yield


def _named(command: str, words: tuple[str, ...]) -> str:
    if len(words) != 1:
        raise Mistake(f"emulator {command} <name>", exit_code=0)
    return words[0]


def _avd_table(found: Sequence[dict[str, Any]]) -> list[Piece]:
    if not found:
        return ["There are no virtual devices. Make one: clawperator-py emulator create"]
    rows = [
        (
            one["name"],
            str(one["apiLevel"] or "?"),
            one["abi"] or "?",
            _yes(one["running"]),
            Line("yes", "green") if one["supported"] else Line(_reasons(one), "yellow"),
        )
        for one in found
    ]
    return [Table(("name", "api", "abi", "running", "usable"), rows)]


def _reasons(avd: dict[str, Any]) -> str:
    return ", ".join(avd["unsupportedReasons"]) if avd["exists"] else "it does not exist"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
