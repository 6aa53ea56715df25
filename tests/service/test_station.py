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


def test_executions_and_pictures_are_kept_within_a_limit(tmp_path: Path) -> None:
    """The older ones go first, with their screenshot files that no client named."""
    device, files = station(), [tmp_path / str(number) for number in range(KEPT_RUNS + 2)]
    for number, file in enumerate(files):
        file.touch()
        device._remember(replace(past_run("sleep", at=number), file=file))

    assert len(device.past) == KEPT_RUNS
    assert device.past[0].began_at == KEPT_RUNS + 1
    assert [file.exists() for file in files] == [False, False, *[True] * KEPT_RUNS]
    for number in range(3):
        picture = bytes(KEPT_PICTURES // 2)
        device._remember(replace(past_run("sleep", at=number), picture=picture))
    assert [past.picture is not None for past in device.past[:3]] == [True, True, False]


def test_a_file_that_a_client_named_is_not_the_stations(
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
