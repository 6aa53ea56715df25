"""``printf``, ``date``, and tools that write bytes in other ways."""

from __future__ import annotations

import base64 as coding
import binascii
import hashlib
import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.escapes import decode_printf
from pytest_clawperator.simulator.shell.io import read_all
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import Inputs, parse_options

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Command, Invocation

_SPEC = re.compile(
    r"%([-+ #0]*)(\*|\d{0,4})(?:\.(\*|\d{0,4}))?(?:hh|h|ll|l|j|z|t|L)?(.?)", re.DOTALL
)
_NUMBER = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_MAX_OUTPUT = 1 << 20


async def printf(invocation: Invocation) -> int:
    """Print arguments in a format, as often as there are arguments for it."""
    arguments = invocation.args[1:]
    arguments = arguments[arguments[:1] == ["--"] :]
    if not arguments:
        raise CommandFailure('Needs 1 argument (see "printf --help")')
    printer = _Printer(invocation, arguments[0], arguments[1:])
    return await printer.run()


class _Printer:
    """One run of ``printf``."""

    def __init__(self, invocation: Invocation, text: str, arguments: list[str]) -> None:
        self._invocation = invocation
        self._arguments = arguments
        self._used = 0
        self._status = 0
        self._stopped = False
        self._pieces: list[str] = []
        self._text = text

    async def run(self) -> int:
        size = 0
        while True:
            before = self._used
            await self._once()
            text = "".join(self._pieces)
            self._pieces.clear()
            size += len(text)
            await self._invocation.out(text)
            again = before < self._used < len(self._arguments)
            if self._stopped or not again or size > _MAX_OUTPUT:
                return self._status

    async def _once(self) -> None:
        position = 0
        for match in _SPEC.finditer(self._text):
            self._literal(self._text[position : match.start()])
            if self._stopped:
                return
            position = match.end()
            await self._conversion(match)
            if self._stopped:
                return
        self._literal(self._text[position:])

    def _literal(self, text: str) -> None:
        decoded, stopped = decode_printf(text)
        self._pieces.append(decoded)
        self._stopped = self._stopped or stopped

    def _next(self) -> str:
        self._used += 1
        return self._arguments[self._used - 1] if self._used <= len(self._arguments) else ""

    async def _conversion(self, match: re.Match[str]) -> None:
        flags, width, precision, letter = match[1], match[2], match[3], match[4]
        if letter == "%":
            self._pieces.append("%")
            return
        width = str(await self._integer("d")) if width == "*" else width
        precision = str(await self._integer("d")) if precision == "*" else precision
        if width.startswith("-"):
            flags, width = flags + "-", width[1:]
        form = f"%{flags}{width[:4]}" + (f".{precision[:4]}" if precision is not None else "")
        if letter == "b":
            text, self._stopped = decode_printf(self._next(), argument=True)
            self._pieces.append((form + "s") % text)
        elif letter == "s":
            self._pieces.append((form + "s") % self._next())
        elif letter == "c":
            self._pieces.append((f"%{flags}{width}s") % self._next()[:1])
        elif letter and letter in "diouxX":
            value = await self._integer(letter)
            if letter in "ouxX" and value < 0:
                value += 1 << 64
            self._pieces.append((form + ("d" if letter in "iu" else letter)) % value)
        elif letter and letter in "eEfFgG":
            self._pieces.append((form + letter) % await self._real(letter))
        else:
            where = f"@{match.start() + 2}" if letter else ""
            raise CommandFailure(f"bad %{letter}{where}")

    async def _integer(self, letter: str) -> int:
        text = self._next()
        if text[:1] in ("'", '"') and len(text) > 1:
            return ord(text[1])
        match = _NUMBER.match(text)
        if (match is None and text) or (match and match.end() < len(text)):
            await self._bad(letter, text)
        if match is None:
            return 0
        digits = match[2][:40]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") else 10
        value = int(digits, base) * (-1 if match[1] == "-" else 1)
        return max(-(1 << 63), min(value, (1 << 64) - 1))

    async def _real(self, letter: str) -> float:
        text = self._next()
        try:
            return float(text[:300] or "0")
        except ValueError:
            await self._bad(letter, text)
            return 0.0

    async def _bad(self, letter: str, text: str) -> None:
        self._status = 1
        await self._invocation.err(f"printf: bad %{letter} {text}\n")


