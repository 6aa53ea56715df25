"""``sim``: the one command that a real phone does not have. It sets faults and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.log_buffer import Chatter
from pytest_clawperator.simulator.android.processes import app_hangs, die
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.faults import FAULTS, Fault, Faults, parse_fault
from pytest_clawperator.simulator.operator.app import OperatorHost
from pytest_clawperator.simulator.operator.command import PROFILES
from pytest_clawperator.simulator.screen.accessibility import UiNode, role_of
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.shell.shell import Command, Invocation

_HELP = """usage: sim COMMAND
  fault NAME [times=N] [OPTION=VALUE ...]   let something go wrong: N times (a retry
                                            is another time), or until cleared
  fault clear [NAME]                        set one fault right, or all of them
  fault list                                list the faults that are on
  stats                                     print the counters as one line of JSON
  stats reset                               set the counters back
  chatter [LINES_PER_SECOND]                set how much other processes log; 0 is silence
  anr PACKAGE                               let an app hang, with the dialog that says so
  crash PACKAGE [native]                    crash an app by an exception, or in native code
  die PACKAGE                               let the process of an app end by itself
  alert TITLE                               show a dialog of the system, as for a low battery
  allow installs                            answer the prompts of a phone that asks before
                                            an app is installed, as a person would
  screen                                    print an outline of what is on the screen
  profile [NAME]                            have the Operator behave as in: {profiles}
  reset                                     set everything back as it was at the start
  help                                      print this
