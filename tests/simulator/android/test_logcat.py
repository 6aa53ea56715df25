"""The commands logcat and log: options, filters, formats, following, faults."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.doubles.simulator.android_phone import Phone as WholePhone
from tests.simulator.android.logcat_phone import NOON, Call, Phone


def test_dividers_name_buffers_once(phone: Phone) -> None:
    """A buffer's beginning is reported when its first entry is printed."""
    phone.log.write("I", "T", "fourth", pid=1)

    _, out, _ = phone.run("-d", "-v", "raw")

    assert out.splitlines() == [
        "--------- beginning of main",
        "first",
        "second",
        "--------- beginning of crash",
        "third",
        "fourth",
    ]


def test_filtered_entries_bring_no_divider(phone: Phone) -> None:
    """A buffer of which nothing is printed is not mentioned."""
    assert phone.run("-d", "-s", "TaskScopeDefault", "-v", "raw")[1].splitlines() == [
        "--------- beginning of main",
        "first",
    ]


def test_clear_empties_the_chosen_buffers(phone: Phone) -> None:
    """-c takes main, system and crash; -b chooses others."""
    phone.log.write("I", "T", "event", pid=1, buffer="events")

    assert phone.run("-b", "crash", "-c") == (0, "", "")
    assert phone.lines("-v", "raw", "-b", "all") == ["first", "second", "event"]
    assert phone.run("-c") == (0, "", "")
    assert phone.lines("-v", "raw", "-b", "all") == ["event"]
    assert phone.run("-b", "all", "--clear") == (0, "", "")
    assert phone.lines("-b", "all") == []


def test_sizes_are_shown_and_changed(phone: Phone) -> None:
    """-g prints logd's line for each buffer, -G changes the size in it."""
    assert phone.run("-b", "main,crash", "-G", "1M") == (0, "", "")

    status, out, err = phone.run("-g")

    assert (status, err) == (0, "")
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "main",
        "system",
        "crash",
        "kernel",
    ]
    assert re.fullmatch(
        r"main: ring buffer is 1 MiB \(\d+ B consumed, \d+ B readable\),"
        r" max entry is 5120 B, max payload is 4068 B",
        out.splitlines()[0],
    )
    assert "system: ring buffer is 4 MiB (0 B consumed" in out
    assert phone.run("--buffer-size=2M", "-b", "main") == (0, "", "")
    assert phone.log.capacity_bytes("main") == 2 * 1024 * 1024


def _dump(phone: Phone, *args: str) -> tuple[Call, int]:
    async def scenario() -> tuple[Call, int]:
        call, task = phone.start(*args)
        return call, await asyncio.wait_for(task, 10)

    return asyncio.run(scenario())


def test_following_prints_the_past_and_goes_on(phone: Phone) -> None:
    """Without -d everything comes, then each new entry as it is logged."""

    async def scenario() -> None:
        call, task = phone.start("-v", "raw")
        await call.stdout.wait_for("third\n")
        phone.log.write("I", "T", "fourth", pid=1)
        await call.stdout.wait_for("fourth\n")
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_tail_of_one_then_follow(phone: Phone) -> None:
    """-T 1 prints the last entry and goes on, as the published host program uses it."""

    async def scenario() -> None:
        call, task = phone.start("-v", "time", "-T", "1")
        await call.stdout.wait_for("third\n")
        phone.log.write("I", "T", "fourth", pid=1)
        await call.stdout.wait_for("fourth\n")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert call.stdout.text.splitlines() == [
            "--------- beginning of crash",
            "03-28 10:00:00.123 E/AndroidRuntime( 4242): third",
            "--------- beginning of main",
            "03-28 10:00:00.123 I/T       (    1): fourth",
        ]

    asyncio.run(scenario())


def test_follow_from_a_time(phone: Phone) -> None:
    """-T with a time skips the past but nothing from then on."""

    async def scenario() -> None:
        phone.time = NOON + 10
        phone.log.write("I", "T", "later", pid=1)
        call, task = phone.start("-v", "raw", "-T", "03-28 10:00:05.000")
        await call.stdout.wait_for("later\n")
        phone.log.write("I", "T", "last", pid=1)
        await call.stdout.wait_for("last\n")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert call.stdout.text.splitlines()[1:] == ["later", "last"]

    asyncio.run(scenario())


def test_everything_pending_leaves_in_one_write() -> None:
    """A thousand entries logged at a stroke are one message, not a thousand."""

    async def scenario() -> None:
        phone = Phone()
        call, task = phone.start("-v", "tag")
        phone.log.write("I", "T", "ready", pid=1)
        await call.stdout.wait_for("ready\n")
        before = len(call.stdout.writes)
        phone.log.timber("D", "T", "<node />\n" * 1000 + "end", pid=1)
        await call.stdout.wait_for("end\n")
        assert len(call.stdout.writes) == before + 1
        assert call.stdout.writes[-1].count(b"\n") == 1001
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_writes_stay_below_an_adb_message() -> None:
    """More than a mebibyte is cut between entries, and none is lost."""
    phone = Phone()
    for index in range(300):
        phone.log.write("I", "T", f"{index:06d}" + "x" * 3990, pid=1)

    call, _ = _dump(phone, "-d", "-v", "raw")

    assert len(call.stdout.writes) == 2
    assert all(len(data) <= 1024 * 1024 for data in call.stdout.writes)
    assert [int(line[:6]) for line in call.stdout.text.splitlines()[1:]] == list(range(300))


