"""The broadcast receiver: payloads that are refused, declined or run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.operator.fakes import (
    Bench,
    action,
    command,
)

HOME = action("press_key", key="home")

IDS = "commandId=c1 taskId=t1"


@pytest.mark.parametrize("payload", [None, "", " \n"])
def test_a_broadcast_without_payload(payload: str | None) -> None:
    """What brings no payload is remarked upon and forgotten."""
    bench = Bench()

    bench.send(payload)

    assert bench.lines() == ["E [Operator-Receiver] Missing required agent payload extra: payload"]
    assert bench.entries()[0].tag == "OperatorCommandReceiver"


@pytest.mark.parametrize(
    ("payload", "java"),
    [
        ("{", "kotlinx.serialization.json.internal.JsonDecodingException: Unexpected JSON token"),
        ("{}", "java.lang.IllegalStateException: commandId is required\n"),
        (
            command(HOME, taskId=" "),
            "java.lang.IllegalArgumentException: taskId must not be blank\n",
        ),
    ],
)
def test_a_refused_payload(payload: str, java: str) -> None:
    """A payload that does not parse is answered by silence and a stack trace."""
    bench = Bench()

    bench.send(payload)

    (line,) = bench.lines()
    assert line.startswith(f"E [Operator-Receiver] Failed to parse agent command payload\n{java}")
    assert bench.stats.executions == 0


def test_a_payload_refused_on_demand() -> None:
    """The fault refuses a payload that is in order."""
    bench = Bench()
    bench.faults.set("payload_refused", times=1)

    bench.send(command(HOME), command(HOME))

    assert "Failed to parse agent command payload\njava.lang." in bench.lines()[0]
    assert len(bench.envelopes()) == 1


@pytest.mark.parametrize(
    "switch_off",
    [
        lambda bench: bench.faults.set("service_off"),
        lambda bench: bench.settings.put("secure", "accessibility_enabled", "0"),
        lambda bench: bench.settings.put("secure", "enabled_accessibility_services", "a/b:c/d"),
        lambda bench: bench.settings.delete("secure", "enabled_accessibility_services"),
    ],
)
def test_without_the_service(switch_off: Any) -> None:
    """A service that is not connected is answered at once, before any loop turns."""
    bench = Bench()
    switch_off(bench)

    bench.app.receive(command(HOME))

    assert bench.lines() == [
        f"E [Operator-Receiver] Accessibility service is not available {IDS}",
        'I [Clawperator-Result] {"commandId":"c1","taskId":"t1","status":"failed",'
        '"stepResults":[],"error":"Accessibility service is not available",'
        '"errorCode":"SERVICE_UNAVAILABLE"}',
    ]
    assert bench.shades_dismissed == 0


def test_without_the_service_and_without_sense() -> None:
    """A broken payload then has no envelope at all."""
    bench = Bench()
    bench.faults.set("service_off")

    bench.send("{}")

    (line,) = bench.lines()
    assert line.startswith(
        "E [Operator-Receiver] Accessibility service is not available and failed to parse agent "
        "command payload\njava.lang."
    )


def test_the_notification_shade_is_closed_first() -> None:
    """Every command closes the shade."""
    bench = Bench()

    bench.send(command(HOME), command(HOME))

    assert bench.shades_dismissed == 2
