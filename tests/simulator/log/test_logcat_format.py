"""The formats of logcat and their modifiers."""

from __future__ import annotations

import asyncio
import struct

import pytest

from tests.simulator.log.logcat_phone import Call, Phone


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
def test_each_format_prints_its_fields(phone: Phone, format: str, expected: str) -> None:
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
def test_modifiers_change_time_user_and_colour(words: str, expected: str) -> None:
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


def test_binary_output_is_logds_structure(phone: Phone) -> None:
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
