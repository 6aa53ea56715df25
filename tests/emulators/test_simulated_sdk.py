"""The simulated SDK of the tests: its tools, and emulators that boot, remember and end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.doubles.simulated_sdk.emulated import keep_registered
from tests.doubles.simulated_sdk.emulator import BadCommandLine, StartRequest, parse_start
from tests.doubles.simulated_sdk.held_file import holder_of, wait_for_end
from tests.doubles.simulator.sdk_bench import DEADLINE, IMAGE, SdkBench, await_true, running_sdk

OTHER = "system-images;android-35;google_apis_playstore;arm64-v8a"
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
SIGNS = "getprop sys.boot_completed; getprop dev.bootcomplete; getprop init.svc.bootanim"
SCREEN = "sim screen | grep ^com"
SETTINGS = "com.android.settings/com.android.settings.Settings"


def remember(bench: SdkBench, serial: str) -> str:
    """Leave something in the settings, in a file and on the screen; return the boot's id."""
    bench.shell(serial, "am start -W com.android.settings/.Settings")
    bench.shell(serial, "settings put global kept yes; echo hi > /sdcard/kept.txt")
    return bench.shell(serial, BOOT_ID)


def end(bench: SdkBench, serial: str) -> None:
    """End an emulator in good order."""
    bench.console(serial, "kill")
    await_true(lambda: serial not in bench.devices(), "it is gone")
    bench.await_end()


def forget(bench: SdkBench, serial: str) -> None:
    """Undo all of it."""
    bench.shell(serial, "settings delete global kept; rm /sdcard/kept.txt; input keyevent HOME")
    await_true(lambda: bench.shell(serial, SCREEN) != SETTINGS, "the home screen shows")


def kept(bench: SdkBench, serial: str) -> list[str]:
    """Return what is there of it."""
    command = f"settings get global kept; cat /sdcard/kept.txt; {SCREEN}; {BOOT_ID}"
    return bench.shell(serial, command).splitlines()


def locks(bench: SdkBench, name: str) -> list[str]:
    """Return the lock files of a virtual device."""
    return [path.name for path in (bench.home / f"{name}.avd").glob("*.lock")]


class TestManagers:
    """``avdmanager`` and ``sdkmanager`` as processes."""

    def test_a_new_device_has_the_files_of_a_real_one(self, bench: SdkBench) -> None:
        """The files name the image, the processor, the device and its screen."""
        options = ("--name", "tab", "--package", IMAGE, "--device", "pixel_tablet")

        made = bench.run("avdmanager", "create", "avd", "--force", *options)

        assert made.returncode == 0
        ini = (bench.home / "tab.ini").read_text()
        config = (bench.home / "tab.avd" / "config.ini").read_text().splitlines()
        assert f"path={bench.home / 'tab.avd'}\n" in ini
        assert "image.sysdir.1=system-images/android-34/google_apis/x86_64/" in config
        assert {"abi.type=x86_64", "hw.device.name=pixel_tablet", "hw.lcd.width=2560"} < {*config}

    def test_what_cannot_be_created_is_refused(self, bench: SdkBench) -> None:
        """The tool complains as the real one, and writes nothing."""
        bench.create("there")
        cases = {
            ("x", "system-images;android-99;x;y", "pixel_7"): "Package path is not valid",
            ("x", IMAGE, "pixel_99"): "No device found matching --device",
            ("a b", IMAGE, "pixel_7"): "contains invalid characters",
            ("there", IMAGE, "pixel_7"): "already exists",
        }
        for (name, image, device), text in cases.items():
            options = ("--name", name, "--package", image, "--device", device)

            refused = bench.run("avdmanager", "create", "avd", *options)

            assert (refused.returncode, text in refused.stderr) == (1, True), (name, refused)
        assert bench.avds() == ["there"]

    def test_a_licence_is_asked_for_and_remembered(self, bench: SdkBench) -> None:
        """Without it nothing is installed; once accepted, it is not asked for again."""
        bench.behave(licences="asked")

        refused = bench.run("sdkmanager", OTHER, typed="n\n")
        reviewed = bench.run("sdkmanager", "--licenses", typed="y\n" * 100)
        installed = bench.run("sdkmanager", OTHER)

        assert (refused.returncode, installed.returncode) == (1, 0)
        assert "packages they depend on were not accepted" in refused.stderr
        assert "All SDK package licenses accepted" in reviewed.stdout
        assert "Accept?" not in installed.stdout
        assert installed.stdout.count("% Downloading") == 4
        assert OTHER in bench.run("sdkmanager", "--list_installed").stdout

    def test_a_download_that_fails_installs_nothing(self, bench: SdkBench) -> None:
        """A download stops in the middle with a reason."""
        bench.behave(download_failure="checksum")

        installed = bench.run("sdkmanager", OTHER)

        assert installed.returncode == 1
        assert "expected checksum" in installed.stderr
        assert OTHER not in bench.run("sdkmanager", "--list_installed").stdout


