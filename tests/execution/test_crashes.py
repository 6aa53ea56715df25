"""Crashes in a log: which are reported, by whom, and which are those of the app under test."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.execution.crashes import AppWatch, Crash, find_crashes
from pytest_clawperator.execution.result import AppsSeen, LogSlice
from tests.doubles.log import EXCEPTION, logged
from tests.doubles.runner import result_of, screen, step_of

ANR = logged(
    """
    700 E ActivityManager: ANR in com.example.shop (com.example.shop/.Main)
    700 E ActivityManager: PID: 812
    700 E ActivityManager: Reason: Input dispatching timed out (waited 5001ms)
    """
)

NATIVE = logged(
    f"""
    900 F DEBUG: {" ".join(["***"] * 8)}
    900 F DEBUG: pid: 812, tid: 830, name: RenderThread  >>> com.example.shop <<<
    900 F DEBUG: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
    """
)

DEATH = logged(
    """
    700 I ActivityManager: Start proc 812:com.example.shop/u0a11 for activity
    700 I ActivityManager: Process com.example.shop (pid 812) has died: fg  TOP
    """
)

TWICE = logged(
    """
    812 E AndroidRuntime: FATAL EXCEPTION: main
    812 E AndroidRuntime: FATAL EXCEPTION: worker
    812 E AndroidRuntime: Process: com.example.shop, PID: 812
    """
)

PRETENDED = logged(
    """
    812 E MyApp: FATAL EXCEPTION: just kidding
    812 I AndroidRuntime: FATAL EXCEPTION: at the wrong level
    """
)


@pytest.mark.parametrize(
    ("lines", "crashes"),
    [
        (EXCEPTION, ["com.example.shop crashed: java.lang.IllegalStateException: no owner"]),
        (ANR, ["com.example.shop does not respond (ANR): Input dispatching timed out (waited"
               " 5001ms)"]),
        (NATIVE, ["com.example.shop crashed: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault"
                  " addr 0x0"]),
        (TWICE, ["an app crashed", "com.example.shop crashed"]),
        ([*PRETENDED, b"--------- beginning of crash"], []),
    ],
    ids=["exception", "anr", "native", "twice", "pretended"],
)  # fmt: skip
def test_crashes_are_found(lines: list[bytes], crashes: list[str]) -> None:
    """With process and reason; what an app logs under its own tag is not a crash."""
    assert [str(crash) for crash in find_crashes(lines)] == crashes


def test_only_the_process_itself_and_the_system_report_a_crash() -> None:
    """A report about another process, by its id or its name, does not count."""
    other_id = EXCEPTION[1:2] + [line.replace(b"PID: 812", b"PID: 813") for line in EXCEPTION[2:]]
    other_name = [
        *logged("700 I ActivityManager: Start proc 812:com.example.forger/u0a12 for service"),
        *EXCEPTION[1:],
    ]

    assert find_crashes(other_id) == []
    assert find_crashes(other_name, system={700}) == []
    assert len(find_crashes(other_name, system={1})) == 1
    assert len(find_crashes(EXCEPTION, system={700})) == 1
    assert find_crashes(ANR[:1], system={1}) == []
    assert len(find_crashes(ANR[:1], system={700})) == len(find_crashes(ANR[:1])) == 1


def test_a_process_that_dies_of_its_crash_is_listed_once() -> None:
    """Whatever it died of, and in whichever order the lines are read."""
    for report in (EXCEPTION, ANR, NATIVE):
        assert len(find_crashes([*report, *DEATH])) == 1
        assert len(find_crashes([*report, *report, *DEATH])) == 2


@pytest.mark.parametrize(
    ("death", "counts"),
    [
        ("Process com.example.shop (pid 812) has died: fg  TOP ", True),
        ("Process com.example.shop (pid 812) has died", True),
        ("Process com.example.shop:sync (pid 812) has died", False),
        ("Process com.example.shop (pid 812) has died: cch+5 CEM ", False),
        ("Process com.example.shop (pid 812) has died: fg  BTOP", False),
    ],
)
def test_a_death_counts_if_the_process_was_in_front(death: str, counts: bool) -> None:
    """Android ends what is in the background whenever it likes."""
    lines = logged(f"700 I ActivityManager: {death}")
    killed = logged("700 I ActivityManager: Killing 812:com.example.shop/u0a11 (adj 0): stop it")

    assert [str(one) for one in find_crashes(lines)] == ["com.example.shop died by itself"] * counts
    assert find_crashes(lines, system={1}) == []
    assert find_crashes([*killed, *lines]) == []


def test_a_crash_has_the_head_of_its_stack() -> None:
    """Those lines of the report that follow the reason."""
    stack = b"".join(EXCEPTION[-1:])
    deep = [*EXCEPTION[:-2], *[stack.replace(b"not of", b"\tat n of")] * 20]

    assert find_crashes(EXCEPTION)[0].head == ("  at com.example.Cart.owner(Cart.kt:7)",)
    assert len(find_crashes(deep)[0].head) == 6
    assert find_crashes(DEATH)[0].head == ()


# The app under test

SHOP = "com.example.shop"


class Lines:
    """A log that grows by hand; waiting for more brings what comes next."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.coming: list[bytes] = []

    def mark(self) -> int:
        """Return the end."""
        return len(self.lines)

    def read(self, start: int, end: int | None = None) -> list[bytes]:
        """Return these lines."""
        return self.lines[start:end]

    def wait(self, position: int, deadline: float) -> int:
        """Let the next lines come if they are waited for."""
        if deadline and position >= len(self.lines):
            self.lines += self.coming
            self.coming = []
        return len(self.lines)


