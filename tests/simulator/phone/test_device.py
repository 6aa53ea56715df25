"""A whole phone: what adbd offers for it, and what happens to it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from pytest_clawperator.simulator.wire.adbd import Adbd
from pytest_clawperator.simulator.wire.stream import ServiceRefused
from tests.doubles.simulator.adb_hosts import in_loop, real_adb
from tests.doubles.simulator.android_phone import (
    DEADLINE,
    HOME,
    OPERATOR,
    FakeStream,
    Phone,
    broadcast,
    payload,
)

SETTINGS = "com.android.settings"


async def reaches(device: Device, stage: str) -> None:
    """Wait until a restart is at a stage."""
    while device.boot.stage != stage:
        await asyncio.sleep(0)


def served(phone: Phone, destination: str, incoming: list[bytes] | None = None) -> bytes:
    """Open a service and give all that it sends."""
    stream = FakeStream(incoming=incoming or [])
    asyncio.run(asyncio.wait_for(phone.device.serve(destination, stream), DEADLINE))
    return stream.sent


def test_hosts_can_open_shells_files_and_nothing_else() -> None:
    """What is not offered is refused before a stream opens."""
    phone = Phone(size=(360, 800))
    asked = [b"STAT\x07\x00\x00\x00/sdcard", b"QUIT\0\0\0\0"]

    assert served(phone, "shell:echo hello; fly") == (
        b"hello\n/system/bin/sh: fly: inaccessible or not found\n"
    )
    v2 = served(phone, "shell,v2,raw:echo hi; false")
    assert v2 == b"\x01\x03\x00\x00\x00hi\n" + b"\x03\x01\x00\x00\x00\x01"
    assert served(phone, "exec:screencap -p").startswith(b"\x89PNG\r\n\x1a\n")
    assert served(phone, "sync:", asked).startswith(b"STAT")
    for destination in ("", ":", "tcp:80", "localabstract:x", "jdwp:1", "abb:x"):
        with pytest.raises(ServiceRefused):
            served(phone, destination)


@pytest.mark.parametrize("destination", ["reboot:", "shell:reboot"])
@in_loop
async def test_a_restart_keeps_files_and_settings(destination: str) -> None:
    """Open apps, pids and the boot id do not stay; the stream does until the connection drops."""
    phone = Phone()
    dropped = asyncio.Event()
    phone.device.cable.disconnect = dropped.set
    identity = f"pidof {OPERATOR}; cat /proc/sys/kernel/random/boot_id"
    await phone.shell(f"am start -n {SETTINGS}/.Settings; echo y > /sdcard/y; setprop x.y 1")
    before = (await phone.shell(identity)).out

    stream = asyncio.create_task(phone.device.serve(destination, FakeStream()))
    await dropped.wait()
    assert not stream.done()
    await phone.device.boot.ended()
    stream.cancel()

    after = (await phone.shell(identity)).out
    assert (await phone.shell("cat /sdcard/y; getprop x.y")).out == "y\n1\n"
    assert phone.device.ui.view.foreground_package() != SETTINGS
    assert not set(before.split()) & set(after.split())
    await phone.device.stop()


@in_loop
async def test_the_real_adb_sees_the_stages_of_a_restart(tmp_path: Path) -> None:
    """Offline, then a shell without services, then services, then booted."""
    device = Device(DeviceOptions(serial_number="SIM0001"))
    stages = asyncio.Semaphore(1)

    async def pause(_: float) -> None:
        await stages.acquire()

    device.boot.pause = pause
    adbd = Adbd(device)
    device.cable.disconnect = adbd.drop_connections
    async with real_adb(tmp_path) as adb:
        serial = await adb.server.connect(await adbd.start())
        asked = asyncio.create_task(adb("-s", serial, "reboot"))
        await adb.until(serial, "offline")
        seen = [(await adb("-s", serial, "shell", "echo", "x")).text]
        stages.release()
        await adb.until(serial, "device")
        script = "settings get global a 2>&1; getprop sys.boot_completed"
        for stage in ("services", "on"):
            seen.append((await adb("-s", serial, "shell", script)).text)
            stages.release()
            await reaches(device, stage)
        seen += [(await adb("-s", serial, "shell", script)).text, str((await asked).code)]
        await adbd.stop()
        await device.stop()

    missing = "cmd: Can't find service: settings\n\n"
    assert seen == ["adb: device offline\n", missing, "null\n\n", "null\n1\n", "0"]


def test_phones_with_the_same_seed_are_equal() -> None:
    """Another seed gives other pids and paths."""
    script = "getprop; ps -A; pm list packages -f; dumpsys package; sim screen"

    assert Phone(seed=4).out(script) == Phone(seed=4).out(script) != Phone(seed=5).out(script)


def test_other_processes_log_from_start_to_stop() -> None:
    """They log under their own pids."""
    phone = Phone(chatter=2000)

    async def act() -> None:
        await phone.device.start()
        await asyncio.wait_for(phone.device.log.wait(20), DEADLINE)
        await phone.device.stop()

    asyncio.run(act())

    servers = {line.pid for line in phone.device.log.since(1) if line.tag == "AlarmManager"}
    assert servers <= {int(phone.out("pidof system_server"))}


def test_stop_ends_executions() -> None:
    """Nothing goes on after the stop."""
    phone = Phone(time_scale=1.0)
    nap = payload({"type": "sleep", "params": {"durationMs": 60000}})

    async def act() -> set[asyncio.Task[object]]:
        await phone.shell(broadcast(nap))
        await phone.logged("step_start")
        await phone.device.stop()
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(act()) == set()


def test_an_app_that_crashes_or_asks_too_much_is_in_the_log() -> None:
    """Both lines have the pid of the app."""
    phone = Phone()
    phone.out(f"am start -n {SETTINGS}/.Settings")
    pid = int(phone.out(f"pidof {SETTINGS}"))

    phone.device.ui.changes.on_complaint(SETTINGS, "app.yaml:7:1: `add` does nothing")
    phone.device.ui.changes.on_crash(SETTINGS, "java.lang.IllegalStateException: boom")

    lines = phone.device.log.since(1)
    (complaint,) = (line for line in lines if line.tag == "AppFile")
    crash = next(line for line in lines if line.buffer == "crash")
    assert (complaint.priority, complaint.message) == ("E", "app.yaml:7:1: `add` does nothing")
    assert crash.message.startswith(f"FATAL EXCEPTION: main\nProcess: {SETTINGS}, PID: ")
    assert "boom" in crash.message
    assert complaint.pid == crash.pid == pid


def test_the_real_adb_installs_an_operator(tmp_path: Path) -> None:
    """Behind adbd and the real adb it is a phone like any other."""
    device = Device(DeviceOptions(serial_number="SIM1", operator="absent"), clock=time.time)
    apk = tmp_path / f"{OPERATOR}.apk"
    apk.write_bytes(OPERATOR.encode())

    async def act() -> list[object]:
        adbd = Adbd(device)
        async with real_adb(tmp_path) as adb:
            adb.serial = await adb.server.connect(await adbd.start())
            try:
                return [
                    (await adb("install", "-r", str(apk))).code,
                    (await adb("shell", "pm", "list", "packages", OPERATOR)).stdout,
                    (await adb("shell", "getprop", "ro.serialno")).stdout,
                ]
            finally:
                await adbd.stop()
                await device.stop()

    assert asyncio.run(act()) == [0, f"package:{OPERATOR}\n".encode(), b"SIM1\n"]


@pytest.mark.parametrize(
    ("variant", "package", "tag"),
    [
        ("release", "com.clawperator.operator", "a"),
        ("dev", "com.clawperator.operator.dev", "AgentCommandExecutorDefault$execute"),
    ],
)
def test_the_tags_of_the_log_are_those_of_the_build(variant: str, package: str, tag: str) -> None:
    """A release build has renamed classes, and a debug build has not."""
    phone = Phone(operator=variant)

    async def scenario() -> None:
        await phone.shell(broadcast(HOME, package=package))
        await phone.logged("[Clawperator-Result]")

    asyncio.run(scenario())
    tags = [each.tag for each in phone.device.log.since(1) if "Clawperator-Result" in each.message]
    assert tags == [tag]


WRITE = "log -p d -t T debug; log -p i -t T info; log -p e -t T error; logcat -d -v raw -s T"


def test_properties_and_the_maker_decide_what_is_logged() -> None:
    """Lines below the level of the properties are dropped; a maker may drop more."""
    for before, shown in {
        "true": "debug info error",
        "setprop log.tag I": "info error",
        "setprop persist.log.tag Error": "error",
        "setprop persist.log.tag E; setprop log.tag V": "debug info error",
        "setprop log.tag suppress": "",
        "setprop log.tag ?": "debug info error",
        "sim fault log_suppressed": "error",
        "sim fault log_suppressed; sim fault clear": "debug info error",
    }.items():
        phone = Phone()
        phone.run(before)
        lines = phone.out(WRITE).splitlines()
        assert [line for line in lines if not line.startswith("---")] == shown.split(), before
