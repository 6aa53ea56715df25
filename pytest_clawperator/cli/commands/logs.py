"""``logs``: a device's log, as far back as wanted, and what comes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid
from pytest_clawperator.cli.output import as_json, write
from pytest_clawperator.cli.session import open_device
from pytest_clawperator.contracts.log import FORMAT_OPTION, TIME_LENGTH, parse_log_line
from pytest_clawperator.errors import LogcatError
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible
from pytest_clawperator.transport.adb import AdbTransport

_AGO = re.compile(r"([0-9]{1,6}(?:\.[0-9]+)?)(ms|s|m|h|d)", re.ASCII)
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_TIME = re.compile(r"[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?", re.ASCII)
_DEVICE_TIME = "%Y-%m-%d %H:%M:%S"
_LOGCAT_TIME = "%m-%d %H:%M:%S.%f"
_CHUNK = 65536


@command(
    "logs",
    examples=["logs", "logs --since 5m", "logs --follow --since 10s | grep Clawperator"],
)
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option(
    "--since", metavar="TIME", help="How long ago (30s, 5m, 2h), or '11-16 22:30:00' by its clock."
)
def logs(options: GlobalOptions, follow: bool, since: str | None) -> None:
    """Print a device's log; one that a test run holds can be read, too."""
    with open_device(options) as transport:
        asked = ["logcat", FORMAT_OPTION]
        if since is not None:
            asked.append(f"-T '{_begin(since, transport)}'")
        if not follow:
            asked.append("-d")
        for line in _lines(transport, " ".join(asked)):
            _print(line, is_json=options.is_json_explicit)
    if follow:
        raise LogcatError(
            "the log ended, because the device or its adb server is gone",
            serial=transport.serial,
            hint="`clawperator-py devices` shows whether it is back.",
        )


def _begin(since: str, transport: AdbTransport) -> str:
    """Return a time as logcat takes it, by the device's clock."""
    if _TIME.fullmatch(since):
        return since if "." in since else f"{since}.000"
    ago = _AGO.fullmatch(since)
    if ago is None:
        raise invalid(
            f"--since {since!r} is no time",
            hint="Say how long ago (30s, 5m, 2h), or a time as the log has it: '11-16 22:30:00'.",
        )
    told = transport.shell(f"date '+{_DEVICE_TIME}'").stdout.strip()
    try:
        begin = datetime.strptime(told, _DEVICE_TIME) - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
    except (ValueError, OverflowError) as error:
        raise LogcatError(
            f"the device does not tell its time; it said: {told[:60] or 'nothing'}",
            serial=transport.serial,
            hint="Say since when by its own clock, as its log has it: --since '11-16 22:30:00'.",
        ) from error
    return begin.strftime(_LOGCAT_TIME)[:TIME_LENGTH]


def _lines(transport: AdbTransport, command: str) -> Iterator[bytes]:
    """Yield the lines that a command prints, as they come."""
    with closing(transport.server.open(transport.serial, f"exec:{command}")) as connection:
        connection.settimeout(None)
        rest = b""
        while chunk := connection.recv(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        if rest:
            yield rest


def _print(line: bytes, *, is_json: bool) -> None:
    text = line.decode("utf-8", "replace").rstrip("\r")
    if not is_json:
        write(visible(hide(text)))
        return
    entry = parse_log_line(line.rstrip(b"\r"))
    if entry is not None:
        write(as_json({"time": text[:TIME_LENGTH], **entry._asdict()}))
