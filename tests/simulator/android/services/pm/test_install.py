"""Installing apps: what an APK is taken for, and the ways it comes."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.android.package_manager import APP_ENTRY
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Ended, Phone, Pieces
from tests.simulator.android.apks import APP, app_apk, operator_apk, zipped


def streamed(phone: Phone, apk: bytes, options: str = "-r") -> Ended:
    """Install as `adb install` does: from a stream that the host keeps open."""
    half = len(apk) // 2
    stdin = Pieces([apk[:half], apk[half:]])
    return phone.run(f"cmd package 'install' {options} -S {len(apk)}", stdin=stdin)


class TestWhatItIs:
    """What an APK is taken for."""

    def test_a_described_app_is_installed_and_starts(self) -> None:
        """An app that is described inside is installed and can be started."""
        phone = Phone()

        assert streamed(phone, app_apk()) == (0, "Success\n", "")

        assert "versionName=2.1" in phone.out("dumpsys package com.example.notes")
        phone.out("am start -n com.example.notes/.MainActivity")
        assert phone.device.ui.view.title() == "Notes"

    def test_an_operator_apk_is_installed_but_not_set_up(self) -> None:
        """An Operator's APK is known by its name, and is not set up yet."""
        phone = Phone(operator="absent")

        assert streamed(phone, operator_apk()).out == "Success\n"

        assert "versionName=0.5.3\n" in phone.out(f"dumpsys package {OPERATOR}")
        assert phone.out("settings get secure enabled_accessibility_services") == "null\n"

    def test_the_debug_operator_is_another_package(self) -> None:
        """The debug build is another package."""
        phone = Phone(operator="absent")

        streamed(phone, operator_apk(f"{OPERATOR}.dev"))

        assert phone.out("pm list packages clawperator.operator") == f"package:{OPERATOR}.dev\n"

    def test_operator_by_file_name(self) -> None:
        """Where the bytes say nothing, the file's name does."""
        phone = Phone(operator="absent")
        phone.device.files.write(f"/data/local/tmp/{OPERATOR}.apk", b"PK")

        assert phone.out(f"pm install -r -t /data/local/tmp/{OPERATOR}.apk") == "Success\n"

    @pytest.mark.parametrize("apk", [b"", b"PK\3\4 cut", b"just text", zipped(a="b")])
    def test_any_other_file_is_no_apk(self, apk: bytes) -> None:
        """What is neither is no APK."""
        ended = streamed(Phone(), apk)

        assert ended.status == 1
        assert ended.out.startswith("Failure [INSTALL_PARSE_FAILED_NOT_APK: ")

    def test_a_mistake_in_the_description_is_reported_with_its_line(self) -> None:
        """A mistake in the description is reported with its line."""
        ended = streamed(Phone(), app_apk(APP.replace("start: main", "start: nowhere")))

        assert ended.status == 1
        assert ended.out.startswith("Failure [INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: ")
        assert f"{APP_ENTRY}:" in ended.out


class TestUpdate:
    """Installing again."""

    def test_keeps_what_was_decided(self) -> None:
        """An update of the Operator keeps its permission and stays set up."""
        phone = Phone()
        uid = phone.out(f"pm list packages -U {OPERATOR}")

        assert streamed(phone, operator_apk()).out == "Success\n"

        assert phone.out(f"pm list packages -U {OPERATOR}") == uid
        assert SERVICE in phone.out("settings get secure enabled_accessibility_services")
        assert "POST_NOTIFICATIONS: granted=true" in phone.out(f"dumpsys package {OPERATOR}")

    def test_file_can_be_read(self) -> None:
        """The file lies where `pm path` says."""
        phone = Phone()
        streamed(phone, app_apk())

        path = phone.out("pm path com.example.notes").strip().removeprefix("package:")

        assert phone.device.files.read(path) == app_apk()


class TestRefused:
    """Installations that cannot be."""

    def test_a_full_phone_installs_nothing(self) -> None:
        """A full phone takes no app."""
        phone = Phone()
        phone.device.faults.set("storage_full")

        ended = streamed(phone, app_apk())

        assert ended.status == 1
        assert "INSTALL_FAILED_INSUFFICIENT_STORAGE" in ended.out

    def test_a_missing_file_is_named(self) -> None:
        """A file that is not there is named."""
        ended = Phone().run("pm install /data/local/tmp/nope.apk")

        assert ended.status == 255
        assert "Error: Unable to open file: /data/local/tmp/nope.apk\n" in ended.err

    def test_a_stream_needs_its_size(self) -> None:
        """Without a file the size must be given."""
        assert Phone().run("pm install") == (
            1,
            "Error: must either specify a package size or an APK file\n",
            "",
        )

    @pytest.mark.parametrize("size", ["x", "-1", "999999999999999999999"])
    def test_an_invalid_size_is_refused_before_reading(self, size: str) -> None:
        """A size that is none is refused before anything is read."""
        assert Phone().run(f"pm install -S {size}").status == 255

    def test_a_stream_that_ends_early_is_no_apk(self) -> None:
        """A stream that ends early is no APK."""
        ended = Phone().run("pm install -S 1000", stdin=b"PK")

        assert ended.status == 1
        assert "INSTALL_PARSE_FAILED_NOT_APK" in ended.out
