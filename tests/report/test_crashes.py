"""Crashes and ANRs found in a log."""

from __future__ import annotations

from pytest_clawperator.report.crashes import find_crashes, marked_log


def log(text: str) -> list[bytes]:
    """Return lines of a log, written as pid, priority, tag and message."""
    lines = []
    for line in text.strip().splitlines():
        pid, priority, rest = line.strip().split(" ", 2)
        lines.append(f"11-16 10:00:00.000 {pid:>5} {pid:>5} {priority} {rest}".encode())
    return lines


EXCEPTION = log(
    """
    700 I ActivityManager: Start proc 812:com.example.shop/u0a11 for activity
    812 E AndroidRuntime: FATAL EXCEPTION: main
    812 E AndroidRuntime: Process: com.example.shop, PID: 812
    700 D SomeOther: a line of somebody else
    812 E AndroidRuntime: java.lang.IllegalStateException: no owner
    812 E AndroidRuntime: \tat com.example.Cart.owner(Cart.kt:7)
    812 I Process: Sending signal. PID: 812 SIG: 9
    812 E AndroidRuntime: not of this crash
    """
)


def test_an_uncaught_exception_is_a_crash() -> None:
    """An uncaught exception has process and reason; lines between are not part of it."""
    found = find_crashes(EXCEPTION)

    assert [str(crash) for crash in found] == [
        "com.example.shop crashed: java.lang.IllegalStateException: no owner"
    ]
    assert found[0].lines == (1, 2, 4, 5)


def test_an_app_that_does_not_respond() -> None:
    """An ANR has the reason that the system gives."""
    lines = log(
        """
        700 E ActivityManager: ANR in com.example.shop (com.example.shop/.Main)
        700 E ActivityManager: PID: 812
        700 E ActivityManager: Reason: Input dispatching timed out (waited 5001ms)
        """
    )

    found = find_crashes(lines)

    assert [str(crash) for crash in found] == [
        "com.example.shop does not respond (ANR): Input dispatching timed out (waited 5001ms)"
    ]


def test_a_native_crash() -> None:
    """A crash in native code has its signal."""
    stars = " ".join(["***"] * 8)
    lines = log(
        f"""
        900 F DEBUG: {stars}
        900 F DEBUG: pid: 812, tid: 830, name: RenderThread  >>> com.example.shop <<<
        900 F DEBUG: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
        """
    )

    found = find_crashes(lines)

    assert str(found[0]).startswith("com.example.shop crashed: signal 11 (SIGSEGV)")


def test_two_crashes_of_one_process() -> None:
    """Each report is one crash, even one without details."""
    lines = log(
        """
        812 E AndroidRuntime: FATAL EXCEPTION: main
        812 E AndroidRuntime: FATAL EXCEPTION: worker
        812 E AndroidRuntime: Process: com.example.shop, PID: 812
        """
    )

    found = find_crashes(lines)

    assert [str(crash) for crash in found] == ["an app crashed", "com.example.shop crashed"]


def test_an_app_cannot_pretend_a_crash() -> None:
    """What an app logs under its own tag is no crash."""
    lines = log(
        """
        812 E MyApp: FATAL EXCEPTION: just kidding
        812 I AndroidRuntime: FATAL EXCEPTION: at the wrong level
        """
    )

    assert find_crashes([*lines, b"--------- beginning of crash"]) == []


def test_only_the_dying_process_tells_of_its_exception() -> None:
    """A report about another process, by its id or by its name, is none."""
    other_id = EXCEPTION[1:2] + [line.replace(b"PID: 812", b"PID: 813") for line in EXCEPTION[2:]]
    other_name = [
        *log("700 I ActivityManager: Start proc 812:com.example.forger/u0a12 for service"),
        *EXCEPTION[1:],
    ]

    assert find_crashes(other_id) == []
    assert find_crashes(other_name, system={700}) == []
    assert len(find_crashes(other_name, system={1})) == 1
    assert len(find_crashes(EXCEPTION, system={700})) == 1


def test_only_the_system_tells_that_an_app_does_not_respond() -> None:
    """An ANR that an app reports is none, where the system's processes are known."""
    lines = log("812 E ActivityManager: ANR in com.example.shop (com.example.shop/.Main)")

    assert find_crashes(lines, system={700}) == []
    assert len(find_crashes(lines, system={812})) == 1
    assert len(find_crashes(lines)) == 1


def test_a_log_names_and_marks_its_crashes() -> None:
    """The log lists its crashes at the top, and marks their lines."""
    text = marked_log(EXCEPTION, find_crashes(EXCEPTION)).splitlines()

    assert text[:2] == [
        "line 4: com.example.shop crashed: java.lang.IllegalStateException: no owner",
        "",
    ]
    assert text[3].startswith(">>> 11-16")
    assert text[3].endswith("FATAL EXCEPTION: main")
    assert [number for number, line in enumerate(text, 1) if line.startswith(">>> ")] == [
        4,
        5,
        7,
        8,
    ]


def test_a_log_without_crashes_stays_as_it_is() -> None:
    """Nothing is added if nothing crashed."""
    assert marked_log([b"one", b"tw\xff"], []) == "one\ntw\ufffd\n"
