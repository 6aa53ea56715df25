"""Hierarchies are found in log text where the published program finds them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.log import snapshots_from_text
from tests.conformance.vectors import rows


@pytest.mark.parametrize("row", rows("snapshot_extract"))
def test_hierarchies_are_extracted_as_published(row: dict[str, Any]) -> None:
    """All of them, and which is the last."""
    snapshots = snapshots_from_text(row["logcat"])

    assert snapshots == row["snapshots"]
    assert (snapshots[-1] if snapshots else None) == row["last"]
