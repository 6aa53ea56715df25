"""How simulated phones differ from a Pixel, as their quirks say."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from pytest_clawperator.connect import connect
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.android.packages import LAUNCHER
from pytest_clawperator.simulator.phone_kinds import parse_phones
from pytest_clawperator.simulator.quirks import QUIRKS, check_quirks
from pytest_clawperator.simulator.screen.user_input import Drag
from pytest_clawperator.simulator.wire.stream import ServiceRefused
from pytest_clawperator.transport.adb_program import find_adb
from tests.doubles.simulator.android_phone import OPERATOR, FakeStream, Phone

DOCS = Path(__file__).parents[2] / "docs"
SYSTEM = "com.android.systemui"
PNG = b"\x89PNG\r\n\x1a\n"


def quirky(*names: str) -> Phone:
    """Return a small phone with these quirks."""
    return Phone(quirks=frozenset(names), size=(360, 800))


async def _served(phone: Phone, destination: str) -> bytes:
    stream = FakeStream()
    await phone.device.serve(destination, stream)
    return stream.sent


def exec_out(phone: Phone, command: str) -> bytes:
    """Run a command as ``adb exec-out`` does: both outputs are one."""
    return asyncio.run(_served(phone, f"exec:{command}"))


def bounds(phone: Phone) -> list[tuple[int, ...]]:
    """Return the bounds of all nodes of the window in front."""
    root = phone.device.ui.view.active_root()
    assert root is not None
    return [tuple(node.bounds) for node in root.walk()]


@pytest.mark.parametrize("quirk", QUIRKS.values(), ids=QUIRKS)
def test_each_quirk_says_what_it_means_and_who_reported_it(quirk: tuple[str, str]) -> None:
    """The meaning is a sentence, the source an address."""
    meaning, source = quirk

    assert len(meaning.split()) > 5
    assert source.startswith("https://")


@pytest.mark.parametrize("page", ["simulator.md", "real-phones.md"])
def test_the_documents_have_a_row_for_each_quirk(page: str) -> None:
    """No quirk is without its meaning, and none without what is done about it."""
    rows = [line for line in (DOCS / page).read_text().splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])}

    assert set(QUIRKS) - named == set()


def test_a_quirk_that_there_is_not_is_refused_with_a_guess() -> None:
    """The message names the nearest one, and the hint all of them."""
    with pytest.raises(ConfigurationError, match="did you mean 'slow-am'") as caught:
        check_quirks(["slow-an"])

    assert "two-displays" in str(caught.value.hint)


def test_the_text_about_phones_may_name_quirks() -> None:
    """A quirk is one of the words that are said of a phone; others have none."""
    first, second, third = parse_phones("phone+slow-am+two-displays,tablet,samsung-power+api=33")

    assert first.quirks == {"slow-am", "two-displays"}
    assert second.quirks == frozenset()
    assert third.quirks == {"samsung-power"}
    assert third.api == 33


class TestTwoDisplays:
    """A foldable."""

    def test_screencap_warns_before_a_picture_of_the_dark_display(self) -> None:
        """Without a display the first one is taken, which is dark; with one there is no warning."""
        phone = quirky("two-displays")
        listed = phone.out("dumpsys SurfaceFlinger --display-id")
        first, second = re.findall(r"Display (\d+)", listed)

        printed = exec_out(phone, "screencap -p")
        dark = exec_out(phone, f"screencap -d {first} -p")
        lit = exec_out(phone, f"screencap -d {second} -p")

        warning, png, picture = printed.partition(PNG)
        assert warning.startswith(b"[Warning] Multiple displays were found")
        assert png + picture == dark
        assert lit.startswith(PNG)
        assert lit == exec_out(quirky(), "screencap -p") != dark

    def test_the_display_manager_tells_which_one_is_on(self) -> None:
        """One is on and one is off."""
        printed = quirky("two-displays").out("dumpsys display")

        assert re.findall(r"displayId (\d+), .*state (\w+)", printed) == [("0", "ON"), ("3", "OFF")]


def test_samsungs_power_manager_tells_the_screen_in_its_own_words() -> None:
    """Neither the usual key nor the state of the display is there."""
    phone = quirky("samsung-power")
    awake = phone.out("dumpsys power")
    asleep = phone.out("input keyevent SLEEP; dumpsys power")

    assert "getWakefulnessLocked()=Awake" in awake
    assert "getWakefulnessLocked()=Asleep" in asleep
    assert "mWakefulness=" not in awake
    assert "Display Power: state=" not in awake


def test_with_several_users_the_second_one_has_the_apps() -> None:
    """The current user is 10, and the Operator is installed for that one alone."""
    phone = quirky("multi-user")

    assert phone.out("am get-current-user") == "10\n"
    assert "UserInfo{10:" in phone.out("pm list users")
    rows = re.findall(r"User (\d+):.* installed=(\w+)", phone.out(f"dumpsys package {OPERATOR}"))
    assert rows == [("0", "false"), ("10", "true")]


def test_the_linker_warns_on_standard_error() -> None:
    """What a program prints on its standard output stays as it is."""
    ended = quirky("linker-warning").run("wm size")

    assert (ended.status, ended.out) == (0, "Physical size: 360x800\n")
    assert ended.err.startswith("WARNING: linker: ")


def test_a_maker_may_keep_the_log_to_errors() -> None:
    """Lines below E are not there."""
    phone = quirky("log-suppressed")

    assert phone.out("log -p i -t T i; log -p e -t T e; logcat -d -v raw -s T").split()[-1] == "e"
    assert "\ni\n" not in phone.out("logcat -d -v raw -s T")


def test_a_small_log_forgets_soon() -> None:
    """Its size is printed, and old lines make room for new ones."""
    phone = quirky("log-small-buffer")

    for number in range(30):
        phone.device.log.write("I", "T", f"{number:>4000}", pid=1)

    assert "main: ring buffer is 64 KiB" in phone.out("logcat -g -b main")
    kept = [int(line) for line in phone.out("logcat -d -v raw -s T").splitlines()[1:]]
    assert kept[-1] == 29
    assert 0 not in kept


@pytest.mark.parametrize(
    ("quirk", "command"), [("slow-am", "am get-current-user"), ("slow-dump", "dumpsys power")]
)
def test_slow_programs_answer_as_the_others_do(quirk: str, command: str) -> None:
    """Slowness changes nothing but the time."""
    assert quirky(quirk).out(command) == quirky().out(command)


class TestSeveralRoots:
    """Dumps of all windows."""

    def test_windows_stand_side_by_side_the_topmost_first(self) -> None:
        """The status bar comes first, then the app, then the gesture bar."""
        roots = quirky("several-roots").device.ui.view.roots()

        assert [root.package for root in roots] == [SYSTEM, LAUNCHER, SYSTEM]

    def test_other_phones_dump_the_window_in_front_alone(self) -> None:
        """There is one root."""
        assert len(quirky().device.ui.view.roots()) == 1


class TestOldToybox:
    """Android 6."""

    def test_it_tells_its_version_and_no_features(self) -> None:
        """The version is one whose adbd knew no features, whatever was asked for."""
        phone = quirky("old-toybox")

        assert phone.out("getprop ro.build.version.sdk") == "23\n"
        assert phone.device.features == ()

    def test_a_command_has_a_terminal_and_both_outputs_are_one(self) -> None:
        """Lines end as on a terminal, errors are among them, and the newer shell is refused."""
        phone = quirky("old-toybox")

        printed = asyncio.run(_served(phone, "shell:echo out; echo err >&2"))

        assert printed == b"out\r\nerr\r\n"
        with pytest.raises(ServiceRefused):
            asyncio.run(_served(phone, "shell,v2,raw:true"))

    def test_ps_lists_everything_and_takes_other_words_for_names(self) -> None:
        """The options of toybox are the beginning of a name that no process has."""
        phone = quirky("old-toybox")

        everything = phone.out("ps").splitlines()
        assert " ".join(everything[0].split()) == "USER PID PPID VSIZE RSS WCHAN PC NAME"
        assert any(line.endswith(" S system_server") for line in everything)
        assert phone.out("ps -A -o USER,PID").splitlines() == everything[:1]

    def test_programs_of_later_versions_are_not_there(self) -> None:
        """``cmd`` is missing, and the window manager dismisses no keyguard; the menu key does."""
        phone = quirky("old-toybox")
        phone.run("sim fault locked")

        assert phone.run("cmd -l").status == 127
        assert "unknown command" in phone.run("wm dismiss-keyguard").err
        assert "showing=true" in phone.out("dumpsys window policy")
        assert "showing=false" in phone.out("input keyevent 82; dumpsys window policy")


@pytest.mark.parametrize(
    ("command", "permission"),
    [
        ("input tap 10 10", "INJECT_EVENTS"),
        (f"pm grant {OPERATOR} android.permission.POST_NOTIFICATIONS", "GRANT_RUNTIME_PERMISSIONS"),
        ("settings put system user_rotation 1", "WRITE_SECURE_SETTINGS"),
    ],
)
def test_a_guarded_phone_says_which_permission_adb_lacks(command: str, permission: str) -> None:
    """What changes something fails, as on Xiaomi's phones."""
    ended = quirky("guarded-adb").run(command)

    assert ended.status == 255
    assert permission in ended.err


