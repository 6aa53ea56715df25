"""Whether a screen is on and locked."""

from __future__ import annotations

import time

import pytest

from pytest_clawperator.devices.health import ScreenState, screen_state
from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.transport import ScriptedTransport

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
