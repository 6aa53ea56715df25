"""Result envelopes."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.simulator.operator.fakes import Bench, action, command, node, screen

HOME = action("press_key", key="home")


def test_a_long_envelope_is_cut_into_pieces() -> None:
    """From 4000 units on the envelope is several entries, the first of them with the prefix."""
    bench = Bench(screen(node("x" * 9000)))

    bench.send(command(action("read_text", matcher={"role": "text"})))

    entries = bench.entries()
    start = next(i for i, line in enumerate(entries) if "[Clawperator-Result]" in line.message)
    pieces = [line.message for line in entries[start : start + 3]]
    assert [len(piece) for piece in pieces[:2]] == [4000, 4000]
    text = "".join(pieces).removeprefix("[Clawperator-Result] ")
    assert json.loads(text)["stepResults"][0]["data"]["text"] == "x" * 9000


def test_any_text_survives_the_envelope() -> None:
    """Quotes, control characters and other scripts are in the envelope as they are on screen."""
    odd = 'a"b\\c\td\u2028é😀\x01/'
    bench = Bench(screen(node(odd)))

    assert bench.step("read_text", matcher={"role": "text"})["data"]["text"] == odd
    assert "\u2028é😀" in bench.results()[0]


def test_half_a_character_does_no_harm() -> None:
    """A lone surrogate in an id is echoed as it is."""
    bench = Bench()

    bench.send(command(HOME).replace('"c1"', '"c\\ud800"'))

    assert '"status":"success"' in bench.results()[0]


@pytest.mark.parametrize("ms", ["nan", "-5", "soon"])
def test_senseless_delays_are_none(ms: str) -> None:
    """A fault's option that is not a number of milliseconds counts as zero."""
    bench = Bench()
    bench.faults.set("late_envelope", ms=ms)

    assert bench.execute(HOME)["status"] == "success"


class TestEnvelopeFaults:
    """What may go wrong with an envelope."""

    def test_an_envelope_can_be_lost_though_the_work_is_done(self) -> None:
        """The work is done, but there is no answer."""
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


@pytest.mark.parametrize(
    ("kind", "beginnings"),
    [
        ("envelope", ['[Clawperator-Result] {"commandId":"c1"']),
        ("command", ["[Clawperator-Command] start commandId=c1", "[Clawperator-Result] {"]),
        ("refusal", ["[Operator-Receiver] Failed to parse agent command payload\n"]),
        ("crash", ["FATAL EXCEPTION: main\nProcess: com.clawperator.operator, PID: "]),
        ("death", ["Process com.clawperator.operator (pid "]),
    ],
)
def test_forged_lines_come_from_another_process(kind: str, beginnings: list[str]) -> None:
    """Another process logs them before the Operator takes the command, and after."""
    bench = Bench()
    bench.faults.set("forged_lines", kind=kind)

    bench.send(command(HOME))

    forged = [entry.message for entry in bench.entries() if entry.pid != bench.app.pid]
    assert len(forged) == 2 * len(beginnings)
    assert all(map(str.startswith, forged, beginnings * 2))
    assert len([entry for entry in bench.entries() if "success" in entry.message]) > 0