def test_a_guarded_phone_lets_everything_be_read() -> None:
    """What only reads works."""
    phone = quirky("guarded-adb")

    assert phone.out("settings get system user_rotation") == "0\n"
    assert f"package:{OPERATOR}\n" in phone.out("pm list packages")


def test_a_phone_that_asks_installs_nothing_until_somebody_answers() -> None:
    """An install is refused, and after the answer the file itself matters."""
    phone = quirky("install-prompt")
    phone.run("echo no app > /data/local/tmp/a.apk")

    before = phone.run("pm install -r /data/local/tmp/a.apk")
    after = phone.run("sim allow installs; pm install -r /data/local/tmp/a.apk")

    assert before.out == "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]\n"
    assert after.out.startswith("Failure [INSTALL_")
    assert "USER_RESTRICTED" not in after.out
    assert phone.run("sim allow everything").status == 1


def test_an_app_that_forbids_pictures_is_black_on_them() -> None:
    """The home screen is drawn, an app is not, and its window has the reason."""
    phone = quirky("secure-screen")

    home = exec_out(phone, "screencap -p")
    phone.device.ui.launching.start_app("com.example.shop")
    phone.clock.now += 5
    shop = exec_out(phone, "screencap -p")

    assert home == exec_out(quirky(), "screencap -p")
    assert len(shop) < len(home) / 2
    assert "fl=SECURE" in phone.out("dumpsys window windows")


