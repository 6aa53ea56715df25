"""How often and how long the wait loop checks, and what it logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_clawperator.assertions.checks import Verdict
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.wait import Doubt, Entry, Outcome, look_limit, watch
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    DeviceUnavailableError,
    EnvelopeTimeoutError,
    ErrorCode,
    SnapshotError,
    StepFailedError,
    TransportError,
)
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, failure
from tests.doubles.runner import SHOP, Phone, client


def counting(time: FakeTime, *, takes: float = 0.0) -> Callable[[], int]:
    """Return a function that counts its calls, and takes its time."""
    calls = iter(range(1, 10_000))

    def look() -> int:
        time.pass_by(takes)
        return next(calls)

    return look


def at_least(number: int) -> Callable[[int], Verdict]:
    """Return a judge that wants this many checks."""
    return lambda seen: Verdict(seen >= number, f"look {seen}")


def never(seen: object) -> Verdict:
    """Judge that it does not hold."""
    return Verdict(False, "no match")


@pytest.mark.parametrize(("timeout", "takes"), [(0.001, 0.0), (1.0, 30.0)])
def test_the_first_check_is_immediate_and_has_no_deadline(timeout: float, takes: float) -> None:
    """What holds already passes without a pause, however short the timeout."""
    time = FakeTime()

    outcome = watch(counting(time, takes=takes), at_least(1), timeout=timeout, clock=time.clock)

    assert outcome.holds
    assert time.pauses == []


def test_a_check_that_is_doubted_does_not_hold() -> None:
    """It is tried again while the doubt may go away, and not if it cannot."""
    time = FakeTime()
    doubts = iter([Doubt("a window", "Close it."), Doubt("a window", "Close it."), None])

    passed = watch(
        counting(time), at_least(1), doubt=lambda: next(doubts), timeout=1, clock=time.clock
    )
    final = watch(
        counting(time),
        at_least(2),
        doubt=lambda: Doubt("a crash", "See the log.", is_final=True),
        timeout=5.0,
        linger=1.0,
        clock=time.clock,
    )

    assert passed.holds
    assert [entry.found for entry in passed.log] == ["a window", "a window", "look 3"]
    assert (final.holds, final.verdict) == (False, Verdict(None, "a crash", "See the log."))
    assert [entry.found for entry in final.log] == ["look 1", "a crash"]


def test_a_timeout_of_zero_is_one_check() -> None:
    """And there is no lingering."""
    time = FakeTime()

    outcome = watch(counting(time), never, timeout=0.0, linger=1.0, clock=time.clock)

    assert len(outcome.log) == 1
    assert time.pauses == []


@pytest.mark.parametrize(
    ("takes", "pause"), [(0.001, 0.02), (0.02, 0.02), (0.1, 0.1), (0.25, 0.25), (3.0, 0.25)]
)
def test_the_pause_is_as_long_as_the_check(takes: float, pause: float) -> None:
    """The pause is as long as the last check, within 20 and 250 milliseconds."""
    time = FakeTime()

    watch(counting(time, takes=takes), at_least(3), timeout=60.0, clock=time.clock)

    assert time.pauses == pytest.approx([pause, pause])


def test_the_last_check_is_at_the_deadline() -> None:
    """The last pause ends at the deadline, and is followed by a check."""
    time = FakeTime()

    outcome = watch(counting(time), never, timeout=0.05, clock=time.clock)

    assert time.pauses == pytest.approx([0.02, 0.02, 0.01])
    assert len(outcome.log) == 4
    assert outcome.seconds == pytest.approx(0.05)


@pytest.mark.parametrize(
    "error",
    [
        TransportError("gone"),
        DeviceUnavailableError("offline"),
        StepFailedError("blocked", code=ErrorCode.SECURITY_BLOCK_DETECTED),
    ],
)
def test_errors_that_waiting_does_not_change_are_raised(error: Exception) -> None:
    """Unchanged, without another check."""
    time = FakeTime()

    def look() -> int:
        raise error

    with pytest.raises(type(error)) as caught:
        watch(look, never, timeout=5.0, clock=time.clock)

    assert caught.value is error
    assert time.pauses == []


def test_an_unreadable_screen_is_tried_again() -> None:
    """A screen that cannot be read, as between two windows, is tried again."""
    time = FakeTime()
    count = counting(time)

    def look() -> int:
        number = count()
        if number < 3:
            raise SnapshotError("no tree", code=ErrorCode.UI_TREE_UNAVAILABLE)
        return number

    outcome = watch(look, at_least(3), timeout=5.0, clock=time.clock)

    assert outcome.holds
    assert [entry.found for entry in outcome.log[:2]] == ["UI_TREE_UNAVAILABLE: no tree"] * 2


def test_lingering_measures_how_late_it_was() -> None:
    """What comes true after the deadline still fails, with how late it was."""
    time = FakeTime()

    outcome = watch(
        counting(time),
        lambda seen: Verdict(time.now >= 1.4, "no match"),
        timeout=1.0,
        linger=1.0,
        clock=time.clock,
    )

    assert not outcome.holds
    assert outcome.late == pytest.approx(0.4)
    assert outcome.seconds == pytest.approx(1.0)


@pytest.mark.parametrize(("linger", "end"), [(0.0, 1.0), (0.5, 1.5)])
def test_lingering_has_an_end(linger: float, end: float) -> None:
    """Lingering ends after its time; with 0 there is none."""
    time = FakeTime()

    outcome = watch(counting(time), never, timeout=1.0, linger=linger, clock=time.clock)

    assert outcome.late is None
    assert time.now == pytest.approx(end)


def test_lingering_does_not_replace_the_failure() -> None:
    """A device that goes away while lingering does not hide the failure."""
    time = FakeTime()

    def look() -> int:
        if time.now > 1.0:
            raise TransportError("gone")
        return 1

    outcome = watch(look, never, timeout=1.0, linger=1.0, clock=time.clock)

    assert not outcome.holds
    assert outcome.late is None


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        ([*[Entry("no match", n * 0.1) for n in range(14)], Entry('"Loading"', 1.4)],
         ["14 × no match in 1.4 s", '1 × "Loading" in 3.6 s']),
        ([Entry(f"{n}", n * 0.05) for n in range(100)],
         [*[f"1 × {n} in 50 ms" for n in range(2)], "... 90 more changes",
          *[f"1 × {n} in 50 ms" for n in range(92, 100)]]),
    ],
)  # fmt: skip
def test_the_log_is_short(log: list[Entry], lines: list[str]) -> None:
    """Equal findings are one line, with number and duration; of many changes some are left out."""
    outcome: Outcome[str] = Outcome(Verdict(False, ""), None, None, tuple(log), seconds=5.0)

    assert outcome.log_lines == lines


def test_later_looks_have_the_time_that_is_left() -> None:
    """The first check has no limit; later ones have the rest, and at least a second."""
    time = FakeTime()
    limits: list[float | None] = []

    def look() -> None:
        limits.append(look_limit())
        time.pass_by(2.0)

    watch(look, never, timeout=5.0, linger=1.0, clock=time.clock)

    assert limits[0] is None
    assert limits[1] == pytest.approx(2.75)
    assert limits[-1] == 1.0
    assert look_limit() is None


def test_a_check_cut_short_is_not_an_infrastructure_error() -> None:
    """It says nothing about the device: earlier checks count."""
    time = FakeTime()

    def look() -> None:
        if look_limit() is not None:
            time.pass_by(look_limit() or 0.0)
            raise EnvelopeTimeoutError("silence", code=ErrorCode.RESULT_ENVELOPE_TIMEOUT)

    outcome = watch(look, never, timeout=2.0, clock=time.clock)

    assert outcome.verdict.found == "no match"
    assert outcome.log_lines[-1].startswith("1 × no answer within 2.0 s")


SHOP_APP = "com.example.shop"


def test_what_comes_up_later_is_waited_for(real_expect: Expect, claw: Clawperator) -> None:
    """A list that takes a moment to load is waited for, and its progress bar to go away."""
    claw.close_app(SHOP_APP)
    claw.open_app(SHOP_APP)
    claw.enter_text("ada@example.com", id="email")
    claw.enter_text("secret", id="password")
    claw.click(id="sign_in")

    real_expect(claw.node(text="Item 1")).to_be_visible()

    name = claw.node(id="product_list").node(id="product_name").nth(1)
    real_expect(claw.node(id="loading")).to_be_hidden()
    real_expect(name).to_have_text("Item 2")
    real_expect(claw).to_be_in_app(SHOP_APP)
    real_expect(claw.node(text="Shop").nth(-1)).to_be_selected()


def test_a_lost_device_is_an_infrastructure_error(
    real_expect: Expect, simulator: Simulator
) -> None:
    """Immediately, as an infrastructure error."""
    address = f"127.0.0.1:{simulator.adb_port}"
    with connect(simulator.serials[1], adb=address) as claw:
        claw.device.shell("sim fault offline ms=60000")

        with pytest.raises(ClawperatorError) as caught:
            real_expect(claw.node(text="Nowhere")).to_be_visible(timeout=600)

    assert not isinstance(caught.value, AssertionError)
    assert caught.value.serial == simulator.serials[1]


def test_later_looks_are_bounded_by_the_time_left() -> None:
    """The execution of a check may not take longer than the time that is left."""
    time = FakeTime()
    seconds = iter([190.0])

    def look(_: Action) -> dict[str, str]:
        time.pass_by(next(seconds, 0.0))
        return {"text": SHOP, "foreground_package": SHOP_APP}

    phone = Phone(data={"snapshot_ui": look})

    failure(lambda: Expect(clock=time.clock)(client(phone)).to_be_in_app("com.x", timeout=200))

    timeouts = [each.timeout_ms for each in phone.executions]
    assert timeouts[0] <= 120_000
    assert all(1_000 <= each <= 10_000 for each in timeouts[1:])
    assert timeouts[-1] == 1_000


def test_a_timeout_for_a_snapshot_is_refused() -> None:
    """A timeout for what never changes is a mistake of the test."""
    found = Snapshot.from_xml(FORM).find(id="wifi")

    with pytest.raises(ConfigurationError, match="a snapshot stays as it is"):
        Expect()(found).to_be_checked(timeout=3)
