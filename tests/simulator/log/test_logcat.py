"""The logcat command: formats, filters, tails, control, following, faults."""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.log.logcat import make_logcat

NOON = 1774692000.123456  # 2026-03-28 10:00:00 UTC and a bit


@dataclass
class Sink:
    """Keeps every write by itself, and tells when one came."""

    writes: list[bytes] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, data: bytes) -> None:
        """Take what a command prints."""
        self.writes.append(data)
        self.came.set()

    @property
    def text(self) -> str:
        """Everything so far."""
        return b"".join(self.writes).decode("utf-8", "surrogateescape")

    async def wait_for(self, needle: str) -> None:
        """Return once the output holds this text."""
        while needle not in self.text:
            self.came.clear()
            await asyncio.wait_for(self.came.wait(), 10)


class Call:
    """One call of logcat, with what it needs of a shell."""

    def __init__(self, *args: str, env: dict[str, str] | None = None) -> None:
        files = FileSystem(clock=lambda: NOON)
        self.args = ["logcat", *args]
        self.stdout, self.stderr = Sink(), Sink()
        self.shell = SimpleNamespace(env=env or {}, files=files, cwd="/")

    async def out(self, text: str) -> None:
        """Print text."""
        await self.stdout.write(text.encode())

    async def err(self, text: str) -> None:
        """Complain."""
        await self.stderr.write(text.encode())


class Phone:
    """A log, its faults, and a clock that tests can set."""

    def __init__(self) -> None:
        self.time = NOON
        self.log = LogBuffer(clock=lambda: self.time)
        self.faults = Faults()
        self._command = cast("Callable[[Call], Awaitable[int]]", make_logcat(self.log, self.faults))

    def start(self, *args: str) -> tuple[Call, asyncio.Task[int]]:
        """Run logcat beside the test."""
        call = Call(*args)
        return call, asyncio.ensure_future(self._command(call))

    def run(self, *args: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Run a logcat that ends by itself: status, output, errors."""
        call = Call(*args, env=env)
        status = asyncio.run(_finish(self._command(call)))
        return status, call.stdout.text, call.stderr.text

    def lines(self, *args: str) -> list[str]:
        """Give the lines of a dump without dividers."""
        status, out, err = self.run("-d", *args)
        assert (status, err) == (0, "")
        return [line for line in out.splitlines() if not line.startswith("--------- ")]


async def _finish(work: Awaitable[int]) -> int:
    return await asyncio.wait_for(work, 10)


@pytest.fixture
def phone() -> Phone:
    """Give a phone with a few entries in its log."""
    phone = Phone()
    phone.log.uids[4242] = 10123
    phone.log.write("I", "TaskScopeDefault", "first", pid=4242)
    phone.log.write("D", "E", "second", pid=77, tid=78)
    phone.log.write("E", "AndroidRuntime", "third", pid=4242, buffer="crash")
    return phone


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("brief", "I/TaskScopeDefault( 4242): first|D/E       (   77): second"),
        ("process", "I( 4242) first  (TaskScopeDefault)|D(   77) second  (E)"),
        ("tag", "I/TaskScopeDefault: first|D/E       : second"),
        ("thread", "I( 4242: 4242) first|D(   77:   78) second"),
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
        (
            "long",
            "[ 03-28 10:00:00.123  4242: 4242 I/TaskScopeDefault ]|first|"
            "|[ 03-28 10:00:00.123    77:   78 D/E        ]|second|",
        ),
    ],
)
def test_formats(phone: Phone, format: str, expected: str) -> None:
    """Each format prints its fields in liblog's widths."""
    assert phone.lines("-b", "main", "-v", format) == expected.split("|")


def test_default_format_is_threadtime(phone: Phone) -> None:
    """Without -v the long line comes, unless the environment names another format."""
    assert phone.lines() == phone.lines("-v", "threadtime")

    _, out, _ = phone.run("-d", "-b", "main", env={"ANDROID_PRINTF_LOG": "tag"})

    assert out.splitlines()[1] == "I/TaskScopeDefault: first"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("time,usec", "03-28 10:00:00.123456 I/T       (    1): x"),
        ("time,nsec", "03-28 10:00:00.123456000 I/T       (    1): x"),
        ("time,year", "2026-03-28 10:00:00.123 I/T       (    1): x"),
        ("time,UTC", "03-28 10:00:00.123 +0000 I/T       (    1): x"),
        ("time,zone", "03-28 10:00:00.123 +0000 I/T       (    1): x"),
        ("time,Asia/Tokyo,year", "2026-03-28 19:00:00.123 +0900 I/T       (    1): x"),
        ("time,epoch", "         1774692000.123 I/T       (    1): x"),
        ("time,monotonic", "     0.000 I/T       (    1): x"),
        ("time,uid", "03-28 10:00:00.123 I/T       ( 1000:    1): x"),
        ("threadtime,uid", "03-28 10:00:00.123  1000     1     1 I T       : x"),
        ("brief,color", "\x1b[32mI/T       (    1): x\x1b[0m"),
        ("descriptive,tag", "I/T       : x"),
    ],
)
def test_modifiers(words: str, expected: str) -> None:
    """Modifiers change time, user and colour."""
    phone = Phone()
    phone.log.write("I", "T", "x", pid=1)

    assert phone.lines("-v", words) == [expected]


