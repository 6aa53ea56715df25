"""The activity manager and ``am``, also known as ``cmd activity``: starts, stops and broadcasts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.android.intents import (
    CATEGORY_HOME,
    FROM_SHELL,
    INCLUDE_STOPPED,
    MAIN,
    NEW_TASK,
    Intent,
    parse_intent,
)
from pytest_clawperator.simulator.android.packages import (
    LAUNCHER,
    OPERATOR_ACTION,
    OPERATOR_PACKAGES,
    OPERATOR_RECEIVER,
    Package,
    component,
)
from pytest_clawperator.simulator.android.processes import (
    UI_AUTOMATION,
    crash,
    kill_package,
    running_processes,
    start_operator,
)
from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    Refused,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)
from pytest_clawperator.simulator.android.settings_store import disable_accessibility_services
from pytest_clawperator.simulator.android.system import AndroidSystem

_USAGE = """Activity manager (activity) commands:
  start-activity [-W] [-S] <INTENT>        (or: start)
  broadcast [--async] <INTENT>
  force-stop <PACKAGE>
  kill <PACKAGE>
  crash <PACKAGE|PID>
  get-current-user
  get-standby-bucket <PACKAGE>
  set-standby-bucket <PACKAGE> active|working_set|frequent|rare|restricted
<INTENT> specifications include these flags and arguments:
    [-a <ACTION>] [-d <DATA_URI>] [-t <MIME_TYPE>] [-c <CATEGORY>]
    [-e|--es <EXTRA_KEY> <EXTRA_STRING_VALUE>] [--ez <EXTRA_KEY> <EXTRA_BOOLEAN_VALUE>]
    [-n <COMPONENT_NAME>] [-p <PACKAGE>] [-f <FLAGS>]
    [<URI> | <PACKAGE> | <COMPONENT>]
"""
_FLAGS = frozenset({"-D", "-N", "-S", "-W", "--async", "--streaming", "--lock-task"})
_WITH_VALUE = frozenset({"-P", "-R", "--user", "--display", "--receiver-permission", "--task"})
_WARNINGS = {
    "top": "Warning: Activity not started, intent has been delivered to currently running"
    " top-most instance.",
    "front": "Warning: Activity not started, its current task has been brought to the front",
}
_CRASH = "android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash"
_BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}
_SHELL_MAY_NOT_SEND = frozenset(
    f"android.intent.action.{name}"
    for name in (
        "AIRPLANE_MODE", "BATTERY_CHANGED", "BATTERY_LOW", "BOOT_COMPLETED", "LOCALE_CHANGED",
        "LOCKED_BOOT_COMPLETED", "PACKAGE_ADDED", "PACKAGE_REMOVED", "PACKAGE_REPLACED",
        "REBOOT", "SCREEN_OFF", "SCREEN_ON", "TIME_SET", "TIMEZONE_CHANGED", "USER_PRESENT",
    )
)  # fmt: skip


# -- The activity manager ------------------------------------------------------------------------


@dataclass(frozen=True)
class Started:
    """An activity that was started: new, from its task, or already on top.

    ``component`` is None if only the screen will show which activity it was.
    """

    component: tuple[str, str] | None
    how: Literal["new", "front", "top"]


def start_activity(system: AndroidSystem, intent: Intent) -> Started | None:
    """Start the activity for an intent; return None if no app takes it."""
    running = set(system.ui.processes.running_packages())
    before = (system.ui.view.foreground_package(), system.ui.view.foreground_activity())
    target = resolve_activity(system, intent)
    if not _open(system, intent, target):
        return None
    if target is None:
        return Started(None, "new")
    package = system.packages.get(target[0])
    if package is not None:
        package.stopped = False
    if before == target:
        return Started(target, "top")
    return Started(target, "front" if target[0] in running else "new")


def resolve_activity(system: AndroidSystem, intent: Intent) -> tuple[str, str] | None:
    """Return the activity that the intent names by component, package or category."""
    if intent.component is not None:
        package = system.packages.get(intent.component[0])
        known = package is not None and intent.component[1] in package.activities
        return intent.component if known else None
    if intent.data is not None:
        return None
    if CATEGORY_HOME in intent.categories:
        return LAUNCHER, f"{LAUNCHER}.NexusLauncherActivity"
    if intent.package is not None and intent.action in (None, MAIN):
        package = system.packages.get(intent.package)
        if package is not None and package.launcher:
            return package.name, package.launcher
    return None


def _open(system: AndroidSystem, intent: Intent, target: tuple[str, str] | None) -> bool:
    if target is None:
        if intent.component is not None:
            return False
        if intent.data is not None:
            return system.ui.links.open_uri(intent.data, package=intent.package)
        return bool(intent.action) and system.ui.launching.start_intent(intent.action or "")
    package, activity = target
    if package == LAUNCHER:
        return system.ui.keys.home()
    if package in OPERATOR_PACKAGES:
        system.operators.start(package)
    return system.ui.launching.start_app(package, activity)


def send_broadcast(system: AndroidSystem, intent: Intent) -> None:
    """Deliver a broadcast to its receivers, if there are any."""
    system.stats.broadcast()
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        if package is not None and _receives(package, intent):
            package.stopped = False
            start_operator(system, name)
            system.operators.receive(name, intent.extras.get("payload"))


def _receives(package: Package, intent: Intent) -> bool:
    if package.stopped and not intent.flags & INCLUDE_STOPPED:
        return False
    if intent.component is not None:
        named = intent.component == (package.name, OPERATOR_RECEIVER)
        return named and intent.action in (None, OPERATOR_ACTION)
    # Since API 26 a receiver in a manifest gets only what is addressed to its package.
    return intent.package == package.name and intent.action == OPERATOR_ACTION


def force_stop(system: AndroidSystem, name: str) -> None:
    """Stop a package; until it is started again it receives no broadcast."""
    if name == UI_AUTOMATION:
        system.faults.clear("ui_automation")
    package = system.packages.get(name)
    if package is None:
        return
    kill_package(system, name)
    if not package.system:
        package.stopped = True
    disable_accessibility_services(system.settings, name)


# -- The command ---------------------------------------------------------------------------------


async def activity_service(call: ServiceCall) -> None:
    """Answer ``cmd activity``, which ``am`` also is."""
    await dispatch(call, _COMMANDS, usage=_USAGE)


def _read(call: ServiceCall) -> tuple[Intent, set[str]]:
    """Parse an intent, and the names of ``am``'s own options."""
    options: set[str] = set()

    def own(option: str) -> bool:
        if option in _WITH_VALUE:
            call.required()
        elif option not in _FLAGS:
            return False
        options.add(option)
        return True

    return parse_intent(call, other_option=own), options


