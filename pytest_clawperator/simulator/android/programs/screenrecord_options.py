"""The arguments of ``screenrecord``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_SECONDS = 180
_LEAST_BIT_RATE, _MOST_BIT_RATE = 100_000, 200_000_000
_MOST_SIDE = 4096
_NO_CODEC = 234  # -22, "invalid", as an exit status
_LEADING_NUMBER = re.compile(r"\s*([+-]?[0-9]{1,9})")
_SIZE = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")
_RATE = re.compile(r"([0-9]{1,9})([mM]?)")

_USAGE = f"""Usage: screenrecord [options] <filename>

Records the device's display to a .mp4 file.

Options:
--size WIDTHxHEIGHT
    Set the video size, e.g. "1280x720".
--bit-rate RATE
    Set the highest bit rate, in bits per second, e.g. '4000000' or '4M'.
--time-limit TIME
    Set the maximum recording time, in seconds.  Default / maximum is {_MAX_SECONDS}.
--verbose
    Display interesting information on stdout.
--help
    Show this message.

Recording continues until Ctrl-C is hit or the time limit is reached.
"""


@dataclass
class Request:
    """Which film, how long and how large at most."""

    path: str = ""
    seconds: int = _MAX_SECONDS
    size: tuple[int, int] | None = None
    bit_rate: int = 20_000_000
    verbose: bool = False


class RequestRefused(Exception):
    """The arguments were refused with this message and exit status."""

    def __init__(self, message: str, *, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


def parse_request(words: Sequence[str]) -> Request:
    """Parse the arguments, or refuse with the message of the real program."""
    request, paths, waiting = Request(), list[str](), list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            paths += waiting
            break
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        if word == "--help":
            raise RequestRefused(_USAGE, status=0)
        if word == "--verbose":
            request.verbose = True
        elif not word.startswith("--") or name not in ("size", "bit-rate", "time-limit"):
            raise RequestRefused(f"screenrecord: unknown option -- {name}\n")
        elif not equals and not waiting:
            raise RequestRefused(f"screenrecord: option requires an argument -- {name}\n")
        else:
            _set(request, name, value if equals else waiting.pop(0))
    if len(paths) != 1:
        raise RequestRefused("Must specify output file (see --help).\n")
    request.path = paths[0]
    return request


def _set(request: Request, name: str, value: str) -> None:
    if name == "size":
        request.size = _size(value)
    elif name == "bit-rate":
        request.bit_rate = _bit_rate(value)
    else:
        request.seconds = _seconds(value)


def _size(value: str) -> tuple[int, int]:
    match = _SIZE.fullmatch(value)
    if match is None:
        raise RequestRefused(f"Invalid size '{value}', must be width x height\n")
    width, height = int(match[1]), int(match[2])
    if not width or not height:
        raise RequestRefused(f"Invalid size {width}x{height}, width and height may not be zero\n")
    if max(width, height) > _MOST_SIDE:
        message = f"ERROR: unable to configure video/mjpeg codec at {width}x{height} (err=-22)\n"
        raise RequestRefused(message, status=_NO_CODEC)
    return width, height


def _bit_rate(value: str) -> int:
    match = _RATE.fullmatch(value)
    if match is None:
        raise RequestRefused(f"Unrecognized value: {value}\n")
    rate = int(match[1]) * (1_000_000 if match[2] else 1)
    if not _LEAST_BIT_RATE <= rate <= _MOST_BIT_RATE:
        allowed = f"[{_LEAST_BIT_RATE},{_MOST_BIT_RATE}]"
        raise RequestRefused(f"Bit rate {rate}bps outside acceptable range {allowed}\n")
    return rate


def _seconds(value: str) -> int:
    match = _LEADING_NUMBER.match(value)
    seconds = int(match[1]) if match is not None else 0
    if not 1 <= seconds <= _MAX_SECONDS:
        raise RequestRefused(f"Time limit {seconds}s outside acceptable range [1,{_MAX_SECONDS}]\n")
    return seconds