def test_cutting_streams_ends_followers(phone: Phone) -> None:
    """A cut ends what is open with status 0; the fault's occasion is used up by it."""

    async def scenario() -> None:
        phone.faults.set("log_cut", times=1)
        call, task = phone.start("-v", "raw")
        await call.stdout.wait_for("third\n")
        phone.log.cut_streams()
        assert await asyncio.wait_for(task, 10) == 0
        assert phone.faults.all() == []
        again, task = phone.start("-v", "raw")
        await again.stdout.wait_for("third\n")
        phone.log.write("I", "T", "fourth", pid=1)
        await again.stdout.wait_for("fourth\n")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_cut_fault_ends_a_stream_before_the_next_entry(phone: Phone) -> None:
    """While the fault is on, a stream ends where it would go on."""

    async def scenario() -> None:
        call, task = phone.start("-v", "raw")
        await call.stdout.wait_for("third\n")
        phone.faults.set("log_cut")
        phone.log.write("I", "T", "fourth", pid=1)
        assert await asyncio.wait_for(task, 10) == 0
        assert "fourth" not in call.stdout.text

    asyncio.run(scenario())


def test_slow_log_delays_but_loses_nothing(phone: Phone) -> None:
    """A slow reader gets every entry once, in order, also those logged while it was slow."""

    async def scenario() -> None:
        phone.faults.set("slow_log", ms="20")
        call, task = phone.start("-v", "raw")
        assert call.stdout.writes == []
        phone.log.write("I", "T", "fourth", pid=1)
        await call.stdout.wait_for("third\n")
        phone.log.write("I", "T", "fifth", pid=1)
        await call.stdout.wait_for("fifth\n")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        printed = [line for line in call.stdout.text.splitlines() if "---" not in line]
        assert printed == ["first", "second", "third", "fourth", "fifth"]

    asyncio.run(scenario())


def test_slow_log_with_a_senseless_delay_has_no_delay(phone: Phone) -> None:
    """A delay that is not a number does not break reading."""
    phone.faults.set("slow_log", ms="soon")

    assert phone.lines("-v", "raw") == ["first", "second", "third"]


# Options


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-x"], "Unknown option '-x'."),
        (["--nonsense"], "Unknown option '--nonsense'."),
        (["--clear=1"], "Unknown option '--clear=1'."),
        (["-v"], "Option '-v' needs an argument."),
        (["--pid"], "Option '--pid' needs an argument."),
        (["-v", "fancy"], "Invalid -v 'fancy'."),
        (["-b", "nowhere"], "Unknown -b buffer 'nowhere'."),
        (["--pid=x"], "pid 'x' out of range."),
        (["-G", "much"], "-G must be specified as <num><multiplier>."),
        (["-G", "1K"], "failed to set the 'main,system,crash,kernel' log sizes."),
        (["-T", "yesterday"], "-T 'yesterday' not in time format."),
        (["-t", "02-30 10:00:00.000"], "-t '02-30 10:00:00.000' not in time format."),
        (["Tag:Q"], "Invalid filter expression 'Tag:Q'."),
        ([":E"], "Invalid filter expression ':E'."),
    ],
)
def test_invalid_arguments_are_reported_on_stderr(
    phone: Phone, args: list[str], complaint: str
) -> None:
    """What logcat does not understand is reported on stderr, and it fails."""
    assert phone.run(*args) == (1, "", f"logcat: {complaint}\n")


@settings(max_examples=50)
@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_arguments_end_cleanly(args: list[str]) -> None:
    """Whatever is typed, the command prints or complains; nothing else happens."""
    phone = Phone()
    phone.log.write("I", "T", "x", pid=1)

    status, _, err = phone.run("-d", *args)

    assert status in (0, 1)
    assert (status == 0) or err.startswith("logcat: ")


