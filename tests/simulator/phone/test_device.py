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
from tests.doubles.simulator.adb_hosts import real_adb
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

BOOT_ID = "/proc/sys/kernel/random/boot_id"


async def reaches(device: Device, stage: str) -> None:
    """Wait until a restart is at a stage."""
    while device.boot.stage != stage:
        await asyncio.sleep(0)


async def restarted(phone: Phone) -> None:
    """Wait until a restart has begun and ended."""
    await reaches(phone.device, "down")
    await phone.device.boot.ended()


def served(phone: Phone, destination: str, incoming: list[bytes] | None = None) -> bytes:
    """Open a service and give all that it sends."""
    stream = FakeStream(incoming=incoming or [])
    asyncio.run(asyncio.wait_for(phone.device.serve(destination, stream), DEADLINE))
    return stream.sent


class TestServices:
    """What a host can open."""

    def test_a_shell_returns_the_output(self) -> None:
        """A command's output comes back as it is."""
        assert served(Phone(), "shell:echo hello") == b"hello\n"

    def test_shell_v2_separates_output_and_status(self) -> None:
        """The newer shell tells output and exit status apart."""
        sent = served(Phone(), "shell,v2,raw:echo hi; false")

        assert sent.endswith(b"\x03\x01\x00\x00\x00\x01")
        assert b"\x01\x03\x00\x00\x00hi\n" in sent

    def test_exec_returns_bytes_unchanged(self) -> None:
        """Bytes come back unchanged."""
        assert served(Phone(size=(360, 800)), "exec:screencap -p").startswith(b"\x89PNG\r\n\x1a\n")

    def test_sync_answers_stat_requests(self) -> None:
        """Files can be asked for."""
        sent = served(Phone(), "sync:", [b"STAT\x07\x00\x00\x00/sdcard", b"QUIT\0\0\0\0"])

        assert sent.startswith(b"STAT")

    @pytest.mark.parametrize(
        "destination", ["", ":", "tcp:80", "localabstract:x", "jdwp:1", "abb:x"]
    )
    def test_an_unknown_destination_is_refused_at_once(self, destination: str) -> None:
        """What there is not is refused at once."""
        with pytest.raises(ServiceRefused):
            served(Phone(), destination)

    def test_an_unknown_command_is_status_127(self) -> None:
        """A command that does not exist is reported as Android's shell does."""
        ended = Phone().run("fly")

        assert ended == (127, "", "/system/bin/sh: fly: inaccessible or not found\n")


class TestReboot:
    """Going down and coming up."""

    def test_keeps_and_forgets(self) -> None:
        """Files and settings stay; open apps, pids, the boot id and the log do not."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings; echo y > /sdcard/y; settings put global x 1")
        before = phone.out(f"pidof {OPERATOR}; cat {BOOT_ID}")

        async def act() -> None:
            shell = asyncio.create_task(phone.shell("reboot"))
            await asyncio.wait_for(restarted(phone), DEADLINE)
            shell.cancel()

        asyncio.run(act())

        after = phone.out(f"pidof {OPERATOR}; cat {BOOT_ID}")
        assert phone.out("cat /sdcard/y; settings get global x") == "y\n1\n"
        assert phone.device.ui.view.foreground_package() != SETTINGS
        assert not set(before.split()) & set(after.split())

    @pytest.mark.parametrize("destination", ["reboot:", "shell:reboot"])
    def test_the_stream_stays_open_until_the_connection_drops(self, destination: str) -> None:
        """Who asked for the reboot gets no end before the host is disconnected."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> bool:
            phone.device.cable.disconnect = dropped.set
            stream = asyncio.create_task(phone.device.serve(destination, FakeStream()))
            await asyncio.wait_for(dropped.wait(), DEADLINE)
            was_open = not stream.done()
            stream.cancel()
            await phone.device.stop()
            return was_open

        assert asyncio.run(act())

    def test_the_real_adb_sees_the_stages(self, tmp_path: Path) -> None:
        """Offline, then a shell without services, then services, then booted."""

        async def act() -> list[str]:
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
                    await asyncio.wait_for(reaches(device, stage), DEADLINE)
                seen += [(await adb("-s", serial, "shell", script)).text, str((await asked).code)]
                await adbd.stop()
                await device.stop()
            return seen

        seen = asyncio.run(act())

        assert seen == [
            "adb: device offline\n",
            "cmd: Can't find service: settings\n\n",
            "null\n\n",
            "null\n1\n",
            "0",
        ]


class TestSeed:
    """The same seed, the same phone."""

    def test_phones_with_the_same_seed_are_equal(self) -> None:
        """Two phones with one seed tell the same of themselves."""
        script = "getprop; ps -A; pm list packages -f -U; dumpsys package; sim screen"

        assert Phone(seed=4).out(script) == Phone(seed=4).out(script)

    def test_another_seed_gives_other_pids_and_paths(self) -> None:
        """Another seed gives other pids and paths."""
        assert Phone(seed=4).out("ps -A; pm list packages -f") != Phone(seed=5).out(
            "ps -A; pm list packages -f"
        )


