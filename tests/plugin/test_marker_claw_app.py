"""``claw_app``: the app of a test is made ready before it and put away after it."""

from __future__ import annotations

import pytest

from pytest_clawperator.transport.adb import AdbTransport
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


def test_begins_anew(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
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


def test_not_launched(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
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


def test_not_installed(pytester: pytest.Pytester, run: Run) -> None:
    """Without the app the test is skipped with that reason, whatever fixtures it takes."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_app("com.example.absent")
        def test_it():
            raise AssertionError
        """
    )

    result = run()

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED*claw_app: com.example.absent is not installed on *(Google Pixel 9, API 36)"]
    )


def test_closest_marker(pytester: pytest.Pytester, run: Run) -> None:
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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "it is written claw_app(package, launch=True, stop=True, clear=False, grant=[[]])"),
        ("'com.example', start=True", "it is written claw_app(package, launch=True, *)"),
        ("'shop'", "'shop' is not the name of an Android package. It is *"),
        ("5", "the package is a text such as 'com.example.shop', found 5"),
        ("'com.example', clear=1", "clear=1 is neither True nor False"),
        ("'com.example', grant='CAMERA'", "'CAMERA' is not the name of a permission. *"),
    ],
)
def test_nonsense(pytester: pytest.Pytester, run: Run, given: str, said: str) -> None:
    """What cannot be asked for ends the run with what is allowed."""
    suite(pytester, given, "pass")

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_app({given}): {said}"])
