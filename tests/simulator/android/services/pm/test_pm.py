"""``pm``: paths, data and removing."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone

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
