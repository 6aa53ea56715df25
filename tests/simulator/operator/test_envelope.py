"""Result envelopes, and the faults that spoil them."""

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
    """Quotes, control characters, other scripts and lone surrogates are written as they are."""
    odd = 'a"b\\c\td\u2028é😀\x01/'
    bench = Bench(screen(node(odd)))

    assert bench.step("read_text", matcher={"role": "text"})["data"]["text"] == odd
    assert "\u2028é😀" in bench.results()[0]
    bench.send(command(HOME).replace('"c1"', '"c\\ud800"'))
    assert '"status":"success"' in bench.results()[1]


@pytest.mark.parametrize(
    ("fault", "options", "found"),
    [
        ("no_envelope", {}, []),
        ("half_envelope", {}, ["half"]),
        ("foreign_envelope", {"command_id": "other"}, ["other", "c1"]),
        ("double_envelope", {}, ["c1", "c1"]),
        ("late_envelope", {"ms": "nan"}, ["c1"]),
        ("late_envelope", {"ms": "-5"}, ["c1"]),
        ("late_envelope", {"ms": "soon"}, ["c1"]),
    ],
)
def test_a_fault_spoils_the_envelope_though_the_work_is_done(
    fault: str, options: dict[str, str], found: list[str]
) -> None:
    """It is lost, cut, or comes twice; a delay that is not a number counts as zero."""
    bench = Bench()
    bench.faults.set(fault, times=1, **options)

    bench.send(command(HOME))

    results = bench.results()
    whole = [result.endswith("}") for result in results]
    ids = [json.loads(result)["commandId"] for result in results if result.endswith("}")]
    assert (ids or ["half"] * len(whole)) == found
    assert all(result.startswith('{"commandId":') for result in results)
    assert bench.ui.done == ["home"]


def test_a_late_envelope_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The envelope is held back for as long as the fault says, at any time scale."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    bench = Bench()
    bench.faults.set("late_envelope", ms="750")
    monkeypatch.setattr(asyncio, "sleep", sleep)

    bench.send(command(HOME))

    assert (slept, len(bench.results())) == ([0.75], 1)


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
