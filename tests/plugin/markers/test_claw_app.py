"""``claw_app``: the app of a test is made ready before it and put away after it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.plugin.app_state import begin_app
from pytest_clawperator.plugin.marker_values import AppUse
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.transport import ScriptedTransport
from tests.plugin.conftest import Run

SHOP = "com.example.shop"
NOTIFY = "android.permission.POST_NOTIFICATIONS"


def is_running(phone: AdbTransport) -> bool:
    """Tell whether the shop has a process."""
    return phone.shell(f"pidof {SHOP}").ok


def suite(pytester: pytest.Pytester, marker: str, body: str) -> None:
    """Write a test with this marker and body."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_app({marker})\n"
        f"def test_it(clawperator):\n    {body}\n"
    )


def test_started_and_stopped(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """The app is in front when the test begins, and stopped after it."""
    suite(pytester, f"'{SHOP}'", f"assert clawperator.device.current_package() == '{SHOP}'")

    result = run("--strict-markers")

    result.assert_outcomes(passed=1)
    assert not is_running(phone)


def test_a_running_app_is_stopped_first(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """An app that runs already is stopped first, unless the marker says otherwise."""
    tells = f"print('pid', clawperator.device.shell('pidof {SHOP}').stdout)"
    suite(pytester, f"'{SHOP}', stop=False", tells)

    first, second = run("-s"), run("-s")
    suite(pytester, f"'{SHOP}'", tells)
    third = run("-s")

    pids = [
        next(line for line in result.outlines if "pid " in line).rpartition("pid ")[2]
        for result in (first, second, third)
    ]
    assert pids[0] == pids[1] != pids[2]


def test_without_launch_the_app_is_only_stopped(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """With `launch=False` the app is only stopped."""
    phone.shell(f"am start -W -n {SHOP}/.MainActivity")
    suite(
        pytester,
        f"'{SHOP}', launch=False",
        f"assert not clawperator.device.shell('pidof {SHOP}').ok",
    )

    result = run()

    result.assert_outcomes(passed=1)


def test_cleared_and_granted(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """Data and permissions of before are gone, and what the marker grants is granted."""
    camera = "android.permission.CAMERA"
    phone.shell(f"pm grant {SHOP} {camera}")
    suite(
        pytester,
        f"'{SHOP}', clear=True, launch=False, grant=['{NOTIFY}']",
        f"print(clawperator.device.shell('dumpsys package {SHOP}').stdout)",
    )

    result = run("-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*{NOTIFY}: granted=true*"])
    result.stdout.no_fnmatch_line(f"*{camera}: granted=true*")


@pytest.mark.parametrize("options", [[], ["--claw-no-strict"]])
def test_without_the_app_the_test_is_an_error(
    pytester: pytest.Pytester, run: Run, options: list[str]
) -> None:
    """A misspelt package is an error that suggests the right one, whatever fixtures there are."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_app("com.example.shpo")
        def test_it():
            raise AssertionError
        """
    )

    result = run(*options, "-rE")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *APP_NOT_FOUND: claw_app('com.example.shpo'): the app is not installed on *API 36)",
            "*hint: Did you mean 'com.example.shop'? Else install it before the test, *; to skip"
            " such tests instead, write claw_app('com.example.shpo', missing='skip').",
            "ERROR test_it.py::test_it - APP_NOT_FOUND: claw_app('com.example.shpo'): the app is*",
        ]
    )


def test_an_app_that_resembles_no_other(pytester: pytest.Pytester, run: Run) -> None:
    """Packages that merely begin alike are not suggested; one with the same last word is."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_app("com.example.bank")
        def test_bank(): pass

        @pytest.mark.claw_app("org.other.Shop")
        def test_shop(): pass
        """
    )

    result = run()

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*hint: Install it before the test, *", "*hint: Did you mean 'com.example.shop'? *"]
    )


@pytest.mark.parametrize("options", [[], ["--claw-strict"]])
def test_a_test_that_may_lack_its_app_is_skipped(
    pytester: pytest.Pytester, run: Run, options: list[str]
) -> None:
    """With `missing="skip"` the test is skipped with the reason, also in a strict run."""
    suite(pytester, "'com.example.absent', missing='skip'", "raise AssertionError")

    result = run(*options)

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED*claw_app: com.example.absent is not installed on *(Google Pixel 9, API 36)"]
    )


def test_a_permission_that_cannot_be_granted(pytester: pytest.Pytester, run: Run) -> None:
    """The error names the marker, and shows nothing of how the app is made ready."""
    suite(pytester, f"'{SHOP}', grant=['android.permission.NOPE']", "pass")

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E * DEVICE_COMMAND_FAILED: claw_app('{SHOP}'): `pm grant {SHOP} *NOPE` failed *",
            "*hint: An app can be granted what its manifest asks for and users may decide.",
        ]
    )
    assert "def " not in result.stdout.str()
    assert ": in " not in result.stdout.str()


