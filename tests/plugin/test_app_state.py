"""The state a test starts in: its app made ready by ``claw_app``, and checkpoints."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.client.device import Device, NoDevice
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import NodeNotFoundError
from pytest_clawperator.execution import crashes
from pytest_clawperator.execution.crashes import AppWatch
from pytest_clawperator.execution.result import AppsSeen, RunStep
from pytest_clawperator.plugin.app_state import close_dialogs
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.runner import screen
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.doubles.transport import ScriptedTransport
from tests.plugin.conftest import QUICK, Run, kept

SHOP = "com.example.shop"
NOTIFY = "android.permission.POST_NOTIFICATIONS"


def test_the_app_of_a_test_is_started_and_stopped(run: Run, phone: AdbTransport) -> None:
    """As its closest marker says: stopped first or not, launched or not, cleared, granted."""
    phone.shell(f"am start -W -n {SHOP}/.MainActivity; pm grant {SHOP} {NOTIFY}")

    result = run(
        "--strict-markers",
        suite=f"""
        import pytest

        SHOP = "{SHOP}"
        pids = []
        pytestmark = pytest.mark.claw_app("com.example.absent")

        def pid(claw):
            return claw.device.shell(f"pidof {{SHOP}}").stdout.strip()

        def may_notify(claw):
            return "{NOTIFY}: granted=true" in claw.device.shell(f"dumpsys package {{SHOP}}").stdout

        @pytest.mark.claw_app(SHOP, stop=False)
        @pytest.mark.parametrize("time", [1, 2])
        def test_goes_on(clawperator, time):
            assert clawperator.device.current_package() == SHOP
            pids.append(pid(clawperator))

        @pytest.mark.claw_app(SHOP)
        def test_starts_again(clawperator):
            assert clawperator.device.current_package() == SHOP
            assert pids[0] == pids[1] != pid(clawperator)

        @pytest.mark.claw_app(SHOP, launch=False)
        def test_without_launch(clawperator):
            assert pid(clawperator) == ""
            assert may_notify(clawperator)

        @pytest.mark.claw_app(SHOP, clear=True, launch=False)
        def test_cleared(clawperator):
            assert not may_notify(clawperator)

        @pytest.mark.claw_app(SHOP, grant=["{NOTIFY}"])
        def test_granted(clawperator):
            assert may_notify(clawperator)
        """,
    )

    result.assert_outcomes(passed=6)
    assert not phone.shell(f"pidof {SHOP}").ok


@pytest.mark.parametrize("options", [[], ["--claw-strict"], ["--claw-no-strict"]])
def test_without_the_app_the_test_is_an_error(run: Run, options: list[str]) -> None:
    """One that suggests the right name, unless the marker asks to skip the test."""
    result = run(
        *(*options, "-rEs"),
        suite="""
        import pytest

        @pytest.mark.claw_app("com.example.shpo")
        def test_misspelt(): raise AssertionError

        @pytest.mark.claw_app("com.example.bank")
        def test_unlike(): pass

        @pytest.mark.claw_app("org.other.Shop")
        def test_last_word(): pass

        @pytest.mark.claw_app("com.example.absent", missing="skip")
        def test_may_lack_it(clawperator): raise AssertionError
        """,
    )

    result.assert_outcomes(errors=3, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "E *APP_NOT_FOUND: claw_app('com.example.shpo'): the app is not installed on *API 36)",
            "*hint: Did you mean 'com.example.shop'? Else install it before the test, *; to skip"
            " such tests instead, write claw_app('com.example.shpo', missing='skip').",
            "*hint: Install it before the test, *",
            "*hint: Did you mean 'com.example.shop'? *",
        ]
    )
    result.stdout.fnmatch_lines_random(
        [
            "ERROR *::test_misspelt - APP_NOT_FOUND: claw_app('com.example.shpo'): the app is*",
            "SKIPPED*claw_app: com.example.absent is not installed on *(Google Pixel 9, API 36)",
        ]
    )


def test_a_permission_that_cannot_be_granted(run: Run) -> None:
    """The error names the marker, and shows nothing of how the app is made ready."""
    result = run(
        suite=f"""
        import pytest

        @pytest.mark.claw_app("{SHOP}", grant=["android.permission.NOPE"])
        def test_it(clawperator): pass
        """
    )

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E * DEVICE_COMMAND_FAILED: claw_app('{SHOP}'): `pm grant {SHOP} *NOPE` failed *",
            "*hint: An app can be granted what its manifest asks for and users may decide.",
        ]
    )
    assert not re.search("def |: in ", result.stdout.str())


@pytest.mark.parametrize("stop", [True, False])
def test_the_dialog_about_a_crash_is_closed(run: Run, stop: bool) -> None:
    """The test after the one that crashed the app begins without it, and a line says so."""
    result = run(
        suite=f"""
        import pytest
        from pytest_clawperator import expect

        pytestmark = pytest.mark.claw_app("{SHOP}", stop={stop})

        def test_crash(clawperator):
            clawperator.enter_text("ada@example.com", id="email")
            clawperator.enter_text("secret", id="password")
            clawperator.click(id="sign_in")
            clawperator.click(id="tab_account")
            with clawperator.expecting_crash():
                clawperator.scroll_and_click(id="crash")
            expect(clawperator.node(text="Shop has stopped")).to_be_visible()

        def test_next(clawperator):
            assert clawperator.device.current_package() == "{SHOP}"
        """
    )

    result.assert_outcomes(passed=2)
    line = f"*] {SHOP} crashed: its dialog was closed"
    result.stdout.fnmatch_lines([f"clawperator: {line}", "*= devices =*", line])


@pytest.mark.parametrize(
    ("window", "notice"),
    [
        (f"Application Error: {SHOP}", f"{SHOP} crashed"),
        (f"Application Not Responding: {SHOP}", f"{SHOP} does not respond"),
        (f"Application Not Responding: {SHOP}:sync", f"{SHOP}:sync does not respond"),
        (f"{SHOP}/.MainActivity", None),
    ],
)
def test_only_dialogs_about_a_crash_are_closed(window: str, notice: str | None) -> None:
    """Of any app, once each, and not asked for again until an app crashes."""
    focus = f"  mCurrentFocus=Window{{c0 u0 {window}}}\n" * 2
    transport = ScriptedTransport({"dumpsys window | grep 'Application '": focus})
    clicked: list[str] = []
    apps = AppWatch(AppsSeen())
    apps.may_show_dialog = True
    client: Any = SimpleNamespace(
        device=Device(transport, DeviceInfo(serial="PH1", key="PH1")),
        performer=SimpleNamespace(apps=apps),
        click=lambda **matcher: clicked.append(matcher["id"]),
    )
    notices: list[str] = []

    for _ in range(2):
        close_dialogs(client, notice=notices.append)

    is_closed = notice is not None
    assert clicked == ["android:id/aerr_close"] * is_closed
    assert notices == [f"{notice}: its dialog was closed"] * is_closed


@pytest.mark.parametrize("has_button", [True, False])
def test_behind_a_url_the_screen_shows_the_dialog(has_button: bool) -> None:
    """It is no crash of the test; one without a button to close it is only reported."""
    dialog = screen('<node text="Shop has stopped" resource-id="android:id/aerr_close" />')
    shown = [screen(), dialog] if has_button else [dialog, dialog]
    apps = AppWatch(AppsSeen())

    def look() -> Snapshot:
        apps.seen.dialog = RunStep.model_construct()
        return Snapshot.from_xml(shown.pop())

    def click(**matcher: str) -> None:
        if not has_button:
            raise NodeNotFoundError("no such button")

    performer = SimpleNamespace(apps=apps)
    client: Any = SimpleNamespace(
        device=NoDevice("PH1", "it is not here"), performer=performer, snapshot=look, click=click
    )
    notices: list[str] = []

    close_dialogs(client, notice=notices.append)
    assert (notices, len(shown)) == ([], 2)

    apps.may_show_dialog = True
    close_dialogs(client, notice=notices.append)
    how = "was closed" if has_button else "has no button that closes it"
    assert (notices, len(shown)) == ([f"Shop has stopped: its dialog {how}"], 0)
    assert apps.crash is None


# Crashes of the app: a test in which it is gone is not green

CRASHES = """
import unittest
from pathlib import Path