class TestStart:
    """What ``emulator`` starts, and what it refuses to start."""

    @pytest.mark.parametrize(
        ("line", "request_"),
        [
            ("-avd a -noaudio -gpu host", StartRequest(avd_name="a")),
            ("@a -port 5560", StartRequest(avd_name="a", port=5560, adb_port=5561)),
            ("@a -ports 5560,5563", StartRequest(avd_name="a", port=5560, adb_port=5563)),
            ("@a -no-snapshot-load", StartRequest(avd_name="a", snapshot=None)),
            ("@a -no-snapshot", StartRequest(avd_name="a", snapshot=None, saves_snapshot=False)),
            ("@a -snapshot b", StartRequest(avd_name="a", snapshot="b")),
            ("@a -wipe-data", StartRequest(avd_name="a", snapshot=None, wipes_data=True)),
            ("@a -read-only", StartRequest(avd_name="a", read_only=True, saves_snapshot=False)),
        ],
    )
    def test_the_command_line_is_parsed(self, line: str, request_: StartRequest) -> None:
        """Names, ports and what is loaded and saved are understood."""
        assert parse_start(line.split()) == request_

    @pytest.mark.parametrize("line", ["", "@a -port", "@a -port 5553", "@a b", "@a -x"])
    def test_a_wrong_command_line_is_refused(self, line: str) -> None:
        """Nothing is started for it."""
        with pytest.raises(BadCommandLine):
            parse_start(line.split())

    def test_an_emulator_is_what_its_device_describes(self, bench: SdkBench) -> None:
        """Android version, processor and screen are those of image and device."""
        bench.create("tab", device="pixel_tablet")

        serial = bench.boot("tab", "-no-snapshot", "-no-window", "-gpu", "swiftshader_indirect")

        asked = "getprop ro.build.version.sdk; getprop ro.product.cpu.abi; wm size; wm density"
        assert bench.shell(serial, asked).splitlines() == [
            "34",
            "x86_64",
            "Physical size: 2560x1600",
            "Physical density: 320",
        ]
        assert bench.console(serial, "avd name") == "tab\nOK"
        assert bench.console(serial, "avd path") == f"{bench.home}/tab.avd\nOK"

    def test_a_device_without_a_fitting_image_does_not_start(self, bench: SdkBench) -> None:
        """An image for another processor is noticed, and a device that does not exist."""
        bench.create("x", image="system-images;android-34;google_apis;arm64-v8a")

        wrong, missing = bench.run("emulator", "@x"), bench.run("emulator", "@missing")

        assert "Avd's CPU Architecture 'arm64' is not supported by the QEMU2" in wrong.stderr
        assert "Unknown AVD name [missing]" in missing.stderr

    def test_a_running_device_is_locked(self, bench: SdkBench) -> None:
        """A lock keeps a second emulator and avdmanager away; -read-only lets one in."""
        bench.create("x")
        bench.boot("x")

        refused = bench.run("emulator", "@x")
        deleted = bench.run("avdmanager", "delete", "avd", "--name", "x")
        bench.boot("x", "-read-only")

        assert "Running multiple emulators with the same AVD" in refused.stderr
        assert "is currently running" in deleted.stderr
        assert len(bench.devices()) == 2

    def test_the_lock_of_a_killed_emulator_is_stale(self, bench: SdkBench) -> None:
        """After kill -9 its lock is left and ignored by the next one; a signal leaves none."""
        bench.create("x")
        killed = bench.start("x")
        bench.serial_of(killed)
        killed.kill()
        killed.wait()
        left = locks(bench, "x")

        process = bench.start("x")
        bench.serial_of(process)
        process.terminate()

        assert left == ["hardware-qemu.ini.lock"]
        assert process.wait(DEADLINE) == 0
        assert locks(bench, "x") == []

    def test_it_takes_the_ports_that_it_is_given(self, bench: SdkBench) -> None:
        """A port that is in use is refused."""
        bench.create("x")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 5681))
            taken.listen()
            refused = bench.run("emulator", "@x", "-port", "5680")

            serial = bench.boot("x", "-ports", "5678,5679")

        assert "too many emulator instances" in refused.stderr
        assert serial == "emulator-5678"

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_emulators_end_with_their_sdk(self, tmp_path: Path, number: signal.Signals) -> None:
        """A session that is killed cannot end them: they notice it themselves."""
        with running_sdk(tmp_path / "sdk") as bench:
            bench.create("x")
            process = bench.start("x")
            bench.serial_of(process)

            os.kill(bench.sdk.pid, number)

            assert process.wait(DEADLINE) == 0
            wait_for_end(bench.folder / ".session")
            assert [one for one in (bench.folder / ".running").iterdir() if holder_of(one)] == []


