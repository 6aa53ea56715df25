"""What the acceptance tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_locks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test begin without what another left in flight."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path_factory.mktemp("locks")))
