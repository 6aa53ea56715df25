"""``ls`` and ``stat``: what is known of files."""

from __future__ import annotations

import re
import stat as modes
from dataclasses import dataclass
from datetime import datetime, timezone

from pytest_clawperator.simulator.file_nodes import Stat
from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.tools.inputs import absolute, report
from pytest_clawperator.simulator.shell.tools.options import Options, parse_options

_KINDS = {
    modes.S_IFREG: "regular file",
    modes.S_IFDIR: "directory",
    modes.S_IFLNK: "symbolic link",
    modes.S_IFCHR: "character special file",
}
# Who owns what is below these folders; the first that fits counts.
_OWNERS = (
    ("/storage/", "u0_a177", "media_rw"),
    ("/data/local/tmp", "shell", "shell"),
    ("/data", "system", "system"),
    ("/", "root", "root"),
)


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

    def columns(self) -> list[str]:
        """Return the cells of the long format."""
        moment = datetime.fromtimestamp(self.stat.mtime, timezone.utc)
        return [
            modes.filemode(self.stat.mode),
            "2" if self.is_folder else "1",
            self.owner,
            self.group,
            str(self.stat.size),
            f"{moment:%Y-%m-%d %H:%M}",
            self.name if self.target is None else f"{self.name} -> {self.target}",
        ]


async def ls(invocation: Invocation) -> int:
    """List files and folders."""
    options = parse_options(invocation.args, flags="1Aadlt")
    return await _Listing(invocation, options).run()


class _Listing:
    """One run of ``ls``."""

    def __init__(self, invocation: Invocation, options: Options) -> None:
        self._invocation = invocation
        self._options = options
        self._status = 0
        self._gap = ""

    async def run(self) -> int:
        """Print everything and return the status."""
        operands = self._options.operands or ["."]
        entries = [entry for path in operands if (entry := await self._entry(path, path))]
        opens = "d" not in self._options
        alone = [entry for entry in entries if not (opens and entry.is_folder)]
        folders = [entry for entry in entries if opens and entry.is_folder]
        if alone:
            await self._print(self._ordered(alone))
            self._gap = "\n"
        for folder in self._ordered(folders):
            await self._print_folder(folder, titled=len(operands) > 1)
        return self._status

    async def _print_folder(self, folder: _Entry, *, titled: bool) -> None:
        entries = await self._inside(folder.path)
        if titled:
            await self._invocation.out(f"{self._gap}{folder.name}:\n")
        self._gap = "\n"
        if "l" in self._options:
            await self._invocation.out(f"total {sum(map(_blocks, entries))}\n")
        await self._print(entries)

    async def _inside(self, path: str) -> list[_Entry]:
        names = self._invocation.shell.files.listdir(path)
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
            owned = path if target else files.resolve(path)
            _, owner, group = next(row for row in _OWNERS if owned.startswith(row[0]))
        except FileSystemError as error:
            self._status = 1
            await report(self._invocation, name, error)
            return None
        return _Entry(name, path, stat, owner, group, target)

    def _ordered(self, entries: list[_Entry]) -> list[_Entry]:
        entries = sorted(entries, key=lambda entry: entry.name)
        if "t" in self._options:
            entries.sort(key=lambda entry: -entry.stat.mtime)
        return entries

    async def _print(self, entries: list[_Entry]) -> None:
        lines = [entry.name for entry in entries]
        if "l" in self._options and entries:
            rows = [entry.columns() for entry in entries]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines = [_row(row, widths) for row in rows]
        await self._invocation.out("".join(f"{line}\n" for line in lines))


def _row(cells: list[str], widths: list[int]) -> str:
    """Join cells in columns; numbers are aligned to the right."""
    columns = [
        cell.rjust(width) if cell.isdecimal() else cell.ljust(width)
        for cell, width in zip(cells[:-1], widths, strict=False)
    ]
    return " ".join([*columns, cells[-1]])


def _blocks(entry: _Entry) -> int:
    return 0 if entry.target is not None else (entry.stat.size + 4095) // 4096 * 4


async def stat(invocation: Invocation) -> int:
    """Describe files in the format of ``-c``."""
    options = parse_options(invocation.args, values="c", least=1)
    if "c" not in options:
        raise CommandFailure("only -c FORMAT is supported by the simulated tool")
    status = 0
    for operand in options.operands:
        try:
            found = invocation.shell.files.lstat(absolute(invocation, operand))
        except FileSystemError as error:
            status = 1
            await invocation.err(f"stat: '{operand}': {error.reason}\n")
            continue
        await invocation.out(_formatted(options.text("c"), operand, found) + "\n")
    return status


def _formatted(form: str, name: str, found: Stat) -> str:
    values = {
        "%": "%",
        "a": f"{modes.S_IMODE(found.mode):o}",
        "A": modes.filemode(found.mode),
        "F": _KINDS.get(modes.S_IFMT(found.mode), "unknown"),
        "n": name,
        "s": str(found.size),
        **dict.fromkeys("XYZ", str(found.mtime)),
    }

    def fill(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise CommandFailure(f"bad %{match[1]}")
        return values[match[1]]

    return re.sub(r"%(.)", fill, form, flags=re.DOTALL)
