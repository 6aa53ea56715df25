"""Ports for the consoles of emulators."""

from __future__ import annotations

import socket

import pytest

from pytest_clawperator.emulators.run import ports
from pytest_clawperator.emulators.run.ports import is_free, reserved_port
from pytest_clawperator.errors import EmulatorError


def test_two_never_have_the_same_port() -> None:
    """Ports are even, as the emulator wants them, and reserved while they are used."""
    with reserved_port() as first, reserved_port() as second:
        assert first != second
        assert (first % 2, second % 2) == (0, 0)
        assert ports.FIRST <= min(first, second) <= max(first, second) <= ports.LAST


@pytest.mark.parametrize("offset", [0, 1])
def test_a_port_that_somebody_listens_on_is_left_out(
    monkeypatch: pytest.MonkeyPatch, offset: int
) -> None:
    """Both ports of an emulator must be free; where none are, that is told."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "FIRST", port - offset)
        monkeypatch.setattr(ports, "LAST", port - offset)

        assert not is_free(port)
        with pytest.raises(EmulatorError, match="all ports for emulators"), reserved_port():
            pass
