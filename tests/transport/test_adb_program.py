"""Which adb program is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport import adb_program
from pytest_clawperator.transport.adb_program import find_adb, find_user_adb


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an adb that is the only program on PATH, with no other one chosen."""
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ADB_PATH", raising=False)
    return program


def test_servers_of_our_own_use_the_shipped_one_and_users_servers_theirs(
    on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions would end each other's server; ADB_PATH wins, also if it is not there."""
    chosen = on_path.with_name("chosen")

    assert find_adb().parent.name == "binaries"
    assert find_user_adb() == on_path
    monkeypatch.setenv("ADB_PATH", str(chosen))
    with pytest.raises(AdbUnavailableError, match="ADB_PATH"):
        find_user_adb()
    chosen.touch()
    assert (find_adb(), find_user_adb()) == (chosen, chosen)


def test_a_user_without_adb_uses_the_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """If that is missing, too, the hint names what to install."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("ADB_PATH", raising=False)
    assert find_user_adb().parent.name == "binaries"
    monkeypatch.setattr(adb_program, "_shipped", lambda: None)

    with pytest.raises(AdbUnavailableError) as caught:
        find_user_adb()

    assert "platform-tools" in str(caught.value.hint)
