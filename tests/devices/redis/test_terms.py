"""What a ticket says to the process that borrows a device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.redis_lease import Names, Terms, Ticket

HERE = Holder.here("r1")


@pytest.mark.parametrize(
    ("holder", "valid_until", "inherited"),
    [
        pytest.param(HERE, 105.0, 105.0, id="the same machine"),
        pytest.param(replace(HERE, machine="elsewhere"), 105.0, 0.0, id="another machine"),
        pytest.param(HERE, 111.0, 0.0, id="another clock"),
        pytest.param(HERE, 95.0, 95.0, id="over"),
    ],
)
def test_only_a_clock_that_is_shared_is_believed(
    holder: Holder, valid_until: float, inherited: float
) -> None:
    """The validity is taken from a ticket of this machine, and is never beyond a time to live."""
    terms = Terms("PH1", holder, 3, Names.of("PH1"))

    ticket = Ticket.parse(Ticket(terms, valid_until).to_json())

    assert ticket.terms == terms
    assert ticket.inherited(now=100.0, ttl=10.0) == inherited
