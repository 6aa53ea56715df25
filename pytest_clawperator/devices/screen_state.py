"""Whether a screen is on and locked, in the words of many makers and versions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_clawperator.devices.round_trip import ask_all
from pytest_clawperator.transport.interface import Shell

# Samsung prints the name of the method instead of the field's. A phone that dreams or dozes
# shows something, and takes no touch.
_WAKEFULNESS = re.compile(r"\b(?:m|get)Wakefulness\w*(?:\(\))?=(Awake|Asleep|Dreaming|Dozing)\b")
# Some MediaTek phones print an object here, with no state in it.
_POWER = re.compile(r"^\s*Display Power: state=(\w+)|\bmScreenOn=(true|false)", re.MULTILINE)
_POLICY = re.compile(
    r"\bscreenState=SCREEN_STATE_(\w+)|\binteractiveState=INTERACTIVE_STATE_(\w+)"
    r"|\bmScreenOnFully=(true|false)|\bmAwake=(true|false)"
)
_DISPLAY = re.compile(r"\b(?:mGlobalDisplayState|mScreenState|mState|Display State)=([A-Z]\w+)")
_ON = frozenset({"awake", "on", "true", "vr"})
# A keyguard is told by several parts of the system, not all of which know of each kind of it.
_LOCKED = re.compile(
    r"(?:^\s*showing|\bmIsShowing|\bisStatusBarKeyguard|\bisKeyguardShowing|\bm?KeyguardShowing"
    r"|\bmShowingLockscreen|\bmDreamingLockscreen)=(true|false)\b",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class ScreenState:
    """Whether the screen is on and locked; None where the device does not tell."""

    on: bool | None = None
    locked: bool | None = None


def screen_state(device: Shell, *, timeout: float = 30.0) -> ScreenState:
    """Return whether the screen is on and locked, as far as the device tells.

    Two services are asked; what neither tells, two others are.
    """
    answers = ask_all(
        device, {"power": "dumpsys power", "policy": "dumpsys window policy"}, timeout=timeout
    )
    power, policy = answers["power"].stdout, answers["policy"].stdout
    state = ScreenState(on=_is_on(power, policy), locked=_is_locked(policy))
    if state.on is not None and state.locked is not None:
        return state
    answers = ask_all(
        device,
        {"display": "dumpsys display", "activities": "dumpsys activity activities"},
        timeout=timeout,
    )
    if state.on is None:
        # One display that is on is enough: of a foldable the other is off.
        told = _DISPLAY.findall(answers["display"].stdout)
        state = replace(state, on="ON" in told if told else None)
    if state.locked is None:
        state = replace(state, locked=_is_locked(answers["activities"].stdout))
    return state


def _is_on(power: str, policy: str) -> bool | None:
    for pattern, output in ((_WAKEFULNESS, power), (_POWER, power), (_POLICY, policy)):
        if found := pattern.search(output):
            return next(filter(None, found.groups())).lower() in _ON
    return None


def _is_locked(output: str) -> bool | None:
    told = _LOCKED.findall(output)
    return "true" in told if told else None
