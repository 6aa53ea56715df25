"""``dd``: copies so many blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import FileOutput, Input, Output, open_file
from pytest_clawperator.simulator.shell.tools.inputs import absolute

_SIZE = re.compile(r"([0-9]{1,12})([cwbkmg]?)", re.ASCII | re.IGNORECASE)
_FACTORS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_UNLIMITED = 1 << 62


@dataclass
class _Job:
    """What is copied: from standard input to standard output, unless files are named."""

    input: str = ""
    output: str = ""
    block: int = 512
    count: int = _UNLIMITED
    skip: int = 0
    quiet: bool = False


async def dd(invocation: Invocation) -> int:
    """Copy blocks from one file to another, and report how many."""
    job = _parse(invocation.args[1:])
    source = _open_input(invocation, job)
    target = _open_output(invocation, job)
    copied = await _copy(
        source, target, skip=job.skip * job.block, most=min(job.count * job.block, _UNLIMITED)
    )
    if not job.quiet:
        whole, part = divmod(copied, job.block)
        records = f"{whole}+{int(part > 0)} records"
        await invocation.err(
            f"{records} in\n{records} out\n{copied} bytes ({_short(copied)}) copied, 0.001 s,"
            f" {_short(copied * 1000)}/s\n"
        )
    return 0


def _parse(words: list[str]) -> _Job:
    job = _Job()
    for word in words:
        key, _, value = word.partition("=")
        if key == "if":
            job.input = value
        elif key == "of":
            job.output = value
        elif key == "bs":
            job.block = _size(value)
            if not job.block:
                raise CommandFailure("bs=0 is too small")
        elif key == "count":
            job.count = _size(value)
        elif key == "skip":
            job.skip = _size(value)
        elif word in ("status=none", "status=noxfer"):
            job.quiet = word == "status=none"
        else:
            raise CommandFailure(f"bad arg {word}; known are if, of, bs, count, skip, status")
    return job


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise CommandFailure(f"not integer: {text}")
    return int(found[1]) * _FACTORS[found[2].lower()]


def _open_input(invocation: Invocation, job: _Job) -> Input:
    if not job.input:
        return invocation.stdin
    try:
        return open_file(invocation.shell.files, absolute(invocation, job.input))
    except FileSystemError as error:
        raise CommandFailure(f"{job.input}: {error.reason}") from None


def _open_output(invocation: Invocation, job: _Job) -> Output:
    if not job.output:
        return invocation.stdout
    files, path = invocation.shell.files, absolute(invocation, job.output)
    try:
        files.write(path, b"")
    except FileSystemError as error:
        raise CommandFailure(f"{job.output}: {error.reason}") from None
    return FileOutput(files, path)


async def _copy(source: Input, target: Output, *, skip: int, most: int) -> int:
    """Copy what follows the first ``skip`` bytes, at most so much; return how much it was."""
    copied = 0
    while copied < most and (data := await source.read()):
        skipped = min(skip, len(data))
        skip -= skipped
        piece = data[skipped : skipped + most - copied]
        if piece:
            await target.write(piece)
        copied += len(piece)
    return copied


def _short(count: int) -> str:
    """Return a number of bytes as people read it."""
    size, units = float(count), " KMGTP"
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{count}" if units[0] == " " else f"{size:.1f} {units[0]}"