import pytest
from pytest_clawperator import ExpectationError, expect

SHOP = "com.example.shop"
in_shop = pytest.mark.claw_app(SHOP)

def sim(claw, *words):
    assert claw.device.shell(" ".join(["sim", *words])).ok

@pytest.fixture
def crashing(clawperator):
    sim(clawperator, "crash", SHOP)
    clawperator.snapshot()

@pytest.fixture
def crashing_later(clawperator):
    yield
    sim(clawperator, "crash", SHOP)
"""

# What a test does, and the words of its result: how it ends, and what the summary says of it.
CRASHED = (
    "APP_CRASHED: com.example.shop crashed: java.lang.IllegalStateException: crashed on demand"
)
VERDICTS = {
    "last_action(clawperator): sim(clawperator, 'crash', SHOP)": f"FAILED {CRASHED}",
    "native(clawperator): sim(clawperator, 'crash', SHOP, 'native')":
        "FAILED APP_CRASHED: com.example.shop crashed: signal 11 (SIGSEGV)*",
    "hang(clawperator): sim(clawperator, 'anr', SHOP)":
        "FAILED APP_CRASHED: com.example.shop does not respond (ANR): Input dispatching*",
    "death(clawperator): sim(clawperator, 'die', SHOP)":
        "FAILED APP_CRASHED: com.example.shop died by itself",
    "skip(clawperator): sim(clawperator, 'crash', SHOP); pytest.skip('no')": f"FAILED {CRASHED}",
    "setup(crashing): pass": f"ERROR {CRASHED}",
    "teardown(crashing_later): pass": f"ERROR {CRASHED}",
    "other_failure(clawperator): sim(clawperator, 'crash', SHOP); assert 0": "FAILED assert 0",
    "soft(clawperator): sim(clawperator, 'crash', SHOP);"
    " expect.soft(clawperator.node(text='Sign in')).to_be_hidden()":
        "FAILED APP_CRASHED: \"Shop has stopped\" is on the screen; expected *",
    "home(clawperator): clawperator.home();"
    " expect(clawperator.node(text='Sign in')).to_be_hidden()": "PASSED",
    "close(clawperator): clawperator.close_app(SHOP);"
    " expect(clawperator.node(text='Sign in')).not_to_exist()": "PASSED",
    "stop(clawperator): clawperator.device.shell(f'am force-stop {SHOP}');"
    " expect(clawperator.node(text='Sign in')).to_have_count(0)": "PASSED",
    "clear(clawperator): clawperator.device.clear_data(SHOP);"
    " expect(clawperator).not_to_be_in_app(SHOP)": "PASSED",
    "elsewhere(clawperator): clawperator.open_app('com.android.settings');"
    " expect(clawperator).not_to_be_in_app(SHOP)": "PASSED",
    "another_app(clawperator): sim(clawperator, 'crash com.android.settings');"
    " clawperator.click(id='aerr_close')": "PASSED",
    "forged(clawperator): clawperator.device.shell('log -p e -t AndroidRuntime \"FATAL EXCEPTION:"
    " main; Process: com.example.shop, PID: 1\"; log -p e -t Shop FATAL')":
        "PASSED",
}  # fmt: skip
# Which is the last that has the app.
REMOVED = {"removed(clawperator): clawperator.device.uninstall(SHOP)": "PASSED"}

# The same without a marker: how the app came to the front does not matter.
UNMARKED = {
    "uri(clawperator): clawperator.open_uri('shop://cart');"
    " clawperator.wait_for_node(id='empty'); sim(clawperator, 'die', SHOP);"
    " expect(clawperator.node(id='empty')).to_be_hidden()":
        "FAILED APP_CRASHED: expected node(id='empty') to be hidden, found that"
        " com.example.shop died by itself",
    "shell(clawperator): clawperator.device.shell(f'am start -W -n {SHOP}/.MainActivity');"
    " sim(clawperator, 'crash', SHOP); clawperator.execute([{'type': 'click', 'params':"
    " {'matcher': {'resourceId': 'android:id/aerr_close'}}}])": f"FAILED {CRASHED}",
    "front(clawperator): clawperator.open_app(SHOP)": "PASSED",
    "front_before(clawperator): sim(clawperator, 'die', SHOP)":
        "FAILED APP_CRASHED: com.example.shop died by itself",
    "dialog(clawperator): clawperator.open_app(SHOP); sim(clawperator, 'crash', SHOP)":
        f"FAILED {CRASHED}",
    "after_dialog(clawperator): clawperator.open_app('com.android.settings');"
    " clawperator.click(text='Display');"
    " expect(clawperator.node(text='Connections')).to_be_hidden()": "PASSED",
    "behind(clawperator): clawperator.open_app('com.android.settings');"
    " sim(clawperator, 'crash', SHOP); clawperator.click(id='aerr_close')": "PASSED",
}  # fmt: skip


@pytest.fixture
def patiently(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the end of a test wait for a crash that is about to come."""
    monkeypatch.setattr(crashes, "_GRACE", 0.5)


