"""How long the device may be busy with an execution: the Operator never breaks one off."""

from __future__ import annotations

from pytest_clawperator.contracts.actions import ACTION_TYPES, canonical_type
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Execution

_NO_PARAMS = ActionParams()


def longest_run(execution: Execution) -> float:
    """Return the most seconds that the actions can take, one after the other."""
    return sum(
        ACTION_TYPES[canonical_type(action.type)].longest(action.params or _NO_PARAMS)
        for action in execution.actions
    )
