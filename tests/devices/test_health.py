"""A device between two tests: checked, repaired once, or put aside."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_clawperator.devices.connection import open_runner
from pytest_clawperator.devices.health import (
    ANSWER_AGAIN_WITHIN,
    RETURN_WITHIN,
    Health,
    await_boot,
    await_return,
    awaken_screen,
    connect_healed,
)
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceUnavailableError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
    OperatorNotReadyError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.transport import ScriptedTransport

OPERATOR = "com.clawperator.operator"
GONE = DeviceUnavailableError("the device is offline", serial="PH1")
SILENT = TransportTimeoutError("the device does not answer", serial="PH1")
NOT_INSTALLED = OperatorNotReadyError(
    "the Operator is not installed", code=ErrorCode.OPERATOR_NOT_INSTALLED, serial="PH1"
)


@pytest.fixture
def pipeline(phone: AdbTransport, server: AdbServer) -> Iterator[Pipeline]:
    """Connect to the phone."""
    pipeline, _ = open_runner(AdbTransport(server, phone.serial), server=server)
    yield pipeline
    pipeline.close()


class Clock:
    """A clock that moves only by pauses."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class TestEnsure:
    """A device that is checked, and repaired if need be."""

    def test_a_healthy_device_is_left_alone(self, pipeline: Pipeline) -> None:
        """Nothing is changed and nothing is reported."""
        said: list[str] = []

        Health(pipeline, tell=said.append).ensure()

        assert said == []

    def test_a_screen_that_is_off_is_woken(self, pipeline: Pipeline, phone: AdbTransport) -> None:
        """A screen that is off is woken."""
        phone.shell("input keyevent KEYCODE_SLEEP")
        said: list[str] = []

        Health(pipeline, tell=said.append).ensure()

        assert said == ["the screen is off, so it was woken and its lock dismissed"]
        assert "mWakefulness=Awake" in phone.shell("dumpsys power").stdout

    def test_a_locked_phone_with_android_6_is_unlocked_by_a_key(self) -> None:
        """Its window manager cannot dismiss the keyguard."""
        said: list[str] = []
        with Simulator(devices=1, quirks=["old-toybox"], faults=["locked"]) as simulator:
            server = AdbServer(simulator.adb_host, simulator.adb_port)
            transport = AdbTransport(server, simulator.serials[0])
            pipeline, _ = open_runner(transport, server=server)
            with closing(pipeline):
                Health(pipeline, tell=said.append).ensure()

        assert said == ["the screen is locked, so it was woken and its lock dismissed"]

    def test_a_dark_phone_that_takes_no_key_is_told_as_such(self) -> None:
        """Where the maker guards keys, the hint names the developer option."""
        refused = ShellResult("", "SecurityException: ... the INJECT_EVENTS permission.", 255)
        transport = ScriptedTransport(
            {
                "dumpsys power": "  mWakefulness=Asleep\n",
                "dumpsys window policy": "      showing=false\n",
                "input keyevent KEYCODE_WAKEUP; wm dismiss-keyguard": refused,
            }
        )
        pipeline = SimpleNamespace(transport=transport, shell=transport.shell)

        with pytest.raises(DeviceUnavailableError) as caught:
            awaken_screen(cast("Pipeline", pipeline), tell=lambda _: None)

        assert "Security settings" in str(caught.value.hint)

    def test_a_crashed_operator_is_restarted(self, pipeline: Pipeline, phone: AdbTransport) -> None:
        """The Operator works again, and the repair is reported."""
        phone.shell("sim fault operator_crash times=1")
        said: list[str] = []

        Health(pipeline, tell=said.append).ensure()

        assert said[0].startswith("the device failed its check: OPERATOR_CRASHED: ")
        assert said[-1] == "the device works again"

    def test_a_device_that_went_away_is_waited_for(
        self, pipeline: Pipeline, phone: AdbTransport, server: AdbServer
    ) -> None:
        """A device that went away is waited for."""
        said: list[str] = []
        phone.shell("sim fault offline ms=1000")
        deadline = time.monotonic() + 10
        while dict(server.devices()).get(phone.serial) != "offline":
            assert time.monotonic() < deadline

        Health(pipeline, tell=said.append).ensure()

        assert said[0].startswith("the device failed its check: DEVICE_OFFLINE: ")
        assert said[1:] == [
            "waiting up to 10 s for the device to come back",
            "the device works again",
        ]

    def test_one_trouble_behind_another_is_repaired_too(
        self, pipeline: Pipeline, phone: AdbTransport, server: AdbServer
    ) -> None:
        """A device that comes back with its service dead gets that repaired as well."""
        said: list[str] = []
        phone.shell("sim fault operator_crash times=1; sim fault offline ms=1000")
        deadline = time.monotonic() + 10
        while dict(server.devices()).get(phone.serial) != "offline":
            assert time.monotonic() < deadline

        Health(pipeline, tell=said.append).ensure()

        failed = [line for line in said if line.startswith("the device failed its check: ")]
        assert ["DEVICE_OFFLINE" in failed[0], "OPERATOR_CRASHED" in failed[1]] == [True, True]
        assert said[-1] == "the device works again"

    def test_a_service_that_stays_dead_is_left_to_people(
        self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each kind of trouble is repaired once; the error says what to do by hand."""
        said: list[str] = []
        dead = OperatorNotReadyError("it is dead", code=ErrorCode.SERVICE_UNAVAILABLE, hint="wait")
        troubles = iter([dead, GONE, dead, dead])
        health = Health(pipeline, tell=said.append)

        def check() -> None:
            raise next(troubles)

        monkeypatch.setattr(health, "check", check)

        with pytest.raises(OperatorNotReadyError) as caught:
            health.ensure()

        assert next(troubles, None) is None
        assert str(caught.value.hint).startswith("Switching its service on did not help: ")
        assert said[-1] == "the device failed its check again and is put aside"

    def test_a_device_in_use_by_another_run_is_not_put_aside(
        self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is healthy, so the conflict is raised and nothing more."""
        conflict = ExecutionConflictError("in flight")
        troubles = iter([GONE, conflict])
        health = Health(pipeline, tell=lambda _: None)

        def check() -> None:
            raise next(troubles)

        monkeypatch.setattr(health, "check", check)

        with pytest.raises(ExecutionConflictError):
            health.ensure()

        assert not health.is_put_aside

    def test_a_device_that_fails_twice_is_put_aside(
        self, pipeline: Pipeline, phone: AdbTransport
    ) -> None:
        """It is not asked again, and every later check raises the reason at once."""
        phone.shell(f"pm uninstall {OPERATOR}")
        health = Health(pipeline, tell=lambda _: None)

        with pytest.raises(OperatorNotReadyError) as first:
            health.ensure()
        phone.shell("sim reset")
        with pytest.raises(DeviceUnavailableError, match="put aside, because it failed") as second:
            health.ensure()

        assert first.value.code is second.value.code is ErrorCode.OPERATOR_NOT_INSTALLED


class TestReturn:
    """A device that went away."""

    def test_a_device_is_asked_until_it_answers(self) -> None:
        """The wait ends with the first answer."""
        clock = Clock()
        transport = ScriptedTransport()

        def answer(_: str) -> str:
            if clock.now < 3:
                raise GONE
            return ""

        transport.answers["true"] = answer
        await_return(transport, timeout=5, clock=clock, pause=clock.pause)

        assert clock.now == 3

    def test_a_device_that_stays_away_raises_its_error(self) -> None:
        """After the timeout the last error is raised."""
        clock = Clock()
        transport = ScriptedTransport({"true": GONE})

        with pytest.raises(ClawperatorError, match="is offline"):
            await_return(transport, timeout=5, clock=clock, pause=clock.pause)

        assert 5 <= clock.now < 6

    def test_a_device_that_stays_silent_is_not_waited_for_as_long(self) -> None:
        """One that is connected and does not answer was waited for by whoever found that out."""
        clock = Clock()
        transport = ScriptedTransport({"true": SILENT})

        with pytest.raises(TransportTimeoutError):
            await_return(transport, clock=clock, pause=clock.pause)

        assert ANSWER_AGAIN_WITHIN <= clock.now < RETURN_WITHIN / 2


class TestConnecting:
    """A device that is away when it is connected for the first time."""

    def connect(self, outcomes: list[Exception | str]) -> list[str]:
        """Connect, with these outcomes one after the other; return what was said and done."""
        done: list[str] = []

        def attempt() -> str:
            done.append("connect")
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        transport = ScriptedTransport({"true": ""})
        with suppress(ClawperatorError):
            connected = connect_healed(
                attempt,
                transport,
                OPERATOR,
                tell=done.append,
                reconnect=lambda: done.append("reconnect"),
            )
            done.append(connected)
        return done

    def test_it_is_connected_again_and_then_used(self) -> None:
        """It is told of, waited for and connected once more."""
        done = self.connect([GONE, "connected"])

        assert done == [
            "connect",
            "the device failed its check: DEVICE_OFFLINE: the device is offline",
            "waiting up to 10 s for the device to come back",
            "reconnect",
            "connect",
            "the device works again",
            "connected",
        ]

    def test_it_is_put_aside_when_that_fails_again(self) -> None:
        """There is no third time."""
        done = self.connect([GONE, GONE, "connected"])

        assert done.count("connect") == 2
        assert done[-1] == "the device failed its check again and is put aside"

    @pytest.mark.parametrize("error", ["not installed", "in use"])
    def test_what_waiting_does_not_mend_is_raised_at_once(self, error: str) -> None:
        """A missing Operator does not come by waiting, and a device in use is well."""
        errors = {"not installed": NOT_INSTALLED, "in use": LeaseError("held", serial="PH1")}

        done = self.connect([errors[error], "connected"])

        assert done == ["connect"]


class TestBoot:
    """A device that is still starting."""

    @pytest.mark.parametrize(("up_at", "waited"), [(0, 0), (7, 7), (999, 20)])
    def test_a_starting_device_is_waited_for(self, up_at: float, waited: float) -> None:
        """The wait lasts until it has started or the timeout is over, and is reported."""
        clock = Clock()
        said: list[str] = []
        transport = ScriptedTransport(
            {"getprop sys.boot_completed": lambda _: "1\n" if clock.now >= up_at else "0\n"}
        )

        await_boot(
            transport, OPERATOR, tell=said.append, timeout=20, clock=clock, pause=clock.pause
        )

        assert waited <= clock.now <= waited + 1
        told = "the device is still starting; waiting up to 20 s for it"
        assert said == ([told] if up_at else [])


def test_a_screen_that_stays_locked_is_an_error(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that needs a code is an error that says what to change."""
    shell = pipeline.shell

    def locked(command: str, *, timeout: float = 30.0) -> ShellResult:
        result = shell(command, timeout=timeout)
        return ShellResult(result.stdout.replace("showing=false", "showing=true"), "", 0)

    monkeypatch.setattr(pipeline, "shell", locked)

    with pytest.raises(DeviceUnavailableError, match="the screen is locked, and waking") as caught:
        Health(pipeline, tell=lambda _: None).ensure()

    assert "set its screen lock to None or Swipe" in str(caught.value.hint)