@pytest.mark.parametrize(("uid", "shown"), [(0, " root"), (2000, "shell"), (10123, "10123")])
def test_users_have_names_if_they_are_short(uid: int, shown: str) -> None:
    """Names of up to five letters are printed, else the number."""
    phone = Phone()
    phone.log.uids[5] = uid
    phone.log.write("I", "T", "x", pid=5)

    assert phone.lines("-v", "process,uid") == [f"I({shown}:    5) x  (T)"]


def test_every_line_of_a_message_has_the_prefix() -> None:
    """Inner empty lines are printed, a last newline makes no line, an empty message makes one."""
    phone = Phone()
    for message in ("a\n\nb\n", "", "\n"):
        phone.log.write("I", "T", message, pid=1)

    _, out, _ = phone.run("-d", "-v", "tag")

    assert out.split("\n")[1:] == [
        "I/T       : a",
        "I/T       : ",
        "I/T       : b",
        "I/T       : ",
        "I/T       : ",
        "",
    ]


def test_prefix_has_room_for_127_bytes() -> None:
    """A very long tag pushes the rest of the prefix out of liblog's buffer."""
    phone = Phone()
    phone.log.write("I", "T" * 200, "text", pid=1)

    assert phone.lines("-v", "tag") == ["I/" + "T" * 125 + "text"]
    assert phone.lines("-v", "process") == ["I(    1) text  (" + "T" * 123]


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


def test_printable_escapes_what_terminals_would_obey() -> None:
    """Control characters, backslashes and broken characters are written out; letters stay."""
    phone = Phone()
    phone.log.write("I", "T", "a\tb\x1b\r\\é🎉\ud83c", pid=1)

    assert phone.lines("-v", "raw,printable") == ["a\tb\\x1B\\r\\\\é🎉\\xED\\xA0\\xBC"]


def test_dividers_name_buffers_once(phone: Phone) -> None:
    """A buffer's beginning is told when its first entry is printed; switches only with -D."""
    phone.log.write("I", "T", "fourth", pid=1)

    _, out, _ = phone.run("-d", "-v", "raw")
    _, with_switches, _ = phone.run("-d", "-D", "-v", "raw")

    assert out.splitlines() == [
        "--------- beginning of main",
        "first",
        "second",
        "--------- beginning of crash",
        "third",
        "fourth",
    ]
    assert with_switches.splitlines()[-2:] == ["--------- switch to main", "fourth"]


def test_filtered_entries_bring_no_divider(phone: Phone) -> None:
    """A buffer of which nothing is printed is not mentioned."""
    assert phone.run("-d", "-s", "TaskScopeDefault", "-v", "raw")[1].splitlines() == [
        "--------- beginning of main",
        "first",
    ]


@pytest.mark.parametrize(
    ("specifications", "expected"),
    [
        ([], "first second third"),
        (["*:S"], ""),
        (["*:E"], "third"),
        (["*"], "first second third"),
        (["TaskScopeDefault:E"], "second third"),
        (["*:S", "E"], "second"),
        (["-s", "E:D", "TaskScopeDefault:I"], "first second"),
        (["-s", "E:I"], ""),
        (["E:S,AndroidRuntime:S"], "first"),
        (["E:S AndroidRuntime:S"], "first"),
        (["*:s", "E:v"], "second"),
        (["*:4"], "first third"),
        (["E:S", "E:V", "*:S"], "second"),
    ],
)
def test_filters(phone: Phone, specifications: list[str], expected: str) -> None:
    """Filter specifications choose by tag and priority, the last word on a tag counts."""
    assert phone.lines("-v", "raw", *specifications) == expected.split()


