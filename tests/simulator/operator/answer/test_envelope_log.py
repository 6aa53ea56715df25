"""The faults that lose, delay, cut or double envelopes."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.simulator.operator.fakes import (
    Bench,
    action,
    command,
)

HOME = action("press_key", key="home")


@pytest.mark.parametrize("ms", ["nan", "-5", "soon"])
def test_senseless_delays_are_none(ms: str) -> None:
    """A fault's option that is no number of milliseconds counts as zero."""
    bench = Bench()
    bench.faults.set("late_envelope", ms=ms)

    assert bench.execute(HOME)["status"] == "success"


class TestEnvelopeFaults:
    """What may go wrong with an envelope."""

    def test_an_envelope_can_be_lost_though_the_work_is_done(self) -> None:
        """The work is done, but nobody hears of it."""
        bench = Bench()
        bench.faults.set("no_envelope", times=1)

        bench.send(command(HOME))

        assert bench.results() == []
        assert bench.ui.done == ["home"]

    def test_half_an_envelope(self) -> None:
        """The line ends in the middle of the JSON."""
        bench = Bench()
        bench.faults.set("half_envelope", times=1)

        bench.send(command(HOME))

        (half,) = bench.results()
        assert half.startswith('{"commandId":"c1"')
        with pytest.raises(json.JSONDecodeError):
            json.loads(half)

    def test_a_foreign_envelope(self) -> None:
        """Another command's envelope comes first."""
        bench = Bench()
        bench.faults.set("foreign_envelope", command_id="other")

        bench.send(command(HOME))

        assert [envelope["commandId"] for envelope in bench.envelopes()] == ["other", "c1"]

    def test_a_double_envelope(self) -> None:
        """The same envelope comes twice."""
        bench = Bench()
        bench.faults.set("double_envelope")

        bench.send(command(HOME))

        first, second = bench.results()
        assert first == second

    def test_a_late_envelope(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The envelope is held back for as long as the fault says, at any time scale."""
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        bench = Bench()
        bench.faults.set("late_envelope", ms="750")
        monkeypatch.setattr(asyncio, "sleep", sleep)

        bench.send(command(HOME))

        assert slept == [0.75]
        assert len(bench.results()) == 1
