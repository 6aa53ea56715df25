"""What the files of a virtual device describe, and whether it fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from queue import Queue

import pytest

from pytest_clawperator.emulators.avd import (
    DEFAULT_NAME,
    EmulatorProfile,
    ImageLock,
    default_profile,
    ensure_image,
    host_abi,
    parse_profile,
    read_avd,
)
from pytest_clawperator.emulators.claims import AvdClaims
from pytest_clawperator.emulators.sdk import Sdk, SdkTools
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode
from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench

# As `avdmanager list device` shows them.
REAL_DEVICES = (
    "Nexus 5",
    "Galaxy Nexus",
    "7in WSVGA (Tablet)",
    "3.2in HVGA slider (ADP1)",
    "automotive_1024p_landscape",
    "pixel_9_pro_fold",
)


def test_unnamed_values_have_their_defaults() -> None:
    """The documented profile, with the processor of this machine."""
    profile = parse_profile("api=34, ram = 3072")

    assert profile == EmulatorProfile(api=34, ram=3072, abi=host_abi())
    assert parse_profile("") == default_profile()
    assert default_profile().avd_name == DEFAULT_NAME


@pytest.mark.parametrize("device", REAL_DEVICES)
def test_every_device_of_the_sdk_can_be_asked_for(device: str) -> None:
    """Its name may have spaces and brackets, that of the virtual device has none."""
    profile = parse_profile(f"device={device},api=30")

    assert profile.device == device
    assert re.fullmatch(r"[A-Za-z0-9._-]+", profile.avd_name)
    assert not profile.avd_name.endswith("-")


@pytest.mark.parametrize("device", ["", "-d", "../x", "a;b", 'a"b', "a\nb", "x" * 101, "$(id)"])
def test_a_malformed_device_name_is_refused(device: str) -> None:
    """It would reach a command line or a path."""
    with pytest.raises(ConfigurationError, match="as device of an emulator"):
        EmulatorProfile(device=device)


def test_profiles_that_differ_have_names_that_differ() -> None:
    """A virtual device of one is not taken for one of the other."""
    base = EmulatorProfile(api=34)
    changes: list[dict[str, object]] = [
        {},
        {"api": 33},
        {"image": "google_apis"},
        {"abi": "x86"},
        {"device": "Nexus 5"},
        {"ram": 1024},
        {"gpu": "host"},
    ]

    names = {replace(base, **change).avd_name for change in changes}  # type: ignore[arg-type]  # values of several types

    assert len(names) == len(changes)
    assert base.numbered(2).avd_name == f"{base.avd_name}-2"
    assert base.numbered(1) == base


PROFILE = EmulatorProfile(api=34, image="google_apis", abi="x86_64", device="Nexus 5")

# As Android Studio writes it, here on Windows.
CONFIG = (
    "AvdId = mine\r\n# made by hand\r\nabi.type = x86_64\r\nhw.device.name = Nexus 5\r\n"
    "image.sysdir.1 = system-images\\android-34\\google_apis\\x86_64\\\r\n"
    "tag.id = google_apis\r\nPlayStore.enabled = no\r\n=nothing\r\nno value\r\n"
)


def write(home: Path, config: str = CONFIG) -> None:
    """Write the files of a virtual device."""
    (home / "mine.avd").mkdir()
    (home / "mine.avd" / "config.ini").write_bytes(config.encode())
    (home / "mine.ini").write_bytes(b"path=/elsewhere\r\ntarget=android-34\r\n")


def test_files_of_every_system_are_read(tmp_path: Path) -> None:
    """Spaces, carriage returns, comments and backslashes make no difference."""
    write(tmp_path)

    avd = read_avd("mine", home=tmp_path)

    assert (avd.api_level, avd.abi, avd.device_profile) == (34, "x86_64", "Nexus 5")
    assert avd.system_image == "system-images;android-34;google_apis;x86_64"
    assert avd.unsupported_reasons(PROFILE) == ()


def test_differences_are_described(tmp_path: Path) -> None:
    """Each value that is another one is named, with both."""
    write(tmp_path)

    avd = read_avd("mine", home=tmp_path)
    reported = avd.differences(EmulatorProfile())

    assert avd.unsupported_reasons(EmulatorProfile())[0] == "missing_play_store"
    assert avd.unsupported_reasons(EmulatorProfile(image="google_atd"))[0] == (
        "unsupported_system_image"
    )
    assert reported == (
        "image is google_apis and not google_apis_playstore, api is 34 and not 35,"
        " abi is x86_64 and not arm64-v8a, device is Nexus 5 and not pixel_7"
    )


def test_unknown_values_differ(tmp_path: Path) -> None:
    """They are called not known."""
    write(tmp_path, "abi.type=x86_64\n")

    reported = read_avd("mine", home=tmp_path).differences(PROFILE)

    assert reported == "image is not known and not google_apis, device is not known and not Nexus 5"


def test_one_that_is_taken_as_it_is_always_fits(tmp_path: Path) -> None:
    """Nothing is compared if the user named it."""
    write(tmp_path)
    named = replace(EmulatorProfile(), name="mine", as_it_is=True)

    assert read_avd("mine", home=tmp_path).unsupported_reasons(named) == ()


IMAGE = "system-images;android-34;google_apis;x86_64"

LISTED = f"""Warning: This version only understands SDK XML versions up to 3.
Loading package information...\r[=======   ] 25% Loading local repository...\r
Installed packages:
  Path                                        | Version | Description                | Location
  -------                                     | ------- | -------                    | -------
  emulator                                    | 35.4.9  | Android Emulator           | emulator
  {IMAGE} | 14      | Google APIs Intel x86_64 Atom | system-images/android-34/google_apis/x86_64
