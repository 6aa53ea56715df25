"""``sim``: the one command that a real phone has not; it makes things go wrong and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.faults import FAULTS, Fault, Faults
from pytest_clawperator.simulator.operator.steps.run import Profile
from pytest_clawperator.simulator.screen.hierarchy import role_of
from pytest_clawperator.simulator.screen.nodes import UiNode
from pytest_clawperator.simulator.screen.ui import Ui
from pytest_clawperator.simulator.shell.shell import Command, Invocation
from pytest_clawperator.simulator.stats import Stats

PROFILES: tuple[Profile, ...] = ("documented", "0.5.3")
"""Whose habits the Operator can have."""

LASTING_FAULTS = ("offline", "unauthorized")
"""Faults that keep hosts out, and so could not be cleared through a shell: they last a time."""

_DISCONNECT_AFTER = ("execution", "now")
_HELP = """usage: sim COMMAND
  fault NAME [times=N] [OPTION=VALUE ...]   let something go wrong: N times (a retry
                                            is another time), or until cleared
  fault clear [NAME]                        set one fault right, or all of them
  fault list                                list the faults that are on
  stats                                     print the counters as one line of JSON
  stats reset                               set the counters back
  chatter [LINES_PER_SECOND]                let other processes log so much; 0 is silence
  screen                                    print an outline of what is on the screen
  profile [NAME]                            have the Operator behave as in: {profiles}
  reset                                     set everything back as it was at the start
  help                                      print this
Faults and their options:
"""


class Simulated(Protocol):
    """What the command needs of the phone."""

    @property
    def faults(self) -> Faults:
        """What goes wrong on it."""

    @property
    def stats(self) -> Stats:
        """What was counted."""

    @property
    def ui(self) -> Ui:
        """Its screen."""

    chatter_rate: float
    profile: Profile

    def set_fault(self, request: FaultRequest) -> Fault:
        """Let something go wrong from now on."""

    def clear_faults(self, name: str | None = None) -> None:
        """Set one fault right, or all of them."""

    def reset(self) -> None:
        """Set everything back as it was at the start."""


@dataclass(frozen=True)
class FaultRequest:
    """A fault, for how many occasions, and its options."""

    name: str
    times: int | None
    options: Mapping[str, str]


def parse_fault(words: Sequence[str]) -> FaultRequest:
    """Read ``NAME [times=N] [OPTION=VALUE ...]``; a mistake is a ConfigurationError."""
    name = words[0] if words else ""
    if name not in FAULTS:
        raise ConfigurationError(
            f"there is no fault {name!r}", hint=f"Known faults: {', '.join(sorted(FAULTS))}."
        )
    times: int | None = None
    options: dict[str, str] = {}
    lasting = name in LASTING_FAULTS
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            raise ConfigurationError(
                f"{word!r} is no option", hint="Options are written as key=value, e.g. times=1."
            )
        if key == "times" and lasting:
            raise ConfigurationError(
                f"fault {name!r} has no occasions to count",
                hint="Say how long it lasts instead: ms=2000; without it, to the end.",
            )
        if key == "times":
            times = _times(value)
        else:
            options[key] = _option(name, key, value)
    return FaultRequest(name, times, options)


def _times(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or not 1 <= len(value) <= 9 or int(value) < 1:
        raise ConfigurationError(
            f"times={value} is no number of occasions",
            hint="times takes a whole number from 1; without it the fault stays until cleared.",
        )
    return int(value)


def _option(name: str, key: str, value: str) -> str:
    defaults, _ = FAULTS[name]
    if key not in defaults:
        allowed = ", ".join(["times", *defaults])
        raise ConfigurationError(
            f"fault {name!r} has no option {key!r}", hint=f"Its options: {allowed}."
        )
    is_number = defaults[key].isdigit()
    if is_number and not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise ConfigurationError(
            f"{key}={value} is no whole number", hint=f"The default is {key}={defaults[key]}."
        )
    if (name, key) == ("disconnect", "after") and value not in _DISCONNECT_AFTER:
        raise ConfigurationError(
            f"a disconnect after {value!r} is not possible",
            hint=f"Allowed: {', '.join(_DISCONNECT_AFTER)}.",
        )
    return value


def make_sim(device: Simulated) -> Command:
    """Give the command for one phone."""

    async def sim(invocation: Invocation) -> int:
        words = invocation.args[1:]
        name = words[0] if words else "help"
        part = _PARTS.get(name)
        try:
            if part is None:
                raise ConfigurationError(
                    f"there is no command {name!r}", hint=f"Commands: {', '.join(_PARTS)}."
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
        _no_more(words[1:])
        return "".join(f"{line}\n" for line in _active(device.faults))
    if words[:1] == ["clear"]:
        _no_more(words[2:])
        if len(words) == 2:
            parse_fault(words[1:])
        device.clear_faults(words[1] if len(words) == 2 else None)
        return ""
    if not words:
        return "".join(_fault_table())
    device.set_fault(parse_fault(words))
    return ""


def _active(faults: Faults) -> Iterator[str]:
    for name in faults.names():
        fault = faults.active(name)
        if fault is not None:
            times = [] if fault.left is None else [f"times={fault.left}"]
            options = [f"{key}={value}" for key, value in fault.options.items()]
            yield " ".join([name, *times, *options])


def _fault_table() -> Iterator[str]:
    for name, (options, meaning) in sorted(FAULTS.items()):
        shown = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
        yield f"  {shown:<42}{meaning}\n"


def _stats(device: Simulated, words: list[str]) -> str:
    if words == ["reset"]:
        device.stats.reset()
        return ""
    _no_more(words)
    return device.stats.as_json() + "\n"


def _chatter(device: Simulated, words: list[str]) -> str:
    _no_more(words[1:])
    if not words:
        return f"{device.chatter_rate:g}\n"
    try:
        rate = float(words[0])
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 10_000:
        raise ConfigurationError(
            f"{words[0]!r} is no rate", hint="Give lines per second, from 0 to 10000."
        )
    device.chatter_rate = rate
    return ""


def _screen(device: Simulated, words: list[str]) -> str:
    _no_more(words)
    return outline(device.ui)


def outline(ui: Ui) -> str:
    """Describe the screen: every window from the top one down, and in it what has a name."""
    lines = [f"{ui.foreground_package()}/{ui.foreground_activity()}"]
    for window in reversed(ui.windows()):
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


def _profile(device: Simulated, words: list[str]) -> str:
    _no_more(words[1:])
    if not words:
        return f"{device.profile}\n"
    for known in PROFILES:
        if known == words[0]:
            device.profile = known
            return ""
    raise ConfigurationError(
        f"there is no profile {words[0]!r}", hint=f"Profiles: {', '.join(PROFILES)}."
    )


def _reset(device: Simulated, words: list[str]) -> str:
    _no_more(words)
    device.reset()
    return ""


def _help(device: Simulated, words: list[str]) -> str:
    return _HELP.format(profiles=", ".join(PROFILES)) + "".join(_fault_table())


def _no_more(words: Sequence[str]) -> None:
    if words:
        raise ConfigurationError(
            f"{words[0]!r} is one word too many", hint="'sim help' shows what is allowed."
        )


_PARTS: Mapping[str, Callable[[Simulated, list[str]], str]] = {
    "fault": _fault,
    "stats": _stats,
    "chatter": _chatter,
    "screen": _screen,
    "profile": _profile,
    "reset": _reset,
    "help": _help,
}
