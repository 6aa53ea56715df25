"""The id of a run, and the folder of its evidence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.plugin.run import run_id
from pytest_clawperator.plugin.worker_input import SHARED_RUN_ID


def config(**more: Any) -> Any:
    """Return what is asked of pytest's config here."""
    return SimpleNamespace(stash=pytest.Stash(), **more)


def test_runs_of_the_same_second_have_different_ids() -> None:
    """Runs that start in the same second have folders of their own."""
    assert len({run_id(config()) for _ in range(20)}) > 15


def test_the_id_of_a_run_stays_the_same() -> None:
    """Whoever asks again gets the same id."""
    run = config()

    assert run_id(run) == run_id(run)


def test_a_worker_has_the_id_of_its_controller() -> None:
    """All workers of a run write to one folder."""
    assert run_id(config(workerinput={SHARED_RUN_ID: "of-all"})) == "of-all"
