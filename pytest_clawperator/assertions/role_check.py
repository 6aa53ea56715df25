"""Roles that a snapshot tells: one that it does not would never be found, and pass for gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.contracts.text.wording import describe, listed
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.golden.grammar import ROLES
from pytest_clawperator.snapshot.matching import check_role
from pytest_clawperator.snapshot.roles import UNTELLABLE

__tracebackhide__ = True  # a failure is shown at the test's own line


def check_roles(target: Target) -> None:
    """Refuse a target of which any part has a role that snapshots do not tell."""
    for part in _parts(target):
        role = None if part.query is None else part.query.matcher.role
        if role is None:
            continue
        check_role(role)
        if role.lower() in UNTELLABLE:
            raise ConfigurationError(
                f"a snapshot does not tell which nodes are {part}",
                hint="That role is known to the device only: match by text, id or description, "
                "or wait for it with node(...).wait().",
            )
        if role.lower() not in ROLES:
            raise ConfigurationError(
                f"a snapshot tells no role {describe(role)}",
                hint=f"It tells {listed(ROLES, limit=len(ROLES))}.",
            )


def listed_of(given: Any) -> list[Any]:
    """Let one stand for a list of one."""
    if isinstance(given, Iterable) and not isinstance(given, (Mapping, str)):
        return list(given)
    return [given]


def _parts(target: Target | None) -> Iterator[Target]:
    """Give a target and all that is said about what is around it and in it."""
    if target is not None:
        yield target
        yield from _parts(target.within)
        yield from _parts(target.has)