"""


# A tool that answers a question with a file of its name, and writes down what it was asked.
SCRIPT = """#!/bin/sh
cd "$(dirname "$0")"
echo "$1" >>asked
cat "stdout.$1" 2>/dev/null
cat "stderr.$1" >&2 2>/dev/null
test ! -e "stderr.$1"
"""


class Scripted:
    """An ``sdkmanager`` that prints what the real one was seen to print."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = folder / "sdkmanager"
        self._program.write_text(SCRIPT)
        self._program.chmod(0o755)
        self.said: list[str] = []

    def print(self, question: str, *, out: str = "", complaint: str | None = None) -> None:
        """Set the answer to a question; with a complaint it fails."""
        (self._folder / f"stdout.{question}").write_bytes(out.encode())
        if complaint is not None:
            (self._folder / f"stderr.{question}").write_bytes(complaint.encode())

    def ensure(self, image: str) -> list[str]:
        """Have an image installed; return what the tool was asked for."""
        tools = SdkTools(Sdk({"SDKMANAGER_PATH": str(self._program), "PATH": "/usr/bin:/bin"}))
        ensure_image(
            tools, image, lock=lambda *_: nullcontext(ImageLock()), notify=self.said.append
        )
        return (self._folder / "asked").read_text().splitlines()


@pytest.fixture
def sdkmanager(tmp_path: Path) -> Scripted:
    """Return a tool without answers."""
    return Scripted(tmp_path)


@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n")])
def test_an_installed_image_is_found_in_the_real_list(
    sdkmanager: Scripted, change: Callable[[str], str]
) -> None:
    """Notices, progress and the ends of lines of Windows are no obstacle."""
    sdkmanager.print("--list_installed", out=change(LISTED))

    assert sdkmanager.ensure(IMAGE) == ["--list_installed"]


@pytest.mark.parametrize(
    "image",
    [
        IMAGE.removesuffix("_64"),
        IMAGE.replace("34", "3"),
        IMAGE.replace("google_apis", "google_apis_playstore"),
    ],
)
def test_an_image_whose_name_is_like_another_is_installed(sdkmanager: Scripted, image: str) -> None:
    """The image for x86 is not there because that for x86_64 is."""
    sdkmanager.print("--list_installed", out=LISTED)

    assert sdkmanager.ensure(image) == ["--list_installed", "--licenses", image]


def test_the_progress_of_a_download_is_reported_by_quarters(sdkmanager: Scripted) -> None:
    """The line that the tool redraws becomes five lines, also if the steps are small."""
    steps = [f"[==   ] {step}% Downloading x86_64-34_r14.zip...   \r" for step in range(10, 90)]
    before = "[=    ] 3% Loading local repository...\r[==   ] 10% Computing updates...\r"
    sdkmanager.print(IMAGE, out=before + "".join(steps) + "[=====] 100% Unzipping... a/b.img\r\n")

    sdkmanager.ensure(IMAGE)

    assert sdkmanager.said == [
        f"installing {IMAGE}",
        f"{IMAGE}: 10 % downloading x86_64-34_r14.zip...",
        f"{IMAGE}: 25 % downloading x86_64-34_r14.zip...",
        f"{IMAGE}: 50 % downloading x86_64-34_r14.zip...",
        f"{IMAGE}: 75 % downloading x86_64-34_r14.zip...",
        f"{IMAGE}: 100 % unzipping... a/b.img",
    ]


