"""Log lines are read as the published program reads them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import parse_result_line
from pytest_clawperator.errors import EnvelopeMalformedError
from tests.conformance.vectors import rows


@pytest.mark.parametrize("row", rows("envelope_parse"))
def test_a_log_line_is_parsed_as_published(row: dict[str, Any]) -> None:
    """An envelope, nothing, or malformed; and the envelope's every field."""
    if row["result"] == "malformed":
        with pytest.raises(EnvelopeMalformedError):
            parse_result_line(row["line"], row["commandId"])
        return

    envelope = parse_result_line(row["line"], row["commandId"])

    assert (None if envelope is None else envelope.to_wire()) == row["envelope"]
