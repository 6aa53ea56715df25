"""A leased device that is lent to programs of its holder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.lease import LENT_VARIABLE, borrow, lend
from pytest_clawperator.errors import ConfigurationError, LeaseError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the lock files here."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


def test_a_lent_device_may_be_used_while_its_holder_has_it(folder: Path) -> None:
    """No lease is taken for it, and each command is checked."""
    hold = FileLeases(run_id="run").try_take("phone-1")
    assert hold is not None
    environment = lend(hold.ticket, key="phone-1", where=None)

    with borrow("phone-1", run_id="script", say=print, environment=environment) as permit:
        assert permit is not None
        permit.clear("c1", 1.0)
        hold.release()
        with pytest.raises(LeaseError, match="no longer leased"):
            permit.clear("c2", 1.0)


@pytest.mark.parametrize("key", ["phone-2", ""])
def test_another_device_is_not_lent(key: str) -> None:
    """Whoever wants it must lease it, and so must who was lent nothing."""
    environment = lend("{}", key="phone-1", where=None) if key else {}

    with borrow(key, run_id="script", say=print, environment=environment) as permit:
        assert permit is None


def test_a_device_that_its_holder_lost_is_refused_at_once() -> None:
    """Before anything is asked of it."""
    hold = FileLeases(run_id="run").try_take("phone-1")
    assert hold is not None
    environment = lend(hold.ticket, key="phone-1", where=None)
    hold.release()

    with (
        pytest.raises(LeaseError),
        borrow("phone-1", run_id="script", say=print, environment=environment),
    ):
        pytest.fail("it was lent")


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"key": "a"}', "[" * 100_000])
def test_a_variable_that_lends_nothing_is_named(text: str) -> None:
    """With what to do about it."""
    with (
        pytest.raises(ConfigurationError, match=LENT_VARIABLE),
        borrow("a", run_id="script", say=print, environment={LENT_VARIABLE: text}),
    ):
        pytest.fail("it was lent")
