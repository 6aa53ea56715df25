"""Refuse roles that snapshots do not have: such a node is never found, and would pass as gone."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.contracts.wording import closest, describe, listed
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.golden import ROLES
from pytest_clawperator.snapshot.query import UNTELLABLE, check_role

__tracebackhide__ = True  # a failure is shown at the test's own line

_IN_TOOLBAR = (
    " What outlines call a title is a text in a toolbar: "
    "claw.node(role='toolbar').node(text='Settings')."
)


def check_roles(target: Target) -> None:
    """Raise if any part of a target has a role that snapshots do not have."""
    for part in _parts(target):
        role = None if part.query is None else part.query.matcher.role
        if role is None:
            continue
        check_role(role)
        if role.lower() in UNTELLABLE:
            in_toolbar = _IN_TOOLBAR if role.lower() == "title" else ""
            raise ConfigurationError(
                f"a snapshot does not show which nodes are {part}",
                hint="Only the device knows that role: match by text, id or description, "
                f"or wait for it with node(...).wait().{in_toolbar}",
            )
        if role.lower() not in ROLES:
            raise no_such_role(role)


def no_such_role(role: object) -> ConfigurationError:
    """Return the error for a role that snapshots do not have."""
    near = closest(str(role).lower(), ROLES)
    meant = f"Did you mean {near!r}? " if near else ""
    return ConfigurationError(
        f"snapshots have no role {describe(role)}",
        hint=f"{meant}They have {listed(ROLES, limit=len(ROLES))}.",
    )


def _parts(target: Target | None) -> Iterator[Target]:
    """Yield a target, its containers, and what it must contain."""
    if target is not None:
        yield target
        yield from _parts(target.within)
        yield from _parts(target.has)
