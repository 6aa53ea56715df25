"""``pm``: listing, installing, removing and resolving."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.android.pm import APP_ENTRY
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Ended, Phone, Pieces
from tests.simulator.android.apks import APP, app_apk, operator_apk, zipped

CONFORMANCE = "com.clawperator.conformance"


class TestPath:
    """Where a package's file lies."""

    def test_path_prints_the_file_of_a_package(self) -> None:
        """The file of an installed package is named."""
        out = Phone().out("cmd package path com.android.settings")

        assert out == "package:/system_ext/priv-app/Settings/Settings.apk\n"

    def test_path_of_a_missing_package_fails_silently(self) -> None:
        """A package that is not there gives status 1 and no output."""
        assert Phone().run("pm path com.nope") == (1, "", "")

    def test_path_requires_a_name(self) -> None:
        """A name must be given."""
        ended = Phone().run("pm path")

        assert ended.status == 255
        assert 'Argument expected after "path"' in ended.err


class TestRemoving:
    """Clearing and uninstalling."""

    def test_clear_answers_success_or_failed(self) -> None:
        """Clearing an app answers Success, and Failed where there is none."""
        phone = Phone()

        assert phone.out(f"pm clear {CONFORMANCE}") == "Success\n"
        assert phone.run("pm clear com.nope") == (1, "", "Failed\n")

    def test_an_uninstalled_app_is_gone_from_lists_and_screen(self) -> None:
        """An uninstalled app is gone from the lists and the screen."""
        phone = Phone()

        assert phone.out(f"pm uninstall {CONFORMANCE}") == "Success\n"
        assert phone.out(f"pm list packages {CONFORMANCE}") == ""
        assert CONFORMANCE not in phone.device.ui.apps

    def test_an_uninstalled_operator_leaves_no_enabled_service(self) -> None:
        """An uninstalled Operator leaves no service behind in the settings."""
        phone = Phone()

        phone.out(f"pm uninstall {OPERATOR}")

        assert OPERATOR not in phone.out("settings list secure")
        assert phone.run(f"pidof {OPERATOR}").status == 1

    @pytest.mark.parametrize(
        ("arguments", "answer"),
        [
            ("com.nope", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"),
            ("--user 0 com.nope", "Failure [not installed for 0]\n"),
            ("com.android.systemui", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"),
            ("", "Error: package name not specified\n"),
        ],
    )
    def test_system_apps_cannot_be_uninstalled(self, arguments: str, answer: str) -> None:
        """What cannot be uninstalled is refused with status 1."""
        assert Phone().run(f"pm uninstall {arguments}") == (1, answer, "")


class TestList:
    """Listing packages."""

    def test_the_filter_is_any_part_of_the_name(self) -> None:
        """The filter is any part of the name."""
        out = Phone().out("pm list packages clawperator.oper")

        assert out == f"package:{OPERATOR}\n"

    def test_a_filter_for_the_release_build_also_finds_the_debug_build(self) -> None:
        """The name of the release build is part of the debug build's."""
        assert Phone(operator="dev").out(f"pm list packages {OPERATOR}") == (
            f"package:{OPERATOR}.dev\n"
        )

    def test_no_match_prints_nothing_and_succeeds(self) -> None:
        """No match is silence and success."""
        assert Phone().out("pm list packages com.nope") == ""

    def test_third_party_and_system(self) -> None:
        """Every package is the user's or the system's."""
        phone = Phone()

        users = phone.out("pm list packages -3").splitlines()
        system = phone.out("pm list packages -s").splitlines()

        assert f"package:{OPERATOR}" in users
        assert "package:com.android.settings" in system
        assert sorted(users + system) == sorted(phone.out("pm list packages").splitlines())

    def test_more_about_each(self) -> None:
        """File, version and user can be told with the name."""
        out = Phone().out(f"pm list packages -f -U --show-versioncode {OPERATOR}")

        assert out.startswith("package:/data/app/~~")
        assert f"/base.apk={OPERATOR} versionCode:503900 uid:102" in out

    @pytest.mark.parametrize(
        ("arguments", "answer"),
        [
            ("packages -z", "Error: Unknown option: -z\n"),
            ("", "Error: didn't specify type of data to list\n"),
            ("birds", "Error: unknown list type 'birds'\n"),
        ],
    )
    def test_an_unknown_option_is_reported_with_status_255(
        self, arguments: str, answer: str
    ) -> None:
        """A mistake is reported on the standard output, with status 255."""
        assert Phone().run(f"pm list {arguments}") == (255, answer, "")


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


class TestResolve:
    """Resolving and querying."""

    def test_the_activity_behind_an_icon_is_resolved(self) -> None:
        """The activity behind a package's icon can be asked for."""
        out = Phone().out("cmd package resolve-activity --brief com.android.settings")

        assert out.splitlines()[1] == "com.android.settings/.Settings"

    def test_resolve_a_link(self) -> None:
        """The app that takes a link can be asked for."""
        view = "-a android.intent.action.VIEW"

        out = Phone().out(f"cmd package resolve-activity --brief {view} -d shop://cart")

        assert out.splitlines()[1].startswith("com.example.shop/")

    def test_an_intent_for_nobody_resolves_to_nothing(self) -> None:
        """Where there is none, that is what it says, and it is no failure."""
        assert Phone().out("cmd package resolve-activity --brief com.nope") == (
            "No activity found\n"
        )
