"""The simulated SDK of the tests: its tools, and an emulator from its boot to its end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.doubles.simulated_sdk.emulator import BadCommandLine, StartRequest, parse_start
from tests.doubles.simulated_sdk.files import holder_of, wait_for_end
from tests.doubles.simulator.sdk_bench import DEADLINE, IMAGE, SdkBench, await_true, running_sdk

OTHER = "system-images;android-35;google_apis_playstore;arm64-v8a"
SETTINGS = "com.android.settings/com.android.settings.Settings"
STATE = (
    "settings get global kept; cat /sdcard/kept.txt; sim screen | grep ^com;"
    " cat /proc/sys/kernel/random/boot_id"
)


def end(bench: SdkBench, serial: str) -> None:
    """End an emulator by its console."""
    assert bench.console(serial, "kill") == "OK: killing emulator, bye bye\nOK"
    await_true(lambda: serial not in bench.devices(), "it is gone")
    bench.await_end()


def test_virtual_devices_are_created_with_the_words_of_the_real_tool(bench: SdkBench) -> None:
    """The files describe the device; a refusal writes nothing."""
    create = ("create", "avd", "--name")
    made = bench.run("avdmanager", *create, "tab", "--package", IMAGE, "--device", "pixel_tablet")
    config = (bench.home / "tab.avd" / "config.ini").read_text().splitlines()
    cases = {
        ("x", "system-images;android-99;x;y", "pixel_7"): "Package path is not valid",
        ("x", IMAGE, "pixel_99"): "No device found matching --device",
        ("a b", IMAGE, "pixel_7"): "contains invalid characters",
        ("tab", IMAGE, "pixel_7"): "already exists",
    }
    for (name, image, device), text in cases.items():
        refused = bench.run("avdmanager", *create, name, "--package", image, "--device", device)
        assert (refused.returncode, text in refused.stderr) == (1, True), (name, refused)

    assert made.returncode == 0
    assert "image.sysdir.1=system-images/android-34/google_apis/x86_64/" in config
    assert {"abi.type=x86_64", "hw.device.name=pixel_tablet", "hw.lcd.width=2560"} < {*config}
    assert bench.avds() == ["tab"]


def test_a_licence_is_asked_for_and_remembered(bench: SdkBench) -> None:
    """Without it nothing is installed; a failed download installs nothing either."""
    bench.behave(licences="asked")
    refused = bench.run("sdkmanager", OTHER, typed="n\n")
    reviewed = bench.run("sdkmanager", "--licenses", typed="y\n" * 100)
    bench.behave(licences="asked", download_failure="checksum")
    failed = bench.run("sdkmanager", OTHER)
    before = bench.run("sdkmanager", "--list_installed").stdout
    bench.behave(licences="asked")
    installed = bench.run("sdkmanager", OTHER)

    assert [one.returncode for one in (refused, failed, installed)] == [1, 1, 0]
    assert "packages they depend on were not accepted" in refused.stderr
    assert "All SDK package licenses accepted" in reviewed.stdout
    assert "expected checksum" in failed.stderr
    assert installed.stdout.count("% Downloading") == 4
    assert OTHER not in before
    assert OTHER in bench.run("sdkmanager", "--list_installed").stdout


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("-avd a -noaudio -gpu host", StartRequest(avd_name="a")),
        ("@a -port 5560", StartRequest(avd_name="a", port=5560)),
        ("@a -no-snapshot-load", StartRequest(avd_name="a", snapshot=None)),
        ("@a -no-snapshot", StartRequest(avd_name="a", snapshot=None, saves_snapshot=False)),
        ("@a -snapshot b", StartRequest(avd_name="a", snapshot="b")),
        *((line, None) for line in ("", "@a -port", "@a -port 5553", "@a b", "@a -x")),
    ],
)
def test_the_command_line_is_parsed(line: str, request_: StartRequest | None) -> None:
    """Names, ports and snapshots are understood; nothing is started for a wrong line."""
    if request_ is not None:
        assert parse_start(line.split()) == request_
        return
    with pytest.raises(BadCommandLine):
        parse_start(line.split())


def test_an_emulator_from_its_boot_to_its_end(bench: SdkBench) -> None:
    """It is what its device describes, boots in stages, and remembers what a real one does."""
    bench.create("tab", device="pixel_tablet")
    bench.behave(offline_seconds=0.2, boot_seconds=0.2)
    serial = bench.boot("tab")
    about = bench.shell(serial, "getprop ro.build.version.sdk; wm size; wm density")
    refused = bench.run("emulator", "@tab").stderr
    deleted = bench.run("avdmanager", "delete", "avd", "--name", "tab").stderr

    bench.shell(serial, "am start -W com.android.settings/.Settings")
    bench.shell(serial, "settings put global kept yes; echo hi > /sdcard/kept.txt")
    saved = bench.shell(serial, STATE).splitlines()
    answers = [bench.console(serial, "avd snapshot save logged-in")]
    bench.shell(serial, "settings delete global kept; rm /sdcard/kept.txt; input keyevent HOME")
    before = bench.connection(serial)
    answers += [bench.console(serial, f"avd snapshot load {name}") for name in ("no", "logged-in")]
    bench.settle(serial, after=before)
    loaded = bench.shell(serial, STATE).splitlines()

    end(bench, serial)
    serial = bench.boot("tab")
    quick = bench.shell(serial, STATE).splitlines()
    end(bench, serial)
    serial = bench.boot("tab", "-no-snapshot-load")
    cold = bench.shell(serial, STATE).splitlines()

    assert about.split("\n") == ["34", "Physical size: 2560x1600", "Physical density: 320"]
    assert bench.console(serial, "avd name") == "tab\nOK"
    assert bench.console(serial, "avd path") == f"{bench.home}/tab.avd\nOK"
    assert "Running multiple emulators with the same AVD" in refused
    assert "is currently running" in deleted
    missing = "KO: Device 'cache' does not have the requested snapshot 'no'"
    assert answers == ["OK", missing, "OK"]
    assert saved[:3] == ["yes", "hi", SETTINGS]
    assert loaded == quick == saved
    assert cold[:2] == ["yes", "hi"]
    assert (cold[2] != SETTINGS, cold[3] != saved[3]) == (True, True)


def test_an_emulator_that_cannot_start_explains_why(bench: SdkBench) -> None:
    """An image for another processor, a missing device and a port in use are noticed."""
    bench.create("arm", image="system-images;android-34;google_apis;arm64-v8a")
    bench.create("x")
    bench.boot("x", "-port", "5678")
    bench.create("y")

    starts = [("@arm",), ("@missing",), ("@y", "-port", "5678")]
    printed = [bench.run("emulator", *arguments).stderr for arguments in starts]

    assert "Avd's CPU Architecture 'arm64' is not supported by the QEMU2" in printed[0]
    assert "Unknown AVD name [missing]" in printed[1]
    assert "too many emulator instances" in printed[2]


def test_the_lock_of_a_killed_emulator_is_stale(bench: SdkBench) -> None:
    """After kill -9 its lock is left and ignored by the next one; a restarted adb finds that."""
    bench.create("x")
    killed = bench.start("x")
    bench.serial_of(killed)
    killed.kill()
    killed.wait()
    left = [path.name for path in (bench.home / "x.avd").glob("*.lock")]

    serial = bench.boot("x")
    bench.adb("kill-server")
    bench.settle(serial)

    assert left == ["hardware-qemu.ini.lock"]
    assert bench.shell(serial, "echo hello") == "hello"


def test_emulators_end_with_their_sdk(tmp_path: Path) -> None:
    """A session that is killed cannot end them: they notice it themselves."""
    with running_sdk(tmp_path / "sdk") as bench:
        bench.create("x")
        process = bench.start("x")
        bench.serial_of(process)

        os.kill(bench.sdk.pid, signal.SIGKILL)

        assert process.wait(DEADLINE) == 0
        wait_for_end(bench.folder / ".session")
        assert [one for one in (bench.folder / ".running").iterdir() if holder_of(one)] == []
