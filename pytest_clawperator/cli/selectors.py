"""The flags of commands that say which element or container is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.contracts.matchers import (
    FLAG_FIELDS,
    FLAG_SPELLINGS,
    FlagKind,
    parse_selector_flags,
)
from pytest_clawperator.errors import ErrorCode

_HELP: Mapping[str, str] = {
    "text": "Its text.",
    "text-contains": "A part of its text.",
    "id": "Its resource id, such as com.example:id/ok.",
    "desc": "Its content description.",
    "desc-contains": "A part of its content description.",
    "role": "Its role, such as button.",
    "selector": "A whole matcher as JSON, instead of the others.",
}


class SelectorOption(click.Option):
    """A flag that is taken from the command line before click sees it."""

    kind: FlagKind


@dataclass(frozen=True)
class Selectors:
    """The flags for an element or a container; ``without`` are those that mean something else.

    The command gets the matcher as ``parameter``.
    """

    kind: FlagKind = "element"
    without: frozenset[str] = frozenset()

    @property
    def parameter(self) -> str:
        """The name under which the command gets the matcher."""
        return "matcher" if self.kind == "element" else "container"

    def as_parameters(self) -> list[SelectorOption]:
        """Return the flags for help and completion."""
        return [self._option(name) for name in _HELP if self._has(name)]

    def take(self, words: Sequence[str]) -> tuple[dict[str, Any] | None, list[str]]:
        """Return the matcher that the flags describe, None without any, and the other words."""
        ours = [flag for name in _HELP if self._has(name) for flag in self._spellings(name)]
        end = words.index("--") if "--" in words else len(words)
        mine: list[str] = []
        others: list[str] = []
        place = 0
        while place < end:
            flag, equals, value = words[place].partition("=")
            if flag not in ours:
                others.append(words[place])
                place += 1
            elif equals:
                mine += [flag, value]
                place += 1
            else:
                has_value = place + 1 < end and not words[place + 1].startswith("-")
                mine += words[place : place + 1 + has_value]
                place += 1 + has_value
        matcher = parse_selector_flags(mine, self.kind) if mine else None
        return matcher, [*others, *words[end:]]

    def _has(self, name: str) -> bool:
        return name not in self.without

    def _spellings(self, name: str) -> list[str]:
        others = [other for other, meant in FLAG_SPELLINGS.items() if meant == name]
        prefix = "--" if self.kind == "element" else "--container-"
        return [f"{prefix}{spelling}" for spelling in (name, *others)]

    def _option(self, name: str) -> SelectorOption:
        metavar = "JSON" if name == "selector" else "ROLE" if name == "role" else "TEXT"
        option = SelectorOption(
            self._spellings(name), expose_value=False, metavar=metavar, help=_HELP[name]
        )
        option.kind = self.kind
        return option


ELEMENT, CONTAINER = Selectors(), Selectors("container")
#: For a command whose ``--text`` is the text that it types.
TYPED_INTO = Selectors(without=frozenset({"text"}))


def require_selector(
    command: str, matcher: dict[str, Any] | None, *, without: Sequence[str] = ()
) -> None:
    """Raise unless something says which element is meant."""
    if matcher is None:
        flags = ", ".join(f"--{name}" for name in (*FLAG_FIELDS, "selector") if name not in without)
        raise Mistake(
            f"{command} requires a selector",
            code=ErrorCode.MISSING_SELECTOR,
            hint=f"Say which element is meant with one of {flags}.",
        )