@pytest.mark.usefixtures("patiently")
def test_a_crash_of_the_app_fails_the_test(pytester: pytest.Pytester, run: Run) -> None:
    """Once, wherever it happened, with its reason and the head of its stack in every report."""
    tests = [f"@in_shop\ndef test_{test}\n" for test in VERDICTS]
    tests += [f"def test_{test}\n" for test in UNMARKED]
    tests += [f"@in_shop\ndef test_{test}\n" for test in REMOVED]
    verdicts = VERDICTS | UNMARKED | REMOVED
    result = run(
        *(*QUICK, "-rA", "--claw-trace=off", "--junitxml=junit.xml"),
        suite="\n".join([CRASHES, *tests]),
    )

    summary = [
        f"{verdict.split()[0]} *::test_{test.partition('(')[0]}"
        + (f" - {words}" if (words := verdict.partition(" ")[2]) else "")
        for test, verdict in verdicts.items()
    ]
    result.stdout.fnmatch_lines_random([line.replace("[", "[[]") for line in summary])
    failed = [verdict.split()[0] for verdict in verdicts.values()]
    result.assert_outcomes(
        failed=failed.count("FAILED"),
        errors=failed.count("ERROR"),
        passed=failed.count("PASSED") + 1,  # the teardown fails after its test
    )
    result.stdout.fnmatch_lines(
        ["* at com.example.shop.MainActivity.onClick(MainActivity.kt:42)", "*expecting_crash*"]
    )
    result.stdout.no_fnmatch_line("All traceback entries are hidden*")  # it is at the test
    xml = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    told = re.findall(r'<(failure|error) message="(?:failed on \w+ with &quot;)?(\w+)', xml)
    assert told.count(("failure", "APP_CRASHED")) == failed.count("FAILED") - 1
    assert told.count(("error", "APP_CRASHED")) == 2


