"""The id of a run, which all its processes share, and the folder of its evidence."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

import pytest

from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.plugin.stash import RUN_ID
from pytest_clawperator.plugin.worker_input import SHARED_RUN_ID, worker_input


def run_id(config: pytest.Config) -> str:
    """Return the id of this run; a worker has that of its controller."""
    if RUN_ID not in config.stash:
        handed = worker_input(config).get(SHARED_RUN_ID)
        config.stash[RUN_ID] = handed or _new_id()
    return config.stash[RUN_ID]


def run_folder(config: pytest.Config, settings: Settings | None = None) -> Path:
    """Return the folder of this run, which may not be there yet."""
    return config.rootpath / (settings or settings_of(config)).output / run_id(config)


def shown_path(config: pytest.Config, path: Path) -> str:
    """Return a path as seen from where pytest was started."""
    try:
        return str(path.relative_to(config.invocation_params.dir))
    except ValueError:
        return str(path)


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
