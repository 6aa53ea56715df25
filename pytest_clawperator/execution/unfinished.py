"""Waiting for the end of a command whose sender did not see it end."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_clawperator.contracts.log import FORMAT_OPTION
from pytest_clawperator.errors import EnvelopeMalformedError
from pytest_clawperator.execution.answer import AnswerReader
from pytest_clawperator.execution.flight import Unfinished
from pytest_clawperator.execution.processes import KnownProcesses
from pytest_clawperator.transport.interface import Transport


def await_end(
    unfinished: Unfinished,
    transport: Transport,
    *,
    operator_package: str,
    processes: KnownProcesses,
    notice: Callable[[str], None],
    grace: float,
    clock: Callable[[], float],
) -> None:
    """Wait until the device is done with the command, or must be.

    A command that shows no sign of having arrived is waited for ``grace`` seconds: one that
    was sent into a breaking connection may never have come to the device.
    """
    command_id, log = unfinished.command_id, transport.log
    position = log.mark()
    reader = AnswerReader(command_id, operator_package, processes.catch_up(log, position))
    so_far = transport.exec_out(f"logcat -d {FORMAT_OPTION}")
    if _has_ended(reader, unfinished.lines_after(so_far), processes):
        return
    notice(f"waiting for the end of {command_id}, which was not seen to end")
    soon = min(clock() + grace, unfinished.latest_end)

    def deadline() -> float:
        return unfinished.latest_end if unfinished.arrived or reader.is_taken else soon

    while clock() < deadline():
        end = log.wait(position, deadline())
        if _has_ended(reader, log.read(position, end), processes):
            return
        position = end


def _has_ended(reader: AnswerReader, lines: Iterable[bytes], processes: KnownProcesses) -> bool:
    """Whether the log holds the end of a command, however it ended."""
    try:
        answer = reader.feed(lines)
        if reader.is_in_doubt:
            answer = reader.settle(processes.ask())
    except EnvelopeMalformedError:
        return True
    return answer is not None
