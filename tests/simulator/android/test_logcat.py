"""The commands logcat and log: options, filters, formats, following, faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.logcat import make_logcat
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.shell.shell import CommandFailure
from tests.doubles.simulator.android_phone import Phone as WholePhone

NOON = 1774692000.123456  # 2026-03-28 10:00:00 UTC and a bit


class Call:
    """One call of logcat, with what it needs of a shell; it keeps every write by itself."""

    def __init__(self, *args: str, env: dict[str, str]) -> None:
        self.args = ["logcat", *args]
        self.stdout = self
        self.shell = SimpleNamespace(env=env)
        self.writes: list[bytes] = []
        self._came = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """Take what the command prints."""
        self.writes.append(data)
        self._came.set()

    async def out(self, text: str) -> None:
        """Print text."""
        await self.write(text.encode())

    @property
    def text(self) -> str:
        """Everything so far."""
        return b"".join(self.writes).decode("utf-8", "surrogateescape")

    async def wait_for(self, needle: str) -> None:
        """Return once the output holds this text."""
        while needle not in self.text:
            self._came.clear()
            await asyncio.wait_for(self._came.wait(), 10)


class Phone:
    """A log, its faults, and a clock that tests can set."""

    def __init__(self) -> None:
        self.time = NOON
        self.log = LogBuffer(clock=lambda: self.time)
        self.faults = Faults()
        self._command = cast("Callable[[Call], Awaitable[int]]", make_logcat(self.log, self.faults))

    def start(self, *args: str, env: dict[str, str] | None = None) -> tuple[Call, Any]:
        """Run logcat beside the test."""
        call = Call(*args, env=env or {})
        return call, asyncio.ensure_future(self._command(call))

    def run(self, *args: str, env: dict[str, str] | None = None) -> str:
        """Run a logcat that ends by itself; return its output."""

        async def scenario() -> str:
            call, task = self.start(*args, env=env)
            assert await asyncio.wait_for(task, 10) == 0
            return call.text

        return asyncio.run(scenario())

    def lines(self, *args: str, env: dict[str, str] | None = None) -> list[str]:
        """Return the lines of a dump without dividers."""
        printed = self.run("-d", *args, env=env).splitlines()
        return [line for line in printed if not line.startswith("--------- ")]


@pytest.fixture
def phone() -> Phone:
    """Return a phone with a few entries in its log."""
    phone = Phone()
    phone.log.write("I", "TaskScopeDefault", "first", pid=4242)
    phone.log.write("D", "E", "second", pid=77, tid=78)
    phone.log.write("E", "AndroidRuntime", "third", pid=4242, buffer="crash")
    return phone


def follow(
    phone: Phone, *args: str, scenario: Callable[[Call, Any], Coroutine[Any, Any, None]]
) -> Call:
    """Follow the log while a scenario plays; return what was printed."""

    async def play() -> Call:
        call, task = phone.start(*args)
        await scenario(call, task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return call

    return asyncio.run(play())


def test_dividers_name_buffers_once(phone: Phone) -> None:
    """A buffer's beginning is printed before its first entry, if one is printed at all."""
    phone.log.write("I", "T", "fourth", pid=1)
    main, crash = (f"--------- beginning of {name}" for name in ("main", "crash"))

    assert phone.run("-d", "-v", "raw").splitlines() == [
        *(main, "first", "second", crash, "third", "fourth")
    ]
    assert phone.run("-d", "-s", "E", "-v", "raw").splitlines() == [main, "second"]


def test_clear_empties_the_chosen_buffers(phone: Phone) -> None:
    """-c takes main, system and crash; -b chooses others."""
    phone.log.write("I", "T", "event", pid=1, buffer="events")

    assert phone.run("-b", "crash", "-c") == ""
    assert phone.lines("-v", "raw", "-b", "all") == ["first", "second", "event"]
    assert phone.run("-c") == ""
    assert phone.lines("-v", "raw", "-b", "all") == ["event"]
    assert phone.run("-b", "all", "--clear") == ""
    assert phone.lines("-b", "all") == []


def test_sizes_are_shown_and_changed(phone: Phone) -> None:
    """-g prints logd's line for each buffer, -G changes the size in it."""
    assert phone.run("-b", "main,crash", "-G", "1M") == ""

    lines = phone.run("-g").splitlines()

    assert [line.split(":")[0] for line in lines] == ["main", "system", "crash", "kernel"]
    assert re.fullmatch(
        r"main: ring buffer is 1 MiB \(\d+ B consumed, \d+ B readable\),"
        r" max entry is 5120 B, max payload is 4068 B",
        lines[0],
    )
    assert "system: ring buffer is 4 MiB (0 B consumed" in lines[1]


