"""``simulate``: simulated phones that run in the background."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import Answer, Piece, Table
from pytest_clawperator.errors import ConfigurationError, DeviceError, ErrorCode, file_problem
from pytest_clawperator.simulator.child_process import Simulator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `start` asks


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
    """Start simulated phones behind their own adb server, and leave them running.

    They continue after the shell ends, until `simulate stop`.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise Mistake(
            f"{name!r} is not a valid name for phones",
            hint="It begins with a letter and has letters, digits, hyphens and underscores.",
        )
    try:
        started = start_phones(
            name, **{key: each for key, each in phones.items() if each is not None}
        )
    except NameTakenError as error:
        raise Mistake(
            f"phones called {name} run already",
            hint=f"Give another --name, or end those: `clawperator-py simulate stop {name}`.",
        ) from error
    return Answer(started.to_document(), _how_to_use(started))


@command("simulate list", examples=["simulate list"])
def simulate_list(options: GlobalOptions) -> Answer:
    """List the simulated phones that were left running."""
    found = running_phones()
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
    """Stop simulated phones by name or process id, or the only ones."""
    wanted = _chosen(running_phones(), names, is_all=is_all)
    for one in wanted:
        stop_phones(one)
    running_phones()  # removes the folder, if it is empty now
    ended: list[Piece] = [f"Ended {one.name} (process {one.pid})." for one in wanted]
    stopped = [one.to_document() for one in wanted]
    return Answer({"ok": True, "stopped": stopped}, ended or ["No phones ran."])


def _chosen(
    found: Sequence[RunningPhones], names: Sequence[str], *, is_all: bool
) -> list[RunningPhones]:
    """Return the chosen phones; raise for an unknown name."""
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


_LARGEST = 65536

# How long phones may take to end when they are asked to, and after they are made to.
_GRACE, _POLL = 5.0, 0.02


class NameTakenError(ValueError):
    """Phones of that name are already running."""


@dataclass(frozen=True)
class RunningPhones:
    """Running simulated phones: their process, adb server and serials.

    The file has their name, and is locked by their process while it lives. Phones that are still
    starting have no server yet.
    """

    path: Path
    pid: int
    adb: str = ""
    serials: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Their name."""
        return self.path.stem

    def to_document(self) -> dict[str, Any]:
        """Return them for programs."""
        about = {"pid": self.pid, "adb": self.adb, "serials": list(self.serials)}
        return {"name": self.name, **about}


def start_phones(name: str | None = None, **options: Any) -> RunningPhones:
    """Start phones that continue after this process and the shell have ended.

    Raise ``NameTakenError`` if the name is in use; without a name they get a free one.
    """
    if fcntl is None:
        raise ConfigurationError(
            "simulated phones do not run on this system", hint="Use Linux or macOS (WSL will do)."
        )
    with _locked_file(name) as (path, descriptor), ExitStack() as undo:
        undo.callback(path.unlink)
        simulator = Simulator(stay=True, pid_file=descriptor, **options)
        undo.callback(simulator.stop)
        simulator.start()
        adb = f"{simulator.adb_host}:{simulator.adb_port}"
        phones = RunningPhones(path, simulator.pid, adb, tuple(simulator.serials))
        os.pwrite(descriptor, json.dumps(phones.to_document()).encode(), 0)
        undo.pop_all()  # from now on they are on their own
        simulator.leave()
    return phones


def running_phones() -> list[RunningPhones]:
    """Return the running phones; remove the files of those that have ended."""
    found = (_read_phones(path) for path in sorted(_phones_folder().glob("*.json")))
    phones = [one for one in found if one is not None]
    if not phones:
        with suppress(OSError):  # it contains other files
            _phones_folder().rmdir()
            _phones_folder().parent.rmdir()
    return phones


def elsewhere(adb: str) -> str:
    """Return how to reach the phones behind another adb server, or an empty text."""
    found = [
        f"--adb {one.adb} ({one.name})" for one in running_phones() if one.adb not in ("", adb)
    ]
    return f"Simulated phones run: {', '.join(found)}." if found else ""


def stop_phones(phones: RunningPhones) -> None:
    """Stop phones, and wait until their processes have ended."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _read_phones(phones.path) is None:
            return
        with suppress(ProcessLookupError):
            os.kill(phones.pid, number)
        deadline = time.monotonic() + _GRACE
        while _read_phones(phones.path) is not None and time.monotonic() < deadline:
            time.sleep(_POLL)  # there is no event for the end of a process that is not a child
    if _read_phones(phones.path) is not None:
        raise DeviceError(
            f"the simulated phones of process {phones.pid} do not end",
            code=ErrorCode.EMULATOR_STOP_FAILED,
            hint=f"End the process by hand: kill -9 {phones.pid}",
        )


def _phones_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "pytest-clawperator" / "simulated"


@contextmanager
def _locked_file(name: str | None) -> Iterator[tuple[Path, int]]:
    """Make and lock the file of a name, or of the first free one."""
    for number in count(1):
        path = _phones_folder() / f"{name or f'phones-{number}'}.json"
        _read_phones(path)  # which removes the file of phones that are gone
        descriptor = _new_file(path)
        if descriptor is None and name is not None:
            raise NameTakenError(name)
        if descriptor is None:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(path, descriptor):  # it was not removed as stale before it was locked
                yield path, descriptor
                return
        finally:
            os.close(descriptor)


def _new_file(path: Path) -> int | None:
    """Make a file and return its descriptor; None if it exists."""
    while True:
        try:
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{path.parent} cannot be made: {file_problem(error)}",
                code=ErrorCode.FILE_UNAVAILABLE,
                hint="Set XDG_STATE_HOME to a folder that you may write to.",
            ) from error
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return None
        except FileNotFoundError:
            continue  # a stop of the last phones removed the folder at this moment


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_phones(path: Path) -> RunningPhones | None:
    """Return the phones of a file; None if they have ended, and remove the file then."""
    try:
        file = path.open("rb")
    except OSError:
        return None
    with closing(file):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _parse_phones(path, file.read(_LARGEST))
        if _is_at(path, file.fileno()):  # else other phones took the name before the lock
            path.unlink()
        return None


def _parse_phones(path: Path, content: bytes) -> RunningPhones | None:
    """Parse a file, which has only the process id while the phones are starting."""
    try:
        found = json.loads(content)
        if isinstance(found, int):
            return RunningPhones(path, found)
        return RunningPhones(path, found["pid"], found["adb"], tuple(found["serials"]))
    except (ValueError, KeyError, TypeError):
        return None
