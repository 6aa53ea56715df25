"""The log command writes one entry, as toybox's does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.adb_client import Adb
from pytest_clawperator.simulator import Simulator


@pytest.fixture(scope="module")
def phone() -> Iterator[tuple[Adb, str]]:
    """Return one simulated phone."""
    with Simulator(seed=1) as simulator:
        yield Adb(simulator.adb_host, simulator.adb_port), simulator.serials[0]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("log -p e -t Mine 'two  words'", "E/Mine    : two  words"),
        ("log -t Mine several words", "I/Mine    : several words"),
        ("log plain", "I/log     : plain"),
        ("log -- -p", "I/log     : -p"),
    ],
)
def test_an_entry_is_written(phone: tuple[Adb, str], command: str, line: str) -> None:
    """Priority, tag and message arrive in the log."""
    adb, serial = phone

    said = adb.shell(serial, f"{command}; echo $?; logcat -d -v tag").decode()

    assert said.startswith("0\n")
    assert f"{line}\n" in said


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("log", "log: Needs 1 argument"),
        ("log -t", "log: Missing argument to -t"),
        ("log -p x hello", "log: bad -p 'X'"),
    ],
)
def test_a_mistake_is_told(phone: tuple[Adb, str], command: str, complaint: str) -> None:
    """What cannot be written is refused with a reason."""
    adb, serial = phone

    said = adb.shell(serial, f"{command} 2>&1; echo $?").decode()

    assert complaint in said
    assert said.endswith("1\n")
