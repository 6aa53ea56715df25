"""Pausing a script."""

from __future__ import annotations

import code
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.client import pausing
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.no_device import NoDevice


def idle_client() -> Clawperator:
    """Return a client that runs nothing; as a fixture's value, pytest would look after it."""
    runner: Any = SimpleNamespace(serial="PH1")
    return Clawperator(runner, device=NoDevice("PH1", "it is not there"))


def test_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt knows the caller's names and the client, and leaving it ends only the prompt."""
    asked: list[dict[str, Any]] = []

    def interact(banner: str, *, local: dict[str, Any], exitmsg: str) -> None:
        asked.append({"banner": banner, **local})
        raise SystemExit

    monkeypatch.setattr(pausing, "is_interactive", lambda: True)
    monkeypatch.setattr(code, "interact", interact)
    client, mine = idle_client(), "here"

    client.pause()

    (names,) = asked
    assert (names["mine"], names["claw"]) == (mine, client)
    assert "test_pausing.py" in names["banner"]
    assert "PH1" in names["banner"]


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_leaving_the_prompt_keeps_the_input_open(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Python's own way out closes the terminal's stream, and the next pause would have none."""
    left: list[str] = []

    def interact(_: str, *, local: dict[str, Any], exitmsg: str) -> None:
        left.append(repr(local[word]))
        local[word]()

    with open(__file__) as stream:  # noqa: PTH123 - any stream will do
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(code, "interact", interact)

        pausing.ask(idle_client(), why="paused")

        assert not stream.closed
    assert left == [f"{word}() or Ctrl-D goes on"]


def test_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that nobody watches goes on, and says that it does."""
    monkeypatch.setattr(sys, "__stdin__", None)

    idle_client().pause()

    said = capsys.readouterr().err
    assert said.startswith("not paused at ")
    assert said.endswith("there is no terminal to ask on\n")


def test_a_closed_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that was closed is no terminal."""
    with open(__file__) as stream:  # noqa: PTH123 - any stream will do
        pass
    monkeypatch.setattr(sys, "__stdin__", stream)

    assert pausing.is_interactive() is False
