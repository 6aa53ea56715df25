"""Tools that pass text on: all of it, a part of it, or a count of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.escapes import decode, decode_printf, encode
from pytest_clawperator.simulator.shell.io import Output, Source, read_all
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import (
    Inputs,
    Options,
    absolute,
    line_batches,
    parse_options,
    report,
    split_lines,
    whole_number,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_COUNT_OPTION = re.compile(r"-[0-9]+\Z")


async def cat(invocation: Invocation) -> int:
    """Copy files, or standard input, to standard output."""
    options = parse_options(invocation.args, flags="etuv")
    # Without options it is part of the shell, and speaks in its name.
    name = f"{invocation.shell.name}: cat" if not options.flags else "cat"
    inputs = Inputs(invocation, options.operands, name=name)
    async for _, source in inputs:
        while data := await source.read():
            await invocation.stdout.write(_visible(data, options))
    return inputs.status


def _visible(data: bytes, options: Options) -> bytes:
    if not options.flags - {"u"}:
        return data
    shown = bytearray()
    for byte in data:
        if byte == 10:
            shown += b"$\n" if "e" in options else b"\n"
        elif byte == 9 and "t" not in options:
            shown += b"\t"
        else:
            low = byte & 0x7F
            shown += b"M-" if byte & 0x80 else b""
            shown += b"^?" if low == 127 else b"^%c" % (low + 64) if low < 32 else bytes([low])
    return bytes(shown)


def _with_count(args: Sequence[str]) -> list[str]:
    """Read ``-5`` as ``-n5``."""
    return [f"-n{word[1:]}" if _COUNT_OPTION.match(word) else word for word in args]


async def head(invocation: Invocation) -> int:
    """Copy the first lines or bytes."""
    options = parse_options(_with_count(invocation.args), flags="qv", values="nc")
    inputs = Inputs(invocation, options.operands)
    titles = _Titles(invocation, options)
    async for name, source in inputs:
        await titles.write(name)
        if "c" in options:
            await _first_bytes(invocation, source, options.number("c", 0))
        else:
            await _first_lines(invocation, source, options.number("n", 10))
    return inputs.status


class _Titles:
    """The line above each of several files."""

    def __init__(self, invocation: Invocation, options: Options) -> None:
        self._invocation = invocation
        self._shown = "q" not in options and ("v" in options or len(options.operands) > 1)
        self._gap = ""

    async def write(self, name: str) -> None:
        if self._shown:
            await self._invocation.out(f"{self._gap}==> {name} <==\n")
            self._gap = "\n"


async def _first_lines(invocation: Invocation, source: Source, count: int) -> None:
    if count < 0:
        raise CommandFailure('-n < 0 (see "head --help")')
    while count and (data := await source.read()):
        lines = data.count(b"\n")
        if lines >= count:
            end = sum(len(line) for line in split_lines(data)[:count])
            source.put_back(data[end:])
            data, lines = data[:end], count
        await invocation.stdout.write(data)
        count -= lines


async def _first_bytes(invocation: Invocation, source: Source, count: int) -> None:
    while count > 0 and (data := await source.read()):
        source.put_back(data[count:])
        await invocation.stdout.write(data[:count])
        count -= len(data[:count])


async def tail(invocation: Invocation) -> int:
    """Copy the last lines or bytes."""
    options = parse_options(_with_count(invocation.args), flags="qv", values="nc")
    inputs = Inputs(invocation, options.operands)
    titles = _Titles(invocation, options)
    async for name, source in inputs:
        await titles.write(name)
        data = await read_all(source)
        if "c" in options:
            await invocation.stdout.write(data[_tail_start(len(data), options.text("c")) :])
        else:
            lines = split_lines(data)
            start = _tail_start(len(lines), options.text("n", "10"))
            await invocation.stdout.write(b"".join(lines[start:]))
    return inputs.status


def _tail_start(size: int, count: str) -> int:
    number = whole_number(count)
    return max(0, number - 1) if count.startswith("+") else max(0, size - abs(number))


async def wc(invocation: Invocation) -> int:
    """Count lines, words, characters and bytes."""
    options = parse_options(invocation.args, flags="lwcm")
    chosen = [letter for letter in "lwmc" if letter in options] or ["l", "w", "c"]
    inputs = Inputs(invocation, options.operands)
    rows: list[tuple[list[int], str]] = []
    async for name, source in inputs:
        data = await read_all(source)
        found = {
            "l": data.count(b"\n"),
            "w": len(data.split()),
            "m": len(decode(data)),
            "c": len(data),
        }
        rows.append(([found[letter] for letter in chosen], name))
    if len(rows) > 1:
        sums = [sum(column) for column in zip(*(counts for counts, _ in rows), strict=True)]
        rows.append((sums, "total"))
    width = 7 if len(rows) > 1 or (len(chosen) > 1 and not options.operands) else 0
    for counts, name in rows:
        shown = "" if name == "-" and not options.operands else f" {name}"
        await invocation.out(" ".join(f"{count:{width}d}" for count in counts) + shown + "\n")
    return inputs.status


async def tee(invocation: Invocation) -> int:
    """Copy standard input to standard output and into files."""
    options = parse_options(invocation.args, flags="ai")
    files = invocation.shell.files
    outputs: list[Output] = [invocation.stdout]
    paths: list[str] = []
    status = 0
    for operand in options.operands:
        try:
            path = absolute(invocation, operand)
            if "a" in options:
                files.append(path, b"")
            else:
                files.write(path, b"")
            paths.append(path)
        except FileSystemError as error:
            status = 1
            await report(invocation, operand, error)
    while data := await invocation.stdin.read():
        for path in paths:
            files.append(path, data)
        for output in outputs:
            await output.write(data)
    return status


async def cut(invocation: Invocation) -> int:
    """Copy parts of each line."""
    options = parse_options(invocation.args, flags="sn", values="bcfdO")
    kind = next((letter for letter in "bcf" if letter in options), None)
    if kind is None:
        raise CommandFailure('Needs -fcb (see "cut --help")')
    wanted = _ranges(options.text(kind))
    cutter = _field_cutter(options, wanted) if kind == "f" else _character_cutter(kind, wanted)
    inputs = Inputs(invocation, options.operands)
    async for _, source in inputs:
        async for lines in line_batches(source):
            kept = (cutter(line.rstrip(b"\n")) for line in lines)
            await invocation.stdout.write(
                b"".join(line + b"\n" for line in kept if line is not None)
            )
    return inputs.status


def _ranges(text: str) -> Callable[[int], list[int]]:
    """Read ``1,3-5,7-``; give a function from how many there are to the places wanted."""
    ranges: list[tuple[int, int | None]] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if not (low or high) or not (low + high).isdecimal():
            raise CommandFailure(f"bad {part}")
        first = whole_number(low) if low else 1
        last = (whole_number(high) if high else None) if dash else first
        if first < 1:
            raise CommandFailure(f"bad {part}")
        ranges.append((first, last))

    def places(count: int) -> list[int]:
        found: set[int] = set()
        for first, last in ranges:
            found.update(range(first - 1, count if last is None else min(last, count)))
        return sorted(found)

    return places


def _field_cutter(
    options: Options, wanted: Callable[[int], list[int]]
) -> Callable[[bytes], bytes | None]:
    delimiter = encode(options.text("d", "\t")) or b"\t"
    joined = encode(options.text("O")) or delimiter

    def cutter(line: bytes) -> bytes | None:
        if "s" in options and delimiter not in line:
            return None
        fields = line.split(delimiter)
        return joined.join(fields[place] for place in wanted(len(fields)))

    return cutter


def _character_cutter(
    kind: str, wanted: Callable[[int], list[int]]
) -> Callable[[bytes], bytes | None]:
    def cutter(line: bytes) -> bytes | None:
        if kind == "b":
            return bytes(line[place] for place in wanted(len(line)))
        text = decode(line)
        return encode("".join(text[place] for place in wanted(len(text))))

    return cutter


async def tr(invocation: Invocation) -> int:
    """Replace, delete or squeeze characters."""
    options = parse_options(invocation.args, flags="cCds", least=1)
    first = _characters(options.operands[0])
    second = _characters(options.operands[1]) if len(options.operands) > 1 else ""
    squeezes = "s" in options
    if not second and "d" not in options and not squeezes:
        raise CommandFailure('Needs 2 arguments (see "tr --help")')
    inverse = "c" in options or "C" in options
    table = _Table(first, second, inverse=inverse, deletes="d" in options)
    squeezed = _Members(second) if second else _Members(first, inverse=inverse)
    previous = ""
    while data := await invocation.stdin.read():
        text = decode(data).translate(table)
        if squeezes and text:
            text = text.lstrip(previous) if previous and previous in squeezed else text
            text = _REPEATED.sub(lambda run: run[1] if run[1] in squeezed else run[0], text)
            previous = text[-1:] or previous
        await invocation.out(text)
    return 0


_REPEATED = re.compile(r"(.)\1+", re.DOTALL)


class _Members:
    """A set of characters, or all the others."""

    def __init__(self, characters: str, *, inverse: bool = False) -> None:
        self._characters = frozenset(characters)
        self._inverse = inverse

    def __contains__(self, character: str) -> bool:
        return (character in self._characters) != self._inverse


class _Table(dict[int, "int | None"]):
    """What becomes of each character, worked out when it first comes."""

    def __init__(self, first: str, second: str, *, inverse: bool, deletes: bool) -> None:
        super().__init__()
        self._members = _Members(first, inverse=inverse)
        self._deletes = deletes
        self._last = ord(second[-1]) if second else None
        self._exact = (
            {} if inverse else {ord(a): ord(b) for a, b in zip(first, second, strict=False)}
        )

    def __missing__(self, code: int) -> int | None:
        self[code] = made = self._made(code)
        return made

    def _made(self, code: int) -> int | None:
        if chr(code) not in self._members:
            return code
        if self._deletes:
            return None
        return code if self._last is None else self._exact.get(code, self._last)


_TR_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@[-`{-~",
    "space": "\t\n\v\f\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _characters(text: str) -> str:
    """Write out classes, ranges and escapes of a ``tr`` set."""
    text = re.sub(r"\[:([a-z]+):\]", lambda name: _TR_CLASSES.get(name[1], name[0]), text)
    text = decode_printf(text)[0]
    return re.sub(r"(.)-(.)", _written_out, text, flags=re.DOTALL)


def _written_out(match: re.Match[str]) -> str:
    low, high = ord(match[1]), ord(match[2])
    if low > high:
        raise CommandFailure(f"bad range {match[0]}")
    if high - low > 0xFFFF:
        raise CommandFailure(f"range too big {match[0]}")
    return "".join(map(chr, range(low, high + 1)))
