"""What a plain ``assert snapshot == golden`` shows when it fails."""

from __future__ import annotations

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot import golden
from pytest_clawperator.snapshot.golden import Golden
from pytest_clawperator.snapshot.golden_diff import compare
from pytest_clawperator.snapshot.tree import Snapshot


def explain(left: object, right: object) -> list[str] | None:
    """Return lines that explain a failed ``left == right``; None if it is not about a snapshot."""
    if isinstance(left, Snapshot) and isinstance(right, Snapshot):
        return _two_screens(left, right)
    screen, other = (left, right) if isinstance(left, Snapshot) else (right, left)
    if not isinstance(screen, Snapshot) or not isinstance(other, (Golden, str)):
        return None
    try:
        wanted = other if isinstance(other, Golden) else golden.parse(other)
    except ConfigurationError as error:
        return [f"{screen!r} == a text that is no golden", error.message, f"hint: {error.hint}"]
    return [f"{screen!r} == golden", *str(compare(wanted, screen)).split("\n")]


def _two_screens(left: Snapshot, right: Snapshot) -> list[str]:
    shown = golden.render(right)
    difference = compare(golden.parse(shown), left, exact=True) if shown else None
    header = [f"{left!r} == {right!r}", "They show different things (- right, + left):"]
    return header + ([] if difference is None else difference.diff.split("\n"))
