"""The logcat command: dividers, control of the buffers, following, faults."""

from __future__ import annotations

import asyncio
import re

from tests.simulator.log.logcat_phone import NOON, Call, Phone


def test_dividers_name_buffers_once(phone: Phone) -> None:
    """A buffer's beginning is reported when its first entry is printed; switches only with -D."""
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