async def _start(call: ServiceCall) -> None:
    intent, options = _read(call)
    waits = "-W" in options
    if "-S" in options:
        target = resolve_activity(call.system, intent) or intent.component
        if target is None:
            raise Refused(f"Error: Intent does not match any activities: {intent}", status=1)
        await call.out(f"Stopping: {target[0]}")
        force_stop(call.system, target[0])
    await call.out(f"Starting: {intent}")
    started_at = call.system.clock()
    started = start_activity(call.system, intent)
    intent.flags |= NEW_TASK
    if started is None:
        raise Refused(_not_started(intent), status=1, on_stdout=waits)
    if started.how in _WARNINGS:
        await (call.out if waits else call.err)(_WARNINGS[started.how])
    if waits:
        if started.how != "top":
            await asyncio.sleep(call.system.ui.launching.delay)
        await _report(call, started, started_at)


def _not_started(intent: Intent) -> str:
    if intent.component is None:
        return f"Error: Activity not started, unable to resolve {intent}"
    package, cls = intent.component
    return f"Error type 3\nError: Activity class {{{package}/{cls}}} does not exist."


async def _report(call: ServiceCall, started: Started, started_at: float) -> None:
    view = call.system.ui.view
    shown = started.component or (view.foreground_package(), view.foreground_activity())
    taken = max(1, round((call.system.clock() - started_at) * 1000))
    await call.out("Status: ok")
    await call.out(f"LaunchState: {'COLD' if started.how == 'new' else 'UNKNOWN (0)'}")
    await call.out(f"Activity: {component(*shown)}")
    if started.how == "new":
        await call.out(f"TotalTime: {taken}")
    await call.out(f"WaitTime: {taken + 2}")
    await call.out("Complete")


async def _broadcast(call: ServiceCall) -> None:
    intent, options = _read(call)
    intent.flags |= FROM_SHELL
    await call.out(f"Broadcasting: {intent}")
    if intent.action in _SHELL_MAY_NOT_SEND:
        raise JavaException(
            "Permission Denial: not allowed to send broadcast "
            f"{intent.action} from pid={call.system.rng.randrange(5000, 30000)}, uid=2000",
            kind="java.lang.SecurityException",
        )
    send_broadcast(call.system, intent)
    if "--async" not in options:
        await call.out("Broadcast completed: result=0")


async def _force_stop(call: ServiceCall) -> None:
    call.options()
    force_stop(call.system, call.required())


async def _kill(call: ServiceCall) -> None:
    call.options()
    name = call.required()
    # What is in front is not a background process, so it stays.
    if name != call.system.ui.view.foreground_package():
        kill_package(call.system, name)


async def _crash(call: ServiceCall) -> None:
    call.options()
    target = call.required()
    for process in running_processes(call.system):
        is_app = call.system.packages.get(process.name) is not None
        if is_app and target in (process.name, str(process.pid)):
            crash(call.system, process.name, _CRASH)


async def _current_user(call: ServiceCall) -> None:
    await call.out("10" if "multi-user" in call.system.quirks else "0")


async def _get_standby_bucket(call: ServiceCall) -> None:
    call.options()
    await call.out(str(call.system.standby_buckets.get(call.required(), _BUCKETS["active"])))


async def _set_standby_bucket(call: ServiceCall) -> None:
    call.options()
    name, word = call.required(), call.required()
    bucket = _BUCKETS[word] if word in _BUCKETS else java_int(word)
    call.system.standby_buckets[name] = bucket


_COMMANDS: Mapping[str, ServiceHandler] = {
    "broadcast": _broadcast,
    "crash": _crash,
    "force-stop": _force_stop,
    "get-current-user": _current_user,
    "get-standby-bucket": _get_standby_bucket,
    "kill": _kill,
    "set-standby-bucket": _set_standby_bucket,
    "start": _start,
    "start-activity": _start,
}
