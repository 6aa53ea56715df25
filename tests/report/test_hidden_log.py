"""Secrets in a log, whose long messages are cut into lines."""

from __future__ import annotations

import json
import random

import pytest

from pytest_clawperator.contracts.log import PIECE_LENGTH
from pytest_clawperator.redaction.redaction import SECRETS
from pytest_clawperator.report.crashes import hide_in_log

SECRET = "".join(random.Random(5).choices("abcdefghij", k=40))


def line(message: str, *, pid: int = 812, tag: str = "Operator") -> str:
    """Return a line of a log."""
    return f"11-16 10:00:00.000 {pid:>5} {pid:>5} I {tag:<8}: {message}"


def pieces(message: str) -> list[str]:
    """Cut a message as the Operator's logger does."""
    places = range(0, len(message), PIECE_LENGTH)
    return [line(message[at : at + PIECE_LENGTH]) for at in places]


@pytest.mark.parametrize("before", [PIECE_LENGTH - 39, PIECE_LENGTH - 20, PIECE_LENGTH - 1])
@pytest.mark.parametrize("mark", ["", ">>> "])
def test_a_secret_across_two_lines_is_hidden(before: int, mark: str) -> None:
    """No part of it is left in either line; lines of other processes may stand between."""
    SECRETS.add(SECRET)
    first, second = pieces("." * before + SECRET + " and more")
    other = line("somebody else", pid=4)

    hidden = hide_in_log("\n".join([mark + first, other, second, ""]).encode()).decode()

    shown = hidden.split("\n")
    assert shown[0] == mark + line("." * before + "[***]")
    assert shown[1:] == [other, line("[***] and more"), ""]


def test_a_secret_whose_end_was_dropped_is_hidden() -> None:
    """The log keeps so many bytes of a line; what it kept of a secret is not shown."""
    SECRETS.add(SECRET)
    wide = "ü" * 2000

    hidden = hide_in_log(f"{line(wide + SECRET[:9])}\n{line('next')}".encode()).decode()

    assert hidden == f"{line(wide + '[***]')}\n{line('next')}"


def test_lines_of_the_operator_show_no_secret() -> None:
    """Envelopes, stages and dividers keep all that is no secret."""
    SECRETS.add('a "quoted" one')
    envelope = "[Clawperator-Result] " + json.dumps({"text": 'a "quoted" one'})
    log = ["--------- beginning of main", line(envelope), line('text=a "quoted" one')]

    hidden = hide_in_log("\n".join(log).encode()).decode().split("\n")

    shown = [line('[Clawperator-Result] {"text": "[***]"}'), line("text=[***]")]
    assert hidden == [log[0], *shown]


def test_a_log_without_secrets_is_not_read() -> None:
    """Without secrets the same bytes come back."""
    log = line("nothing").encode()

    assert hide_in_log(log) is log
