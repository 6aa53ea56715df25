"""The envelope's JSON."""

from __future__ import annotations

import json

from tests.simulator.operator.fakes import (
    Bench,
    action,
    command,
    node,
    screen,
)

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
