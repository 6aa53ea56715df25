"""A device between two tests: checked, repaired once, or put aside."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_clawperator.devices.connection import open_runner
from pytest_clawperator.devices.health import (
    ANSWER_AGAIN_WITHIN,
    RETURN_WITHIN,
    Health,
    Readiness,
    ScreenState,
    await_boot,
    await_return,
    awaken_screen,
    check_ready,
    connect_healed,
    read_readiness,
    screen_state,
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
from pytest_clawperator.execution.processes import PROCESSES_COMMAND, Processes
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.transport import Answer, ScriptedTransport

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


RELEASE = "com.clawperator.operator"

SERVICE = f"{RELEASE}/clawperator.operator.accessibilityservice.OperatorAccessibilityService"

DUMP = "  versionName=0.5.3\n  User 0: ceDataInode=1 installed=true stopped=false\n"

READY: dict[Any, Answer] = {
    "getprop sys.boot_completed": "1\n",
    f"pm list packages {RELEASE}": f"package:{RELEASE}\n",
    "settings get secure enabled_accessibility_services": f"a.b/.C:{SERVICE}\n",
    "settings get secure accessibility_enabled": "1\n",
    f"dumpsys package {RELEASE}": DUMP,
    "am get-current-user": "0\n",
}

BOOT, PACKAGES, SERVICES, SWITCH, DETAILS, CURRENT = READY


def test_a_ready_device_is_read_in_one_round_trip() -> None:
    """One shell command answers everything."""
    transport = ScriptedTransport(READY)

    found = check_ready(transport, RELEASE)

    assert found == Readiness(
        booted=True,
        installed=frozenset({RELEASE}),
        service_on=True,
        stopped=False,
        version="0.5.3",
        user=0,
    )
    assert transport.round_trips == 1


def test_the_processes_are_read_in_the_same_round_trip() -> None:
    """Connecting learns which process is the Operator's, and is not slower for it."""
    dump = f"  Package [{RELEASE}] (1a):\n    appId=10145\n{DUMP}"
    listed = "USER PID\nsystem 700\nu0_a145 4242\n"
    transport = ScriptedTransport({**READY, DETAILS: dump, PROCESSES_COMMAND: listed})

    found = check_ready(transport, RELEASE)

    assert found.processes == Processes(10145, frozenset({4242}), frozenset({700}))
    assert transport.round_trips == 1


@pytest.mark.parametrize(
    "unknown",
    [
        ShellResult("", "", 127),
        ShellResult("", "cmd: Can't find service: x\n", 20),
        ShellResult("", "java.lang.SecurityException: no\n", 255),
    ],
)
@pytest.mark.parametrize("question", READY)
def test_what_is_unknown_is_no_error(question: Any, unknown: ShellResult) -> None:
    """A command that the device does not answer is no reason to fail."""
    transport = ScriptedTransport({**READY, question: unknown})

    check_ready(transport, RELEASE)


def test_a_device_that_tells_nothing_is_no_error() -> None:
    """On a device without any of the commands nothing is known, and nothing is wrong."""
    assert check_ready(ScriptedTransport(), RELEASE) == Readiness()


