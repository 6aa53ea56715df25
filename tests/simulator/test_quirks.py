"""How simulated phones differ from a Pixel, as their quirks say."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.android import commands
from pytest_clawperator.simulator.android.packages import LAUNCHER
from pytest_clawperator.simulator.phone_kinds import QUIRKS, parse_phones
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


def test_each_quirk_says_what_it_means_and_who_reported_it() -> None:
    """The meaning is a sentence, the source an address."""
    for meaning, source in QUIRKS.values():
        assert len(meaning.split()) > 5
        assert source.startswith("https://")


@pytest.mark.parametrize("page", ["simulator.md", "real-phones.md"])
def test_the_documents_have_a_row_for_each_quirk(page: str) -> None:
    """No quirk is without its meaning, and none without what is done about it."""
    rows = [line for line in (DOCS / page).read_text().splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])}

    assert set(QUIRKS) - named == set()


def test_the_text_about_phones_may_name_quirks() -> None:
    """A quirk is one of the traits of a phone; others have none."""
    first, second, third = parse_phones("phone+slow-am+two-displays,tablet,samsung-power+api=33")

    assert first.quirks == {"slow-am", "two-displays"}
    assert second.quirks == frozenset()
    assert third.quirks == {"samsung-power"}
    assert third.api == 33


def test_screencap_of_a_foldable_warns_before_a_picture_of_the_dark_display() -> None:
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
    states = re.findall(r"displayId (\d+), .*state (\w+)", phone.out("dumpsys display"))
    assert states == [("0", "ON"), ("3", "OFF")]


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


def test_slow_programs_answer_as_the_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slowness changes nothing but the time."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(commands, "pause", pause)
    for quirk, command in (("slow-am", "am get-current-user"), ("slow-dump", "dumpsys power")):
        assert quirky(quirk).out(command) == quirky().out(command)
    assert pauses == [1.0, 2.0]


def test_windows_stand_side_by_side_the_topmost_first() -> None:
    """The status bar is first, then app and gesture bar; without the quirk there is one root."""
    roots = quirky("several-roots").device.ui.view.roots()

    assert [root.package for root in roots] == [SYSTEM, LAUNCHER, SYSTEM]
    assert len(quirky().device.ui.view.roots()) == 1


def test_android_6_has_other_programs() -> None:
    """Its version is printed; ``cmd`` is missing, and the menu key dismisses the keyguard."""
    phone = quirky("old-toybox")
    phone.run("sim fault locked")

    assert phone.out("getprop ro.build.version.sdk") == "23\n"
    assert phone.run("cmd -l").status == 127
    assert "unknown command" in phone.run("wm dismiss-keyguard").err
    assert "showing=true" in phone.out("dumpsys window policy")
    assert "showing=false" in phone.out("input keyevent 82; dumpsys window policy")
    everything = phone.out("ps").splitlines()
    assert " ".join(everything[0].split()) == "USER PID PPID VSIZE RSS WCHAN PC NAME"
    assert any(line.endswith(" S system_server") for line in everything)
    # The options of toybox are the beginning of a name that no process has.
    assert phone.out("ps -A -o USER,PID").splitlines() == everything[:1]


def test_a_command_of_android_6_has_a_terminal_and_both_outputs_are_one() -> None:
    """Lines end as on a terminal, errors are among them, and the newer shell is refused."""
    phone = quirky("old-toybox")

    assert phone.device.features == ()
    assert asyncio.run(_served(phone, "shell:echo out; echo err >&2")) == b"out\r\nerr\r\n"
    with pytest.raises(ServiceRefused):
        asyncio.run(_served(phone, "shell,v2,raw:true"))


def test_a_guarded_phone_says_which_permission_adb_lacks() -> None:
    """What changes something fails, as on Xiaomi's phones; what only reads works."""
    phone = quirky("guarded-adb")
    grant = f"pm grant {OPERATOR} android.permission.POST_NOTIFICATIONS"
    for command, permission in {
        "input tap 10 10": "INJECT_EVENTS",
        grant: "GRANT_RUNTIME_PERMISSIONS",
        "settings put system user_rotation 1": "WRITE_SECURE_SETTINGS",
    }.items():
        ended = phone.run(command)
        assert ended.status == 255
        assert permission in ended.err

    assert phone.out("settings get system user_rotation") == "0\n"
    assert f"package:{OPERATOR}\n" in phone.out("pm list packages")


def test_a_phone_that_asks_installs_nothing_until_it_is_answered() -> None:
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


def test_a_right_to_left_screen_is_mirrored() -> None:
    """Each node is as far from the right as it is from the left elsewhere."""
    there, here = bounds(quirky("rtl")), bounds(quirky())
    mirrored = [(360 - right, top, 360 - left, bottom) for left, top, right, bottom in here]

    assert here != mirrored == there
    assert quirky("rtl").out("getprop persist.sys.locale") == "ar-EG\n"
    hebrew = Phone(quirks=frozenset({"rtl"}), locale="he-IL")
    assert hebrew.out("getprop persist.sys.locale") == "he-IL\n"


def test_a_swipe_to_the_right_moves_right_to_left_content_on() -> None:
    """Only sideways: up and down are as everywhere."""
    sideways, upwards = ((10, 50), (200, 50)), ((50, 200), (50, 10))

    drags = [Drag(*way, 300, 160, right_to_left=True) for way in (sideways, upwards)]

    assert [drag.forward for drag in drags] == [190, 190]
    assert [drag.distance for drag in drags] == [-190, 190]


def test_apps_begin_beside_a_camera_in_the_screen() -> None:
    """The window of an app leaves it out, wherever it is when the phone is turned."""
    phone = Phone(quirks=frozenset({"cutout"}), size=(360, 800), density=140)
    assert "DisplayCutout{insets=Rect(0, 45 - 0, 0)" in phone.out("dumpsys display")
    frames = ((0, 45, 360, 800), (45, 0, 800, 360), (0, 0, 360, 755), (0, 0, 755, 360))
    for rotation, frame in enumerate(frames):
        phone.run(f"wm user-rotation lock {rotation}")

        assert bounds(phone)[0] == frame
        width, height = 800 if rotation % 2 else 360, 45 if rotation == 0 else 21
        bar = f"type=statusBars frame=[0,0][{width},{height}]"
        assert bar in phone.out("dumpsys window displays")
    assert phone.out("wm size") == "Physical size: 360x800\n"


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
