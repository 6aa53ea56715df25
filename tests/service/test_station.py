"""One device of the rack: what is kept of its executions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx

from pytest_clawperator.service.leasing import Leasing
from pytest_clawperator.service.station import KEPT_PICTURES, KEPT_RUNS, Station
from tests.doubles.service import RunningService
from tests.doubles.shown_rack import ShownDevices, past_run
from tests.service.conftest import execution


def station() -> Station:
    """Make a station on which nothing runs."""
    return Station("PH1", ShownDevices({"PH1": "device"}), Leasing())


def test_so_many_executions_are_kept(tmp_path: Path) -> None:
    """The screenshot files of older ones are removed, if nobody named them."""
    device, files = station(), [tmp_path / str(number) for number in range(KEPT_RUNS + 2)]
    for number, file in enumerate(files):
        file.touch()
        device._remember(replace(past_run("sleep", at=number), file=file))

    assert len(device.past) == KEPT_RUNS
    assert device.past[0].began_at == KEPT_RUNS + 1
    assert [file.exists() for file in files] == [False, False, *[True] * KEPT_RUNS]


def test_pictures_are_kept_within_a_limit() -> None:
    """The older ones go first; the newest stays."""
    device = station()
    for number in range(3):
        picture = bytes(KEPT_PICTURES // 2)
        device._remember(replace(past_run("sleep", at=number), picture=picture))

    assert [past.picture is not None for past in device.past] == [True, True, False]


def test_only_files_that_nobody_named_are_the_stations(
    service: RunningService, http: httpx.Client, serial: str, tmp_path: Path
) -> None:
    """What a client asked for stays where it asked for it."""
    named = {"id": "s", "type": "take_screenshot", "params": {"path": str(tmp_path / "a.png")}}
    unnamed = {"id": "s", "type": "take_screenshot"}
    for action in (named, unnamed):
        http.post("/execute", json={"execution": execution(action), "deviceId": serial})
    last, first = service.service.rack.station_of(serial).past[:2]

    assert first.file is None
    assert last.file is not None
    assert last.file.exists()