GONE = """
@in_shop
def test_gone(clawperator):
    button = clawperator.node(text="Sign in")
    screen = expect(clawperator)
    clawperator.timeout = 60  # no check waits
    golden = Path(__file__).with_name("__screens__") / "sign-in-1080x2400-420dpi.png"
    golden.parent.mkdir()
    golden.write_bytes(clawperator.screenshot())
    sim(clawperator, "crash", SHOP)
    for check in (
        expect(button).to_be_hidden,
        expect(button).not_to_be_visible,
        expect(button).not_to_exist,
        lambda: expect(button).to_have_count(0),
        lambda: expect(button).not_to_have_count(1),
        lambda: expect(clawperator.node(id="aerr_close")).not_to_have_text("Sign in"),
        lambda: screen.not_to_have_node(text="Sign in"),
        lambda: screen.not_to_be_in_app(SHOP),
        lambda: screen.not_to_match_tree('- button "Sign in"'),
        lambda: screen.not_to_match_screenshot("sign-in"),
    ):
        with pytest.raises(ExpectationError) as caught:
            check()
        assert caught.value.code == "APP_CRASHED"
        assert "found that com.example.shop crashed: java" in str(caught.value)
        assert "at com.example.shop.MainActivity.onClick" in str(caught.value)
    with pytest.raises(ExpectationError, match="has stopped"):
        expect(clawperator.snapshot()).not_to_have_node(text="Sign in")
    expect(clawperator.node(text="Shop has stopped")).to_be_visible()

def test_opened(clawperator):
    clawperator.open_app(SHOP)
    sim(clawperator, "crash", SHOP)
    clawperator.click(id="aerr_close")

def test_in_front(clawperator):
    clawperator.device.shell(f"am start -W -n {SHOP}/.MainActivity")
    expect(clawperator).to_be_in_app(SHOP)
    sim(clawperator, "die", SHOP)
    with pytest.raises(ExpectationError, match="died by itself"):
        expect(clawperator.node(text="Sign in")).to_be_hidden()

class TestSkipped(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def client(self, clawperator):
        self.claw = clawperator

    def test_case(self):
        self.claw.open_app(SHOP)
        sim(self.claw, "crash", SHOP)
        self.claw.click(id="aerr_close")
        self.skipTest("later")

@in_shop
def test_expected(clawperator):
    with clawperator.expecting_crash():
        sim(clawperator, "crash", SHOP)
        expect(clawperator.node(text="Sign in")).to_be_hidden()
    expect(clawperator.node(text="Sign in")).to_be_hidden()
    with pytest.raises(ExpectationError, match="expected the app under test to crash"):
        with clawperator.expecting_crash(timeout=0):
            pass

@in_shop
def test_window(clawperator):
    button = clawperator.node(text="Add to cart")
    expect(button).to_be_hidden()
    sim(clawperator, "alert", "Battery low")
    with pytest.raises(ExpectationError) as caught:
        expect(button).to_be_hidden(timeout=0)
    shown = str(caught.value)
    assert 'found "Battery low" in front, a window of com.android.systemui' in shown
    assert "answer the window first" in shown
    expect(clawperator.node(text="Battery low")).to_be_visible()
    expect(button).to_be_hidden()
    clawperator.click(text="OK")
    expect(clawperator.node(text="Battery low")).to_be_hidden()
    sim(clawperator, "alert", "Battery low")
    with pytest.raises(ExpectationError):
        expect(button).not_to_exist(timeout=0)
    clawperator.click(text="OK")
"""