async def date(invocation: Invocation) -> int:
    """Print the device's date and time."""
    options = parse_options(invocation.args, flags="uIn", values="dDr")
    moment = invocation.shell.clock()
    if "d" in options:
        moment = _read_date(options.text("d"))
    elif "r" in options:
        path = invocation.shell.files.resolve(options.text("r"), invocation.shell.cwd)
        moment = float(invocation.shell.files.stat(path).mtime)
    form = "+%Y-%m-%d" if "I" in options else "+%a %b %e %H:%M:%S %Z %Y"
    for operand in options.operands:
        if not operand.startswith("+"):
            raise CommandFailure("cannot set date: Operation not permitted")
        form = operand
    await invocation.out(_write_date(form[1:], moment) + "\n")
    return 0


def _read_date(text: str) -> float:
    if re.fullmatch(r"@-?\d{1,11}(?:\.\d+)?", text):
        return float(text[1:])
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=timezone.utc).timestamp()
        except ValueError:
            continue
    raise CommandFailure(f"bad date {text}")


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _write_date(form: str, moment: float) -> str:
    """Fill a format without the help of the host's language."""
    whole = int(moment // 1)
    now = datetime.fromtimestamp(whole, timezone.utc)
    nanoseconds = min(999_999_999, round((moment - whole) * 1_000_000) * 1000)
    weekday = now.isoweekday() % 7
    values = {
        "%": "%",
        "a": _DAYS[now.weekday()][:3],
        "A": _DAYS[now.weekday()],
        "b": _MONTHS[now.month - 1][:3],
        "B": _MONTHS[now.month - 1],
        "C": f"{now.year // 100:02d}",
        "d": f"{now.day:02d}",
        "e": f"{now.day:2d}",
        "h": _MONTHS[now.month - 1][:3],
        "H": f"{now.hour:02d}",
        "I": f"{(now.hour + 11) % 12 + 1:02d}",
        "j": f"{now.timetuple().tm_yday:03d}",
        "k": f"{now.hour:2d}",
        "l": f"{(now.hour + 11) % 12 + 1:2d}",
        "m": f"{now.month:02d}",
        "M": f"{now.minute:02d}",
        "n": "\n",
        "N": f"{nanoseconds:09d}",
        "p": "AM" if now.hour < 12 else "PM",
        "s": str(whole),
        "S": f"{now.second:02d}",
        "t": "\t",
        "u": str(now.isoweekday()),
        "w": str(weekday),
        "y": f"{now.year % 100:02d}",
        "Y": str(now.year),
        "z": "+0000",
        "Z": "GMT",
    }
    combined = {
        "c": "%a %b %e %H:%M:%S %Y",
        "D": "%m/%d/%y",
        "F": "%Y-%m-%d",
        "r": "%I:%M:%S %p",
        "R": "%H:%M",
        "T": "%H:%M:%S",
        "x": "%m/%d/%y",
        "X": "%H:%M:%S",
    }
    form = re.sub("%([cDFrRTxX])", lambda match: combined[match[1]], form)
    return re.sub("%(.)", lambda match: values.get(match[1], match[0]), form, flags=re.DOTALL)


async def base64(invocation: Invocation) -> int:
    """Encode or decode base64."""
    options = parse_options(invocation.args, flags="di", values="w")
    width = options.number("w", 76)
    inputs = Inputs(invocation, options.operands)
    async for _, source in inputs:
        data = await read_all(source)
        if "d" in options:
            await invocation.stdout.write(_decoded(data))
            continue
        text = coding.b64encode(data)
        lines = [text[at : at + width] for at in range(0, len(text), width)] if width else [text]
        await invocation.stdout.write(b"\n".join(lines) + (b"\n" if width and text else b""))
    return inputs.status


def _decoded(data: bytes) -> bytes:
    try:
        return coding.b64decode(re.sub(rb"[^A-Za-z0-9+/=]", b"", data))
    except binascii.Error:
        raise CommandFailure("bad input") from None


def _checksum(algorithm: str) -> Command:
    async def command(invocation: Invocation) -> int:
        """Print the checksums of files."""
        options = parse_options(invocation.args, flags="b")
        inputs = Inputs(invocation, options.operands)
        async for name, source in inputs:
            digest = hashlib.new(algorithm, usedforsecurity=False)
            while data := await source.read():
                digest.update(data)
            shown = "" if "b" in options else f"  {name}"
            await invocation.out(f"{digest.hexdigest()}{shown}\n")
        return inputs.status

    return command


md5sum = _checksum("md5")
sha1sum = _checksum("sha1")
sha256sum = _checksum("sha256")
