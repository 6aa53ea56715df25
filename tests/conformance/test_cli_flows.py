"""Command lines are answered as the published program answers them, in what they mean."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli import session
from pytest_clawperator.cli.app import run
from pytest_clawperator.devices import connection
from pytest_clawperator.execution.pipeline import Pipeline
from tests.conformance.vectors import rows
from tests.doubles.scenario_phone import ScenarioPhone, ScenarioServer

# Commands that are tested elsewhere: set-up and diagnosis.
_ELSEWHERE = {
    "doctor",
    "grant-device-permissions",
    "install",
    "operator",
    "setup",
    "skills",
    "version",
}
# What is not followed: a sentence as a code, and a missing adb reported as a missing device.
_OWN_CODES = {
    "dispatch/logcat_exits": "LOGCAT_UNAVAILABLE",
    "device_resolution/adb_missing": "ADB_NOT_FOUND",
}
# Fields of errors that only the published program has, and those whose wording is ours.
_NOT_OURS = {"reason", "logPath", "hint"}
_OWN_WORDS = {"message", "hint", "reason", "elapsedMs", "logPath", "lastCorrelatedEvents"}
_OWN_WORDS |= {"summary", "detail", "installCommand"}
_ROWS = rows("cli_flows", lambda row: row["argv"][0] not in _ELSEWHERE)


@pytest.mark.parametrize("row", _ROWS)
def test_a_command_line_is_answered_as_published(
    row: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code, the code of an error, and the fields of the answer."""
    phones = _use_scenario(row, tmp_path, monkeypatch)
    argv = [word if word.startswith("{") else _placed(word, tmp_path) for word in row["argv"]]

    code = run(argv)

    answer = json.loads(capsys.readouterr().out)
    assert code == row["exitCode"]
    expected = _placed(row["stdout"], tmp_path)
    if row["name"] in _OWN_CODES:
        expected = {"code": _OWN_CODES[row["name"]]}
    assert _differences(expected, answer) == []
    sent = [each for phone in phones for each in phone.broadcasts]
    published = _published(row, tmp_path)
    assert [_shape(_unproved(each)) for each in sent] == [_shape(each) for each in published]


def _use_scenario(
    row: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> list[ScenarioPhone]:
    """Put the phones of the scenario behind adb; return those that are opened."""
    phones: list[ScenarioPhone] = []
    for path, content in row["scenario"].get("files", {}).items():
        (home / path).write_text(content)
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value)
    # Phones of other tests that run now have the same serials.
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(home))
    if row["name"] == "device_resolution/adb_missing":
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")
        return phones
    server = ScenarioServer(row["scenario"])

    def opened(server: ScenarioServer, serial: str, **options: Any) -> ScenarioPhone:
        phones.append(ScenarioPhone(server, serial, **options))
        return phones[-1]

    def pipeline(transport: ScenarioPhone, **options: Any) -> Pipeline:
        return Pipeline(transport, **options, clock=transport.clock)

    for module in (connection, session):
        monkeypatch.setattr(module, "locate_server", lambda *_: server)
        monkeypatch.setattr(module, "ensure_server", lambda *_, **__: None)
    monkeypatch.setattr(connection, "AdbTransport", opened)
    monkeypatch.setattr(connection, "Pipeline", pipeline)
    return phones


def _placed(value: Any, home: Path) -> Any:
    """Return a value of a row with the places of this test in it."""
    text = json.dumps(value).replace("$HOME", str(home)).replace("$DIR", str(home))
    return json.loads(text.replace("/tmp/clawperator-screenshot", f"{home}/clawperator-screenshot"))


def _differences(expected: Any, answer: Any, path: str = "") -> list[str]:
    """List the fields in which an answer does not mean what is expected."""
    if isinstance(expected, dict) and isinstance(answer, dict):
        is_error = "code" in expected or path.startswith(".details")
        skipped = _OWN_WORDS if is_error else set()
        found = [f"{path} lacks {key}" for key in expected.keys() - answer.keys() - _NOT_OURS]
        for key in (expected.keys() & answer.keys()) - skipped:
            found += _differences(expected[key], answer[key], f"{path}.{key}")
        return found
    if isinstance(expected, list) and isinstance(answer, list) and len(expected) == len(answer):
        pairs = enumerate(zip(expected, answer, strict=True))
        return [text for n, (one, two) in pairs for text in _differences(one, two, f"{path}.{n}")]
    same = _fits(expected, answer) if isinstance(expected, str) else expected == answer
    return [] if same else [f"{path}: {expected!r} is {answer!r}"]


def _fits(expected: str, answer: Any) -> bool:
    pattern = re.escape(expected)
    pattern = re.sub(r"<([\w\\-]+?)\\-ID>", r"\1[-_][0-9]+(?:-[0-9a-z]{7})?", pattern)
    pattern = pattern.replace("<TS>", "[0-9]+").replace("<int>", "[0-9]+")
    return re.fullmatch(pattern, str(answer), re.DOTALL) is not None


def _published(row: dict[str, Any], home: Path) -> list[Any]:
    """Return the payloads that the published program sent."""
    found = []
    for call in row["calls"]:
        sent = re.search(r"'payload' '(.*)' --receiver", call["args"][-1], re.DOTALL)
        if sent:
            text = sent[1].replace("'\"'\"'", "'").replace("$DIR", str(home))
            found.append(json.loads(text))
    return found


def _unproved(payload: Any) -> Any:
    """Return a payload without what is sent along to see that a matcher matches one node."""
    actions = [
        {**one, "params": {**one["params"], "clickAfter": True}}
        if one["type"] == "scroll_and_click"
        else one
        for one in payload["actions"]
        if not re.search("-(wait|proof|tap)$", one["id"])
    ]
    return {**payload, "actions": actions}


def _shape(payload: Any) -> Any:
    """Return a payload without its ids, and without what makes a wait as long as was asked."""
    [*actions] = (
        {**action, "params": {k: v for k, v in action.get("params", {}).items() if k != "retry"}}
        for action in payload["actions"]
    )
    rest = {k: v for k, v in payload.items() if k not in ("commandId", "taskId", "actions")}
    return {**rest, "actions": actions}