def test_filters_from_the_environment(phone: Phone) -> None:
    """ANDROID_LOG_TAGS counts only where the command line has no filters."""
    env = {"ANDROID_LOG_TAGS": "*:S E:V"}

    assert phone.run("-d", "-v", "raw", env=env)[1].splitlines()[1:] == ["second"]
    assert phone.run("-d", "-v", "raw", "*:E", env=env)[1].splitlines()[1:] == ["third"]
    assert phone.run("-d", env={"ANDROID_LOG_TAGS": ""})[0] == 0
    assert phone.run("-d", env={"ANDROID_LOG_TAGS": ":x"})[2] == (
        "logcat: Invalid filter expression ':x' in ANDROID_LOG_TAGS.\n"
    )


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--pid=77"], "second"),
        (["--pid", "4242"], "first third"),
        (["--pid=4242", "-t", "1"], "third"),
        (["--uid=10123"], "first third"),
        (["-e", "^s"], "second"),
        (["--regex=ir"], "first third"),
        (["-e", "[[:digit:]]|co"], "second"),
        (["-m", "2"], "first second"),
        (["-e", "ir", "-m1"], "first"),
        (["--print", "-e", "third", "-m", "1"], "first second third"),
        (["-b", "crash"], "third"),
        (["-b", "crash,main", "-b", "events"], "first second third"),
        (["-b", "all"], "first second third"),
        (["-t", "2"], "second third"),
        (["-t2"], "second third"),
        (["--tail=1"], "third"),
        (["-t", "2", "*:E"], "third"),
        (["-t", "1", "E:V", "*:S"], ""),
    ],
)
def test_selection(phone: Phone, args: list[str], expected: str) -> None:
    """Processes, users, expressions, buffers and counts choose entries."""
    assert phone.lines("-v", "raw", *args) == expected.split()


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
def test_time_chooses_entries_from_then_on(since: str, expected: str) -> None:
    """-t with a time prints what was logged at that time or later."""
    phone = Phone()
    for name, seconds in (("zero", 0.0), ("five", 5.0), ("seven", 7.5)):
        phone.time = 1774692000.0 + seconds + (0.2 if name == "zero" else 0.0)
        phone.log.write("I", "T", name, pid=1)

    assert phone.lines("-t", since, "-v", "raw") == expected.split()


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-x"], "Unknown option '-x'."),
        (["--nonsense"], "Unknown option '--nonsense'."),
        (["--clear=1"], "Unknown option '--clear=1'."),
        (["-v"], "Option '-v' needs an argument."),
        (["--pid"], "Option '--pid' needs an argument."),
        (["-v", "fancy"], "Invalid -v 'fancy'."),
        (["-v", "time,fancy"], "Invalid -v 'fancy'."),
        (["-b", "nowhere"], "Unknown -b buffer 'nowhere'."),
        (["--pid=x"], "pid 'x' out of range."),
        (["--pid=1", "--pid=2"], "Only one --pid argument can be provided."),
        (["--uid=me"], "Unable to parse UID 'me'"),
        (["-m", "0"], "-m '0' isn't an integer greater than zero."),
        (["-m", "1", "-t", "1"], "Cannot use -m (--max-count) and -t together."),
        (["-G", "much"], "-G must be specified as <num><multiplier>."),
        (["-G", "1K"], "failed to set the 'main,system,crash,kernel' log sizes."),
        (["-T", "yesterday"], "-T 'yesterday' not in time format."),
        (["-t", "13-41 10:00:00.000"], "-t '13-41 10:00:00.000' not in time format."),
        (["-t", "02-30 10:00:00.000"], "-t '02-30 10:00:00.000' not in time format."),
        (["Tag:Q"], "Invalid filter expression 'Tag:Q'."),
        ([":E"], "Invalid filter expression ':E'."),
        (["-L"], "Logcat read failure: No such file or directory"),
        (["-r", "16"], "-r does not exist on a simulated device."),
    ],
)
def test_complaints(phone: Phone, args: list[str], complaint: str) -> None:
    """What logcat does not understand it says on stderr, and fails."""
    assert phone.run(*args) == (1, "", f"logcat: {complaint}\n")


