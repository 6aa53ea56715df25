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


def test_the_shipped_one_comes_first_for_servers_of_our_own(on_path: Path) -> None:
    """The simulator's server is started by the adb whose behaviour is known."""
    found = find_adb()

    assert found != on_path
    assert found.parent.name == "binaries"


def test_the_users_own_comes_first_for_the_users_server(on_path: Path) -> None:
    """Two versions would end each other's server."""
    assert find_user_adb() == on_path


def test_the_shipped_one_serves_a_user_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an adb on PATH the wheel's is used."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("ADB_PATH", raising=False)

    assert find_user_adb().parent.name == "binaries"


def test_a_chosen_one_wins(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADB_PATH is what was asked for, in both cases."""
    chosen = on_path.with_name("chosen")
    chosen.touch()
    monkeypatch.setenv("ADB_PATH", str(chosen))

    assert (find_adb(), find_user_adb()) == (chosen, chosen)


def test_a_chosen_one_that_is_not_there_is_told(
    on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other one is taken in its place."""
    monkeypatch.setenv("ADB_PATH", str(on_path.with_name("nothing")))

    with pytest.raises(AdbUnavailableError, match="ADB_PATH"):
        find_user_adb()


def test_none_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint says where one comes from."""
    monkeypatch.setattr(adb_program, "_shipped", lambda: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("ADB_PATH", raising=False)

    with pytest.raises(AdbUnavailableError) as caught:
        find_user_adb()

    assert caught.value.hint is not None
    assert "platform-tools" in caught.value.hint
