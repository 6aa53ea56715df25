"""What the page shows of a device, as data; texts of others are made safe to show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE
from pytest_clawperator.errors import ClawperatorError, OperatorNotReadyError
from pytest_clawperator.redaction import hide
from pytest_clawperator.remedies import Wording, for_scripts, in_words
from pytest_clawperator.service.leasing import ServiceLease
from pytest_clawperator.service.station import PastRun
from pytest_clawperator.text import visible_line

#: The state of a device that adb listed before and does not list any more.
GONE = "gone"
#: How many executions, and how many actions of each, are shown.
SHOWN_RUNS, SHOWN_ACTIONS = 5, 4

_LONGEST, _LONGEST_MESSAGE = 120, 500
# The words of adb for states in which it waits for the owner of the phone.
_UNAUTHORIZED = ("unauthorized", "authorizing", "no permissions")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known of a device at one moment; ``adb_state`` is the word of adb for it."""

    serial: str
    adb_state: str
    info: DeviceInfo | None = None
    running: Execution | None = None
    lease: ServiceLease | None = None
    holder: Holder | None = None
    past: tuple[PastRun, ...] = ()
    problem: ClawperatorError | None = None

    @property
    def is_held(self) -> bool:
        """Whether somebody has leased it, through this service or not."""
        return self.lease is not None or self.holder is not None

    @property
    def state(self) -> str:
        """The one word for its state."""
        if self.adb_state != USABLE:
            is_refused = self.adb_state.startswith(_UNAUTHORIZED)
            return "unauthorized" if is_refused else "offline"
        if self.running is not None:
            return "busy"
        if self.is_held:
            return "held"
        return "ready" if self.problem is None else "trouble"


def describe(seen: Seen, *, wording: Wording = for_scripts) -> dict[str, Any]:
    """Return what the page shows of a device; hints are in the words of its readers."""
    return {
        "serial": seen.serial,
        "name": line(_name(seen)),
        "about": _about(seen.info),
        "state": seen.state,
        "adbState": line(seen.adb_state),
        "running": None if seen.running is None else _actions(seen.running),
        "holder": _holder(seen),
        "problem": None if seen.problem is None else tell_problem(seen.problem, wording),
        "executions": [_run(past) for past in seen.past[:SHOWN_RUNS]],
    }


def tell_problem(error: ClawperatorError, wording: Wording = for_scripts) -> dict[str, Any]:
    """Return an error as the page shows it."""
    hint = in_words(error.advice, wording)
    return {
        "code": line(str(error.code)),
        "isOperator": isinstance(error, OperatorNotReadyError),
        "message": line(error.message, _LONGEST_MESSAGE),
        "hint": None if hint is None else line(hint, _LONGEST_MESSAGE),
    }


def line(text: str, longest: int = _LONGEST) -> str:
    """Return a text of others as one line that is not too long, with secrets hidden."""
    shown = visible_line(hide(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _name(seen: Seen) -> str:
    info = seen.info
    if info is None or not info.model:
        return seen.serial
    maker = info.manufacturer or ""
    is_repeated = info.model.lower().startswith(maker.lower())
    return info.model if is_repeated else f"{maker} {info.model}"


def _about(info: DeviceInfo | None) -> list[str]:
    """Return what is told of a device besides its name, in a few words each."""
    if info is None:
        return []
    told = [f"Android {info.release}"] if info.release else []
    told += [f"API {info.api_level}"] if info.api_level is not None else []
    told += ["emulator"] if info.emulator else []
    return [line(text) for text in told]


def _holder(seen: Seen) -> dict[str, Any] | None:
    if seen.lease is not None:
        since = seen.lease.since
        return {"who": line(seen.lease.owner), "how": "through this service", "since": since}
    if seen.holder is None:
        return None
    holder = seen.holder
    if not holder.token:
        return {"who": line(str(holder), _LONGEST_MESSAGE), "how": "", "since": None}
    run = f", run {holder.run_id}" if holder.run_id else ""
    return {
        "who": line(f"{holder.owner} on {holder.host}"),
        "how": line(f"process {holder.pid}{run}"),
        "since": _moment(holder.since),
    }


def _moment(text: str) -> float | None:
    """Return a time that somebody wrote, as seconds; None if it is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _run(past: PastRun) -> dict[str, Any]:
    return {
        **_actions(past.execution),
        "at": round(past.ended_at, 3),
        "elapsedMs": round(past.elapsed * 1000),
        "ok": past.code is None,
        "code": None if past.code is None else line(past.code),
        "message": None if past.message is None else line(past.message, _LONGEST_MESSAGE),
    }


def _actions(execution: Execution) -> dict[str, Any]:
    types = [line(action.type) for action in execution.actions]
    return {
        "commandId": line(execution.command_id),
        "actions": types[:SHOWN_ACTIONS],
        "moreActions": max(len(types) - SHOWN_ACTIONS, 0),
    }