def test_a_broken_expression_aborts(phone: Phone) -> None:
    """A regular expression that cannot be compiled ends the process."""
    assert phone.run("-d", "-e", "(")[0] == 134


def test_warnings_do_not_stop_it(phone: Phone) -> None:
    """A count of nothing counts as one, text after a time is named and ignored."""
    assert phone.run("-t", "0", "-v", "raw") == (
        0,
        "--------- beginning of crash\nthird\n",
        "WARNING: -t 0 invalid, setting to 1\n",
    )
    assert phone.run("-t", "03-28 10:00:00.000 +0000", "-v", "raw")[2] == (
        "WARNING: -t '03-28 10:00:00.000' ' +0000' time truncated\n"
    )
    assert phone.run("-d", "--print")[2].startswith("WARNING: --print ignored")


def test_help_and_options_in_any_order(phone: Phone) -> None:
    """Help goes to stdout; options may follow filters; unique beginnings of long ones will do."""
    status, out, err = phone.run("--help")

    assert (status, err) == (0, "")
    assert "Usage: logcat [OPTION]... [FILTERSPEC]..." in out
    assert phone.lines("*:S", "E:V", "--form=raw") == ["second"]
    assert phone.run("-dv", "raw", "--", "-c:V", "*:S") == (0, "", "")


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
    """-g prints logd's line for each buffer, -G changes what it says."""
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


def test_binary_entries(phone: Phone) -> None:
    """-B gives logd's own structure, with no dividers."""
    call, status = _dump(phone, "-d", "-B", "-b", "crash")

    header = struct.unpack("<HHiIIIII", b"".join(call.stdout.writes)[:28])
    assert status == 0
    assert header == (1 + 14 + 1 + 5 + 1, 28, 4242, 4242, 1774692000, 123456000, 4, 10123)
    assert b"".join(call.stdout.writes)[28:] == b"\x06AndroidRuntime\0third\0"


def _dump(phone: Phone, *args: str) -> tuple[Call, int]:
    async def scenario() -> tuple[Call, int]:
        call, task = phone.start(*args)
        return call, await asyncio.wait_for(task, 10)

    return asyncio.run(scenario())


def test_output_can_go_to_a_file(phone: Phone) -> None:
    """-f appends to a file on the device, and says why it cannot."""
    call, status = _dump(phone, "-d", "-v", "raw", "-f", "/sdcard/log.txt", "-b", "main")
    failed, failed_status = _dump(phone, "-d", "-f", "/nowhere/log.txt")

    assert (status, call.stdout.text) == (0, "")
    assert call.shell.files.read("/sdcard/log.txt").endswith(b"first\nsecond\n")
    assert failed_status == 1
    assert failed.stderr.text.startswith("logcat: couldn't open output file '/nowhere/log.txt': ")


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


def test_max_count_ends_a_follower(phone: Phone) -> None:
    """With -m the stream ends by itself, with status 0."""

    async def scenario() -> None:
        call, task = phone.start("-v", "raw", "-m", "4")
        await call.stdout.wait_for("third\n")
        phone.log.write("I", "T", "fourth", pid=1)
        phone.log.write("I", "T", "fifth", pid=1)
        assert await asyncio.wait_for(task, 10) == 0
        assert call.stdout.text.endswith("fourth\n")

    asyncio.run(scenario())


def test_cutting_streams_ends_followers(phone: Phone) -> None:
    """A cut ends what is open with status 0; the fault's occasion is used up by it."""

    async def scenario() -> None:
        phone.faults.set("log_cut", times=1)
        call, task = phone.start("-v", "raw")
        await call.stdout.wait_for("third\n")
        phone.log.cut_streams()
        assert await asyncio.wait_for(task, 10) == 0
        assert phone.faults.names() == []
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


def test_slow_log_with_a_senseless_delay_is_no_delay(phone: Phone) -> None:
    """A delay that is no number does not break reading."""
    phone.faults.set("slow_log", ms="soon")

    assert phone.lines("-v", "raw") == ["first", "second", "third"]


@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_arguments_end_cleanly(args: list[str]) -> None:
    """Whatever is typed, the command prints or complains; nothing else happens."""
    phone = Phone()
    phone.log.write("I", "T", "x", pid=1)

    status, _, err = phone.run("-d", *args)

    assert status in (0, 1, 134)
    assert (status == 0) or err.startswith("logcat: ")
