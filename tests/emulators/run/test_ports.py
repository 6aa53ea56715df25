"""Ports for the consoles of emulators."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pytest_clawperator.emulators import claims
from pytest_clawperator.emulators.claims import is_free, left_ports, reserved_port
from pytest_clawperator.errors import EmulatorError
from pytest_clawperator.execution.locks.folder import lock_path


def test_two_never_have_the_same_port() -> None:
    """Ports are even, as the emulator wants them, and reserved while they are used."""
    with reserved_port() as first, reserved_port() as second:
        assert first != second
        assert (first % 2, second % 2) == (0, 0)
        assert claims.FIRST_PORT <= min(first, second) <= max(first, second) <= claims.LAST_PORT


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the lock files of a test in a folder of its own."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


def test_no_lock_file_is_left(locks: Path) -> None:
    """A file is there while its port is reserved, also for one that was refused."""
    with reserved_port(lambda port: port > claims.FIRST_PORT + 8):
        during = len([*locks.iterdir()])

    assert during == 1
    assert list(locks.iterdir()) == []


def test_what_killed_runs_reserved_is_found_once(locks: Path) -> None:
    """Ports whose lock file nobody has are named, and the files removed; others stay."""
    (locks / lock_path("127.0.0.1:5600", "port").name).touch()

    with reserved_port() as mine:
        left = list(left_ports())
        stays = [path.name for path in locks.iterdir()]

    assert left == [5600]
    assert stays == [lock_path(f"127.0.0.1:{mine}", "port").name]
    assert list(left_ports()) == []


@pytest.mark.parametrize("offset", [0, 1])
def test_a_port_that_somebody_listens_on_is_left_out(
    monkeypatch: pytest.MonkeyPatch, offset: int
) -> None:
    """Both ports of an emulator must be free; where none are, that is told."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(claims, "FIRST", port - offset)
        monkeypatch.setattr(claims, "LAST", port - offset)

        assert not is_free(port)
        with pytest.raises(EmulatorError, match="all ports for emulators"), reserved_port():
            pass