def test_options_choose_entries(phone: Phone) -> None:
    """Processes, buffers and counts; options may be joined, and follow filters."""
    for args, expected in {
        ("--pid=77",): "second",
        ("--pid", "4242"): "first third",
        ("--pid=4242", "-t", "1"): "third",
        ("-b", "crash"): "third",
        ("-b", "crash,main", "-b", "events"): "first second third",
        ("-b", "all"): "first second third",
        ("-t", "2"): "second third",
        ("-t2",): "second third",
        ("-t", "0"): "third",
        ("--tail=1",): "third",
        ("-t", "2", "*:E"): "third",
        ("*:S", "E:V", "--format=raw"): "second",
    }.items():
        assert phone.lines("-v", "raw", *args) == expected.split(), args


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("03-28 10:00:05.000", "five seven"),
        ("03-28 10:00:05.001", "seven"),
        ("2026-03-28 10:00:05.000", "five seven"),
        ("2025-03-28 10:00:05.000", "zero five seven"),
        ("1774692005.000000", "five seven"),
        ("03-28 10:00:07.5000", "seven"),
        ("03-28 10:00:07.500001", ""),
    ],
)
def test_a_time_chooses_entries_from_then_on(since: str, expected: str) -> None:
    """-t with a time prints what was logged at that time or later."""
    phone = Phone()
    for name, seconds in (("zero", 0.0), ("five", 5.0), ("seven", 7.5)):
        phone.time = 1774692000.0 + seconds + (0.2 if name == "zero" else 0.0)
        phone.log.write("I", "T", name, pid=1)

    assert phone.lines("-t", since, "-v", "raw") == expected.split()


# Filters


def test_filters_choose_by_tag_and_priority(phone: Phone) -> None:
    """Filter specifications choose by tag and priority; the last word on a tag counts."""
    for specifications, expected in {
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
        assert phone.lines("-v", "raw", *specifications) == expected.split(), specifications


def test_filters_from_the_environment(phone: Phone) -> None:
    """ANDROID_LOG_TAGS, which adb sets, counts where the command line has no filters."""
    env = {"ANDROID_LOG_TAGS": "*:S E:V"}

    assert phone.run("-d", "-v", "raw", env=env)[1].splitlines()[1:] == ["second"]
    assert phone.run("-d", "-v", "raw", "*:E", env=env)[1].splitlines()[1:] == ["third"]
    assert phone.run("-d", env={"ANDROID_LOG_TAGS": ""})[0] == 0


# Formats


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("brief", "I/TaskScopeDefault( 4242): first|D/E       (   77): second"),
        ("tag", "I/TaskScopeDefault: first|D/E       : second"),
        ("raw", "first|second"),
        (
            "time",
            "03-28 10:00:00.123 I/TaskScopeDefault( 4242): first"
            "|03-28 10:00:00.123 D/E       (   77): second",
        ),
        (
            "threadtime",
            "03-28 10:00:00.123  4242  4242 I TaskScopeDefault: first"
            "|03-28 10:00:00.123    77    78 D E       : second",
        ),
    ],
)
def test_each_format_prints_its_fields(phone: Phone, form: str, expected: str) -> None:
    """Each format prints its fields in liblog's widths; without -v it is threadtime."""
    assert phone.lines("-b", "main", "-v", form) == expected.split("|")
    assert phone.lines() == phone.lines("-v", "threadtime")


def test_every_line_of_a_message_has_the_prefix() -> None:
    """Inner empty lines are printed, a last newline makes no line, an empty message makes one."""
    phone = Phone()
    for message in ("a\n\nb\n", "", "\n"):
        phone.log.write("I", "T", message, pid=1)

    _, out, _ = phone.run("-d", "-v", "tag")

    prefixed = [f"I/T       : {text}" for text in ("a", "", "b", "", "")]
    assert out.split("\n")[1:] == [*prefixed, ""]


def test_prefix_has_room_for_127_bytes() -> None:
    """A very long tag pushes the rest of the prefix out of liblog's buffer."""
    phone = Phone()
    phone.log.write("I", "T" * 200, "text", pid=1)

    assert phone.lines("-v", "tag") == ["I/" + "T" * 125 + "text"]


def test_tags_are_padded_by_bytes() -> None:
    """A tag of other letters is padded as C counts, not as people do."""
    phone = Phone()
    phone.log.write("I", "äöü", "x", pid=1)

    assert phone.lines("-v", "tag") == ["I/äöü  : x"]


def test_cut_characters_leave_as_the_bytes_they_are() -> None:
    """Half a character at the byte cap is neither repaired nor dropped."""
    phone = Phone()
    phone.log.write("I", "T", "x" * 4063 + "é", pid=1)

    _, out, _ = phone.run("-d", "-v", "raw")

    assert out.encode("utf-8", "surrogateescape").endswith(b"xxx\xc3\n")


# log


def test_log_writes_an_entry() -> None:
    """Priority, tag and message arrive in the log."""
    phone = WholePhone()
    for command, line in {
        "log -p e -t Mine 'two  words'": "E/Mine    : two  words",
        "log -t Mine several words": "I/Mine    : several words",
        "log plain": "I/log     : plain",
        "log -- -p": "I/log     : -p",
    }.items():
        assert f"{line}\n" in phone.out(f"{command}; logcat -d -v tag"), command


def test_log_refuses_a_mistake() -> None:
    """What cannot be written is refused with a reason."""
    for command, complaint in {
        "log": "log: Needs 1 argument",
        "log -t": "log: Missing argument to -t",
        "log -p x hello": "log: bad -p 'X'",
    }.items():
        ended = WholePhone().run(command)
        assert ended.status == 1, command
        assert ended.err.startswith(complaint), command
