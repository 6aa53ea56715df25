"""What the tests of the run share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.log import LoggedTransport
from tests.doubles.pipeline import Bench, MakeBench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[MakeBench]:
    """Return a factory of pipelines on scripted devices."""
    made: list[Bench] = []

    def make(*script: tuple[float, bytes | Exception], **options: Any) -> Bench:
        shell = options.pop("shell", None)
        broadcast = options.pop("broadcast", ShellResult("", "", 0))
        transport = LoggedTransport(*script, shell=shell, broadcast=broadcast)
        made.append(Bench(tmp_path / "locks", transport, **options))
        return made[-1]

    yield make
    for each in made:
        each.pipeline.close()
