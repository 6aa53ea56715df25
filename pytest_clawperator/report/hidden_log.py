"""Secrets in a device's log, where long messages are cut into several lines."""

from __future__ import annotations

from pytest_clawperator.contracts.log import ENTRY_BYTES, LogEntry, parse_log_line
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.report.crashes import MARK

_MARK = MARK.encode()


def hide_in_log(content: bytes) -> bytes:
    """Return a log, as a file has it, with a mark in the place of each secret."""
    if SECRETS.is_empty:
        return content
    lines = content.split(b"\n")
    for chain in _chains(lines):
        messages = [_message(lines[place]) for place in chain]
        # The end of the last one may be lost, too.
        for place, old, new in zip(chain, messages, _hidden(messages), strict=True):
            lines[place] = lines[place][: len(lines[place]) - len(old)] + new
    return SECRETS.hide_bytes(b"\n".join(lines))


def _hidden(messages: list[bytes]) -> list[bytes]:
    parts = [message.decode("utf-8", "surrogateescape") for message in messages]
    hidden = SECRETS.hide_across([*parts, ""])[:-1]
    return [part.encode("utf-8", "surrogateescape") for part in hidden]


def _chains(lines: list[bytes]) -> list[list[int]]:
    """Return the indexes of the lines of each message that was cut."""
    found: list[list[int]] = []
    unfinished: dict[object, list[int]] = {}
    for place, line in enumerate(lines):
        entry = parse_log_line(line.removeprefix(_MARK))
        if entry is None:
            continue
        writer = (entry.source, entry.tid)
        chain = unfinished.pop(writer, [])
        if _is_cut(entry, line):
            unfinished[writer] = chain
            found += [] if chain else [chain]
            chain.append(place)
        elif chain:
            chain.append(place)
    return found


def _is_cut(entry: LogEntry, line: bytes) -> bool:
    """Whether the logger cut the message here, or the log dropped its end."""
    return entry.is_cut or len(line) >= ENTRY_BYTES


def _message(line: bytes) -> bytes:
    """Return the message of a line, with the bytes that it has."""
    return line.partition(b": ")[2]