def test_following_prints_the_past_and_goes_on(phone: Phone) -> None:
    """-T 1 prints the last entry and goes on, as the published host program uses it."""

    async def scenario(call: Call, task: Any) -> None:
        await call.wait_for("third\n")
        phone.log.write("I", "T", "fourth", pid=1)
        await call.wait_for("fourth\n")
        assert not task.done()

    assert follow(phone, "-v", "raw", scenario=scenario).text.count("\n") == 6
    phone.log.clear(["main"])
    assert follow(phone, "-v", "time", "-T", "1", scenario=scenario).text.splitlines() == [
        "--------- beginning of crash",
        "03-28 10:00:00.123 E/AndroidRuntime( 4242): third",
        "--------- beginning of main",
        "03-28 10:00:00.123 I/T       (    1): fourth",
    ]


def test_entries_leave_together_in_writes_below_an_adb_message() -> None:
    """A thousand entries logged at a stroke are one write; a mebibyte is cut between entries."""
    phone = Phone()
    phone.log.write("I", "T", "ready", pid=1)

    async def scenario(call: Call, task: Any) -> None:
        await call.wait_for("ready\n")
        phone.log.timber("D", "T", "<node />\n" * 1000 + "end", pid=1)
        await call.wait_for("end\n")
        for index in range(300):
            phone.log.write("I", "T", f"{index:06d}" + "x" * 3990, pid=1)
        await call.wait_for("000299")

    call = follow(phone, "-v", "raw", scenario=scenario)

    assert [data.count(b"\n") for data in call.writes[:2]] == [2, 1001]
    assert len(call.writes) == 4
    assert all(len(data) <= 1024 * 1024 for data in call.writes)
    assert [int(line[:6]) for line in call.text.splitlines()[1003:]] == list(range(300))


def test_a_cut_ends_followers(phone: Phone) -> None:
    """It uses up one occasion of the fault; while that is on, a stream ends at the next entry."""

    async def scenario(call: Call, task: Any) -> None:
        await call.wait_for("third\n")
        phone.faults.set("log_cut", times=1)
        phone.log.write("I", "T", "fourth", pid=1)
        assert await asyncio.wait_for(task, 10) == 0
        again, task = phone.start("-v", "raw")
        await again.wait_for("fourth\n")
        phone.log.cut_streams()
        assert await asyncio.wait_for(task, 10) == 0

    assert "fourth" not in follow(phone, "-v", "raw", scenario=scenario).text
    assert phone.faults.all() == []


def test_slow_log_delays_but_loses_nothing(phone: Phone) -> None:
    """A slow reader gets every entry once, in order, also those logged while it was slow."""
    phone.faults.set("slow_log", ms="20")

    async def scenario(call: Call, task: Any) -> None:
        await asyncio.sleep(0)
        assert call.writes == []
        phone.log.write("I", "T", "fourth", pid=1)
        await call.wait_for("third\n")
        phone.log.write("I", "T", "fifth", pid=1)
        await call.wait_for("fifth\n")

    text = follow(phone, "-v", "raw", scenario=scenario).text
    printed = [line for line in text.splitlines() if "---" not in line]
    assert printed == ["first", "second", "third", "fourth", "fifth"]


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-x"], "-x"),
        (["-v"], "expected one argument"),
        (["-v", "fancy"], "fancy"),
        (["-b", "nowhere"], "Unknown -b buffer 'nowhere'."),
        (["-G", "much"], "much"),
        (["-G", "1K"], "failed to set the 'main,system,crash,kernel' log sizes."),
        (["-T", "yesterday"], "-T 'yesterday' not in time format."),
        (["-t", "02-30 10:00:00.000"], "not in time format."),
        (["Tag:Q"], "Invalid filter expression 'Tag:Q'."),
        ([":E"], "Invalid filter expression ':E'."),
    ],
)
def test_invalid_arguments_fail(phone: Phone, args: list[str], complaint: str) -> None:
    """What logcat does not understand is named."""
    with pytest.raises(CommandFailure, match=re.escape(complaint)):
        phone.run("-d", *args)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_arguments_end_cleanly(args: list[str]) -> None:
    """Whatever is typed, the command prints or fails; nothing else happens."""
    ended = WholePhone().run(
        "logcat -d " + " ".join(f"'{arg.replace(chr(39), '')}'" for arg in args)
    )

    assert ended.status in (0, 1)
    assert "internal error" not in ended.err