Faults and their options:
"""

_CRASHES = {
    "exception": "java.lang.IllegalStateException: crashed on demand",
    "native": "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0000000000000000",
}


class Simulated(Protocol):
    """What the command needs of the phone."""

    system: AndroidSystem
    chatter: Chatter
    operators: OperatorHost

    def set_fault(self, fault: Fault) -> None:
        """Switch a fault on."""

    def clear_faults(self, name: str | None = None) -> None:
        """Switch one fault off, or all of them."""

    def reset(self) -> None:
        """Set everything back as it was at the start."""


def make_sim(device: Simulated) -> Command:
    """Return the command for one phone."""

    async def sim(invocation: Invocation) -> int:
        words = invocation.args[1:]
        name = words[0] if words else "help"
        try:
            if name not in _PARTS:
                raise ConfigurationError(
                    f"there is no command {name!r}", hint=f"Commands: {', '.join(_PARTS)}."
                )
            part, most = _PARTS[name]
            if len(words) - 1 > most:
                raise ConfigurationError(
                    f"{words[most + 1]!r} is one word too many",
                    hint="'sim help' shows what is allowed.",
                )
            answer = part(device, words[1:])
        except ConfigurationError as problem:
            await invocation.err(f"sim: {problem.message}. {problem.hint or ''}".rstrip() + "\n")
            return 1
        if answer:
            await invocation.out(answer)
        return 0

    return sim


def _fault(device: Simulated, words: list[str]) -> str:
    if words[:1] == ["list"]:
        return "".join(f"{line}\n" for line in _active(device.system.faults))
    if words[:1] == ["clear"]:
        if len(words) > 1:
            parse_fault(words[1:])
        device.clear_faults(words[1] if len(words) > 1 else None)
        return ""
    if not words:
        return "".join(_fault_table())
    device.set_fault(parse_fault(words))
    return ""


def _active(faults: Faults) -> Iterator[str]:
    for fault in faults.all():
        times = [] if fault.left is None else [f"times={fault.left}"]
        options = [f"{key}={value}" for key, value in fault.options.items()]
        yield " ".join([fault.name, *times, *options])


def _fault_table() -> Iterator[str]:
    for name, (options, meaning) in sorted(FAULTS.items()):
        shown = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
        yield f"  {shown:<42}{meaning}\n"


def _stats(device: Simulated, words: list[str]) -> str:
    if words == ["reset"]:
        device.system.stats.reset()
        return ""
    return device.system.stats.as_json() + "\n"


def _chatter(device: Simulated, words: list[str]) -> str:
    if not words:
        return f"{device.chatter.rate:g}\n"
    try:
        rate = float(words[0])
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 10_000:
        raise ConfigurationError(
            f"{words[0]!r} is not a rate", hint="Give lines per second, from 0 to 10000."
        )
    device.chatter.rate = rate
    return ""


def _anr(device: Simulated, words: list[str]) -> str:
    if not words:
        raise ConfigurationError("no package is named", hint="Write: sim anr com.example.shop.")
    app_hangs(device.system, words[0], "Input dispatching timed out")
    device.system.ui.launching.hang(words[0])
    return ""


def _crash(device: Simulated, words: list[str]) -> str:
    kind = words[1] if len(words) > 1 else "exception"
    if not words or kind not in _CRASHES:
        raise ConfigurationError(
            f"sim {' '.join(['crash', *words])} does not say what crashes, or how",
            hint="Write: sim crash com.example.shop, or sim crash com.example.shop native.",
        )
    if not device.system.ui.launching.crash_app(words[0], _CRASHES[kind]):
        raise ConfigurationError(f"there is no app {words[0]!r}", hint="See: pm list packages.")
    return ""


def _die(device: Simulated, words: list[str]) -> str:
    if not words:
        raise ConfigurationError("no package is named", hint="Write: sim die com.example.shop.")
    die(device.system, words[0])
    return ""


def _alert(device: Simulated, words: list[str]) -> str:
    if not words:
        raise ConfigurationError("the dialog has no title", hint="Write: sim alert Battery low.")
    device.system.ui.launching.alert(" ".join(words))
    return ""


def _allow(device: Simulated, words: list[str]) -> str:
    if words != ["installs"]:
        raise ConfigurationError("only installs can be allowed", hint="Write: sim allow installs.")
    device.system.allows_installs = True
    return ""


def _screen(device: Simulated, words: list[str]) -> str:
    return outline(device.system.ui)


def _profile(device: Simulated, words: list[str]) -> str:
    if not words:
        return f"{device.operators.profile}\n"
    for known in PROFILES:
        if known == words[0]:
            device.operators.profile = known
            return ""
    raise ConfigurationError(
        f"there is no profile {words[0]!r}", hint=f"Profiles: {', '.join(PROFILES)}."
    )


def _reset(device: Simulated, words: list[str]) -> str:
    device.reset()
    return ""


def _help(device: Simulated, words: list[str]) -> str:
    return _HELP.format(profiles=", ".join(PROFILES)) + "".join(_fault_table())


def outline(ui: PhoneUi) -> str:
    """Describe the screen: every window from the top one down, and in it what has a name."""
    lines = [f"{ui.view.foreground_package()}/{ui.view.foreground_activity()}"]
    for window in reversed(ui.view.windows()):
        active = ", active" if window.active else ""
        lines.append(f"{window.type} window of {window.package}{active}")
        lines += _outline(window.root, 1)
    return "".join(f"{line}\n" for line in lines)


def _outline(node: UiNode, depth: int) -> Iterator[str]:
    named = bool(node.label or node.resource_id or node.editable or node.scrollable)
    if named:
        yield "  " * depth + _described(node)
    for child in node.children:
        yield from _outline(child, depth + named)


def _described(node: UiNode) -> str:
    parts = [role_of(node)]
    if node.text:
        parts.append(repr(node.text))
    if node.content_desc:
        parts.append(f"desc={node.content_desc!r}")
    if node.resource_id:
        parts.append(f"id={node.resource_id}")
    parts += [name for name in ("checked", "focused", "selected") if getattr(node, name)]
    parts += [] if node.enabled else ["disabled"]
    left, top, right, bottom = node.bounds
    return f"{' '.join(parts)} [{left},{top}][{right},{bottom}]"


# What each command does, and how many words it takes at most.
_PARTS: Mapping[str, tuple[Callable[[Simulated, list[str]], str], int]] = {
    "fault": (_fault, 9),
    "stats": (_stats, 1),
    "chatter": (_chatter, 1),
    "anr": (_anr, 1),
    "crash": (_crash, 2),
    "die": (_die, 1),
    "alert": (_alert, 9),
    "allow": (_allow, 1),
    "screen": (_screen, 0),
    "profile": (_profile, 1),
    "reset": (_reset, 0),
    "help": (_help, 0),
}
