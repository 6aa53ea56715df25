"""What the files of a virtual device say, and whether it fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_clawperator.emulators.avd import EmulatorProfile, read_avd

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


def test_what_differs_is_told_in_words(tmp_path: Path) -> None:
    """Each value that is another one is named, with both."""
    write(tmp_path)

    told = read_avd("mine", home=tmp_path).differences(EmulatorProfile())

    assert told == (
        "image is google_apis and not google_apis_playstore, api is 34 and not 35,"
        " abi is x86_64 and not arm64-v8a, device is Nexus 5 and not pixel_7"
    )


def test_one_that_tells_nothing_of_itself_differs(tmp_path: Path) -> None:
    """What is not known is said to be so."""
    write(tmp_path, "abi.type=x86_64\n")

    told = read_avd("mine", home=tmp_path).differences(PROFILE)

    assert told == "image is not known and not google_apis, device is not known and not Nexus 5"


def test_one_that_is_taken_as_it_is_always_fits(tmp_path: Path) -> None:
    """Nothing is compared where the user named it."""
    write(tmp_path)
    named = replace(EmulatorProfile(), name="mine", as_it_is=True)

    assert read_avd("mine", home=tmp_path).unsupported_reasons(named) == ()
