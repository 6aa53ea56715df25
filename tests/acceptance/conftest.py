"""Fixtures of all acceptance tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_locks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the leases and flight locks of each test in a folder of its own."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path_factory.mktemp("locks")))
