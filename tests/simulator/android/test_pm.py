"""``pm`` and ``cmd package``: what is installed, and what it may do."""

from __future__ import annotations

import pytest

from tests.simulator.android.phone import OPERATOR, Phone

CONFORMANCE = "com.clawperator.conformance"


class TestList:
    """Listing packages."""

    def test_filter(self) -> None:
        """The filter is any part of the name."""
        out = Phone().out("pm list packages clawperator.oper")

        assert out == f"package:{OPERATOR}\n"

    def test_both_variants(self) -> None:
        """The name of the release build is part of the debug build's."""
        assert Phone(operator="dev").out(f"pm list packages {OPERATOR}") == (
            f"package:{OPERATOR}.dev\n"
        )

    def test_nothing_found(self) -> None:
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

    def test_disabled_and_enabled(self) -> None:
        """A disabled package is listed with -d only."""
        phone = Phone()
        phone.out(f"pm disable-user {CONFORMANCE}")

        assert phone.out("pm list packages -d") == f"package:{CONFORMANCE}\n"
        assert CONFORMANCE not in phone.out("pm list packages -e")

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
    def test_mistakes(self, arguments: str, answer: str) -> None:
        """A mistake is told on the standard output, with status 255."""
        assert Phone().run(f"pm list {arguments}") == (255, answer, "")

    def test_other_lists(self) -> None:
        """Features, users and permissions are listed too."""
        phone = Phone()

        assert "feature:android.hardware.touchscreen\n" in phone.out("pm list features")
        assert phone.out("pm list users") == "Users:\n\tUserInfo{0:Owner:4c13} running\n"
        assert "permission:android.permission.CAMERA\n" in phone.out("pm list permissions")


class TestPath:
    """Where a package's file lies."""

    def test_installed(self) -> None:
        """The file of an installed package is named."""
        out = Phone().out("cmd package path com.android.settings")

        assert out == "package:/system_ext/priv-app/Settings/Settings.apk\n"

    def test_not_installed(self) -> None:
        """A package that is not there gives status 1 and not a word."""
        assert Phone().run("pm path com.nope") == (1, "", "")

    def test_no_name(self) -> None:
        """A name must be given."""
        ended = Phone().run("pm path")

        assert ended.status == 255
        assert 'Argument expected after "path"' in ended.err


class TestPermissions:
    """Granting and revoking."""

    def test_grant_and_revoke(self) -> None:
        """A runtime permission comes and goes."""
        phone = Phone()
        permission = "android.permission.POST_NOTIFICATIONS"

        phone.out(f"pm revoke {OPERATOR} {permission}")
        assert f"{permission}: granted=false" in phone.out(f"dumpsys package {OPERATOR}")

        assert phone.out(f"pm grant {OPERATOR} {permission}") == ""
        assert f"{permission}: granted=true" in phone.out(f"dumpsys package {OPERATOR}")

    @pytest.mark.parametrize(
        ("permission", "complaint"),
        [
            (
                "android.permission.NOPE",
                "java.lang.IllegalArgumentException: Unknown permission: android.permission.NOPE",
            ),
            (
                "android.permission.CAMERA",
                f"java.lang.SecurityException: Package {OPERATOR} has not requested permission"
                " android.permission.CAMERA",
            ),
            (
                "android.permission.INTERNET",
                "java.lang.SecurityException: Permission android.permission.INTERNET requested by"
                f" {OPERATOR} is not a changeable permission type",
            ),
        ],
    )
    def test_refused(self, permission: str, complaint: str) -> None:
        """What cannot be granted is refused in Android's words."""
        ended = Phone().run(f"pm grant {OPERATOR} {permission}")

        assert ended.status == 255
        assert ended.err.startswith(f"\nException occurred while executing 'grant':\n{complaint}\n")

    def test_older_android(self) -> None:
        """Before API 33 nobody knew of a permission for notifications."""
        ended = Phone(api=32).run(f"pm grant {OPERATOR} android.permission.POST_NOTIFICATIONS")

        assert "Unknown permission" in ended.err

    def test_no_such_package(self) -> None:
        """A package that is not there is told twice, as Android does."""
        assert Phone().run("pm grant com.nope android.permission.CAMERA") == (
            1,
            "Failure [package not found]\n",
            "Error: package not found\n",
        )

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [("", "Error: no package specified\n"), (OPERATOR, "Error: no permission specified\n")],
    )
    def test_incomplete(self, arguments: str, complaint: str) -> None:
        """Package and permission must be given."""
        assert Phone().run(f"pm grant {arguments}") == (1, "", complaint)


