"""Diagnosis, set-up and versions mean what the published program means by them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli import operator
from pytest_clawperator.cli.app import run
from pytest_clawperator.devices import connection
from pytest_clawperator.doctor import examine
from pytest_clawperator.doctor.facts import HostFacts
from pytest_clawperator.errors import ShellError
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.conformance.vectors import rows
from tests.doubles.scenario_phone import ScenarioPhone, ScenarioServer, reply

_COMMANDS = ("doctor", "grant-device-permissions", "install", "operator", "setup", "version")
# Not followed: the version of Node, and that versions must be the same to the last digit.
_NOT_OURS = {"doctor/node_too_old", "doctor/version_mismatch"}
# What only the other implementation has, and what is worded otherwise.
_OWN_WORDS = {"message", "hint", "error", "canonical", "remediation", "details", "cliVersion"}
_DEVICES = {"match": "^devices$", "stdout": "List\nemulator-5554\tdevice\n"}
_SAME_CHECK = {"host.node.version": "host.python.version"}


def _rows(*, of_doctor: bool) -> list[Any]:
    return rows("cli_flows", lambda row: _is_ours(row, of_doctor=of_doctor))


def _is_ours(row: dict[str, Any], *, of_doctor: bool) -> bool:
    command = row["argv"][0] if row["argv"] else ""
    return (
        command in _COMMANDS
        and row["name"] not in _NOT_OURS
        and (row["category"] == "doctor") is of_doctor
    )


class BulkPhone(ScenarioPhone):
    """A phone of a scenario that also answers what is asked for in bulk."""

    def _run(self, command: str) -> ShellResult:
        plain = command.replace("'", "")
        if plain == "getprop":
            return self._listed("getprop", ["ro.build.version.sdk"], "[{}]: [{}]\n")
        if plain == "settings list global":
            keys = ["development_settings_enabled", "adb_enabled"]
            return self._listed("settings get global", keys, "{}={}\n")
        if plain == "settings get secure accessibility_enabled":
            return ShellResult("1\n", "", 0)
        rules = self.scenario["rules"]
        has_rule = any(re.search(rule["match"], f"shell {plain}") for rule in rules)
        if plain.startswith("pm list packages ") and not has_rule:
            # What is set up without a check is there.
            return ShellResult("package:com.clawperator.operator\n", "", 0)
        if plain.startswith("pm list packages ") and plain.endswith("operator"):
            both = [super()._run(plain), super()._run(f"{plain}.dev")]
            return ShellResult(
                "".join(one.stdout for one in both), both[0].stderr, both[0].exit_code
            )
        found = super()._run(plain)
        # The published program's adb succeeds with anything that has no rule.
        is_silent = found.missing and plain.startswith(("settings put", "pm grant", "pm list"))
        return ShellResult("", "", 0) if is_silent else found

    def install(self, apk: Path, *, timeout: float = 180.0) -> None:
        """Install by the rules."""
        answer = reply(self.scenario, f"install -r {apk}")
        if answer.get("code"):
            raise ShellError(answer.get("stderr", ""), serial=self.serial)

    def _listed(self, command: str, keys: list[str], form: str) -> ShellResult:
        answers = {key: super(BulkPhone, self)._run(f"{command} {key}") for key in keys}
        failed = next((one for one in answers.values() if not one.ok), None)
        lines = (form.format(key, one.stdout.strip()) for key, one in answers.items())
        return failed or ShellResult("".join(lines), "", 0)


@pytest.fixture
def scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> dict[str, Any]:
    """Put the phones of a row's scenario behind adb, and return the row."""
    row: dict[str, Any] = dict(request.param)
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE"):
        monkeypatch.delenv(name, raising=False)
    for path, content in row["scenario"].get("files", {}).items():
        (tmp_path / path).write_text(content)
    _put_behind_adb(_completed(row["scenario"]), monkeypatch)
    if row["name"] == "doctor/adb_missing":
        monkeypatch.undo()
        monkeypatch.setenv("ADB_PATH", str(tmp_path / "nowhere"))
        monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:127.0.0.1:1")
    row["argv"] = [word.replace("$HOME", str(tmp_path)) for word in row["argv"]]
    return row


