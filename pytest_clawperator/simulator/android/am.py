"""The activity manager and ``am``, also known as ``cmd activity``: starts, stops and broadcasts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.android import settings_store
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
    FAILED,
    JavaException,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)
from pytest_clawperator.simulator.android.system import AndroidSystem

_SHELL_MAY_NOT_SEND = frozenset(
    f"android.intent.action.{name}"
    for name in (
        "AIRPLANE_MODE", "BATTERY_CHANGED", "BATTERY_LOW", "BOOT_COMPLETED", "LOCALE_CHANGED",
        "LOCKED_BOOT_COMPLETED", "PACKAGE_ADDED", "PACKAGE_REMOVED", "PACKAGE_REPLACED",
        "REBOOT", "SCREEN_OFF", "SCREEN_ON", "TIME_SET", "TIMEZONE_CHANGED", "USER_PRESENT",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Started:
    """An activity that was started: anew, from its task, or that was on top already.

    ``component`` is None where only the screen will show which one it was.
    """

    component: tuple[str, str] | None
    how: Literal["new", "front", "top"]


def start_activity(system: AndroidSystem, intent: Intent) -> Started | None:
    """Start the activity for an intent; None where no app takes it."""
    running = set(system.ui.processes.running_packages())
    before = (system.ui.view.foreground_package(), system.ui.view.foreground_activity())
    component = resolve_activity(system, intent)
    if not _start(system, intent, component):
        return None
    if component is None:
        return Started(None, "new")
    package = system.packages.get(component[0])
    if package is not None:
        package.stopped = False
    if before == component:
        return Started(component, "top")
    return Started(component, "front" if component[0] in running else "new")


def resolve_activity(system: AndroidSystem, intent: Intent) -> tuple[str, str] | None:
    """Return the activity that the intent names by component, package or category."""
    if intent.component is not None:
        package = system.packages.get(intent.component[0])
        if package is None:
            return None
        return intent.component if intent.component[1] in package.activities else None
    if intent.data is not None:
        return None
    if CATEGORY_HOME in intent.categories:
        return LAUNCHER, f"{LAUNCHER}.NexusLauncherActivity"
    if intent.package is not None and intent.action in (None, MAIN):
        package = system.packages.get(intent.package)
        if package is not None and package.launcher:
            return package.name, package.launcher
    return None


def _start(system: AndroidSystem, intent: Intent, component: tuple[str, str] | None) -> bool:
    if component is not None:
        return _open(system, *component)
    if intent.component is not None:
        return False
    if intent.data is not None:
        return system.ui.links.open_uri(intent.data, package=intent.package)
    return bool(intent.action) and system.ui.launching.start_intent(intent.action or "")


def _open(system: AndroidSystem, package: str, activity: str) -> bool:
    if package == LAUNCHER:
        return system.ui.keys.home()
    if package in OPERATOR_PACKAGES:
        system.operators.start(package)
    return system.ui.launching.start_app(package, activity)


def may_broadcast(intent: Intent) -> bool:
    """Whether the shell's user may send this; some actions are the system's alone."""
    return intent.action not in _SHELL_MAY_NOT_SEND


def send_broadcast(system: AndroidSystem, intent: Intent) -> None:
    """Deliver a broadcast to its receivers; having none is no error."""
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
    settings_store.disable_accessibility_services(system.settings, name)


_BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}
_USUAL = _BUCKETS["active"]


async def get_standby_bucket(call: ServiceCall) -> int:
    """Print the bucket of an app."""
    if not await call.user_only():
        return FAILED
    await call.out(str(call.system.standby_buckets.get(call.required(), _USUAL)))
    return 0


async def set_standby_bucket(call: ServiceCall) -> int:
    """Put an app into a bucket, by its name or its number."""
    if not await call.user_only():
        return FAILED
    name, word = call.required(), call.required()
    bucket = _BUCKETS[word] if word in _BUCKETS else java_int(word)
    call.system.standby_buckets[name] = bucket
    return 0


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

_WITHOUT_VALUE = frozenset(
    {
        "-D", "-N", "-S", "-W", "--suspend", "--streaming", "--track-allocation",
        "--task-overlay", "--lock-task", "--async", "--allow-background-activity-starts",
        "--splashscreen-show-icon", "--dismiss-keyguard", "--dismiss-keyguard-if-insecure",
    }
)  # fmt: skip

_WITH_VALUE = frozenset(
    {
        "-P", "-R", "--user", "--display", "--start-profiler", "--sampling", "--attach-agent",
        "--attach-agent-bind", "--receiver-permission", "--windowingMode", "--activityType",
        "--task", "--task-display-area-feature-id", "--clock-type", "--allow-fgs-start-reason",
    }
)  # fmt: skip

_WARNINGS = {
    "top": "Warning: Activity not started, intent has been delivered to currently running"
    " top-most instance.",
    "front": "Warning: Activity not started, its current task has been brought to the front",
}


def _read(call: ServiceCall) -> tuple[Intent, set[str]]:
    """Parse an intent, and the names of ``am``'s own options."""
    options: set[str] = set()

    def own(option: str) -> bool:
        if option in _WITH_VALUE:
            call.required()
        elif option not in _WITHOUT_VALUE:
            return False
        options.add(option)
        return True

    return parse_intent(call, other_option=own), options


