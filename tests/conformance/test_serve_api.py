"""The published server's answers are read for what they mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.remote.http import HttpAnswer, read_answer, read_device_states, read_run
from tests.conformance.vectors import rows


def answer_of(row: dict[str, Any]) -> HttpAnswer:
    """Return a row's answer as it came over the wire."""
    body, request = row["body"], row["request"]
    return HttpAnswer(
        request=f"{request['method']} http://host:3000{request['path']}",
        status=row["status"],
        content_type=row["contentType"],
        body=(body if isinstance(body, str) else json.dumps(body)).encode(),
    )


@pytest.mark.parametrize("row", rows("serve_api"))
def test_an_answer_of_the_server_is_read_as_published(row: dict[str, Any]) -> None:
    """A value, a coded error, or a page that no Clawperator host should give."""
    answer, body = answer_of(row), row["body"]
    if isinstance(body, str):
        with pytest.raises(ClawperatorError) as caught:
            read_answer(answer, serial=None)
        assert caught.value.code == ErrorCode.REMOTE_ANSWER_UNREADABLE
        return
    if not body["ok"]:
        with pytest.raises(ClawperatorError) as caught:
            read_answer(answer, serial=None)
        assert caught.value.code == body["error"]["code"]
        assert caught.value.serial == body.get("deviceId")
        assert body["error"].get("details", {}).items() <= caught.value.details.items()
        assert caught.value.hint
        return

    given = read_answer(answer, serial=None)

    assert given == body
    if "envelope" in body:
        run = read_run(answer, command_id=body["envelope"]["commandId"], serial="asked")
        assert run.envelope.to_wire() == body["envelope"]
        assert (run.serial, run.terminal_source) == (body["deviceId"], body["terminalSource"])
    if row["request"]["path"] == "/devices":
        states = read_device_states(answer)
        assert [*states.items()] == [(d["serial"], d["state"]) for d in body["devices"]]