def test_the_closest_marker_wins(pytester: pytest.Pytester, run: Run) -> None:
    """The marker of the test wins over that of its module."""
    pytester.makepyfile(
        f"""
        import pytest

        pytestmark = pytest.mark.claw_app("com.example.absent")

        @pytest.mark.claw_app("{SHOP}")
        def test_it(clawperator):
            assert clawperator.device.current_package() == "{SHOP}"
        """
    )

    result = run()

    result.assert_outcomes(passed=1)


class TestDialog:
    """What Android shows of an earlier crash lies over the app."""

    @pytest.mark.parametrize("stop", [True, False])
    def test_after_a_crash(self, pytester: pytest.Pytester, run: Run, stop: bool) -> None:
        """The test after the one that crashed the app begins without the dialog, out loud."""
        pytester.makepyfile(
            f"""
            import pytest
            from pytest_clawperator import expect

            pytestmark = pytest.mark.claw_app("{SHOP}", stop={stop})

            def test_crash(clawperator):
                clawperator.enter_text("ada@example.com", id="email")
                clawperator.enter_text("secret", id="password")
                clawperator.click(id="sign_in")
                clawperator.click(id="tab_account")
                clawperator.scroll_and_click(id="crash")
                expect(clawperator.node(text="Shop has stopped")).to_be_visible()

            def test_next(clawperator):
                assert clawperator.device.current_package() == "{SHOP}"
            """
        )

        result = run()

        result.assert_outcomes(passed=2)
        said = f"*] {SHOP} crashed: its dialog was closed"
        result.stdout.fnmatch_lines([f"clawperator: {said}", "*= devices =*", said])

    @pytest.mark.parametrize(
        ("window", "said"),
        [
            (f"Application Error: {SHOP}", "crashed"),
            (f"Application Not Responding: {SHOP}", "does not respond"),
            (f"Application Not Responding: {SHOP}:sync", "does not respond"),
            (f"Application Error: {SHOP}ping", None),
            (f"Application Error: {SHOP}.help", None),
            (f"{SHOP}/.MainActivity", None),
        ],
    )
    def test_only_of_this_app(self, window: str, said: str | None) -> None:
        """A crash and an ANR of the app itself are closed, and nothing of another app."""
        focus = f"  mCurrentFocus=Window{{c0 u0 {window}}}\n"
        transport = ScriptedTransport({"dumpsys window | grep 'Application '": focus})
        clicked: list[str] = []
        client: Any = SimpleNamespace(
            device=Device(transport, DeviceInfo(serial="PH1", key="PH1")),
            click=lambda **matcher: clicked.append(matcher["id"]),
        )
        told: list[str] = []

        use = AppUse(package=SHOP, launch=False, stop=False, clear=False, grant=())
        begin_app(client, use, notice=told.append)

        is_closed = said is not None
        assert clicked == ["android:id/aerr_close"] * is_closed
        assert told == [f"{SHOP} {said}: its dialog was closed"] * is_closed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "it is written claw_app(package, launch=True, stop=True, clear=False, grant=[[]],*)"),
        ("'com.example', start=True", "it is written claw_app(package, launch=True, *)"),
        ("'shop'", "'shop' is not the name of an Android package. It is *"),
        ("5", "the package is a text such as 'com.example.shop', found 5"),
        ("'com.example', missing=True", "missing=True is not a choice; allowed is 'error' *"),
        ("'com.example', clear=1", "clear=1 is neither True nor False"),
        ("'com.example', grant=['CAMERA']", "'CAMERA' is not the name of a permission. *"),
        ("'com.example', grant='a.B'", "grant='a.B' is not a list *; write grant=[[]'a.B']"),
        ("'com.example', grant=5", "grant=5 is not a list of permissions; write grant=[[]'and*"),
    ],
)
def test_an_impossible_app_ends_the_run(
    pytester: pytest.Pytester, run: Run, given: str, said: str
) -> None:
    """What cannot be asked for ends the run with what is allowed."""
    suite(pytester, given, "pass")

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    given = given.replace("[", "[[]")
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_app({given}): {said}"])


@pytest.mark.parametrize(("registered", "outcome"), [("", 4), ("claw_ap: ours", 0)])
def test_a_misspelt_marker_ends_the_run(
    pytester: pytest.Pytester, run: Run, registered: str, outcome: int
) -> None:
    """A marker that is nearly one of ours would do nothing; one that a project has is its own."""
    pytester.makeini(f"[pytest]\nmarkers = {registered}\n")
    pytester.makepyfile(
        test_it="import pytest\n\n@pytest.mark.claw_ap('com.a')\ndef test_it(clawperator): pass\n"
    )

    result = run("-W", "ignore::pytest.PytestUnknownMarkWarning")

    assert result.ret == outcome
    said = "ERROR: test_it.py::test_it: claw_ap('com.a'): no such marker; did you mean claw_app?"
    assert (said in result.errlines) is bool(outcome)
