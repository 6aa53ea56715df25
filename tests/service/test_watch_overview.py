"""What is shown of a device is short, safe to show, and says one state."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pytest_clawperator.cli.output import for_command_line
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.devices.holder import UNKNOWN, Holder
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError, TransportError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.service.station import PastRun
from pytest_clawperator.service.watch import Seen, describe
from tests.service.conftest import execution

RUNNING = validate_execution(execution())

PROBLEM = TransportError("frozen", serial="A")

HOLDER = Holder.here("nightly")


def shown(**fields: Any) -> dict[str, Any]:
    """Describe a device of which this is known."""
    return describe(Seen(serial="A", adb_state="device", **fields))


def past(code: str | None = None, **fields: Any) -> PastRun:
    """Return an execution that ended."""
    return PastRun(execution=RUNNING, began_at=time.time(), elapsed=0.25, code=code, **fields)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "ready"),
        ({"problem": PROBLEM}, "trouble"),
        ({"holder": HOLDER, "problem": PROBLEM}, "held"),
        ({"running": RUNNING, "holder": HOLDER}, "busy"),
    ],
    ids=["ready", "trouble", "held", "busy"],
)
def test_a_device_has_one_state(fields: dict[str, Any], state: str) -> None:
    """What keeps others from using it comes first; its problem is told all the same."""
    device = shown(**fields)

    assert device["state"] == state
    assert (device["problem"] is not None) == ("problem" in fields)


@pytest.mark.parametrize(
    ("maker", "model", "name"),
    [("Google", "Pixel 9", "Google Pixel 9"), ("moto", "Moto g84", "Moto g84"), (None, None, "A")],
)
def test_a_device_is_called_what_people_call_it(
    maker: str | None, model: str | None, name: str
) -> None:
    """By maker and model, each once; by its serial if it tells neither."""
    info = DeviceInfo(serial="A", key="k", manufacturer=maker, model=model)

    assert shown(info=info)["name"] == name


def test_what_to_do_is_told_in_the_words_of_those_who_look() -> None:
    """A hint that names a command does so for people who type commands."""
    hint = ("Then ", Remedy(RemedyKind.SWITCH_SERVICE_ON))
    seen = Seen(serial="A", adb_state="device", problem=OperatorNotReadyError("off", hint=hint))

    device = describe(seen, wording=for_command_line)

    assert "clawperator-py grant-device-permissions" in device["problem"]["hint"]


def test_texts_of_others_are_short_and_visible() -> None:
    """Control characters are shown, secrets are not, and nobody fills the page."""
    SECRETS.add("hunter2-secret")
    error = OperatorNotReadyError("\x1b[31m" + "x" * 900, code=ErrorCode.OPERATOR_NOT_INSTALLED)
    failed = past("NODE_NOT_FOUND", message="typed hunter2-secret\u202e")
    device = shown(problem=error, past=(failed,) * 20)

    assert device["problem"]["message"].startswith("\\x1b[31mxxx")
    assert len(device["problem"]["message"]) == 500
    assert len(device["executions"]) == 5
    assert "hunter2" not in str(device)
    assert device["executions"][0]["message"].endswith("\\u202e")


@pytest.mark.parametrize("since", ["yesterday", "", "9" * 300, "0001-01-01 00:00:00"])
def test_a_holder_who_wrote_nonsense_is_still_one(since: str) -> None:
    """Anybody can have written it."""
    holder = Holder(owner="o", pid=1, host="h", run_id="", since=since, token="t", machine="")

    assert shown(holder=holder)["holder"] == {"who": "o on h", "how": "process 1", "since": None}
    assert shown(holder=UNKNOWN)["holder"]["who"].startswith("a holder")
