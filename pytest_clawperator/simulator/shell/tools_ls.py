"""``ls`` and ``stat``: what the device knows of its files."""

from __future__ import annotations

import re
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError, Stat
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import Options, absolute, parse_options, report

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_MAX_DEPTH = 40
_UNITS = "KMGT"
_KINDS = {
    modes.S_IFREG: "regular file",
    modes.S_IFDIR: "directory",
    modes.S_IFLNK: "symbolic link",
    modes.S_IFCHR: "character special file",
}
# Who owns what is below these folders; the first that fits counts.
_OWNERS = (
    ("/storage/", ("u0_a177", 10177), ("media_rw", 1023)),
    ("/data/local/tmp", ("shell", 2000), ("shell", 2000)),
    ("/data", ("system", 1000), ("system", 1000)),
    ("/", ("root", 0), ("root", 0)),
)


def owners(path: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Give the user and the group that a resolved path belongs to, by name and number."""
    return next((user, group) for folder, user, group in _OWNERS if path.startswith(folder))


@dataclass(frozen=True)
class _Entry:
    """One line of a listing."""

    name: str
    path: str
    stat: Stat
    owner: str
    group: str
    target: str | None

    @property
    def is_folder(self) -> bool:
        return modes.S_ISDIR(self.stat.mode)


async def ls(invocation: Invocation) -> int:
    """List files and folders."""
    options = parse_options(
        invocation.args, flags="1ACFHLRSacdghiklmnopqrstux", long={"full-time": "l", "color": "1"}
    )
    return await _Listing(invocation, options).run()


class _Listing:
    """One run of ``ls``."""

    def __init__(self, invocation: Invocation, options: Options) -> None:
        self._invocation = invocation
        self._options = options
        self._status = 0
        self._gap = ""

    async def run(self) -> int:
        operands = self._options.operands or ["."]
        entries = [entry for path in operands if (entry := await self._entry(path, path))]
        alone = entries if "d" in self._options else [e for e in entries if not e.is_folder]
        folders = [] if "d" in self._options else [e for e in entries if e.is_folder]
        if alone:
            await self._print(self._ordered(alone))
            self._gap = "\n"
        titled = len(operands) > 1 or "R" in self._options
        for folder in self._ordered(folders):
            await self._folder(folder, titled=titled)
        return self._status

    async def _folder(self, folder: _Entry, *, titled: bool) -> None:
        waiting = [(folder.name, folder.path, 0)]
        while waiting:
            name, path, depth = waiting.pop(0)
            try:
                names = self._invocation.shell.files.listdir(path)
            except FileSystemError as error:
                self._status = 1
                await report(self._invocation, name, error)
                continue
            entries = await self._inside(path, names)
            if titled:
                await self._invocation.out(f"{self._gap}{name}:\n")
            self._gap = "\n"
            if "l" in self._options or "s" in self._options:
                await self._invocation.out(f"total {sum(map(_blocks, entries))}\n")
            await self._print(entries)
            if "R" in self._options and depth < _MAX_DEPTH:
                below = [e for e in entries if e.is_folder and e.name not in (".", "..")]
                waiting[:0] = [(f"{name}/{e.name}", e.path, depth + 1) for e in below]

    async def _inside(self, path: str, names: list[str]) -> list[_Entry]:
        if "a" in self._options:
            names = [".", "..", *names]
        elif "A" not in self._options:
            names = [name for name in names if not name.startswith(".")]
        found = [await self._entry(name, f"{path.rstrip('/')}/{name}") for name in names]
        return self._ordered([entry for entry in found if entry is not None])

    async def _entry(self, name: str, path: str) -> _Entry | None:
        files = self._invocation.shell.files
        try:
            path = absolute(self._invocation, path)
            # A link to a folder that is named on the command line means the folder.
            follow = path.endswith("/") or not {"l", "d"} & self._options.flags
            stat = files.stat(path) if follow and files.exists(path) else files.lstat(path)
            target = files.readlink(path) if modes.S_ISLNK(stat.mode) else None
            (owner, _), (group, _) = owners(path if target else files.resolve(path))
        except FileSystemError as error:
            self._status = 1
            await report(self._invocation, name, error)
            return None
        return _Entry(name, path, stat, owner, group, target)

    def _ordered(self, entries: list[_Entry]) -> list[_Entry]:
        flags = self._options.flags
        entries = sorted(entries, key=lambda entry: entry.name)
        if "t" in flags:
            entries.sort(key=lambda entry: -entry.stat.mtime)
        elif "S" in flags:
            entries.sort(key=lambda entry: -entry.stat.size)
        return entries[::-1] if "r" in flags else entries

    async def _print(self, entries: list[_Entry]) -> None:
        if not entries:
            return
        flags = self._options.flags
        names = [entry.name + self._mark(entry) for entry in entries]
        if flags & {"l", "g", "o", "n"}:
            names = self._long(entries, names)
        separator = ", " if "m" in flags else "\n"
        await self._invocation.out(separator.join(names) + "\n")

    def _mark(self, entry: _Entry) -> str:
        if entry.is_folder:
            return "/" if self._options.flags & {"F", "p"} else ""
        if "F" not in self._options:
            return ""
        if entry.target is not None:
            return "@" if "l" not in self._options else ""
        return "*" if entry.stat.mode & 0o111 else ""

    def _long(self, entries: list[_Entry], names: list[str]) -> list[str]:
        rows = []
        for entry, name in zip(entries, names, strict=True):
            size = _short_size(entry.stat.size) if "h" in self._options else str(entry.stat.size)
            user = [] if "g" in self._options else [entry.owner]
            group = [] if "o" in self._options else [entry.group]
            shown = name if entry.target is None else f"{name} -> {entry.target}"
            links = "2" if entry.is_folder else "1"
            mode = modes.filemode(entry.stat.mode)
            rows.append([mode, links, *user, *group, size, _minute(entry.stat.mtime), shown])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return [
            " ".join(
                cell
                if column == len(row) - 1
                else cell.rjust(widths[column])
                if cell.isdecimal() or column == len(row) - 3
                else cell.ljust(widths[column])
                for column, cell in enumerate(row)
            )
            for row in rows
        ]


def _blocks(entry: _Entry) -> int:
    if entry.target is not None:
        return 0
    return (entry.stat.size + 4095) // 4096 * 4


def _short_size(size: int) -> str:
    """Write a size as people read it: 1023, 1.5K, 12M."""
    value, unit = float(size), ""
    for unit_ in _UNITS:
        if value < 1000:
            break
        value, unit = value / 1024, unit_
    return f"{value:.1f}{unit}" if unit and value < 10 else f"{value:.0f}{unit}"


def _minute(mtime: int) -> str:
    return f"{datetime.fromtimestamp(mtime, timezone.utc):%Y-%m-%d %H:%M}"


async def stat(invocation: Invocation) -> int:
    """Describe files, in a format if one is given."""
    options = parse_options(invocation.args, flags="Lt", values="c", least=1)
    files = invocation.shell.files
    status = 0
    for operand in options.operands:
        try:
            path = absolute(invocation, operand)
            found = files.stat(path) if "L" in options else files.lstat(path)
            resolved = files.resolve(path)
        except FileSystemError as error:
            status = 1
            await invocation.err(f"stat: '{operand}': {error.reason}\n")
            continue
        text = options.text("c", _STAT_FORMAT)
        await invocation.out(_formatted(text, operand, resolved, found) + "\n")
    return status


_STAT_FORMAT = (
    "  File: %n\n  Size: %s\t Blocks: %b\t IO Blocks: 512\t %F\n"
    "Device: fd05h/64773d\t Inode: %i\t Links: %h\t Device type: 0,0\n"
    "Access: (0%a/%A)\tUid: (%5u/%8U)\tGid: (%5g/%8G)\n"
    "Access: %x\nModify: %y\nChange: %z"
)


def _formatted(text: str, name: str, path: str, found: Stat) -> str:
    (user, uid), (group, gid) = owners(path)
    moment = f"{datetime.fromtimestamp(found.mtime, timezone.utc):%Y-%m-%d %H:%M:%S}"
    values: dict[str, Callable[[], str]] = {
        "%": lambda: "%",
        "a": lambda: f"{modes.S_IMODE(found.mode):o}",
        "A": lambda: modes.filemode(found.mode),
        "b": lambda: str((found.size + 4095) // 4096 * 8),
        "B": lambda: "512",
        "d": lambda: "64773",
        "f": lambda: f"{found.mode:x}",
        "F": lambda: _KINDS.get(modes.S_IFMT(found.mode), "unknown"),
        "g": lambda: str(gid),
        "G": lambda: group,
        "h": lambda: "2" if modes.S_ISDIR(found.mode) else "1",
        "i": lambda: str(sum(map(ord, path)) * 31 % 1_000_003),
        "n": lambda: name,
        "N": lambda: name,
        "s": lambda: str(found.size),
        "u": lambda: str(uid),
        "U": lambda: user,
        **dict.fromkeys("XYZ", lambda: str(found.mtime)),
        **dict.fromkeys("xyz", lambda: f"{moment}.000000000 +0000"),
    }

    def fill(match: re.Match[str]) -> str:
        if match[2] not in values:
            raise CommandFailure(f"bad %{match[2]}")
        return values[match[2]]().rjust(int(match[1] or "0"))

    return re.sub(r"%(\d{0,3})(.)", fill, text, flags=re.DOTALL)