def opening(package: str) -> AppsSeen:
    """Return what is seen in a test that opened an app."""
    seen = AppsSeen()
    seen.opened.add(package)
    return seen


def test_only_the_app_under_test_counts_and_only_since_the_test_began() -> None:
    """The named app, those that were opened, and without a name those that were in front."""
    lines = Lines()
    lines.lines += EXCEPTION
    watch = AppWatch(opening(SHOP), lines)
    assert str(watch.crash).startswith("com.example.shop crashed")

    watch.begin()
    watch.seen.opened.add(SHOP)
    assert watch.crash is None

    lines.lines += EXCEPTION
    assert watch.crash is not None
    for opened, in_front, named, counts in [
        ({SHOP}, set[str](), None, True),
        (set[str](), {SHOP}, None, True),
        (set[str](), {SHOP}, "com.example.bank", False),
        ({SHOP}, set[str](), "com.example.bank", True),
        (set[str](), set[str](), SHOP, True),
        ({"com.example"}, {f"{SHOP}ping"}, None, False),
    ]:
        watch = AppWatch(AppsSeen(), lines)
        watch.seen.opened, watch.seen.in_front = opened, in_front
        if named:
            watch.name(named, is_fresh=False)
        assert (watch.crash is not None) == counts


FINISHED = logged("700 W ActivityTaskManager:   Force finishing activity com.example.shop/.Main")
STARTED = logged(
    "700 I ActivityTaskManager: START u0 {act=android.intent.action.VIEW dat=shop://home/..."
    " flg=0x10000000 cmp=com.example.shop/.Main} with LAUNCH_MULTIPLE from uid 10173"
)
CHOICE = [line.replace(b"com.example.shop/.Main", b"android/.Resolver") for line in STARTED]
UNKNOWN_STATE = logged("700 I ActivityManager: Process com.example.shop (pid 812) has died")


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        ([*EXCEPTION, *FINISHED], True),
        ([*NATIVE, *FINISHED], True),
        ([*EXCEPTION, *DEATH], True),
        (DEATH, True),
        (ANR, True),
        ([*STARTED, *EXCEPTION], True),
        ([*STARTED, *UNKNOWN_STATE], True),
        ([*FINISHED, *EXCEPTION], False),
        ([*EXCEPTION, *(line.replace(b"700", b"812") for line in (*FINISHED, *STARTED))], False),
        ([*EXCEPTION, *(line.replace(b"shop", b"bank") for line in (*FINISHED, *STARTED))], False),
        ([line.replace(b" (com.example.shop/.Main)", b"") for line in ANR], False),
        (UNKNOWN_STATE, False),
        ([*CHOICE, *EXCEPTION], False),
    ],
)
def test_an_app_that_crashes_in_front_counts_whoever_opened_it(
    lines: list[bytes], counts: bool
) -> None:
    """A test without ``claw_app`` need not see it: the system says that it was there."""
    device = Lines()
    watch = AppWatch(AppsSeen(), device, system=lambda: {700})
    device.lines += lines
    assert (watch.crash is not None) == counts

    watch = AppWatch(AppsSeen(), device, system=lambda: {700})
    watch.name("com.example.bank", is_fresh=False)
    assert watch.crash is None


@pytest.mark.parametrize("named", [None, "com.example.bank"])
def test_an_app_that_a_link_opens_is_opened(named: str | None) -> None:
    """It is under test as one that ``open_app`` opens, also beside a named one."""
    device = Lines()
    watch = AppWatch(AppsSeen(), device)
    if named:
        watch.name(named, is_fresh=False)
    execution = complete_execution([{"type": "open_uri", "params": {"uri": "shop://home"}}])
    watch.seen.received(execution, result_of(execution, log=LogSlice([*CHOICE, *STARTED])))

    assert watch.seen.opened == {SHOP}
    device.lines += EXCEPTION
    assert watch.crash is not None


