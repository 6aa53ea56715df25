"""What apps get from the web, and how they ask for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class WebAnswer:
    """What a server answered; ``problem`` says why that is nothing to use, else it is empty."""

    text: str = ""
    problem: str = ""


Fetch = Callable[[str, Callable[[WebAnswer], None]], None]
"""Asks for an address, and calls back with the answer some time later."""


def no_network(url: str, answered: Callable[[WebAnswer], None]) -> None:
    """Answer for a phone without any network."""
    answered(WebAnswer(problem="the phone has no network"))
