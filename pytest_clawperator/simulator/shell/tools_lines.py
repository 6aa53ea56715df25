"""Tools that put lines in order or count them: ``sort``, ``uniq``, ``seq``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.escapes import decode, encode
from pytest_clawperator.simulator.shell.io import read_all
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import (
    Inputs,
    Options,
    absolute,
    line_batches,
    parse_options,
    split_lines,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)")
_KEY = re.compile(r"(\d+)(?:\.(\d+))?([bfnrV]*)(?:,(\d+)(?:\.(\d+))?([bfnrV]*))?\Z")
_SEQ_CHUNK = 1000

_SortKey = tuple[object, ...]


async def sort(invocation: Invocation) -> int:
    """Put lines in order."""
    options = parse_options(invocation.args, flags="bcfinrsuV", values="kto")
    inputs = Inputs(invocation, options.operands)
    lines: list[str] = []
    async for _, source in inputs:
        for line in split_lines(await read_all(source)):
            lines.append(decode(line.rstrip(b"\n")))
    keys = [_key(text, options) for text in options.values.get("k", [])] or [
        _whole_line(options.flags)
    ]
    ordered = _sorted(lines, keys, options)
    if "c" in options:
        return await _checked(invocation, options, lines, ordered)
    output = encode("".join(line + "\n" for line in ordered))
    if "o" in options:
        invocation.shell.files.write(absolute(invocation, options.text("o")), output)
    else:
        await invocation.stdout.write(output)
    return inputs.status


async def _checked(
    invocation: Invocation, options: Options, lines: list[str], ordered: list[str]
) -> int:
    """Say where lines are out of order for the first time."""
    pairs = enumerate(zip(lines, ordered, strict=False), 1)
    wrong = next((number for number, (line, right) in pairs if line != right), None)
    if wrong is None and len(lines) == len(ordered):
        return 0
    name = options.operands[0] if options.operands else "-"
    await invocation.err(f"sort: {name}: Check line {(wrong or len(ordered)) + 1}\n")
    return 1


_Key = tuple[Callable[[str], object], bool]


def _sorted(lines: list[str], keys: list[_Key], options: Options) -> list[str]:
    ordered = lines if "s" in options or "u" in options else sorted(lines, key=encode)
    if "r" in options and ordered is not lines:
        ordered = ordered[::-1]
    for key, descending in reversed(keys):
        ordered = sorted(ordered, key=key, reverse=descending)  # type: ignore[arg-type]  # comparable by make
    if "u" not in options:
        return ordered
    kept: list[str] = []
    previous: list[object] | None = None
    for line in ordered:
        values = [key(line) for key, _ in keys]
        if values != previous:
            kept.append(line)
        previous = values
    return kept


def _whole_line(flags: frozenset[str]) -> _Key:
    return _compared(flags), "r" in flags


def _compared(flags: frozenset[str]) -> Callable[[str], object]:
    """Give what decides about the place of a text."""

    def value(text: str) -> object:
        if "n" in flags:
            match = _NUMBER.match(text)
            return float(match[1][:300]) if match else 0.0
        if "V" in flags:
            parts = re.split(r"(\d+)", text)
            return [(int(part[:300]) if odd % 2 else 0, part) for odd, part in enumerate(parts)]
        text = text.lstrip() if "b" in flags else text
        return encode(text.upper() if "f" in flags else text)

    return value


def _key(text: str, options: Options) -> _Key:
    """Read ``-k 2,3n``."""
    match = _KEY.match(text)
    if match is None or match[1] == "0":
        raise CommandFailure(f"bad -k '{text}'")
    first, last = int(match[1][:6]), int(match[4][:6]) if match[4] else None
    flags = frozenset(match[3] + (match[6] or "")) or options.flags
    separator = options.text("t")
    compared = _compared(flags)

    def value(line: str) -> object:
        # Without a separator, each field begins with the blanks in front of it.
        fields = line.split(separator) if separator else re.findall(r"\s*\S+", line)
        chosen = fields[first - 1 : last]
        if match[2] and chosen:
            chosen[0] = chosen[0].lstrip()[int(match[2][:6]) - 1 :]
        return compared((separator or "").join(chosen))

    return value, "r" in flags


async def uniq(invocation: Invocation) -> int:
    """Leave out lines that repeat the one before."""
    options = parse_options(invocation.args, flags="cdiu", values="fs")
    skip = options.number("f", 0)
    characters = options.number("s", 0)
    inputs = Inputs(invocation, options.operands[:1])
    kept: list[bytes] = []

    def compared(line: bytes) -> str:
        text = decode(line.rstrip(b"\n"))
        fields = list(re.finditer(r"\s*\S+", text))[:skip]
        text = text[fields[-1].end() :] if fields else text
        return (text.lower() if "i" in options else text)[characters:]

    def add(line: bytes, count: int) -> None:
        if ("d" in options and count < 2) or ("u" in options and count > 1):
            return
        kept.append((b"%7d " % count if "c" in options else b"") + line.rstrip(b"\n") + b"\n")

    current: bytes | None = None
    count = 0
    async for _, source in inputs:
        async for lines in line_batches(source):
            for line in lines:
                if current is not None and compared(line) == compared(current):
                    count += 1
                    continue
                if current is not None:
                    add(current, count)
                current, count = line, 1
            await invocation.stdout.write(b"".join(kept))
            kept.clear()
    if current is not None:
        add(current, count)
    await invocation.stdout.write(b"".join(kept))
    return inputs.status


async def seq(invocation: Invocation) -> int:
    """Count."""
    separator, words = "\n", invocation.args[1:]
    if words[:1] == ["-s"] and len(words) > 1:
        separator, words = words[1], words[2:]
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise CommandFailure(f"not number: {' '.join(words)}") from None
    if not 1 <= len(numbers) <= 3:
        raise CommandFailure('Needs 1 argument (see "seq --help")')
    first = numbers[0] if len(numbers) > 1 else 1.0
    step = numbers[1] if len(numbers) > 2 else 1.0
    places = max(len(word.partition(".")[2]) for word in words)
    count = int((numbers[-1] - first) / step + 1e-9) + 1 if step else 0
    for start in range(0, count, _SEQ_CHUNK):
        chunk = range(start, min(count, start + _SEQ_CHUNK))
        end = separator if chunk[-1] + 1 < count else "\n"
        text = separator.join(f"{first + number * step:.{places}f}" for number in chunk)
        await invocation.out(text + end)
    return 0