class TestLife:
    """From start to stop."""

    def test_other_processes_log_from_start_to_stop(self) -> None:
        """Other processes log from the start, under their own pids, until the stop."""
        phone = Phone(chatter=2000)

        async def act() -> None:
            await phone.device.start()
            await asyncio.wait_for(phone.device.log.wait(20), DEADLINE)
            await phone.device.stop()

        asyncio.run(act())

        servers = {line.pid for line in phone.device.log.since(1) if line.tag == "ActivityManager"}
        assert servers <= {int(phone.out("pidof system_server"))}

    def test_stop_ends_executions(self) -> None:
        """Nothing goes on after the stop."""
        phone = Phone(time_scale=1.0)
        nap = payload({"type": "sleep", "params": {"durationMs": 60000}})

        async def act() -> set[asyncio.Task[object]]:
            await phone.shell(broadcast(nap))
            await phone.logged("step_start")
            await phone.device.stop()
            return asyncio.all_tasks() - {asyncio.current_task()}

        assert asyncio.run(act()) == set()

    def test_app_that_crashes(self) -> None:
        """A crash on the screen is reported in the crash log."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        phone.device.ui.changes.on_crash(SETTINGS, "java.lang.IllegalStateException: boom")

        crash = next(line for line in phone.device.log.since(1) if line.buffer == "crash")
        assert crash.message.startswith(f"FATAL EXCEPTION: main\nProcess: {SETTINGS}, PID: ")
        assert "boom" in crash.message

    def test_app_file_that_asks_too_much(self) -> None:
        """What an app's file asks for and what cannot be done is an error in the app's log."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        phone.device.ui.changes.on_complaint(SETTINGS, "app.yaml:7:1: `add` does nothing")

        (line,) = (line for line in phone.device.log.since(1) if line.tag == "AppFile")
        assert (line.priority, line.message) == ("E", "app.yaml:7:1: `add` does nothing")
        assert line.pid == int(phone.out(f"pidof {SETTINGS}"))

    def test_the_real_adb_can_use_the_phone(self, tmp_path: Path) -> None:
        """Behind adbd and the real adb it is a phone like any other."""
        from pytest_clawperator.simulator.wire.adb_server import AdbServer
        from tests.doubles.simulator.adb_hosts import Adb

        device = Device(DeviceOptions(serial_number="SIM1", operator="absent"), clock=time.time)
        apk = tmp_path / f"{OPERATOR}.apk"
        apk.write_bytes(OPERATOR.encode())

        async def act() -> list[object]:
            server, adbd = AdbServer(), Adbd(device)
            device.cable.disconnect = adbd.drop_connections
            await server.start()
            try:
                port = await adbd.start()
                await device.start()
                adb = Adb(server, tmp_path)
                adb.serial = await server.connect(port)
                return [
                    (await adb("install", "-r", str(apk))).code,
                    (await adb("shell", "pm", "list", "packages", OPERATOR)).stdout,
                    (await adb("shell", "pm", "path", "com.nope")).code,
                    (await adb("shell", "getprop", "ro.serialno")).stdout,
                ]
            finally:
                await adbd.stop()
                await device.stop()
                await server.stop()

        assert asyncio.run(act()) == [0, f"package:{OPERATOR}\n".encode(), 1, b"SIM1\n"]


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


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("true", ["debug", "info", "error"]),
        ("setprop log.tag I", ["info", "error"]),
        ("setprop persist.log.tag Error", ["error"]),
        ("setprop persist.log.tag E; setprop log.tag V", ["debug", "info", "error"]),
        ("setprop log.tag suppress", []),
        ("setprop log.tag ?", ["debug", "info", "error"]),
        ("sim fault log_suppressed", ["error"]),
        ("sim fault log_suppressed; sim fault clear", ["debug", "info", "error"]),
    ],
)
def test_properties_and_the_maker_decide_what_is_logged(before: str, shown: list[str]) -> None:
    """Lines below the level of the properties are dropped; a maker may drop more."""
    phone = Phone()

    phone.run(before)

    lines = phone.out(WRITE).splitlines()
    assert [line for line in lines if not line.startswith("---")] == shown


def test_phones_of_one_image_have_the_same_build() -> None:
    """The seed, which differs from start to start, does not make another image."""
    builds = [
        Device(DeviceOptions(serial_number="x", seed=seed, image=image)).system.properties.get(
            "ro.build.fingerprint"
        )
        for seed, image in ((1, "a"), (2, "a"), (2, "b"))
    ]

    assert builds[0] == builds[1] != builds[2]