@pytest.mark.usefixtures("patiently")
def test_a_negative_check_fails_once_the_app_is_gone(run: Run) -> None:
    """Every kind of it, at once; a crash that is expected does not count, in Python and YAML."""
    result = run(
        *(*QUICK, "--claw-trace=off", "-rf"),
        suite=CRASHES + GONE,
    )

    result.assert_outcomes(failed=4, passed=2)
    result.stdout.fnmatch_lines_random(
        [f"FAILED *::test_{name} - APP_CRASHED: *" for name in ("gone", "opened", "case")]
    )


def test_a_device_that_failed_the_test_is_not_asked_to_stop_the_app(run: Run) -> None:
    """One failure is one error, also with ``claw_app``."""
    result = run(
        *(*QUICK, "-rE"),
        suite=f"""
        import pytest

        @pytest.mark.claw_app("{SHOP}")
        def test_it(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """,
    )

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["ERROR *::test_it - infrastructure: OPERATOR_CRASHED: *"])


# Checkpoints: a state that is built once, and restored for each test

# A suite whose tests begin logged in; each build leaves a line in a file.
LOGGED_IN = """
from pathlib import Path

import pytest
from pytest_clawperator import Clawperator, ReachCheckpoint, expect

SHOP = "com.example.shop"
BUILDS = Path(__file__).with_name("builds")

def say(claw, words):
    claw.device.shell(f"log -t suite '{words}'")

def log_in(claw: Clawperator) -> None:
    with BUILDS.open("a") as file:
        file.write(f"{claw.serial}\\n")
    claw.open_app(SHOP)
    claw.enter_text("ada@example.com", id=f"{SHOP}:id/email")
    claw.enter_text("secret", id=f"{SHOP}:id/password")
    claw.click(id=f"{SHOP}:id/sign_in")
    expect(claw.node(id=f"{SHOP}:id/cart_button")).to_be_visible()
    say(claw, "while building")

@pytest.fixture
def logged_in(clawperator_checkpoint: ReachCheckpoint):
    return clawperator_checkpoint("logged-in", build=log_in, app=SHOP)

@pytest.mark.parametrize("time", [1, 2])
def test_it(logged_in, clawperator, time):
    expect(clawperator.node(id=f"{SHOP}:id/cart_button")).to_be_visible()
    clawperator.close_app(SHOP)
"""


@pytest.fixture(autouse=True)
def quick_emulators(request: pytest.FixtureRequest) -> None:
    """Make the pauses of simulated emulators short."""
    if "bench" in request.fixturenames:
        request.getfixturevalue("bench").behave(time_scale=0.05)