def test_options_and_filters_choose_entries(phone: Phone) -> None:
    """Buffers, counts, tags and priorities; options may be joined, and follow filters."""
    for args, expected in {
        ("-b", "crash"): "third",
        ("-b", "crash,main", "-b", "events"): "first second third",
        ("-b", "all"): "first second third",
        ("-t", "2"): "second third",
        ("-t2",): "second third",
        ("-t", "0"): "third",
        ("-t", "2", "*:E"): "third",
        ("*:S", "E:V", "--format=raw"): "second",
        (): "first second third",
        ("*:S",): "",
        ("*:E",): "third",
        ("*",): "first second third",
        ("TaskScopeDefault:E",): "second third",
        ("*:S", "E"): "second",
        ("-s", "E:D", "TaskScopeDefault:I"): "first second",
        ("-s", "E:I"): "",
        ("E:S,AndroidRuntime:S",): "first",
        ("E:S AndroidRuntime:S",): "first",
        ("*:s", "E:v"): "second",
        ("E:S", "E:V", "*:S"): "second",
    }.items():
        assert phone.lines("-v", "raw", *args) == expected.split(), args
    env = {"ANDROID_LOG_TAGS": "*:S E:V"}
    assert phone.lines("-v", "raw", env=env) == ["second"]
    assert phone.lines("-v", "raw", "*:E", env=env) == ["third"]


def test_a_time_chooses_entries_from_then_on() -> None:
    """-T with a time prints what was logged at that time or later."""
    phone = Phone()
    for name, seconds in (("zero", 0.2), ("five", 5.0), ("seven", 7.5)):
        phone.time = 1774692000.0 + seconds
        phone.log.write("I", "T", name, pid=1)

    for since, expected in {
        "03-28 10:00:05.000": "five seven",
        "03-28 10:00:05.001": "seven",
        "2025-03-28 10:00:05.000": "zero five seven",
        "1774692005.000000": "five seven",
        "03-28 10:00:07.500001": "",
    }.items():
        assert phone.lines("-T", since, "-v", "raw") == expected.split(), since


def test_each_format_prints_its_fields(phone: Phone) -> None:
    """The fields have liblog's widths; without -v it is threadtime."""
    for form, expected in {
        "brief": "I/TaskScopeDefault( 4242): first|D/E       (   77): second",
        "tag": "I/TaskScopeDefault: first|D/E       : second",
        "raw": "first|second",
        "time": "03-28 10:00:00.123 I/TaskScopeDefault( 4242): first"
        "|03-28 10:00:00.123 D/E       (   77): second",
        "threadtime": "03-28 10:00:00.123  4242  4242 I TaskScopeDefault: first"
        "|03-28 10:00:00.123    77    78 D E       : second",
    }.items():
        assert phone.lines("-b", "main", "-v", form) == expected.split("|"), form
    assert phone.lines() == phone.lines("-v", "threadtime")


def test_odd_messages_and_tags_are_printed_as_by_liblog() -> None:
    """Each line has a prefix of at most 127 bytes; half a character stays as its bytes."""
    phone = Phone()
    for message in ("a\n\nb\n", "", "\n"):
        phone.log.write("I", "T", message, pid=1)
    phone.log.write("I", "T" * 200, "text", pid=1)
    phone.log.write("I", "äöü", "x", pid=1)
    phone.log.write("I", "T", "x" * 4063 + "é", pid=1)

    *lines, cut = phone.lines("-v", "tag")

    prefixed = [f"I/T       : {text}" for text in ("a", "", "b", "", "")]
    assert lines == [*prefixed, "I/" + "T" * 125 + "text", "I/äöü  : x"]
    assert cut.encode("utf-8", "surrogateescape").endswith(b"xxx\xc3")


def test_log_writes_an_entry() -> None:
    """Priority, tag and message arrive in the log; a mistake prints how it is used."""
    phone = WholePhone()
    for command, line in {
        "log -p e -t Mine 'two  words'": "E/Mine    : two  words",
        "log -t Mine several words": "I/Mine    : several words",
        "log plain": "I/log     : plain",
    }.items():
        assert f"{line}\n" in phone.out(f"{command}; logcat -d -v tag"), command
    for command in ("log", "log -p x hello"):
        assert phone.run(command) == (1, "", "log: usage: log [-p PRI] [-t TAG] MESSAGE...\n")
