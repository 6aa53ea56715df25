"""A device between two tests: checked, repaired once, or put aside."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_clawperator.devices import health as module
from pytest_clawperator.devices.connection import open_runner
from pytest_clawperator.devices.health import Health, Readiness, ScreenState, screen_state
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
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
from tests.doubles.clock import FakeTime
from tests.doubles.transport import Answer, ScriptedTransport

OPERATOR = "com.clawperator.operator"
GONE = DeviceUnavailableError("the device is offline", serial="PH1")
SILENT = TransportTimeoutError("the device does not answer", serial="PH1")
NOT_INSTALLED = OperatorNotReadyError(
    "the Operator is not installed", code=ErrorCode.OPERATOR_NOT_INSTALLED, serial="PH1"
)
DEAD = OperatorNotReadyError("it is dead", code=ErrorCode.SERVICE_UNAVAILABLE, hint="wait")


@pytest.fixture
def pipeline(phone: AdbTransport, server: AdbServer) -> Iterator[Pipeline]:
    """Connect to the phone."""
    pipeline, _ = open_runner(AdbTransport(server, phone.serial), server=server)
    yield pipeline
    pipeline.close()


class TestEnsure:
    """A device that is checked, and repaired if necessary."""

    def test_a_healthy_device_is_left_alone(self, pipeline: Pipeline, phone: AdbTransport) -> None:
        """Nothing is reported; a screen that is off is woken."""
        said: list[str] = []
        health = Health(pipeline, notify=said.append)

        health.ensure()
        healthy = list(said)
        phone.shell("input keyevent KEYCODE_SLEEP")
        health.ensure()

        assert healthy == []
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
                Health(pipeline, notify=said.append).ensure()

        assert said == ["the screen is locked, so it was woken and its lock dismissed"]

    @pytest.mark.parametrize(
        ("power", "policy", "message", "hint"),
        [
            ("Asleep", "false", "the screen is off, and waking it did", "Security settings"),
            ("Awake", "true", "the screen is locked, and waking it did", "lock to None or Swipe"),
        ],
    )
    def test_a_screen_that_stays_off_or_locked_is_an_error(
        self, power: str, policy: str, message: str, hint: str
    ) -> None:
        """The hint names the option of a phone that guards keys, or the lock to change."""
        refused = ShellResult("", "SecurityException: ... the INJECT_EVENTS permission.", 255)
        transport = phone_that_prints(f"  mWakefulness={power}\n", f"      showing={policy}\n")
        transport.answers["input keyevent KEYCODE_WAKEUP; wm dismiss-keyguard"] = refused
        pipeline = SimpleNamespace(transport=transport, shell=transport.shell)

        with pytest.raises(DeviceUnavailableError, match=message) as caught:
            module.awaken_screen(cast("Pipeline", pipeline), notify=lambda _: None)

        assert hint in str(caught.value.hint)

    @pytest.mark.parametrize(
        ("faults", "codes"),
        [
            ("sim fault operator_crash times=1", ["OPERATOR_CRASHED"]),
            (
                "sim fault operator_crash times=1; sim fault offline ms=700",
                ["DEVICE_OFFLINE", "OPERATOR_CRASHED"],
            ),
        ],
    )
    def test_each_trouble_is_repaired(
        self,
        pipeline: Pipeline,
        phone: AdbTransport,
        server: AdbServer,
        faults: str,
        codes: list[str],
    ) -> None:
        """A crashed Operator is restarted, and a device that went away is waited for."""
        said: list[str] = []
        phone.shell(faults)
        deadline = time.monotonic() + 10
        while "offline" in faults and dict(server.devices()).get(phone.serial) != "offline":
            assert time.monotonic() < deadline

        Health(pipeline, notify=said.append).ensure()

        failed = [line for line in said if line.startswith("the device failed its check: ")]
        assert [line.split(": ")[1] for line in failed] == codes
        waiting = "waiting up to 10 s for the device to come back"
        assert (waiting in said) == ("DEVICE_OFFLINE" in codes)
        assert said[-1] == "the device works again"

    def test_a_service_that_stays_dead_is_left_to_people(
        self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each kind of trouble is repaired once; the error says what to do by hand."""
        said: list[str] = []
        troubles = iter([DEAD, GONE, DEAD, DEAD])
        health = Health(pipeline, notify=said.append)
        monkeypatch.setattr(health, "check", lambda: raise_next(troubles))

        with pytest.raises(OperatorNotReadyError) as caught:
            health.ensure()

        assert next(troubles, None) is None
        assert str(caught.value.hint).startswith("Switching its service on did not help: ")
        assert said[-1] == "the device failed its check again and is put aside"

    def test_a_device_in_use_by_another_run_is_not_put_aside(
        self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is healthy, so the conflict is raised and nothing more."""
        troubles = iter([GONE, ExecutionConflictError("in flight")])
        health = Health(pipeline, notify=lambda _: None)
        monkeypatch.setattr(health, "check", lambda: raise_next(troubles))

        with pytest.raises(ExecutionConflictError):
            health.ensure()

        assert not health.is_put_aside

    def test_a_device_that_fails_twice_is_put_aside(
        self, pipeline: Pipeline, phone: AdbTransport
    ) -> None:
        """It is not asked again, and every later check raises the reason."""
        phone.shell(f"pm uninstall {OPERATOR}")
        health = Health(pipeline, notify=lambda _: None)

        with pytest.raises(OperatorNotReadyError) as first:
            health.ensure()
        phone.shell("sim reset")
        with pytest.raises(DeviceUnavailableError, match="put aside, because it failed") as second:
            health.ensure()

        assert first.value.code is second.value.code is ErrorCode.OPERATOR_NOT_INSTALLED


def raise_next(errors: Iterator[ClawperatorError]) -> None:
    """Raise the next of these errors."""
    raise next(errors)


class TestWaiting:
    """A device that went away, or is still starting."""

    @pytest.mark.parametrize(
        ("trouble", "until", "waited"),
        [
            (GONE, 3, 3),
            (GONE, 999, module.RETURN_WITHIN),
            (SILENT, 999, module.ANSWER_AGAIN_WITHIN),
        ],
        ids=["comes back", "stays away", "is connected and does not answer"],
    )
    def test_a_device_is_asked_until_it_answers(
        self, trouble: ClawperatorError, until: float, waited: float
    ) -> None:
        """The wait ends with the first answer; after the timeout the last error is raised."""
        fake = FakeTime()

        def answer(_: str) -> str:
            if fake.now < until:
                raise trouble
            return ""

        with pytest.raises(type(trouble)) if until > 9 else nullcontext():
            module.await_return(
                ScriptedTransport({"true": answer}), clock=lambda: fake.now, pause=fake.wait
            )

        assert waited <= fake.now < waited + 1

    @pytest.mark.parametrize(("up_at", "waited"), [(0, 0), (7, 7), (999, 20)])
    def test_a_starting_device_is_waited_for(self, up_at: float, waited: float) -> None:
        """The wait lasts until it has started or the timeout is over, and is reported."""
        fake = FakeTime()
        said: list[str] = []
        transport = ScriptedTransport(
            {"getprop sys.boot_completed": lambda _: "1\n" if fake.now >= up_at else "0\n"}
        )

        module.await_boot(
            transport,
            OPERATOR,
            notify=said.append,
            timeout=20,
            clock=lambda: fake.now,
            pause=fake.wait,
        )

        assert waited <= fake.now <= waited + 1
        notice = "the device is still starting; waiting up to 20 s for it"
        assert said == ([notice] if up_at else [])


FAILED = "the device failed its check: DEVICE_OFFLINE: the device is offline"
WAITED = [FAILED, "waiting up to 10 s for the device to come back", "reconnect", "connect"]


@pytest.mark.parametrize(
    ("outcomes", "done"),
    [
        ([GONE, "connected"], [*WAITED, "the device works again", "connected"]),
        ([GONE, GONE, ""], [*WAITED, "the device failed its check again and is put aside"]),
        ([NOT_INSTALLED, "connected"], []),
        ([LeaseError("held", serial="PH1"), "connected"], []),
    ],
    ids=["comes back", "fails twice", "lacks the Operator", "is in use"],
)
def test_a_device_that_is_away_is_connected_once_more(
    outcomes: list[Exception | str], done: list[str]
) -> None:
    """It is reported, waited for and connected again; other troubles are raised immediately."""
    happened: list[str] = []

    def attempt() -> str:
        happened.append("connect")
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with suppress(ClawperatorError):
        connected = module.connect_healed(
            attempt,
            ScriptedTransport({"true": ""}),
            OPERATOR,
            notify=happened.append,
            reconnect=lambda: happened.append("reconnect"),
        )
        happened.append(connected)

    assert happened == ["connect", *done]


SERVICE = f"{OPERATOR}/clawperator.operator.accessibilityservice.OperatorAccessibilityService"
DUMP = "  versionName=0.5.3\n  User 0: ceDataInode=1 installed=true stopped=false\n"
READY: dict[Any, Answer] = {
    "getprop sys.boot_completed": "1\n",
    f"pm list packages {OPERATOR}": f"package:{OPERATOR}\n",
    "settings get secure enabled_accessibility_services": f"a.b/.C:{SERVICE}\n",
    "settings get secure accessibility_enabled": "1\n",
    f"dumpsys package {OPERATOR}": DUMP,
    "am get-current-user": "0\n",
}
BOOT, PACKAGES, SERVICES, SWITCH, DETAILS, CURRENT = READY


def test_a_ready_device_is_read_in_one_round_trip() -> None:
    """One shell command answers everything, the processes included."""
    dump = f"  Package [{OPERATOR}] (1a):\n    appId=10145\n{DUMP}"
    listed = "USER PID\nsystem 700\nu0_a145 4242\n"
    transport = ScriptedTransport({**READY, DETAILS: dump, PROCESSES_COMMAND: listed})

    found = module.check_ready(transport, OPERATOR)

    assert found == Readiness(
        booted=True,
        installed=frozenset({OPERATOR}),
        service_on=True,
        stopped=False,
        version="0.5.3",
        processes=Processes(10145, frozenset({4242}), frozenset({700})),
        user=0,
    )
    assert transport.round_trips == 1


def test_unknown_answers_are_not_errors() -> None:
    """A command that the device does not answer is no reason to fail; warnings are skipped."""
    unknown = (
        ShellResult("", "", 127),
        ShellResult("", "cmd: Can't find service: x\n", 20),
        ShellResult("", "java.lang.SecurityException: no\n", 255),
    )
    for question in READY:
        for answer in unknown:
            module.check_ready(ScriptedTransport({**READY, question: answer}), OPERATOR)
    noise = "WARNING: linker: libfoo.so has text relocations: x:y\n"
    noisy = {key: f"{noise}{value}" for key, value in READY.items()}

    found = module.check_ready(ScriptedTransport(noisy), OPERATOR)

    assert (found.booted, found.service_on) == (True, True)
    assert module.check_ready(ScriptedTransport(), OPERATOR) == Readiness()


NOT_RUNNING = ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING


@pytest.mark.parametrize(
    ("question", "answer", "code", "text"),
    [
        (PACKAGES, "", ErrorCode.OPERATOR_NOT_INSTALLED, "operator_apk="),
        (PACKAGES, f"package:{OPERATOR}.dev\n", ErrorCode.OPERATOR_VARIANT_MISMATCH, ".dev"),
        (SERVICES, "null\n", NOT_RUNNING, "grant=True"),
        (SERVICES, "\n", NOT_RUNNING, "by hand"),
        (SERVICES, f"x{SERVICE}\n", NOT_RUNNING, "switched off"),
        (SWITCH, "0\n", NOT_RUNNING, "grant=True"),
        (SWITCH, "null\n", NOT_RUNNING, "switched off"),
        (DETAILS, DUMP.replace("stopped=false", "stopped=true"), NOT_RUNNING, "was force-stopped"),
    ],
)
def test_what_keeps_the_operator_from_working_is_raised(
    question: Any, answer: str, code: ErrorCode, text: str
) -> None:
    """Each reason has its code, and a hint that says what to do."""
    transport = ScriptedTransport({**READY, question: answer})

    with pytest.raises(OperatorNotReadyError) as caught:
        module.check_ready(transport, OPERATOR)

    assert (caught.value.code, caught.value.serial) == (code, "PH1")
    assert text in str(caught.value)


def test_a_starting_device_is_not_blamed_on_its_operator() -> None:
    """A device that has not finished starting is unavailable, whatever its Operator is."""
    no_service = ShellResult("cmd: Can't find service: package\n", "", 20)
    warning = "WARNING: linker: x\n\n"

    for booted, packages in (("0\n", ""), ("\n", no_service), (warning, no_service)):
        transport = ScriptedTransport({**READY, BOOT: booted, PACKAGES: packages})
        with pytest.raises(DeviceUnavailableError, match="has not finished starting"):
            module.check_ready(transport, OPERATOR)


#: A phone with three users, as ``dumpsys package`` lists them for an app.
THREE_USERS = (
    f"  Package [{OPERATOR}] (1a2b):\n    appId=10145\n"
    "    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=true\n"
    "    User 10: ceDataInode=0 installed=true hidden=false suspended=false stopped=false\n"
    "    User 11: ceDataInode=0 installed=false hidden=false suspended=false stopped=true\n"
)


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("0\n", NOT_RUNNING),
        ("10\n", None),
        ("11\n", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("12\n", None),  # the device does not report it
        (ShellResult("", "Error: unknown command 'get-current-user'\n", 255), None),
    ],
)
def test_the_operator_of_the_current_user_counts(
    user: str | ShellResult, code: ErrorCode | None
) -> None:
    """Users whose screen is not shown neither help nor harm."""
    transport = ScriptedTransport({**READY, DETAILS: THREE_USERS, CURRENT: user})

    found = None
    try:
        module.check_ready(transport, OPERATOR)
    except OperatorNotReadyError as error:
        found = error

    assert (found.code if found else None) == code
    assert ("for user 11" in str(found)) == (user == "11\n")


def test_a_booting_phone_is_recognised(phone: AdbTransport) -> None:
    """While its services are not up, nothing else is known."""
    phone.shell("sim fault booting")

    assert module.read_readiness(phone, OPERATOR) == Readiness(booted=False)


def test_a_malformed_package_name_is_refused() -> None:
    """It never reaches the shell."""
    transport = ScriptedTransport()

    with pytest.raises(ConfigurationError, match="is not the name of an Android package"):
        module.check_ready(transport, "a.b; reboot")

    assert transport.calls == []


#: What ``dumpsys power`` prints, on which phone, and whether the screen is on.
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

#: What ``dumpsys window policy`` prints about the keyguard, and whether the screen is locked.
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


def phone_that_prints(power: str = "", policy: str = "", **others: str) -> ScriptedTransport:
    """Return a phone whose services print this."""
    return ScriptedTransport(
        {
            "dumpsys power": power,
            "dumpsys window policy": policy,
            "dumpsys display": others.get("display", ""),
            "dumpsys activity activities": others.get("activities", ""),
        }
    )


@pytest.mark.parametrize(
    ("power", "policy", "state"),
    [
        *((power, UNLOCKED, ScreenState(on=is_on, locked=False)) for power, is_on in POWER),
        *((AWAKE, policy, ScreenState(on=True, locked=locked)) for policy, locked in POLICY),
    ],
)
def test_the_words_of_each_maker_are_understood(
    power: str, policy: str, state: ScreenState
) -> None:
    """What the device does not report is None; one round trip is enough if it reports all."""
    phone = phone_that_prints(power, policy)

    assert screen_state(phone) == state
    assert phone.round_trips == 1 + (None in (state.on, state.locked))


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
def test_the_window_manager_completes_the_power_manager(policy: str, is_on: bool) -> None:
    """It is asked in the same round trip anyway."""
    phone = phone_that_prints("Display Power: Some$1@8b3e2f1\n", policy + UNLOCKED)

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
def test_a_second_source_is_asked_if_the_first_reports_nothing(
    display: str, activities: str, state: ScreenState
) -> None:
    """Only then is the state unknown."""
    phone = phone_that_prints(display=display, activities=activities)

    assert screen_state(phone) == state
    assert phone.round_trips == 2
