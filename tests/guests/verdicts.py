"""Whether a guest fails where its list says so, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

Outcomes = Mapping[str, "str | None"]
"""What became of each call: None if it did as it should, else the error."""


def check(outcomes: Outcomes, unsupported: Mapping[str, str]) -> None:
    """Raise unless exactly the calls failed that the list has, each with its reason."""
    failed = {name: error for name, error in outcomes.items() if error is not None}
    problems = [
        *(f"{name} fails: {failed[name]}" for name in failed if name not in unsupported),
        *(
            f"{name} works and is on the list: {reason}"
            for name, reason in unsupported.items()
            if name in outcomes and name not in failed
        ),
        *(f"{name} is on the list and not called" for name in unsupported if name not in outcomes),
    ]
    passed = len(outcomes) - len(failed)
    assert not problems, "\n".join([f"{passed} of {len(outcomes)} work", *problems])
