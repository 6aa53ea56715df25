"""``am``, also known as ``cmd activity``: starts, stops and broadcasts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pytest_clawperator.simulator.android.java import JavaException
from pytest_clawperator.simulator.android.managers.activity_manager import (
    Started,
    force_stop,
    may_broadcast,
    resolve_activity,
    send_broadcast,
    start_activity,
)
from pytest_clawperator.simulator.android.managers.app_processes import (
    crash,
    kill,
    running_processes,
)
from pytest_clawperator.simulator.android.managers.intent import FROM_SHELL, NEW_TASK, Intent
from pytest_clawperator.simulator.android.services.am.standby import (
    get_standby_bucket,
    set_standby_bucket,
)
from pytest_clawperator.simulator.android.services.intent_options import (
    parse_intent,
)
from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    ServiceHandler,
    dispatch,
)
from pytest_clawperator.simulator.android.state.packages import component

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


async def _start(call: ServiceCall) -> int:
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
        kill(call.system, name)
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
    "start": _start,
    "start-activity": _start,
}


async def activity_service(call: ServiceCall) -> int:
    """Answer ``cmd activity``, which is what ``am`` is."""
    return await dispatch(call, _COMMANDS, usage=_USAGE)
