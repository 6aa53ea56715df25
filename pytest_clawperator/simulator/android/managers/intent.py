"""Intents: an operation, and the app that is to perform it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_clawperator.simulator.android.state.packages import component

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
    extras: dict[str, str | None] = field(default_factory=dict)  # None for what is no text

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
