"""What happens on a phone by itself as time passes."""

from __future__ import annotations

import asyncio
import json
import time

from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from tests.doubles.simulator.android_phone import Phone, broadcast, payload

TIMED = """\
package: com.example.timed
name: Timed
start: main
screens:
  main:
    items: [{text: Wait}]
    timers: [{after: 200ms, do: [{crash: "java.lang.IllegalStateException: time is up"}]}]
"""


class RealTimePhone(Phone):
    """A phone whose clock goes by itself."""

    def __init__(self, *, time_scale: float = 1.0) -> None:
        options = DeviceOptions(
            serial_number="SIM0001", time_scale=time_scale, apps=[parse_app(TIMED)]
        )
        self.device = Device(options, clock=time.time)


def test_a_crash_is_logged_at_its_time_without_a_reader() -> None:
    """The log has it, without any command that reads the screen."""

    async def run() -> str:
        phone = RealTimePhone()
        await phone.device.start()
        await phone.shell("am start -n com.example.timed/.MainActivity")
        try:
            return await phone.logged("time is up")
        finally:
            await phone.device.stop()

    assert "IllegalStateException" in asyncio.run(run())


def test_a_phone_without_a_heartbeat_does_nothing_by_itself() -> None:
    """Before it is started, time passes only when the screen is read, so tests can hold it."""
    phone = Phone(apps=[parse_app(TIMED)])
    phone.out("am start -n com.example.timed/.MainActivity")

    phone.clock.now += 60

    assert not any("time is up" in message for message in phone.messages())
    phone.device.ui.catch_up()
    assert any("time is up" in message for message in phone.messages())


def test_a_recording_has_what_happened_while_it_slept() -> None:
    """An app that opens during a sleep is in the recording, at the time at which it opened."""

    async def run() -> list[dict[str, object]]:
        phone = RealTimePhone(time_scale=0.05)
        await phone.device.start()
        record = payload(
            {"type": "start_recording", "params": {"sessionId": "r"}},
            {"type": "open_app", "params": {"applicationId": "com.example.timed"}},
            {"type": "sleep", "params": {"durationMs": 150}},
            {"type": "stop_recording"},
        )
        await phone.shell(broadcast(record))
        await phone.logged("[Clawperator-Result]")
        folder = "/sdcard/Android/data/com.clawperator.operator/files/recordings"
        lines = (await phone.shell(f"cat {folder}/r.ndjson")).out.splitlines()
        await phone.device.stop()
        return [json.loads(line) for line in lines]

    header, *events = asyncio.run(run())

    opened = [event for event in events if event["packageName"] == "com.example.timed"]
    assert [event["type"] for event in opened] == ["window_change"]
    assert opened[0]["ts"] >= header["startedAt"]  # type: ignore[operator]