class TestBoot:
    """The stages of a boot, and boots that do not end."""

    def test_it_boots_in_stages(self, bench: SdkBench) -> None:
        """Adb shows it as offline, then as a device that boots; at last Android says so."""
        bench.create("x")
        bench.behave(offline_seconds=0.3, boot_seconds=1.0)
        seen: list[str] = []

        def has_booted() -> bool:
            for serial, state in bench.devices().items():
                signs = bench.shell(serial, SIGNS) if state == "device" else state
                seen.extend([signs] if signs and signs not in seen else [])
            return seen[-1:] == ["1\n1\nstopped"]

        bench.start("x")
        await_true(has_booted, "it boots")

        stages = ["offline", "running", "1\n1\nstopped"]
        assert seen == [stage for stage in stages if stage in seen]

    def test_a_boot_may_never_end(self, bench: SdkBench) -> None:
        """It stays where the scenario stops it, and can still be ended."""
        bench.create("x")
        bench.behave(never="connects")

        process = bench.start("x")
        serial = bench.serial_of(process)
        await_true(lambda: bench.devices().get(serial) == "offline", "it is offline")
        process.terminate()

        assert process.wait(DEADLINE) == 0

    def test_it_registers_again_when_the_adb_server_was_restarted(self, bench: SdkBench) -> None:
        """A server that ends is replaced, and knows the emulator again."""
        bench.create("x")
        serial = bench.boot("x")

        bench.adb("kill-server")

        bench.settle(serial)
        assert bench.shell(serial, "echo hello") == "hello"


class TestConsole:
    """What the console does."""

    def test_kill_ends_it_unless_it_is_refused(self, bench: SdkBench) -> None:
        """A scenario has it refuse once; then its process ends in good order."""
        bench.create("x")
        bench.create("stubborn")
        bench.behave(emulators={"stubborn": {"kill": "refused"}})
        willing, stubborn = bench.boot("x"), bench.boot("stubborn")

        ended, refused = bench.console(willing, "kill"), bench.console(stubborn, "kill")

        assert ended == "OK: killing emulator, bye bye\nOK"
        assert refused.startswith("KO: ")
        await_true(lambda: [*bench.devices()] == [stubborn], "only one is left")


