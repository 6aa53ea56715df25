"""The keys of what a controller writes into the input of a worker of ``-n``."""

from __future__ import annotations

from typing import Any

import pytest

#: The channel over which a worker and its controller talk; there if the run has devices.
CHANNEL = "clawperator_channel"
#: That the worker takes the place of another one.
STARTS_LATE = "clawperator_starts_late"
#: The id of the run, which all its processes share.
SHARED_RUN_ID = "clawperator_run"
#: The lease of the worker, or the code, message and hint that say why it has none.
LEASE, WHY_NO_LEASE = "clawperator_lease", "clawperator_no_lease"
#: The classes of a matrix: all, those of the worker's device, those without a device and why,
#: and a device of each.
CLASSES, OWN_CLASSES, EMPTY_CLASSES, CLASS_MEMBERS = (
    "clawperator_classes",
    "clawperator_own_classes",
    "clawperator_empty_classes",
    "clawperator_class_members",
)


def worker_input(config: pytest.Config) -> dict[str, Any]:
    """Return the input of this worker; empty in a process that is no worker."""
    found: dict[str, Any] = getattr(config, "workerinput", {})
    return found


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of ``-n``."""
    return hasattr(config, "workerinput")
