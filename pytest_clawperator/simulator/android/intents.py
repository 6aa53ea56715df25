"""Intents, and how ``am`` and ``pm`` read them from a command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_clawperator.simulator.android.packages import component, full_class
from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    ServiceCall,
    not_a_number,
)

MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
CATEGORY_LAUNCHER = "android.intent.category.LAUNCHER"
CATEGORY_HOME = "android.intent.category.HOME"
FROM_SHELL = 0x00400000
NEW_TASK = 0x10000000
INCLUDE_STOPPED = 0x00000020
_HIDDEN_SCHEMES = ("tel", "sip", "sms", "smsto", "mailto", "nfc")


@dataclass
class Intent:
    """An operation, and the app or component that is to perform it."""

    action: str | None = None
    data: str | None = None
    type: str | None = None
    identifier: str | None = None
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
            parts.append(f"dat={_safe(self.data)}")
        if self.type is not None:
            parts.append(f"typ={self.type}")
        if self.identifier is not None:
            parts.append(f"id={self.identifier}")
        if self.flags:
            parts.append(f"flg=0x{self.flags:x}")
        if self.package is not None:
            parts.append(f"pkg={self.package}")
        if self.component is not None:
            parts.append(f"cmp={component(*self.component)}")
        if self.extras:
            parts.append("(has extras)")
        return f"Intent {{ {' '.join(parts)} }}"


def _safe(uri: str) -> str:
    """Return an address without its private part, as Android prints it."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        return ""
    if scheme.lower() in _HIDDEN_SCHEMES:
        return f"{scheme}:" + "".join(c if c in "-@." else "x" for c in rest)
    if rest.startswith("//"):
        authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
        return f"{scheme}://{authority.rpartition('@')[2]}/..."
    return f"{scheme}:/..." if rest.startswith("/") else f"{scheme}:"


_FLAG_OPTIONS = {
    "--grant-read-uri-permission": 0x00000001,
    "--grant-write-uri-permission": 0x00000002,
    "--exclude-stopped-packages": 0x00000010,
    "--include-stopped-packages": INCLUDE_STOPPED,
    "--activity-brought-to-front": 0x00400000,
    "--activity-clear-task": 0x00008000,
    "--activity-clear-top": 0x04000000,
    "--activity-exclude-from-recents": 0x00800000,
    "--activity-multiple-task": 0x08000000,
    "--activity-no-animation": 0x00010000,
    "--activity-no-history": 0x40000000,
    "--activity-reorder-to-front": 0x00020000,
    "--activity-single-top": 0x20000000,
    "--receiver-foreground": 0x10000000,
    "--receiver-include-background": 0x01000000,
    "--receiver-registered-only": 0x40000000,
}
# Extras that are not text; what their values must look like is up to the app.
_OTHER_EXTRAS = frozenset(
    {
        "--ei", "--eu", "--ecn", "--eia", "--eial", "--el", "--ela", "--elal", "--ef", "--efa",
        "--efal", "--ed", "--eda", "--edal", "--esa", "--esal", "--ez", "--eb",
    }
)  # fmt: skip


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
            given = given or option not in _FLAG_OPTIONS
        elif not other_option(option):
            raise JavaException(f"Unknown option: {option}")
    word = call.next()
    if word is not None:
        _fill_in(intent, word)
    elif not given:
        raise JavaException("No intent supplied")
    return intent


def _intent_option(option: str, call: ServiceCall, intent: Intent) -> bool:
    if option in _FLAG_OPTIONS:
        intent.flags |= _FLAG_OPTIONS[option]
    elif option in ("-e", "--es"):
        key = call.required()
        intent.extras[key] = call.required()
    elif option in _OTHER_EXTRAS:
        intent.extras[call.required()] = None
        call.required()
    elif option == "--esn":
        intent.extras[call.required()] = None
    elif option == "-a":
        intent.action = call.required()
    elif option == "-d":
        intent.data = call.required()
    elif option == "-t":
        intent.type = call.required()
    elif option == "-i":
        intent.identifier = call.required()
    elif option == "-c":
        intent.categories.append(call.required())
    elif option == "-n":
        intent.component = parse_component(call.required())
    elif option == "-p":
        intent.package = call.required()
    elif option == "-f":
        intent.flags = _decode(call.required())
    else:
        return False
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
