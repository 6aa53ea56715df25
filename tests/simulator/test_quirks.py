"""How simulated phones differ from a Pixel, as their quirks say."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.phone_kinds import parse_phones
from pytest_clawperator.simulator.quirks import QUIRKS, check_quirks
from tests.doubles.simulator.android_phone import OPERATOR, FakeStream, Phone

DOCS = Path(__file__).parents[2] / "docs"
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
        told = phone.out("dumpsys SurfaceFlinger --display-id")
        first, second = re.findall(r"Display (\d+)", told)

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
        told = quirky("two-displays").out("dumpsys display")

        assert re.findall(r"displayId (\d+), .*state (\w+)", told) == [("0", "ON"), ("3", "OFF")]


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
    """Its size is told, and old lines make room for new ones."""
    phone = quirky("log-small-buffer")

    for number in range(30):
        phone.device.log.write("I", "T", f"{number:>4000}", pid=1)

    assert "main: ring buffer is 64 KiB" in phone.out("logcat -g -b main")
    kept = [int(line) for line in phone.out("logcat -d -v raw -s T").splitlines()[1:]]
    assert kept[-1] == 29
    assert 0 not in kept


@pytest.mark.parametrize(
    ("quirk", "command"), [("slow-am", "am get-config"), ("slow-dump", "dumpsys power")]
)
def test_slow_programs_answer_as_the_others_do(quirk: str, command: str) -> None:
    """Slowness changes nothing but the time."""
    assert quirky(quirk).out(command) == quirky().out(command)
