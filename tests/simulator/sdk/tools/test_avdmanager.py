"""``avdmanager`` as a process."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.sdk.avd_files import read_ini
from tests.doubles.simulator.sdk_bench import IMAGE, SdkBench


def test_a_new_device_has_the_files_of_a_real_one(bench: SdkBench) -> None:
    """The files name the image, the processor, the device and its screen."""
    options = ("--name", "tab", "--package", IMAGE, "--device", "pixel_tablet")

    made = bench.run("avdmanager", "create", "avd", "--force", *options)

    config = read_ini(bench.home / "tab.avd" / "config.ini")
    assert made.returncode == 0
    assert read_ini(bench.home / "tab.ini") == {
        "avd.ini.encoding": "UTF-8",
        "path": str(bench.home / "tab.avd"),
        "path.rel": "avd/tab.avd",
        "target": "android-34",
    }
    assert config["image.sysdir.1"] == "system-images/android-34/google_apis/x86_64/"
    assert (config["abi.type"], config["tag.id"]) == ("x86_64", "google_apis")
    assert config["hw.device.name"] == "pixel_tablet"
    assert (config["hw.lcd.width"], config["hw.lcd.height"]) == ("2560", "1600")
    assert config["PlayStore.enabled"] == "false"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--package", "system-images;android-99;x;y"), "Package path is not valid"),
        (("--package", IMAGE, "--device", "pixel_99"), "No device found matching --device"),
        (("--package", IMAGE, "--name", "a b"), "contains invalid characters"),
        (("--package", IMAGE, "--colour", "red"), "Flag '--colour' is not valid"),
        ((), "--package must be defined"),
    ],
)
def test_what_cannot_be_created_is_refused_with_a_reason(
    bench: SdkBench, options: tuple[str, ...], text: str
) -> None:
    """The tool complains as the real one, and writes nothing."""
    name = () if "--name" in options else ("--name", "x")
    refused = bench.run("avdmanager", "create", "avd", *name, *options)

    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: ")
    assert text in refused.stderr
    assert list(bench.home.glob("*.ini")) == []


def test_without_a_device_it_asks_for_the_hardware(bench: SdkBench) -> None:
    """The question of the real tool is asked, and `no` is the answer that makes a phone."""
    made = bench.run("avdmanager", "create", "avd", "-n", "x", "-k", IMAGE, typed="no\n")

    assert "custom hardware profile? [no]" in made.stdout
    assert read_ini(bench.home / "x.avd" / "config.ini")["hw.device.name"] == "medium_phone"


def test_a_device_is_replaced_only_by_force(bench: SdkBench) -> None:
    """A second device of the same name is refused; by force it is made anew."""
    avd = bench.create("x")
    (avd.folder / "own.txt").touch()

    create = ("create", "avd", "-n", "x", "-k", IMAGE, "-d", "pixel_7")
    refused = bench.run("avdmanager", *create)
    bench.run("avdmanager", *create, "--force")

    assert "already exists" in refused.stderr
    assert not (avd.folder / "own.txt").exists()


def test_a_deleted_device_leaves_no_files(bench: SdkBench) -> None:
    """Deleting removes both, and there is nothing to delete afterwards."""
    bench.create("x")

    deleted = bench.run("avdmanager", "delete", "avd", "--name", "x")
    again = bench.run("avdmanager", "delete", "avd", "--name", "x")

    assert deleted.returncode == 0
    assert "AVD 'x' deleted." in deleted.stdout
    assert list(bench.home.iterdir()) == []
    assert "There is no Android Virtual Device named 'x'" in again.stderr


def test_devices_are_listed_by_name_and_kind(bench: SdkBench) -> None:
    """The lists have what was created, and what can be."""
    bench.create("x")

    assert "    Name: x\n  Device: pixel_7" in bench.run("avdmanager", "list", "avd").stdout
    assert "pixel_tablet\n" in bench.run("avdmanager", "list", "device", "-c").stdout
    assert 'or "pixel_fold"' in bench.run("avdmanager", "list", "device").stdout
