"""Which processes are the Operator's and the system's, as the device and its log show them."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.log import LogEntry
from pytest_clawperator.execution import processes
from pytest_clawperator.execution.processes import KnownProcesses, Processes
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.log import LoggedTransport, line

PACKAGE = "com.clawperator.operator"
SERVER, OURS, OTHER = 700, 4242, 5151
KNOWN = Processes(10145, frozenset({OURS}), frozenset({1, SERVER}))
LISTED = f"""USER           PID
root             1
system         {SERVER}
u0_a145       {OURS}
u10_a145      4300
u0_a146       {OTHER}
shell         9000
u0_i145       9100
"""
DUMP = f"""Packages:
  Package [{PACKAGE}] (1a2b3c):
    appId=10145
    pkg=Package{{5d6 {PACKAGE}}}
"""


def said(message: str, pid: int = SERVER) -> LogEntry:
    """Return a line of the system, or of another process."""
    return LogEntry(pid, pid, "I", "ActivityManager", message)


@pytest.mark.parametrize(
    "dump",
    [
        DUMP,
        f"  Package [com.other] (9):\n    appId=10146\n{DUMP}",
        # Before Android 13 it is called userId.
        f"  Package [{PACKAGE}] (1a2b):\n    userId=10145\n",
        f"  Package [{PACKAGE}] (1a2b):\n    userId=10145 gids=[3003]\n",
    ],
)
def test_processes_are_identified_by_their_user(dump: str) -> None:
    """The Operator's run as its own user, on each profile; a shell is not part of the system."""
    found = processes.parse_processes(LISTED, dump, PACKAGE)

    assert found == Processes(10145, frozenset({OURS, 4300}), frozenset({1, SERVER}))


def test_an_incomplete_answer_is_no_answer() -> None:
    """The system's processes and the Operator's user are needed; a running Operator is not."""
    for listed, dump in (
        ("", DUMP),
        ("USER     PID   PPID  VSIZE  RSS\n", DUMP),
        ("sh: ps: not found\n", DUMP),
        ("USER PID\nshell 9000\n", DUMP),
        (LISTED, ""),
        (LISTED, "Unable to find package: x\n"),
    ):
        assert processes.parse_processes(listed, dump, PACKAGE) is None, listed
    found = processes.parse_processes("USER PID\nsystem 700\nu0_a146 5151\n", DUMP, PACKAGE)

    assert found == Processes(10145, frozenset(), frozenset({SERVER}))


@pytest.mark.parametrize(
    ("message", "operator"),
    [
        (f"Start proc 6000:{PACKAGE}/u0a145 for broadcast", {OURS, 6000}),
        (f"Start proc 6000:{PACKAGE}/u0a146 for broadcast", {OURS}),
        (f"Start proc {OURS}:com.other/u0a146 for service", set()),
        (f"Process {PACKAGE} (pid {OURS}) has died: fg  TOP", set()),
        (f"Killing {OURS}:{PACKAGE}/u0a145 (adj 900): empty #17", set()),
        (f"Process com.other (pid {OTHER}) has died: fg  TOP", {OURS}),
        ("Start proc of nothing", {OURS}),
    ],
)
def test_the_system_reports_starts_and_ends_of_processes(message: str, operator: set[int]) -> None:
    """A new process counts if it runs as the Operator's user; an id that an app got does not."""
    assert KNOWN.after(said(message)).operator == operator
    assert KNOWN.after(said(message, pid=OTHER)) is KNOWN
    assert KNOWN.after(said("Start proc 1:com.other/u0a146 for service")).system == {SERVER}


def test_the_device_is_asked_in_one_round_trip() -> None:
    """One shell command lists the processes and the Operator's user."""
    question = f"{processes.PROCESSES_COMMAND}; dumpsys package '{PACKAGE}'"
    transport = LoggedTransport(shell={question: ShellResult(LISTED + DUMP, "", 0)})

    found = processes.ask_processes(transport, PACKAGE)

    assert found is not None
    assert found.operator == {OURS, 4300}
    assert transport.commands == [question]


def test_the_log_between_two_commands_is_read() -> None:
    """An Operator that ended meanwhile is no longer trusted, without asking the device."""
    transport = LoggedTransport()
    known = KnownProcesses(lambda: pytest.fail("the device was asked"))
    known.update(KNOWN)
    transport.log.lines += [
        line(f"Process {PACKAGE} (pid {OURS}) has died: fg  TOP", pid=SERVER),
        line(f"Start proc 6000:{PACKAGE}/u0a145 for broadcast", pid=SERVER),
        line(f"Start proc 6001:{PACKAGE}/u0a145 for broadcast", pid=OTHER),
    ]

    found = known.catch_up(transport.log, 3)

    assert found is not None
    assert found.operator == {6000}


def test_a_device_is_asked_once_and_again_after_a_restore() -> None:
    """A device that fails to answer once keeps its last answer."""
    log = LoggedTransport().log
    asked: list[None] = []
    silent, known = KnownProcesses(lambda: asked.append(None)), KnownProcesses(lambda: KNOWN)

    for _ in range(2):
        silent.catch_up(log, 0)
    assert silent.current is None
    assert len(asked) == 1
    silent.update(KNOWN)
    assert silent.ask() == KNOWN

    known.update(None)
    known.forget(7)
    assert known.current is None
    assert known.catch_up(log, 9) == KNOWN