class TestSnapshots:
    """States that are saved and loaded."""

    def test_a_snapshot_brings_the_whole_phone_back(self, bench: SdkBench) -> None:
        """Settings, files, the screen and the boot's id are those of the moment of saving."""
        bench.create("x")
        serial = bench.boot("x")
        boot_id = remember(bench, serial)
        saved = bench.console(serial, "avd snapshot save logged-in")
        forget(bench, serial)
        before = bench.connection(serial)

        loaded = bench.console(serial, "avd snapshot load logged-in")
        bench.settle(serial, after=before)

        assert (saved, loaded) == ("OK", "OK")
        assert kept(bench, serial) == ["yes", "hi", SETTINGS, boot_id]

    def test_a_load_that_fails_leaves_the_phone_as_it_is(self, bench: SdkBench) -> None:
        """A scenario has snapshots fail."""
        bench.create("x")
        bench.behave(snapshot_failure="load")
        serial = bench.boot("x")
        bench.console(serial, "avd snapshot save here")
        bench.shell(serial, "settings put global kept yes")

        answer = bench.console(serial, "avd snapshot load here")

        missing = bench.console(serial, "avd snapshot load nowhere")
        assert answer == "KO: Failed to load snapshot 'here'"
        assert missing == "KO: Device 'cache' does not have the requested snapshot 'nowhere'"
        assert bench.shell(serial, "settings get global kept") == "yes"


class TestMemory:
    """What an emulator remembers from one start to the next."""

    def test_snapshots_and_data_outlive_the_emulator(self, bench: SdkBench) -> None:
        """A quick boot goes on where it ended; a named snapshot can be started from."""
        bench.create("x")
        serial = bench.boot("x")
        boot_id = remember(bench, serial)
        bench.console(serial, "avd snapshot save logged-in")
        bench.shell(serial, "settings put global kept later")
        end(bench, serial)

        serial = bench.boot("x")
        quick = kept(bench, serial)
        end(bench, serial)
        serial = bench.boot("x", "-snapshot", "logged-in")

        assert quick == ["later", "hi", SETTINGS, boot_id]
        assert kept(bench, serial) == ["yes", "hi", SETTINGS, boot_id]

    def test_a_cold_boot_keeps_data_and_a_wiped_one_nothing(self, bench: SdkBench) -> None:
        """Settings and files are there, the screen and the boot's id are new."""
        bench.create("x")
        serial = bench.boot("x", "-no-snapshot")
        boot_id = remember(bench, serial)
        end(bench, serial)

        serial = bench.boot("x", "-no-snapshot-load")
        setting, file, screen, new_id = kept(bench, serial)
        end(bench, serial)
        serial = bench.boot("x", "-wipe-data")

        assert (setting, file) == ("yes", "hi")
        assert screen != SETTINGS
        assert new_id != boot_id
        assert bench.shell(serial, "settings get global kept") == "null"


def test_a_server_that_still_lists_an_emulator_gets_it_later() -> None:
    """No server is let in before the right one has noticed that it was disconnected."""
    listed = ["emulator-5554\tdevice\n", "emulator-5554\toffline\n", "", "emulator-5554\tdevice\n"]
    asked: list[tuple[str, bool]] = []
    registered: asyncio.Event
    adbd: Any = SimpleNamespace(has_hosts=False, is_expecting=False, drop_connections=print)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
        asked.append((request, adbd.is_expecting))
        if request == "host:devices":
            writer.write(listed.pop(0).encode())
            adbd.has_hosts = not listed
        writer.close()
        if not listed:
            registered.set()

    async def register() -> None:
        nonlocal registered
        registered = asyncio.Event()
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        task = asyncio.create_task(keep_registered(adbd, adb_port=5555, server=address))
        await asyncio.wait_for(registered.wait(), DEADLINE)
        task.cancel()
        server.close()

    asyncio.run(register())

    checked = ("host:devices", False)
    assert asked == [checked, checked, checked, ("host:emulator:5555", True), checked]