@pytest.mark.parametrize(
    ("complaint", "hint"),
    [
        ("Failed to download any source lists!\nFailed to find package 'x'", "network"),
        ("Warning: IO exception while downloading manifest", "network"),
        ("Warning: java.net.UnknownHostException: dl.google.com", "network"),
        ("ERROR: JAVA_HOME is not set and no 'java' command could be found", "Java 17"),
        ("This tool requires JDK 17 or later. Your version was detected as 11.0.2.", "Java 17"),
        ("java.lang.UnsupportedClassVersionError: SdkManagerCli (class file 61.0)", "Java 17"),
        ("Warning: Failed to read or create install properties file.\nPermission denied", "right"),
        ("Warning: Failed to find package 'x'", "There is no image"),
        ("Exception: java.io.IOException: No space left on device", "Make room"),
        ("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nWarning: something else", "by hand"),
        ("java.lang.NoClassDefFoundError: javax/xml/bind/annotation/XmlSchema", "older than"),
        ("Warning: An error occurred while preparing SDK package x: Not in GZIP format.", "proxy"),
        (
            "Warning: An error occurred while preparing SDK package x: archive is not a ZIP"
            " archive.",
            "proxy",
        ),
        ("Warning: java.io.IOException: stream closed", "network"),
    ],
)
def test_each_complaint_of_the_tool_has_its_hint(
    sdkmanager: Scripted, complaint: str, hint: str
) -> None:
    """What to do follows from the complaint and not from Java's notices."""
    sdkmanager.print(IMAGE, complaint=complaint)

    with pytest.raises(EmulatorError) as raised:
        sdkmanager.ensure(IMAGE)

    assert raised.value.code == ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED
    assert hint in (raised.value.hint or "")
    assert "Picked up" not in raised.value.message


def test_an_image_that_was_skipped_for_its_licence_is_not_installed(sdkmanager: Scripted) -> None:
    """Some versions of the tool report success all the same."""
    said = (
        "Skipping following packages as the license is not accepted:\nGoogle APIs\nThe following"
        " packages can not be installed since their licenses or those of the packages they depend"
        f" on were not accepted:\n  {IMAGE}\n[=======] 100% Computing updates...\r\n"
    )
    sdkmanager.print(IMAGE, out=said)

    with pytest.raises(EmulatorError, match="were not accepted") as raised:
        sdkmanager.ensure(IMAGE)

    assert raised.value.code == ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED
    assert "yes | sdkmanager --licenses" in (raised.value.hint or "")


class TestSeveralRuns:
    """Runs that want the same image at the same time."""

    PROFILE = EmulatorProfile(api=31, image="google_apis", abi="x86_64")

    def create(self, bench: SdkBench, name: str, notify: Callable[[str], None]) -> None:
        """Create a virtual device, and its image before, as a run does."""
        lock = AvdClaims(bench.home / "clawperator-claims").lock_image
        bench.emulators(profile=self.PROFILE, image_lock=lock, notify=notify).create(name)

    def test_all_of_them_share_one_download(self, bench: SdkBench) -> None:
        """The image is downloaded once, and each has its virtual device."""
        bench.behave(download_seconds=0.2)
        before = len(bench.sdk.calls("download"))
        names = ["first", "second", "third"]

        with ThreadPoolExecutor(len(names)) as runs:
            list(runs.map(lambda name: self.create(bench, name, lambda _: None), names))

        assert bench.avds() == names
        assert len(bench.sdk.calls("download")) == before + 1

    def test_waiting_for_another_run_is_reported(self, bench: SdkBench) -> None:
        """It reports what is waited for, and then the image is there."""
        said: Queue[str] = Queue()
        image = self.PROFILE.system_image

        with ThreadPoolExecutor(1) as runs:
            with AvdClaims(bench.home / "clawperator-claims").lock_image(image):
                run = runs.submit(self.create, bench, "mine", said.put)
                reported = said.get(timeout=DEADLINE)
                bench.sdk.install_image(image)
            run.result(DEADLINE)

        assert reported == f"waiting for {image}, which is being installed"
        assert said.get_nowait().startswith("emulator mine: created with ")