class TestRemoving:
    """Clearing and uninstalling."""

    def test_clear(self) -> None:
        """Clearing an app answers Success, and Failed where there is none."""
        phone = Phone()

        assert phone.out(f"pm clear {CONFORMANCE}") == "Success\n"
        assert phone.run("pm clear com.nope") == (1, "", "Failed\n")

    def test_uninstall(self) -> None:
        """An uninstalled app is gone from the lists and the screen."""
        phone = Phone()

        assert phone.out(f"pm uninstall {CONFORMANCE}") == "Success\n"
        assert phone.out(f"pm list packages {CONFORMANCE}") == ""
        assert CONFORMANCE not in phone.device.ui.apps

    def test_uninstall_operator(self) -> None:
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
    def test_refused(self, arguments: str, answer: str) -> None:
        """What cannot be uninstalled is refused with status 1."""
        assert Phone().run(f"pm uninstall {arguments}") == (1, answer, "")


class TestState:
    """Disabling and resolving."""

    def test_disable_and_enable(self) -> None:
        """The new state is told."""
        phone = Phone()

        assert phone.out(f"pm disable-user {CONFORMANCE}") == (
            f"Package {CONFORMANCE} new state: disabled-user\n"
        )
        assert phone.out(f"pm enable {CONFORMANCE}") == (
            f"Package {CONFORMANCE} new state: enabled\n"
        )

    def test_resolve(self) -> None:
        """The activity behind a package's icon can be asked for."""
        out = Phone().out("cmd package resolve-activity --brief com.android.settings")

        assert out.splitlines()[1] == "com.android.settings/.Settings"

    def test_resolve_a_link(self) -> None:
        """The app that takes a link can be asked for."""
        view = "-a android.intent.action.VIEW"

        out = Phone().out(f"cmd package resolve-activity --brief {view} -d shop://cart")

        assert out.splitlines()[1].startswith("com.example.shop/")

    def test_resolve_nothing(self) -> None:
        """Where there is none, that is what it says, and it is no failure."""
        assert Phone().out("cmd package resolve-activity --brief com.nope") == (
            "No activity found\n"
        )

    def test_query(self) -> None:
        """Everything with an icon, and the Operator's receiver, can be listed."""
        phone = Phone()

        activities = phone.out(
            "pm query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
        )
        receivers = phone.out("pm query-receivers -a app.clawperator.operator.ACTION_AGENT_COMMAND")

        assert f"{OPERATOR}/clawperator.activity.MainActivity" in activities
        assert receivers.startswith("1 receivers found:\n")


class TestBooting:
    """While Android comes up."""

    @pytest.mark.parametrize(
        ("command", "service"),
        [
            ("pm list packages", "package"),
            ("cmd package list packages", "package"),
            ("am start x", "activity"),
            ("settings get global x", "settings"),
            ("wm size", "window"),
            ("input tap 1 1", "input"),
        ],
    )
    def test_no_services(self, command: str, service: str) -> None:
        """No service is there yet."""
        phone = Phone()
        phone.device.faults.set("booting")

        assert phone.run(command) == (20, "", f"cmd: Can't find service: {service}\n")

    def test_properties(self) -> None:
        """The properties tell that it has not booted, and later that it has."""
        phone = Phone()
        phone.device.faults.set("booting")
        assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "\n\n"

        phone.device.faults.clear("booting")
        assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "1\n1\n"

    def test_unknown_service(self) -> None:
        """A service that there never is is told in the same words."""
        assert Phone().run("cmd birds fly") == (20, "", "cmd: Can't find service: birds\n")
