"""``sdkmanager`` as a process."""

from __future__ import annotations

import re

import pytest

from tests.doubles.simulator.sdk_bench import IMAGE, SdkBench

OTHER = "system-images;android-35;google_apis_playstore;arm64-v8a"


@pytest.fixture(autouse=True)
def with_questions(bench: SdkBench) -> None:
    """Start each test with licences that are asked for."""
    bench.behave(licences="asked")
    for licence in (bench.folder / "licenses").glob("*"):
        licence.unlink()


def test_installed_packages_are_listed_with_their_place(bench: SdkBench) -> None:
    """The list has tools and images, and what is not installed is not in it."""
    listed = bench.run("sdkmanager", "--list_installed")

    assert listed.returncode == 0
    assert re.search(rf"^  {IMAGE} +\| 9 ", listed.stdout, re.MULTILINE)
    assert "emulator " in listed.stdout
    assert OTHER not in listed.stdout


def test_available_packages_are_those_of_the_scenario(bench: SdkBench) -> None:
    """An image that the scenario does not have can be neither listed nor installed."""
    bench.behave(images=("system-images;android-34;*",))

    listed = bench.run("sdkmanager", "--list")
    installed = bench.run("sdkmanager", OTHER)

    assert "system-images;android-34;default;x86" in listed.stdout
    assert OTHER not in listed.stdout
    assert installed.returncode == 1
    assert f"Warning: Failed to find package '{OTHER}'" in installed.stderr


def test_a_download_redraws_its_progress_on_one_line(bench: SdkBench) -> None:
    """Steps follow each other with carriage returns, and the image is there afterwards."""
    installed = bench.run("sdkmanager", OTHER, typed="y\n")

    steps = installed.stdout.split("Accept? (y/N): ")[1]
    assert installed.returncode == 0
    assert [part.split("%")[0][-3:].strip() for part in steps.split("Downloading")[:-1]] == [
        "10", "30", "50", "70",
    ]  # fmt: skip
    assert OTHER in bench.run("sdkmanager", "--list_installed").stdout


@pytest.mark.parametrize("typed", ["", "n\n"])
def test_a_licence_that_is_not_accepted_keeps_the_package_out(bench: SdkBench, typed: str) -> None:
    """Whoever says no, or nothing, gets no package, and is told why."""
    installed = bench.run("sdkmanager", OTHER, typed=typed)

    assert installed.returncode == 1
    assert "licenses or those of the packages they depend on were not accepted" in installed.stderr
    assert OTHER not in bench.run("sdkmanager", "--list_installed").stdout


def test_accepted_licences_are_remembered(bench: SdkBench) -> None:
    """After a review in which all were accepted nobody is asked again."""
    reviewed = bench.run("sdkmanager", "--licenses", typed="y\n" * 100)
    again = bench.run("sdkmanager", "--licenses")
    installed = bench.run("sdkmanager", OTHER)

    assert reviewed.stdout.count("Accept? (y/N)") == 4
    assert again.stdout == "All SDK package licenses accepted\n"
    assert installed.returncode == 0


def test_licences_that_stay_refused_are_asked_for_in_vain(bench: SdkBench) -> None:
    """A scenario can refuse them whatever is typed."""
    bench.behave(licences="refused")

    bench.run("sdkmanager", "--licenses", typed="y\n" * 100)

    assert bench.run("sdkmanager", OTHER, typed="y\n").returncode == 1


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        ("network", "Connection reset"),
        ("no_space", "No space left on device"),
        ("checksum", "expected checksum"),
    ],
)
def test_a_download_that_fails_installs_nothing(bench: SdkBench, failure: str, text: str) -> None:
    """A download stops in the middle with a reason."""
    bench.behave(download_failure=failure)

    installed = bench.run("sdkmanager", OTHER)

    assert (installed.returncode, text in installed.stderr) == (1, True)
    assert "Downloading" in installed.stdout
    assert OTHER not in bench.run("sdkmanager", "--list_installed").stdout


def test_downloads_are_in_the_record_of_calls(bench: SdkBench) -> None:
    """A test can see how often an image was downloaded."""
    before = len(bench.sdk.calls("download"))
    bench.behave()

    bench.run("sdkmanager", OTHER)
    bench.run("sdkmanager", OTHER)

    assert [call.arguments for call in bench.sdk.calls("download")[before:]] == [(OTHER,)]


def test_an_unknown_option_is_refused(bench: SdkBench) -> None:
    """A mistyped option is no package."""
    refused = bench.run("sdkmanager", "--lisences")

    assert refused.returncode == 1
    assert "Unknown argument --lisences" in refused.stderr


def test_an_image_can_be_uninstalled(bench: SdkBench) -> None:
    """What is not installed cannot be."""
    bench.sdk.install_image(OTHER)

    done = bench.run("sdkmanager", "--uninstall", OTHER)
    again = bench.run("sdkmanager", "--uninstall", OTHER)

    assert (done.returncode, again.returncode) == (0, 1)
    assert f"Unable to find package {OTHER}" in again.stderr
