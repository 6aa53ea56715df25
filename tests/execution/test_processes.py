"""Which processes are the Operator's and the system's, as the device and its system tell it."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.log import LogEntry
from pytest_clawperator.execution.processes import (
    PROCESSES_COMMAND,
    KnownProcesses,
    Processes,
    ask_processes,
    parse_processes,
)
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


def test_processes_are_told_apart_by_their_user() -> None:
    """The Operator's run as its own user, on each profile of the phone; shells are no system."""
    found = parse_processes(LISTED, DUMP, PACKAGE)

    assert found == Processes(10145, frozenset({OURS, 4300}), frozenset({1, SERVER}))


@pytest.mark.parametrize(
    "listed",
    [
        # Android 6, toolbox
        "USER      PID   PPID  VSIZE  RSS   WCHAN              PC  NAME\n"
        "root      1     0     8780   732   SyS_epoll_ 0000000000 S /init\n"
        "system    700   313   2415316 144452 SyS_epoll_ 0000000000 S system_server\n"
        f"u0_a145   4242  313   1613012 61068 SyS_epoll_ 0000000000 S {PACKAGE}\n",
        # Android 7, Qualcomm, 32 bits
        "USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME\n"
        "root      1     0     680    540   ffffffff 00000000 S /init\n"
        "system    700   190   1043376 81284 ffffffff b6f5c2f8 S system_server\n"
        f"u0_a145   4242  190   894312 40872 ffffffff b6f5c51c S {PACKAGE}\n",
    ],
)
def test_old_phones_list_processes_with_all_that_they_know(listed: str) -> None:
    """Before Android 8 the user and the process stand before other columns."""
    found = parse_processes(listed, DUMP, PACKAGE)

    assert found == Processes(10145, frozenset({OURS}), frozenset({1, SERVER}))


@pytest.mark.parametrize("dumped", ["    userId=10145\n", "    userId=10145 gids=[3003]\n"])
def test_older_phones_call_the_id_of_an_app_otherwise(dumped: str) -> None:
    """Before Android 13 it is called userId."""
    found = parse_processes(LISTED, f"  Package [{PACKAGE}] (1a2b):\n{dumped}", PACKAGE)

    assert found is not None
    assert OURS in found.operator


def test_the_id_is_that_of_the_operator_and_not_of_another_package() -> None:
    """A dump may tell of other packages before the one that was asked for."""
    dump = f"  Package [com.other] (9):\n    appId=10146\n{DUMP}"

    found = parse_processes(LISTED, dump, PACKAGE)

    assert found is not None
    assert found.app_id == 10145


@pytest.mark.parametrize(
    ("listed", "dump"),
    [
        ("", DUMP),
        ("USER     PID   PPID  VSIZE  RSS\n", DUMP),
        ("sh: ps: not found\n", DUMP),
        ("USER PID\nshell 9000\n", DUMP),
        (LISTED, ""),
        (LISTED, "Unable to find package: x\n"),
    ],
)
def test_a_device_that_does_not_tell(listed: str, dump: str) -> None:
    """Without the system's processes, or the Operator's user, nothing is known."""
    assert parse_processes(listed, dump, PACKAGE) is None


def test_a_device_without_a_running_operator_tells_so() -> None:
    """That no Operator runs is an answer, too: then no process is believed to be one."""
    found = parse_processes("USER PID\nsystem 700\nu0_a146 5151\n", DUMP, PACKAGE)

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
def test_the_system_tells_who_started_and_ended(message: str, operator: set[int]) -> None:
    """A new process counts if it runs as the Operator's user; an id that others got does not."""
    assert KNOWN.after(said(message)).operator == operator
    assert KNOWN.after(said(message, pid=OTHER)) is KNOWN


def test_an_app_with_the_id_of_a_system_process_is_no_system() -> None:
    """An id that the system gives to an app is the app's from then on."""
    after = KNOWN.after(said("Start proc 1:com.other/u0a146 for service"))

    assert after.system == {SERVER}


def test_the_device_is_asked_in_one_round_trip() -> None:
    """One shell command tells the processes and the Operator's user."""
    question = f"{PROCESSES_COMMAND}; dumpsys package '{PACKAGE}'"
    transport = LoggedTransport(shell={question: ShellResult(LISTED + DUMP, "", 0)})

    found = ask_processes(transport, PACKAGE)

    assert found is not None
    assert found.operator == {OURS, 4300}
    assert transport.commands == [question]


def test_what_was_logged_between_two_commands_is_read() -> None:
    """An Operator that ended meanwhile is not believed any more, without asking the device."""
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


def test_a_device_that_was_never_asked_is_asked_once() -> None:
    """A command that goes before any check asks, and the next one does not."""
    asked: list[None] = []
    known = KnownProcesses(lambda: asked.append(None))

    for _ in range(2):
        known.catch_up(LoggedTransport().log, 0)

    assert known.current is None
    assert len(asked) == 1


def test_a_device_that_went_back_is_asked_anew() -> None:
    """What it told before, and what it logged before a position, is of another state."""
    known = KnownProcesses(lambda: KNOWN)
    known.update(None)
    transport = LoggedTransport()

    known.forget(7)

    assert known.current is None
    assert known.catch_up(transport.log, 9) == KNOWN


def test_what_was_told_stands_if_the_device_tells_nothing_now() -> None:
    """A device that fails to answer once does not make every process trustworthy."""
    known = KnownProcesses(lambda: None)
    known.update(KNOWN)

    assert known.ask() == KNOWN