def test_processes_of_the_app_in_the_background_count() -> None:
    """An exception in any of them is a fault of the app."""
    lines = Lines()
    lines.lines += [line.replace(b"shop,", b"shop:sync,") for line in EXCEPTION[1:]]

    assert str(AppWatch(opening(SHOP), lines).crash).startswith("com.example.shop:sync crashed")


def test_a_crash_fails_a_test_once() -> None:
    """At the end of a phase, if the test did not fail before; a fresh app begins anew."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    assert watch.crash_at_end() is None

    lines.lines += EXCEPTION[1:]
    assert watch.crash_at_end() is not None
    assert watch.crash_at_end() is None
    assert watch.crash is not None

    watch.name(SHOP, is_fresh=True)
    assert watch.crash is watch.crash_at_end() is None
    watch.is_settled = True
    lines.lines += EXCEPTION[1:]
    assert watch.crash_at_end() is None
    assert watch.begin() is None


def test_a_crash_after_the_test_is_handed_to_the_next() -> None:
    """So that it is not lost, and not taken for a crash of the next test."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    lines.lines += EXCEPTION[1:]

    assert str(watch.begin()).startswith("com.example.shop crashed")
    assert watch.crash is None


def test_a_process_may_die_of_its_crash_in_the_next_test() -> None:
    """Android keeps it until the dialog is closed; that is no crash of that test."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    lines.lines += EXCEPTION[1:]
    assert watch.crash is not None

    watch.begin()
    watch.seen.opened.add(SHOP)
    lines.lines += DEATH
    assert watch.crash is None
    lines.lines += [line.replace(b"812", b"813") for line in DEATH]
    assert str(watch.crash) == "com.example.shop died by itself"


def test_an_app_may_crash_a_moment_after_it_was_touched() -> None:
    """The end of a test waits for that, and nothing else does."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    lines.coming = EXCEPTION[1:]
    assert watch.crash_at_end() is None

    watch.seen.touched_at = float("inf")
    assert watch.crash_at_end(is_over=False) is None
    assert watch.crash_at_end() is not None


def test_a_check_after_a_touch_does_not_shorten_the_wait() -> None:
    """To act and then to check is the usual test, and the app may crash after the check."""
    tap = {"type": "click", "params": {"matcher": {"textEquals": "Buy"}}}
    touch, look = (complete_execution([one]) for one in (tap, {"type": "snapshot_ui"}))
    seen = AppsSeen()
    seen.received(look, result_of(look))
    assert seen.touched_at is None

    seen.received(touch, result_of(touch))
    touched_at = seen.touched_at
    assert touched_at is not None
    seen.received(look, result_of(look))
    assert seen.touched_at == touched_at


def test_what_the_log_brings_from_another_time_is_left_out() -> None:
    """As after a device was set back to an earlier state."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    lines.lines += EXCEPTION
    watch.skip_to(len(lines.lines))

    assert watch.crash is None


def test_an_expected_crash_is_waited_for_and_forgiven() -> None:
    """Its later lines belong to it; another crash before or after the block does not."""
    lines = Lines()
    watch = AppWatch(opening(SHOP), lines)
    watch.expect()
    lines.coming = EXCEPTION[1:]
    assert watch.await_expected(float("inf"), list)
    assert watch.crash is None
    watch.stop_expecting()
    lines.lines += DEATH
    assert watch.crash is None
    assert watch.crash_at_end() is None

    again = [line.replace(b"812", b"813") for line in EXCEPTION]
    lines.lines += again
    assert watch.crash is not None
    watch.expect()
    assert watch.crash is not None
    assert not watch.await_expected(0.0, list)


def test_without_a_log_the_dialog_decides() -> None:
    """One that was on a snapshot of the test."""
    execution = complete_execution([{"type": "snapshot_ui"}])
    (action,) = execution.actions
    xml = screen(
        '<node text="Shop has stopped" resource-id="android:id/alertTitle" bounds="[0,0][9,9]" />',
        '<node text="Close app" resource-id="android:id/aerr_close" bounds="[0,0][9,9]" />',
    )
    seen = AppsSeen()
    watch = AppWatch(seen)
    assert watch.crash is None
    watch.expect()

    def look() -> None:
        seen.received(execution, result_of(execution, [step_of(action, text=xml)]))

    assert watch.await_expected(float("inf"), look)
    watch.stop_expecting()
    assert watch.crash is None

    watch.begin()
    look()
    assert watch.crash == Crash("Shop has stopped", "was on the screen", "")
