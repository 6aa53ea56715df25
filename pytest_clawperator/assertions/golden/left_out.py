"""The nodes that a comparison leaves out: ``ignore=`` of a tree, ``mask=`` of a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_clawperator.assertions.checks.role_check import check_roles
from pytest_clawperator.client.target import Target, target_of

__tracebackhide__ = True  # a failure is shown at the test's own line


def targets_of(given: Any, *, verb: str) -> tuple[Target, ...]:
    """Return the targets of an argument that takes one matcher or several."""
    is_several = isinstance(given, Iterable) and not isinstance(given, (Mapping, str))
    targets = tuple(target_of(each, {}, verb=verb) for each in (given if is_several else [given]))
    for target in targets:
        check_roles(target)
    return targets
