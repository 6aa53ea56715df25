"""Intents, the activity manager and ``am``: starts, stops and broadcasts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_clawperator.simulator.android import processes
from pytest_clawperator.simulator.android.packages import (
    LAUNCHER,
    OPERATOR_ACTION,
    OPERATOR_PACKAGES,
    OPERATOR_RECEIVER,
    Package,
    component,
    full_class,
)
from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    Refused,
    ServiceCall,
    ServiceHandler,
    java_int,
    not_a_number,
)
from pytest_clawperator.simulator.android.settings_store import disable_accessibility_services
from pytest_clawperator.simulator.android.system import AndroidSystem

MAIN = "android.intent.action.MAIN"

VIEW = "android.intent.action.VIEW"

CATEGORY_LAUNCHER = "android.intent.category.LAUNCHER"

CATEGORY_HOME = "android.intent.category.HOME"

FROM_SHELL = 0x00400000

NEW_TASK = 0x10000000

INCLUDE_STOPPED = 0x00000020


@dataclass
class Intent:
    """An operation, and the app or component that is to perform it."""

    action: str | None = None
    data: str | None = None
    categories: list[str] = field(default_factory=list)
    flags: int = 0
    package: str | None = None
    component: tuple[str, str] | None = None
    extras: dict[str, str | None] = field(default_factory=dict)  # None for other types than text

    def __str__(self) -> str:
        parts = [f"act={self.action}"] if self.action else []
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data is not None:
            parts.append(f"dat={self.data}")
        if self.flags:
            parts.append(f"flg=0x{self.flags:x}")
        if self.package is not None:
            parts.append(f"pkg={self.package}")
        if self.component is not None:
            parts.append(f"cmp={component(*self.component)}")
        if self.extras:
            parts.append("(has extras)")
        return f"Intent {{ {' '.join(parts)} }}"


# Extras that are not text; what their values must look like is up to the app.
_OTHER_EXTRAS = frozenset({"--ei", "--el", "--ef", "--ez", "--eu", "--esa", "--eia"})
# Options about tasks, history and permissions, which make no difference here.
_IGNORED = ("--activity-", "--receiver-", "--grant-", "--exclude-")


def parse_component(text: str) -> tuple[str, str]:
    """Parse ``package/class``; a class that begins with a dot lies in the package."""
    package, slash, cls = text.partition("/")
    if not slash or not cls:
        raise JavaException(f"Bad component name: {text}")
    return package, full_class(package, cls)


def parse_intent(
    call: ServiceCall, *, other_option: Callable[[str], bool] = lambda option: False
) -> Intent:
    """Parse an intent; ``other_option`` handles the command's own options."""
    intent = Intent()
    given = False
    while (option := call.option()) is not None:
        if _intent_option(option, call, intent):
            given = given or not option.startswith("--")
        elif not other_option(option):
            raise JavaException(f"Unknown option: {option}")
    word = call.next()
    if word is not None:
        _fill_in(intent, word)
    elif not given:
        raise JavaException("No intent supplied")
    return intent


def _intent_option(option: str, call: ServiceCall, intent: Intent) -> bool:
    if option == "--include-stopped-packages":
        intent.flags |= INCLUDE_STOPPED
    elif option in ("-e", "--es"):
        key = call.required()
        intent.extras[key] = call.required()
    elif option in _OTHER_EXTRAS:
        intent.extras[call.required()] = None
        call.required()
    elif option == "-a":
        intent.action = call.required()
    elif option == "-d":
        intent.data = call.required()
    elif option == "-t":
        call.required()
    elif option == "-c":
        intent.categories.append(call.required())
    elif option == "-n":
        intent.component = parse_component(call.required())
    elif option == "-p":
        intent.package = call.required()
    elif option == "-f":
        intent.flags = _decode(call.required())
    else:
        return option.startswith(_IGNORED)
    return True


def _fill_in(intent: Intent, word: str) -> None:
    if ":" in word:
        intent.data = intent.data or word
        intent.action = intent.action or VIEW
        return
    if "/" in word:
        intent.component = intent.component or parse_component(word)
    else:
        intent.package = intent.package or word
    intent.action = intent.action or MAIN
    if not intent.categories:
        intent.categories.append(CATEGORY_LAUNCHER)


def _decode(text: str) -> int:
    try:
        return int(text, 0) & 0xFFFFFFFF
    except ValueError:
        raise not_a_number(text) from None


_FLAGS = frozenset({"-W", "--async"})
_WITH_VALUE = frozenset({"--user", "--display"})
_WARNINGS = {
    "top": "Warning: Activity not started, intent has been delivered to currently running"
    " top-most instance.",
    "front": "Warning: Activity not started, its current task has been brought to the front",
}

_CRASH = "android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash"
_BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}
_SHELL_MAY_NOT_SEND = tuple(
    f"android.intent.action.{name}" for name in ("AIRPLANE_MODE", "BATTERY_LOW", "BOOT_COMPLETED")
)


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
    system.stats.broadcasts += 1
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        if package is not None and _receives(package, intent):
            package.stopped = False
            processes.start_operator(system, name)
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
    if name == processes.UI_AUTOMATION:
        system.faults.clear("ui_automation")
    package = system.packages.get(name)
    if package is None:
        return
    processes.kill_package(system, name)
    if not package.system:
        package.stopped = True
    disable_accessibility_services(system.settings, name)


# -- The command ---------------------------------------------------------------------------------


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
        processes.kill_package(call.system, name)


async def _crash(call: ServiceCall) -> None:
    call.options()
    name = call.required()
    running = [process.name for process in processes.running_processes(call.system)]
    if name in running and call.system.packages.get(name) is not None:
        processes.crash(call.system, name, _CRASH)


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


ACTIVITY_COMMANDS: Mapping[str, ServiceHandler] = {
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
"""What ``am`` and ``cmd activity`` take."""
