"""A check: what is wanted of a subject, and how one look at it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from pytest_clawperator.snapshot.tree import Node

T = TypeVar("T")

CAME_TRUE = "came true"


class Verdict(NamedTuple):
    """The result of judging one look.

    ``holds`` is None if the question does not apply, so that the negated check fails too.
    ``found`` describes briefly what was there, ``hint`` what to do about it.
    """

    holds: bool | None
    found: str
    hint: str | None = None


@dataclass(frozen=True)
class Check(Generic[T]):
    """What is wanted of a subject, worded as in ``to be visible``.

    ``came`` is the wording for a check that came true too late, as in ``appeared``.
    ``about_all`` is True for a check of all matching nodes, not only of the first. ``judge_one``
    judges a single node, where the check is about one.
    """

    wanted: str
    judge: Callable[[T], Verdict]
    came: str = CAME_TRUE
    about_all: bool = False
    judge_one: Callable[[Node], Verdict] | None = None

    def negated(self, came: str = CAME_TRUE) -> Check[T]:
        """Return the opposite check; a verdict of None stays None."""
        one = self.judge_one
        return replace(
            self,
            wanted=f"not {self.wanted}",
            judge=lambda seen: _opposite(self.judge(seen)),
            judge_one=None if one is None else lambda node: _opposite(one(node)),
            came=came,
        )


def _opposite(verdict: Verdict) -> Verdict:
    return verdict if verdict.holds is None else Verdict(not verdict.holds, verdict.found)
