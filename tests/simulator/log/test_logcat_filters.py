"""Which entries logcat prints: filters, expressions and times."""

from __future__ import annotations

import pytest

from tests.simulator.log.logcat_phone import Phone


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
def test_filters_choose_by_tag_and_priority(
    phone: Phone, specifications: list[str], expected: str
) -> None:
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
def test_processes_users_expressions_and_buffers_choose_entries(
    phone: Phone, args: list[str], expected: str
) -> None:
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
