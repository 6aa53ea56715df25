"""``emulator`` as a process: what it starts, and what it refuses to start."""

from __future__ import annotations

import signal
import socket

import pytest

from pytest_clawperator.simulator.sdk.tools.emulator import main
from pytest_clawperator.simulator.sdk.tools.start_failures import texts
from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench


def locks(bench: SdkBench, name: str) -> list[str]:
    """Return the lock files of a virtual device."""
    return [path.name for path in (bench.home / f"{name}.avd").glob("*.lock")]


def test_virtual_devices_are_listed_by_name(bench: SdkBench) -> None:
    """The names come one on a line, after a notice of the tool."""
    bench.create("beta")
    bench.create("alpha")

    listed = bench.run("emulator", "-list-avds")

    assert listed.stdout.splitlines()[1:] == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["@nobody"], "Unknown AVD name [nobody]"),
        ([], "No AVD specified"),
        (["@x", "-port", "5555"], "even integer number between 5554 and 5682"),
        (["@x", "-colour"], "unknown option: -colour"),
        (["@x", "-memory", "much"], "-memory must be followed by a number"),
    ],
)
def test_a_senseless_command_line_is_refused(
    bench: SdkBench, arguments: list[str], text: str
) -> None:
    """It ends at once with a complaint and a failure."""
    refused = bench.run("emulator", *arguments)

    assert refused.returncode == 1
    assert text in refused.stderr


def test_a_start_fails_as_the_scenario_says(
    bench: SdkBench, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each failure prints words of its own and ends the tool."""
    bench.create("x")
    monkeypatch.setenv("ANDROID_AVD_HOME", str(bench.home))
    said = set()
    for failure in texts():
        bench.behave(failure=failure)
        code = main(str(bench.folder), ["@x"])
        said.add((code, capfd.readouterr().err))

    assert len(said) == len(texts())
    assert all(code == 1 and text and "{" not in text for code, text in said)
    assert locks(bench, "x") == []


def test_an_image_for_another_processor_does_not_start(bench: SdkBench) -> None:
    """The processor of the host decides, as on the real one."""
    bench.create("x", image="system-images;android-34;google_apis;arm64-v8a")

    refused = bench.run("emulator", "@x")

    assert "Avd's CPU Architecture 'arm64' is not supported by the QEMU2" in refused.stderr


def test_a_device_whose_image_is_gone_does_not_start(bench: SdkBench) -> None:
    """An image that was uninstalled is noticed."""
    image = "system-images;android-30;default;x86_64"
    bench.create("x", image=image)
    bench.run("sdkmanager", "--uninstall", image)

    assert "Cannot find AVD system path" in bench.run("emulator", "@x").stderr


def test_an_emulator_is_what_its_device_describes(bench: SdkBench) -> None:
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


def test_a_running_device_is_kept_from_others(bench: SdkBench) -> None:
    """A lock keeps a second emulator and avdmanager away; -read-only lets one in."""
    bench.create("x")
    bench.boot("x")

    refused = bench.run("emulator", "@x")
    deleted = bench.run("avdmanager", "delete", "avd", "--name", "x")
    bench.boot("x", "-read-only")

    assert "Running multiple emulators with the same AVD" in refused.stderr
    assert "is currently running" in deleted.stderr
    assert len(bench.devices()) == 2


def test_the_lock_of_a_killed_emulator_is_stale(bench: SdkBench) -> None:
    """After kill -9 its lock is left, which the next one does not mind; a signal leaves none."""
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


def test_it_takes_the_ports_that_it_is_given_or_the_first_free_ones(bench: SdkBench) -> None:
    """A port that somebody else has is passed over, and refused where it was asked for."""
    bench.create("x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 5681))
        taken.listen()
        refused = bench.run("emulator", "@x", "-port", "5680")

        serial = bench.boot("x", "-ports", "5678,5679")

    assert refused.returncode == 1
    assert "too many emulator instances" in refused.stderr
    assert serial == "emulator-5678"


def test_it_crashes_at_the_stage_of_the_scenario(bench: SdkBench) -> None:
    """A crash is a death by signal."""
    bench.create("x")
    bench.behave(crash="booted")

    process = bench.start("x")

    assert process.wait(DEADLINE) == -signal.SIGKILL
    assert "FATAL   | the emulator crashed" in bench.log("x").read_text()


def test_no_emulator_starts_while_nothing_keeps_the_sdk_running(bench: SdkBench) -> None:
    """Without a session nobody would end it."""
    bench.create("x")
    session = bench.folder / ".session"
    away = session.rename(bench.folder / ".away")
    try:
        refused = bench.run("emulator", "@x")
    finally:
        away.rename(session)

    assert "is not running" in refused.stderr
    assert locks(bench, "x") == []