@pytest.mark.parametrize(
    ("question", "answer", "code", "says"),
    [
        (PACKAGES, "", ErrorCode.OPERATOR_NOT_INSTALLED, "operator_apk="),
        (PACKAGES, f"package:{RELEASE}.dev\n", ErrorCode.OPERATOR_VARIANT_MISMATCH, ".dev"),
        (SERVICES, "null\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "grant=True"),
        (SERVICES, "\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "by hand"),
        (SERVICES, f"x{SERVICE}\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "switched off"),
        (SWITCH, "0\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "grant=True"),
        (SWITCH, "null\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "switched off"),
        (
            DETAILS,
            DUMP.replace("stopped=false", "stopped=true"),
            ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
            "was force-stopped",
        ),
    ],
)
def test_what_keeps_the_operator_from_working_is_raised(
    question: Any, answer: str, code: ErrorCode, says: str
) -> None:
    """Each reason has its code, and a hint that says what to do."""
    transport = ScriptedTransport({**READY, question: answer})

    with pytest.raises(OperatorNotReadyError) as caught:
        check_ready(transport, RELEASE)

    assert caught.value.code is code
    assert says in str(caught.value)
    assert caught.value.serial == "PH1"


def test_a_starting_device_is_not_blamed_on_its_operator() -> None:
    """A device that has not finished starting is unavailable, whatever its Operator is."""
    no_service = ShellResult("cmd: Can't find service: package\n", "", 20)
    saying = ScriptedTransport({**READY, BOOT: "0\n", PACKAGES: ""})
    showing = ScriptedTransport({**READY, BOOT: "\n", PACKAGES: no_service})
    warning = ScriptedTransport({**READY, BOOT: "WARNING: linker: x\n\n", PACKAGES: no_service})

    for transport in (saying, showing, warning):
        with pytest.raises(DeviceUnavailableError, match="has not finished starting"):
            check_ready(transport, RELEASE)


#: A phone with a second and a third user, as ``dumpsys package`` tells of an app.
THREE_USERS = (
    f"  Package [{RELEASE}] (1a2b):\n    appId=10145\n"
    "    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=true\n"
    "    User 10: ceDataInode=0 installed=true hidden=false suspended=false stopped=false\n"
    "    User 11: ceDataInode=0 installed=false hidden=false suspended=false stopped=true\n"
)


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("0\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING),
        ("10\n", None),
        ("11\n", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("12\n", None),  # the device does not tell
        (ShellResult("", "Error: unknown command 'get-current-user'\n", 255), None),
    ],
)
def test_the_operator_of_the_current_user_counts(
    user: str | ShellResult, code: ErrorCode | None
) -> None:
    """What is so for users whose screen is not shown neither helps nor harms."""
    transport = ScriptedTransport({**READY, DETAILS: THREE_USERS, CURRENT: user})

    found = None
    try:
        check_ready(transport, RELEASE)
    except OperatorNotReadyError as error:
        found = error

    assert (found.code if found else None) == code
    assert ("for user 11" in str(found)) == (user == "11\n")


def test_warnings_before_an_answer_are_skipped() -> None:
    """Only the last line of the output is the answer."""
    noise = "WARNING: linker: libfoo.so has text relocations: x:y\n"
    noisy = {
        key: noise + value if isinstance(value, str) else value for key, value in READY.items()
    }

    found = check_ready(ScriptedTransport(noisy), RELEASE)

    assert (found.booted, found.service_on) == (True, True)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("operator_absent", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("operator_variant", ErrorCode.OPERATOR_VARIANT_MISMATCH),
    ],
)
def test_faults_of_a_phone_have_their_codes(
    phone: AdbTransport, fault: str, code: ErrorCode
) -> None:
    """Each fault of the simulated phone has its own code."""
    ready = check_ready(phone, RELEASE)

    phone.shell(f"sim fault {fault}")
    with pytest.raises(OperatorNotReadyError) as caught:
        check_ready(phone, RELEASE)

    assert ready.service_on is True
    assert caught.value.code is code


def test_a_booting_phone_is_known_for_one(phone: AdbTransport) -> None:
    """While its services are not up, nothing else is known."""
    phone.shell("sim fault booting")

    found = read_readiness(phone, RELEASE)

    assert found == Readiness(booted=False)


def test_a_name_that_is_no_package_is_refused() -> None:
    """It never reaches the shell."""
    transport = ScriptedTransport()

    with pytest.raises(Exception, match=re.escape("is not the name of an Android package")):
        check_ready(transport, "a.b; reboot")

    assert transport.calls == []


#: What ``dumpsys power`` says, of which phone, and whether the screen is on.
POWER = [
    ("  mWakefulness=Awake\n  mWakefulnessChanging=false\n", True),  # Pixel, Android 9 to 16
    ("  mWakefulness=Asleep\n  mWakefulnessChanging=true\n", False),
    ("  mWakefulness=Dozing\nDisplay Power: state=DOZE_SUSPEND\n", False),  # always-on display
    ("  mWakefulness=Dreaming\nDisplay Power: state=ON\n", False),  # a screen saver
    ("  getWakefulnessLocked()=Asleep\n", False),  # Samsung, Android 11: flutter#98146
    ("  getWakefulnessLocked()=Awake\n", True),
    ("  getWakefulnessLocked()=Dozing\n", False),
    ("  mWakefulnessRaw=1\n  mWakefulness=Awake\n", True),
    ("Display Power: state=ON\n", True),  # Samsung, Android 5 to 8
    ("Display Power: state=OFF\n", False),
    ("Display Power: state=DOZE\n", False),
    ("Display Power State:\n  mScreenOn=true\n", True),  # Android 4.4
    ("Display Power State:\n  mScreenOn=false\n", False),
    # MediaTek prints an object.
    ("Display Power: com.android.server.power.PowerManagerService$1@8b3e2f1\n", None),
    ("  mWakefulnessChanging=false\n", None),
    ("nothing", None),
]

#: What ``dumpsys window policy`` says of the keyguard, and whether the screen is locked.
POLICY = [
    ("    KeyguardServiceDelegate\n      showing=true\n      occluded=false\n", True),
    ("    KeyguardServiceDelegate\n      showing=false\n", False),
    ("      KeyguardStateMonitor\n        mIsShowing=true\n        mSimSecure=false\n", True),
    ("      KeyguardStateMonitor\n        mIsShowing=false\n", False),
    ("    mStatusBar=Window{1f u0 StatusBar} isStatusBarKeyguard=true\n", True),  # Android 5 to 8
    ("    mStatusBar=Window{1f u0 StatusBar} isStatusBarKeyguard=false\n", False),
    ("    mShowingLockscreen=true mShowingDream=false mDreamingLockscreen=true\n", True),
    ("    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\n", False),
    ("    mShowingDream=false mDreamingLockscreen=true mDreamingSleepToken=null\n", True),
    ("KeyguardController:\n  mKeyguardShowing=true\n  mAodShowing=false\n", True),
    ("  KeyguardShowing=false AodShowing=false KeyguardGoingAway=false\n", False),  # Android 13
    ("      showingAndNotOccluded=true\n", None),
    ("nothing", None),
]

AWAKE, UNLOCKED = "  mWakefulness=Awake\n", "      showing=false\n"


def phone_that_says(power: str = "", policy: str = "", **others: str) -> ScriptedTransport:
    """Return a phone whose services print this."""
    return ScriptedTransport(
        {
            "dumpsys power": power,
            "dumpsys window policy": policy,
            "dumpsys display": others.get("display", ""),
            "dumpsys activity activities": others.get("activities", ""),
        }
    )


@pytest.mark.parametrize(("power", "is_on"), POWER)
def test_the_screen_is_on_as_the_device_says(power: str, is_on: bool | None) -> None:
    """Each maker's words are understood; what the device does not tell is None."""
    assert screen_state(phone_that_says(power, UNLOCKED)).on is is_on


@pytest.mark.parametrize(("policy", "is_locked"), POLICY)
def test_the_screen_is_locked_as_the_device_says(policy: str, is_locked: bool | None) -> None:
    """Each version's words are understood; what the device does not tell is None."""
    assert screen_state(phone_that_says(AWAKE, policy)).locked is is_locked


@pytest.mark.parametrize(
    ("policy", "is_on"),
    [
        ("      screenState=SCREEN_STATE_OFF\n", False),
        ("      screenState=SCREEN_STATE_ON\n", True),
        ("      interactiveState=INTERACTIVE_STATE_SLEEP\n", False),
        ("    mAwake=true mScreenOnEarly=true mScreenOnFully=true\n", True),
        ("    mAwake=false mScreenOnEarly=false mScreenOnFully=false\n", False),
    ],
)
def test_the_window_manager_knows_what_the_power_manager_does_not_tell(
    policy: str, is_on: bool
) -> None:
    """It is asked in the same round trip anyway."""
    phone = phone_that_says("Display Power: Some$1@8b3e2f1\n", policy + UNLOCKED)

    assert screen_state(phone) == ScreenState(on=is_on, locked=False)
    assert phone.round_trips == 1


@pytest.mark.parametrize(
    ("display", "activities", "state"),
    [
        ("  mGlobalDisplayState=OFF\n", "", ScreenState(on=False)),
        ("    mScreenState=ON\n", "  mKeyguardShowing=false\n", ScreenState(on=True, locked=False)),
        # A foldable, one of whose displays is dark.
        ("  mState=OFF\n  mState=ON\n", "", ScreenState(on=True)),
        ("", "  KeyguardController:\n    mKeyguardShowing=true\n", ScreenState(locked=True)),
        ("", "", ScreenState()),
    ],
)  # fmt: skip
def test_a_second_source_is_asked_where_the_first_tells_nothing(
    display: str, activities: str, state: ScreenState
) -> None:
    """Only then is the state unknown."""
    phone = phone_that_says(display=display, activities=activities)

    assert screen_state(phone) == state
    assert phone.round_trips == 2


def test_one_round_trip_is_enough_where_both_are_told() -> None:
    """Checks between tests stay quick."""
    phone = phone_that_says(AWAKE, UNLOCKED)

    assert screen_state(phone) == ScreenState(on=True, locked=False)
    assert phone.round_trips == 1


def test_a_sleeping_phone_has_its_screen_off(phone: AdbTransport) -> None:
    """The simulated phone tells it as a real one does."""
    awake = screen_state(phone)

    phone.shell("input keyevent KEYCODE_SLEEP")
    deadline = time.monotonic() + 10  # a phone takes a moment to follow a key
    while screen_state(phone).on and time.monotonic() < deadline:
        pass

    assert awake == ScreenState(on=True, locked=False)
    assert screen_state(phone).on is False