async def _start_command(call: ServiceCall) -> int:
    intent, options = _read(call)
    if "-S" in options:
        target = resolve_activity(call.system, intent)
        if target is None and intent.component is None:
            await call.err(f"Error: Intent does not match any activities: {intent}")
            return 1
        package = (target or intent.component or ("", ""))[0]
        await call.out(f"Stopping: {package}")
        force_stop(call.system, package)
    await call.out(f"Starting: {intent}")
    started_at = call.system.clock()
    started = start_activity(call.system, intent)
    intent.flags |= NEW_TASK
    complain = call.out if "-W" in options else call.err
    if started is None:
        for line in _not_started(intent):
            await complain(line)
        return 1
    if started.how in _WARNINGS:
        await complain(_WARNINGS[started.how])
    if "-W" in options:
        if started.how != "top":
            await asyncio.sleep(call.system.ui.launching.delay)
        await _report(call, started, started_at)
    return 0


def _not_started(intent: Intent) -> list[str]:
    if intent.component is None:
        return [f"Error: Activity not started, unable to resolve {intent}"]
    package, cls = intent.component
    return ["Error type 3", f"Error: Activity class {{{package}/{cls}}} does not exist."]


async def _report(call: ServiceCall, started: Started, started_at: float) -> None:
    await call.out("Status: ok")
    await call.out(f"LaunchState: {'COLD' if started.how == 'new' else 'UNKNOWN (0)'}")
    ui = call.system.ui
    shown = started.component or (ui.view.foreground_package(), ui.view.foreground_activity())
    await call.out(f"Activity: {component(*shown)}")
    taken = max(1, round((call.system.clock() - started_at) * 1000))
    if started.how == "new":
        await call.out(f"TotalTime: {taken}")
    await call.out(f"WaitTime: {taken + 2}")
    await call.out("Complete")


async def _broadcast(call: ServiceCall) -> int:
    intent, options = _read(call)
    intent.flags |= FROM_SHELL
    await call.out(f"Broadcasting: {intent}")
    if not may_broadcast(intent):
        raise JavaException(
            "Permission Denial: not allowed to send broadcast "
            f"{intent.action} from pid={call.system.rng.randrange(5000, 30000)}, uid=2000",
            kind="java.lang.SecurityException",
        )
    send_broadcast(call.system, intent)
    if "--async" not in options:
        await call.out("Broadcast completed: result=0")
    return 0


async def _force_stop(call: ServiceCall) -> int:
    if not await call.user_only():
        return FAILED
    force_stop(call.system, call.required())
    return 0


async def _kill(call: ServiceCall) -> int:
    if not await call.user_only():
        return FAILED
    name = call.required()
    # What is in front is not a background process, so it stays.
    if name != call.system.ui.view.foreground_package():
        kill_package(call.system, name)
    return 0


async def _crash(call: ServiceCall) -> int:
    if not await call.user_only():
        return FAILED
    target = call.required()
    for process in running_processes(call.system):
        package = call.system.packages.get(process.name)
        if package is not None and target in (process.name, str(process.pid)):
            message = (
                "android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash"
            )
            crash(call.system, process.name, message)
    return 0


async def _current_user(call: ServiceCall) -> int:
    await call.out("10" if "multi-user" in call.system.quirks else "0")
    return 0


_COMMANDS: Mapping[str, ServiceHandler] = {
    "broadcast": _broadcast,
    "crash": _crash,
    "force-stop": _force_stop,
    "get-current-user": _current_user,
    "get-standby-bucket": get_standby_bucket,
    "kill": _kill,
    "set-standby-bucket": set_standby_bucket,
    "start": _start_command,
    "start-activity": _start_command,
}


async def activity_service(call: ServiceCall) -> int:
    """Answer ``cmd activity``, which is what ``am`` is."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