def _completed(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario with a device where the published program asks for none."""
    has_devices = "stdout" in reply(scenario, "devices")
    ours = [] if has_devices else [_DEVICES]
    return {**scenario, "rules": [*ours, *scenario.get("rules", [])]}


def _put_behind_adb(scenario: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    server = ScenarioServer(scenario)
    facts = HostFacts(
        python="3.12",
        package_version="1",
        server=AdbServer(),
        adb=Path("adb"),
        adb_version="Android Debug Bridge version 1.0.41",
        server_number=41,
    )

    def pipeline(transport: ScenarioPhone, **options: Any) -> Pipeline:
        return Pipeline(transport, **options, clock=transport.clock)

    monkeypatch.setattr("pytest_clawperator.cli.doctor.locate_server", lambda _: server)
    monkeypatch.setattr(connection, "locate_server", lambda _: server)
    monkeypatch.setattr(connection, "ensure_server", lambda *_, **__: None)
    monkeypatch.setattr(connection, "AdbTransport", BulkPhone)
    monkeypatch.setattr(examine, "gather_host", lambda _: facts)
    monkeypatch.setattr(examine, "AdbTransport", BulkPhone)
    monkeypatch.setattr(examine, "Pipeline", pipeline)
    # No Operator of these scenarios answers: the published program does not wait for it.
    monkeypatch.setattr(operator, "await_answer", lambda *_, **__: None)


@pytest.mark.parametrize("scenario", _rows(of_doctor=True), indirect=True)
def test_the_doctor_finds_what_the_published_one_finds(
    scenario: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code, the report's fields, and each published check with its status and code."""
    code = run(scenario["argv"])

    printed = capsys.readouterr().out
    expected = scenario["stdout"]
    assert code == scenario["exitCode"]
    if isinstance(expected, str):
        assert "✓ readiness.handshake" in printed
        return
    found = json.loads(printed)
    for field in expected.keys() & {"ok", "criticalOk", "deviceId", "operatorPackage"}:
        assert found[field] == expected[field]
    ours = {check["id"]: check for check in found["checks"]}
    ids = [_SAME_CHECK.get(check["id"], check["id"]) for check in expected["checks"]]
    assert [check for check in ours if check in ids] == [check for check in ids if check in ours]
    for name, check in zip(ids, expected["checks"], strict=True):
        assert _outcome(ours.get(name), check) == _outcome(check, check)


def _outcome(check: dict[str, Any] | None, expected: dict[str, Any]) -> Any:
    """Return what counts of a check; an unknown setting is not a warning of ours."""
    if check is None:
        is_unknown = expected["id"].startswith("readiness.settings")
        return (expected["status"], expected.get("code")) if is_unknown else None
    return check["status"], check.get("code") if "code" in expected else None


@pytest.mark.parametrize("scenario", _rows(of_doctor=False), indirect=True)
def test_set_up_and_versions_are_answered_as_published(
    scenario: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code, the codes, and the fields of what was done."""
    code = run(scenario["argv"])

    answer = json.loads(capsys.readouterr().out)
    assert code == scenario["exitCode"]
    assert _differences(scenario["stdout"], answer) == []


def _differences(expected: Any, answer: Any, path: str = "") -> list[str]:
    """List the fields in which an answer does not mean what is expected."""
    if not isinstance(expected, dict) or not isinstance(answer, dict):
        return [] if expected == answer else [f"{path}: {expected!r} is {answer!r}"]
    found = [f"{path} lacks {key}" for key in expected.keys() - answer.keys() - _OWN_WORDS]
    for key in expected.keys() & answer.keys():
        if key == "error" and isinstance(expected[key], dict):
            found += _differences(expected[key]["code"], answer[key]["code"], f"{path}.error")
        elif key not in _OWN_WORDS:
            found += _differences(expected[key], answer[key], f"{path}.{key}")
    return found