def builds(pytester: pytest.Pytester) -> int:
    """Count how often the state was built."""
    return len((pytester.path / "builds").read_text(encoding="utf-8").split())


def checkpoints(bench: SdkBench) -> list[str]:
    """Return the snapshots in the folders of all virtual devices."""
    return sorted(path.name for path in bench.home.glob("*.avd/snapshots/claw-*"))


def test_a_state_is_built_once_and_restored_for_each_test(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """What the test before did is undone, also in its log; a failed build is its test's failure."""
    pytester.makepyfile(
        test_it=f"""{LOGGED_IN}
    assert clawperator.device.shell("settings get global left").stdout.strip() == "null"
    clawperator.device.shell("settings put global left something")
    say(clawperator, "first")

def test_second(clawperator, clawperator_checkpoint):
    say(clawperator, "second before")
    clawperator_checkpoint("logged-in", build=log_in, app=SHOP)
    say(clawperator, "second after")
    clawperator.click(text="Nowhere", timeout=0)

def fail(claw):
    claw.open_app(SHOP)
    claw.click(text="No such thing", timeout=0)

def test_never(clawperator_checkpoint):
    clawperator_checkpoint("never", build=fail, app=SHOP)
"""
    )

    result = run_emulators("--claw-device", "emulator", "--claw-logcat=on", "--claw-video=on")

    result.assert_outcomes(passed=2, failed=2)
    assert builds(pytester) == 1
    for words in ("checkpoint '", "lost log lines", "no video", "in reach"):
        assert words not in result.stdout.str()
    result.stdout.fnmatch_lines([">*claw.click(text=*", "E *NODE_NOT_FOUND*"])
    assert (bench.avds(), checkpoints(bench)) == ([], [])
    second = kept(pytester)["test_second"]
    log = (second / "log.txt").read_text(encoding="utf-8")
    assert ["".join(one) for one in re.findall(r"suite *: (.*)|(restored to .*)", log)] == [
        "second before",
        "restored to checkpoint 'logged-in'",
        "second after",
    ]
    assert list(second.glob("video*.mp4"))


def test_a_kept_checkpoint_serves_the_next_run(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """Of an emulator that the run did not create, after a cold start too."""
    bench.create("mine")
    pytester.makepyfile(LOGGED_IN)

    for _ in range(2):
        run_emulators("--claw-device", "emulator:mine").assert_outcomes(passed=2)

    assert builds(pytester) == 1
    assert len(checkpoints(bench)) == 1


def test_a_failed_restore_is_reported_and_built_again(
    pytester: pytest.Pytester, run_emulators: Run, bench: SdkBench
) -> None:
    """The reason is on the terminal and in the report of the test, which begins as it should."""
    bench.behave(snapshot_failure="load", time_scale=0.05)
    pytester.makepyfile(LOGGED_IN + "    assert time == 1")

    result = run_emulators("--claw-device", "emulator")

    result.assert_outcomes(passed=1, failed=1)
    assert builds(pytester) == 2
    why = "checkpoint 'logged-in' was not restored, so it is built again: *Failed to load *"
    result.stdout.fnmatch_lines(
        [
            f"clawperator: [[]emulator-*[]] {why}",
            "*clawperator: evidence*",
            why,
            f"[[]emulator-*[]] {why}",
        ]
    )


def test_a_device_that_cannot_be_saved_is_cleared_and_built(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """A notice says so once; without app= the app is that of the marker, without both an error."""
    result = run(
        *QUICK,
        suite=f"""{LOGGED_IN}
@pytest.mark.claw_app(SHOP, launch=False)
def test_marked(clawperator_checkpoint):
    assert clawperator_checkpoint("logged-in", build=log_in).how == "built"

def test_plain(clawperator_checkpoint):
    clawperator_checkpoint("logged-in", build=log_in)
""",
    )

    result.assert_outcomes(passed=3, failed=1)
    assert builds(pytester) == 3
    result.stdout.fnmatch_lines(["E *no app is named*", "*hint: Name it, as in app=*"])
    lines = [line for line in result.outlines if "is built for each test" in line]
    assert len(lines) == 2  # while the tests run, and at their end
    why = f"checkpoint 'logged-in' is built for each test, after {SHOP} was cleared: *"
    result.stdout.fnmatch_lines([f"[[]{phone.serial}[]] {why}"])
