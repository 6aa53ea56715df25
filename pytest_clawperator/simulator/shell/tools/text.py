"""Tools that pass text on: all of it, a part of it, or a count of it."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import read_all
from pytest_clawperator.simulator.shell.tools.inputs import Inputs, line_batches, split_lines
from pytest_clawperator.simulator.shell.tools.options import Options, parse_options
from pytest_clawperator.simulator.shell.tools.patterns.characters import CLASSES
from pytest_clawperator.simulator.shell.tools.printing import decode_escapes

_MAX_LIST = 200
_COUNT_OPTION = re.compile(r"-[0-9]+\Z")


async def cat(invocation: Invocation) -> int:
    """Copy files, or standard input, to standard output."""
    options = parse_options(invocation.args, flags="u")
    # It is part of the shell, and complains in its name.
    inputs = Inputs(invocation, options.operands, name=f"{invocation.shell.name}: cat")
    async for _, source in inputs:
        while data := await source.read():
            await invocation.stdout.write(data)
    return inputs.status


async def head(invocation: Invocation) -> int:
    """Copy the first lines."""
    options = _counted_options(invocation)
    inputs = Inputs(invocation, options.operands)
    async for _, source in inputs:
        count = options.number("n", 10)
        while count > 0 and (line := await source.read_line()):
            await invocation.stdout.write(line)
            count -= 1
    return inputs.status


async def tail(invocation: Invocation) -> int:
    """Copy the last lines, or with ``+N`` all from the Nth on."""
    options = _counted_options(invocation)
    inputs = Inputs(invocation, options.operands)
    async for _, source in inputs:
        lines = split_lines(await read_all(source))
        number = options.number("n", 10)
        from_start = options.text("n").startswith("+")
        start = number - 1 if from_start else len(lines) - abs(number)
        await invocation.stdout.write(b"".join(lines[max(0, start) :]))
    return inputs.status


def _counted_options(invocation: Invocation) -> Options:
    """Parse the options of ``head`` and ``tail``, where ``-5`` means ``-n5``."""
    args = [f"-n{word[1:]}" if _COUNT_OPTION.match(word) else word for word in invocation.args]
    return parse_options(args, values="n")


async def wc(invocation: Invocation) -> int:
    """Count the lines, words and bytes of one file or of standard input."""
    options = parse_options(invocation.args, flags="lwc")
    chosen = [letter for letter in "lwc" if letter in options] or ["l", "w", "c"]
    if len(options.operands) > 1:
        raise CommandFailure("several files are not supported")
    inputs = Inputs(invocation, options.operands)
    async for name, source in inputs:
        data = await read_all(source)
        counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
        width = 7 if len(chosen) > 1 and not options.operands else 0
        text = " ".join(f"{counts[letter]:{width}d}" for letter in chosen)
        await invocation.out(f"{text} {name}\n" if options.operands else f"{text}\n")
    return inputs.status


async def cut(invocation: Invocation) -> int:
    """Copy some fields of each line."""
    options = parse_options(invocation.args, values="fd")
    if "f" not in options:
        raise CommandFailure('Needs -f (see "cut --help")')
    ranges = _ranges(options.text("f"))
    delimiter = options.text("d", "\t") or "\t"
    inputs = Inputs(invocation, options.operands)
    async for _, source in inputs:
        async for lines in line_batches(source):
            for raw in lines:
                fields = decode(raw.rstrip(b"\n")).split(delimiter)
                places = {place for part in ranges for place in range(len(fields))[part]}
                kept = [fields[place] for place in sorted(places)] if len(fields) > 1 else fields
                await invocation.out(delimiter.join(kept) + "\n")
    return inputs.status


def _ranges(text: str) -> list[slice]:
    """Parse ``1,3-5,7-`` into slices."""
    if len(text) > _MAX_LIST:
        raise CommandFailure("list too long")
    ranges = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if not re.fullmatch(r"[0-9]{1,9}", low + high, re.ASCII) or low == "0":
            raise CommandFailure(f"bad {part}")
        first = int(low or "1") - 1
        ranges.append(slice(first, (int(high) if high else None) if dash else first + 1))
    return ranges


async def tr(invocation: Invocation) -> int:
    """Replace or delete characters."""
    options = parse_options(invocation.args, flags="d", least=1)
    first, *rest = map(_characters, options.operands)
    table: dict[int, int | None] = {}
    if "d" in options:
        table.update(dict.fromkeys(map(ord, first)))
    elif rest and rest[0]:
        second = rest[0] + rest[0][-1] * len(first)
        table.update(str.maketrans(first, second[: len(first)]))
    else:
        raise CommandFailure('Needs 2 arguments (see "tr --help")')
    while data := await invocation.stdin.read():
        await invocation.out(decode(data).translate(table))
    return 0


def _characters(text: str) -> str:
    """Write out the classes, ranges and escapes of a ``tr`` set."""
    written = ""
    for number, part in enumerate(re.split(r"\[:([a-z]*):\]", text)):
        if number % 2 == 0:
            plain, _ = decode_escapes(part)
            written += re.sub(r"(.)-(.)", _written_out, plain, flags=re.DOTALL)
        elif part in CLASSES:
            written += CLASSES[part]
        else:
            raise CommandFailure(f"unknown class [:{part}:]")
    return written


def _written_out(match: re.Match[str]) -> str:
    low, high = ord(match[1]), ord(match[2])
    if not low <= high <= low + 0xFFFF:
        raise CommandFailure(f"bad range {match[0]}")
    return "".join(map(chr, range(low, high + 1)))
