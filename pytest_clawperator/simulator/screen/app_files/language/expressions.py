"""The tiny language of app files: conditions, sums, and texts with values in braces.

    cart_count > 0 and not loading        an expression
    Item {number} of {count}              a template: text with expressions in braces

An expression knows numbers, 'texts', true, false, names, names of a record's parts
(``item.price``) and of a list's length (``cart.count``), ``+ - * %``, comparisons, ``in``
(text in text, whatever the case; value in list), ``and``, ``or``, ``not`` and parentheses.
Nothing else: no calls, no attributes of Python objects, no way out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import core_schema

from pytest_clawperator.simulator.screen.app_files.language.kinds import TEXT, Kind, Kinds
from pytest_clawperator.simulator.screen.app_files.language.parser import ExpressionParser
from pytest_clawperator.simulator.screen.app_files.language.values import (
    MAX_TEXT,
    Lookup,
    Value,
    as_text,
)
from pytest_clawperator.simulator.screen.app_files.source_text import place_of

MAX_LENGTH = 500
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Expression:
    """A parsed expression; calling it with a function that looks names up evaluates it."""

    __slots__ = ("_tree", "names", "source")

    def __init__(self, source: str, *, place: str = "") -> None:
        if len(source) > MAX_LENGTH:
            raise ValueError(f"an expression of {len(source)} characters; {MAX_LENGTH} are allowed")
        parser = ExpressionParser(source, place=place)
        self.source = source
        self._tree = parser.parse()
        self.names = frozenset(parser.names)

    def __call__(self, lookup: Lookup) -> Value:
        """Evaluate; a name or part that is not there counts as empty text.

        What cannot be done with the values counts as 0 or false, with a complaint to the lookup.
        """
        return self._tree.value(lookup)

    def kind(self, kinds: Kinds) -> Kind:
        """Return the kind of its value; Misfit where that can never be computed."""
        return self._tree.kind(kinds)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    @property
    def is_name(self) -> bool:
        """Whether this is nothing but the name of a variable."""
        return self.names == {self.source.strip()}

    @classmethod
    def parse(cls, value: object) -> Expression:
        """Parse a value of a YAML file."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool):
            return cls("true" if value else "false")
        if isinstance(value, (int, float)):
            return cls(str(value)) if value >= 0 else cls(f"0 - {-value}")
        if isinstance(value, str):
            return cls(value, place=place_of(value))
        raise ValueError(f"an expression is a text such as `count > 0`, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        return core_schema.no_info_plain_validator_function(cls.parse)


class Template:
    """A text with expressions in braces; ``{{`` and ``}}`` stand for braces themselves."""

    __slots__ = ("constant", "names", "parts", "source")

    def __init__(self, source: str, *, place: str = "") -> None:
        self.source = source
        self.parts = tuple(_template_parts(source, place))
        self.names = frozenset(
            name for part in self.parts if isinstance(part, Expression) for name in part.names
        )
        varies = any(isinstance(part, Expression) for part in self.parts)
        self.constant = None if varies else "".join(str(part) for part in self.parts)

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    def render(self, lookup: Lookup) -> str:
        """Return the text with every value filled in."""
        if self.constant is not None:
            return self.constant
        return "".join(
            part if isinstance(part, str) else as_text(part(lookup)) for part in self.parts
        )[:MAX_TEXT]

    def value(self, lookup: Lookup) -> Value:
        """Return the value itself where the template is one expression and nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0](lookup)
        return self.render(lookup)

    def kind(self, kinds: Kinds) -> Kind:
        """Return the kind of its value; Misfit where that can never be computed."""
        found = [part.kind(kinds) for part in self.parts if isinstance(part, Expression)]
        return found[0] if found and len(self.parts) == 1 else TEXT

    @classmethod
    def parse(cls, value: object) -> Template:
        """Parse a value of a YAML file."""
        if isinstance(value, Template):
            return value
        if isinstance(value, (bool, int, float)):
            return cls(as_text(value))
        if isinstance(value, str):
            return cls(value, place=place_of(value))
        if isinstance(value, Mapping):
            raise ValueError("a text, not a mapping; a text that begins with a brace needs quotes")
        raise ValueError(f"a text, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        return core_schema.no_info_plain_validator_function(cls.parse)


def _template_parts(source: str, place: str) -> list[str | Expression]:
    parts: list[str | Expression] = []
    position = 0
    for brace in _BRACES.finditer(source):
        if brace.start() > position:
            parts.append(source[position : brace.start()])
        position = brace.end()
        if brace[0] in ("{{", "}}"):
            parts.append(brace[0][0])
        elif brace[1] is None:
            raise ValueError(f"a lone {brace[0]!r} in {source!r}; write it twice to mean itself")
        else:
            parts.append(Expression(brace[1], place=place))
    if position < len(source) or not parts:
        parts.append(source[position:])
    return parts


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value), repr(value))
