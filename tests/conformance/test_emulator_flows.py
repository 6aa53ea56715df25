"""Emulators are listed, made, started, stopped and provisioned as the published program does."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli import emulators as commands
from pytest_clawperator.cli.app import run
from pytest_clawperator.emulators import Emulators
from pytest_clawperator.errors import ClawperatorError
from tests.conformance.vectors import emulators_of, rows
from tests.doubles.scenario_sdk import ScenarioSdk

# The tools that are run as programs; adb is asked on its wire, so its calls are others.
_PROGRAMS = ("emulator", "sdkmanager", "avdmanager")


@pytest.mark.parametrize("row", rows("emulator_flows"))
def test_an_operation_answers_as_published(row: dict[str, Any], tmp_path: Path) -> None:
    """The result or the error's code and details, and the command lines of the SDK's tools."""
    scenario = ScenarioSdk(row["scenario"], home=tmp_path)
    emulators = emulators_of(row, scenario, tmp_path)

    try:
        answer: Any = _run(emulators, row["argv"])
    except ClawperatorError as error:
        details = {key: error.details[key] for key in row["stdout"].get("details", {})}
        answer = {"code": str(error.code), **({"details": details} if details else {})}

    expected = {key: value for key, value in row["stdout"].items() if key != "message"}
    assert answer == expected
    ran = [[call["tool"], *call["args"]] for call in row["calls"] if call["tool"] in _PROGRAMS]
    assert scenario.calls == [call for call in ran if call[1] != "--help"]


@pytest.mark.parametrize("row", rows("emulator_flows"))
def test_a_command_line_answers_as_published(
    row: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code, and the answer or the error's code and details."""
    made = emulators_of(row, ScenarioSdk(row["scenario"], home=tmp_path), tmp_path)
    monkeypatch.setattr(commands, "emulators_of", lambda *_: made)
    monkeypatch.setattr(commands, "reserved", lambda *_: nullcontext())

    code = run(row["argv"])

    answer = json.loads(capsys.readouterr().out)
    expected = {key: value for key, value in row["stdout"].items() if key != "message"}
    found = {key: answer.get(key) for key in expected}
    if "details" in expected:
        found["details"] = {key: answer["details"].get(key) for key in expected["details"]}
    assert (code, found) == (row["exitCode"], expected)


def _run(emulators: Emulators, argv: list[str]) -> dict[str, Any]:
    """Run a command line of the published program, and return what it prints."""
    if "provision" in argv:
        return emulators.provision().to_dict()
    _, command, *rest = argv
    profile = emulators.profile
    if command == "list":
        return {"avds": [avd.to_dict(profile) for avd in emulators.list()]}
    if command == "status":
        found = emulators.status()
        avds = [emulators.inspect(one.avd_name) for one in found]
        return {
            "devices": [one.to_dict(avd, profile) for one, avd in zip(found, avds, strict=True)]
        }
    if command == "inspect":
        return emulators.inspect(rest[0]).to_dict(profile)
    if command == "create":
        return emulators.create(rest[1] if rest else None).to_dict(profile)
    if command == "start":
        started = emulators.start(rest[0])
        return {
            "type": "emulator",
            "avdName": started.avd_name,
            "serial": started.serial,
            "booted": True,
        }
    getattr(emulators, command)(rest[0])
    return {"ok": True, "avdName": rest[0], f"{command.removesuffix('e')}ed": True}