class TestRightToLeft:
    """Arabic."""

    def test_the_screen_is_mirrored(self) -> None:
        """Each node is as far from the right as it is from the left elsewhere."""
        there, here = bounds(quirky("rtl")), bounds(quirky())

        assert here != there
        assert [(360 - right, top, 360 - left, bottom) for left, top, right, bottom in here] == (
            there
        )

    def test_language_and_direction_are_printed(self) -> None:
        """A language that is written so stays; any other is changed."""
        assert quirky("rtl").out("getprop persist.sys.locale") == "ar-EG\n"
        hebrew = Phone(quirks=frozenset({"rtl"}), locale="he-IL")
        assert hebrew.out("getprop persist.sys.locale") == "he-IL\n"

    def test_a_swipe_to_the_right_moves_content_on(self) -> None:
        """Only sideways: up and down are as everywhere."""
        sideways, upwards = ((10, 50), (200, 50)), ((50, 200), (50, 10))

        drags = [Drag(*way, 300, 160, right_to_left=True) for way in (sideways, upwards)]

        assert [drag.forward for drag in drags] == [190, 190]
        assert [drag.distance for drag in drags] == [-190, 190]


class TestCutout:
    """A camera in the screen."""

    @pytest.mark.parametrize(
        ("rotation", "frame"),
        [
            (0, (0, 45, 360, 800)),
            (1, (45, 0, 800, 360)),
            (2, (0, 0, 360, 755)),
            (3, (0, 0, 755, 360)),
        ],
    )
    def test_apps_begin_beside_it(self, rotation: int, frame: tuple[int, ...]) -> None:
        """The window of an app leaves it out, wherever it is when the phone is turned."""
        phone = Phone(quirks=frozenset({"cutout"}), size=(360, 800), density=140)
        phone.run(f"wm user-rotation lock {rotation}")

        assert bounds(phone)[0] == frame
        printed = phone.out("dumpsys window displays")
        assert f"app={frame[2] - frame[0]}x{frame[3] - frame[1]} " in printed
        height = 45 if rotation == 0 else 21
        assert f"type=statusBars frame=[0,0][{800 if rotation % 2 else 360},{height}]" in printed
        assert phone.out("wm size") == "Physical size: 360x800\n"

    def test_the_display_manager_tells_it(self) -> None:
        """Its insets are those of the cutout."""
        phone = Phone(quirks=frozenset({"cutout"}), size=(360, 800), density=140)

        assert "DisplayCutout{insets=Rect(0, 45 - 0, 0)" in phone.out("dumpsys display")


def test_a_phone_on_wifi_has_a_name_with_a_space() -> None:
    """The real adb lists it, and everything works by that name."""
    with Simulator(devices=1, quirks=["wifi-serial"]) as simulator:
        (serial,) = simulator.serials
        host = f"{simulator.adb_host}:{simulator.adb_port}"
        adb = [str(find_adb()), "-P", str(simulator.adb_port)]
        listed = subprocess.run([*adb, "devices"], capture_output=True, text=True, check=True)
        named = [*adb, "-s", serial, "shell", "getprop", "ro.serialno"]
        number = subprocess.run(named, capture_output=True, text=True, check=True).stdout.strip()

        with connect(serial, adb=host) as claw:
            assert claw.device.info.key == number

    assert serial == f"localfilesystem:adb-{number}-aBcDeF (2)._adb-tls-connect._tcp"
    assert f"{serial}\tdevice\n" in listed.stdout
