"""The shapes of values: each reads a value into Python, and has its JSON schema.

Both come from the same object, so that an editor and a run accept the same files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.matchers import KEYWORDS
from pytest_clawperator.contracts.wording import closest, describe, listed, quote
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.query import check_role
from pytest_clawperator.test_files import syntax
from pytest_clawperator.test_files.syntax import TEXT_PATTERN, VARIABLE_PATTERN, Scope, is_variable
from pytest_clawperator.yaml_source import Items, Mapping, Mistake, Scalar, YamlNode

Schema = dict[str, Any]
#: Keys of a node in addition to the keywords of a matcher.
NODE_KEYS = (*KEYWORDS, "within", "has", "nth")


class Shape(Protocol):
    """A kind of value that a file may contain."""

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        ...

    def fits(self, node: YamlNode) -> bool:
        """Whether a value is of the right kind; ``read`` reports mistakes inside of it."""
        ...

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the Python of a value that fits."""
        ...

    def schema(self) -> Schema:
        """Return the JSON schema of such values."""
        ...


class _Constant:
    """What a single value is read as if it cannot contain variables."""

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the value."""
        assert isinstance(node, Scalar)
        return ast.Constant(node.value)


def read_value(shape: Shape, node: YamlNode, scope: Scope, what: str) -> ast.expr:
    """Return the Python of a value; a variable is allowed for any value."""
    text = text_in(node)
    if text is not None and is_variable(text):
        return scope.text(text, node.mark)
    if not shape.fits(node):
        raise unexpected(node, f"{what}: {shape.wanted} is wanted")
    return shape.read(node, scope)


def value_schema(shape: Shape) -> Schema:
    """Return the schema of a value, or of a variable in its place."""
    if isinstance(shape, (Text, Data)):
        return shape.schema()
    return {"anyOf": [shape.schema(), {"type": "string", "pattern": VARIABLE_PATTERN}]}


def found(node: YamlNode) -> str:
    """Describe a value of the wrong kind; for a number, also how to write it as a text."""
    if isinstance(node, Scalar):
        is_text = isinstance(node.value, str) or node.value is None
        return describe(node.value) + ("" if is_text else f'; as a text it is "{plain(node)}"')
    if isinstance(node, Items):
        return "a list" if node.items else "an empty list"
    return "a mapping"


def unexpected(node: YamlNode, problem: str) -> Mistake:
    """Return the mistake of a value of the wrong kind."""
    return Mistake(node.mark, f"{problem}, found {found(node)}")


def text_in(node: YamlNode | None) -> str | None:
    """Return the text that a value is, or None."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None


def plain(node: Scalar) -> str:
    """Return a value as it is written in YAML."""
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)


def unknown_key(mapping: Mapping, known: Sequence[str], what: str) -> None:
    """Refuse the first unknown key, and suggest the nearest one."""
    for entry in mapping.entries.values():
        if entry.key not in known:
            near = closest(entry.key, known)
            meant = f"did you mean `{near}`? " if near else ""
            raise Mistake(
                entry.mark,
                f"{what} has no {quote(entry.key)}; {meant}allowed: {listed(known, 30)}",
            )


@dataclass(frozen=True)
class Text:
    """A text, which may contain variables; a matcher's may not be blank."""

    wanted: str = "a text"
    may_be_blank: bool = True

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a text."""
        text = text_in(node)
        return text is not None and (self.may_be_blank or bool(text.strip()))

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the text."""
        assert isinstance(node, Scalar)
        return scope.text(str(node.value), node.mark)

    def schema(self) -> Schema:
        """Return the schema."""
        text: Schema = {"type": "string", "pattern": TEXT_PATTERN}
        return text if self.may_be_blank else {"allOf": [text, {"pattern": r"\S"}]}


#: What describes a node: blank, it would match none, or nearly every one.
WORD = Text("a text that is not blank", may_be_blank=False)


@dataclass(frozen=True)
class Number(_Constant):
    """A number; a whole one for an ``int``, and within limits if there are any."""

    whole: bool = False
    least: int | None = None
    most: int | None = None

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        kind = "a whole number" if self.whole else "a number"
        if self.least is None:
            return kind
        within = f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"
        return f"{kind} ({within})"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a number, but not a truth value, which is an ``int`` in Python."""
        kinds = (int,) if self.whole else (int, float)
        if not isinstance(node, Scalar) or type(node.value) not in kinds:
            return False
        value: Any = node.value
        is_enough = self.least is None or value >= self.least
        return is_enough and (self.most is None or value <= self.most)

    def schema(self) -> Schema:
        """Return the schema."""
        schema: Schema = {"type": "integer" if self.whole else "number"}
        schema |= {} if self.least is None else {"minimum": self.least}
        return schema | ({} if self.most is None else {"maximum": self.most})


#: How many seconds to wait for something.
SECONDS = Number(least=0, most=limits.MAX_LOOKING)


@dataclass(frozen=True)
class Truth(_Constant):
    """True or false."""

    wanted: str = "true or false"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a truth value."""
        return isinstance(node, Scalar) and isinstance(node.value, bool)

    def schema(self) -> Schema:
        """Return the schema."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Choice(_Constant):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        return f"one of {', '.join(self.words)}"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is one of the words."""
        return isinstance(node, Scalar) and node.value in self.words

    def schema(self) -> Schema:
        """Return the schema."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Point:
    """A point of the screen: ``[540, 1200]``."""

    number: Number = field(default_factory=lambda: Number(whole=True))

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        return "a point such as [540, 1200]"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a list of two."""
        return isinstance(node, Items) and len(node.items) == 2

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the pair."""
        assert isinstance(node, Items)
        parts = [read_value(self.number, each, scope, "a point") for each in node.items]
        return ast.Tuple(parts, ast.Load())

    def schema(self) -> Schema:
        """Return the schema."""
        part = value_schema(self.number)
        return {"type": "array", "items": part, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class Listed:
    """A list of values of one shape."""

    shape: Shape

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        return f"a list, of which each is {self.shape.wanted}"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a list."""
        return isinstance(node, Items)

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the list."""
        assert isinstance(node, Items)
        parts = [read_value(self.shape, each, scope, "the list") for each in node.items]
        return ast.List(parts, ast.Load())

    def schema(self) -> Schema:
        """Return the schema."""
        return {"type": "array", "items": value_schema(self.shape)}


#: The key of a regular expression.
PATTERN = "pattern"


@dataclass(frozen=True)
class Pattern:
    """A regular expression: ``{pattern: "^Total"}``."""

    wanted: str = 'a pattern such as {pattern: "^Total"}'

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a mapping with a pattern, which may be wrong."""
        return isinstance(node, Mapping) and list(node.entries) == [PATTERN]

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the compiled expression."""
        assert isinstance(node, Mapping)
        given = node.entries[PATTERN].value
        pattern = read_value(Text(), given, scope, PATTERN)
        if isinstance(pattern, ast.Constant):
            try:
                re.compile(str(pattern.value))
            except re.error as error:
                raise Mistake(given.mark, f"this is not a pattern: {error}") from error
        return syntax.call(syntax.attribute(syntax.name("re"), "compile"), [pattern])

    def schema(self) -> Schema:
        """Return the schema."""
        return {
            "type": "object",
            "properties": {PATTERN: Text().schema()},
            "required": [PATTERN],
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class OneOf:
    """A value of one of several shapes."""

    shapes: tuple[Shape, ...]

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        return ", or ".join(shape.wanted for shape in self.shapes)

    def fits(self, node: YamlNode) -> bool:
        """Whether one of them fits."""
        return any(shape.fits(node) for shape in self.shapes)

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return what the first that fits reads."""
        return next(shape for shape in self.shapes if shape.fits(node)).read(node, scope)

    def schema(self) -> Schema:
        """Return the schema."""
        return {"anyOf": [shape.schema() for shape in self.shapes]}


def may_be_pattern(shape: Shape) -> bool:
    """Whether a value of this shape may be a regular expression."""
    shapes = shape.shapes if isinstance(shape, OneOf) else (shape,)
    return any(isinstance(one, Pattern) for one in shapes)


@dataclass(frozen=True)
class Data:
    """Any value: of a payload, a marker, a variable."""

    wanted: str = "a value"

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a value, which everything is."""
        return True

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the value."""
        if isinstance(node, Scalar):
            if isinstance(node.value, str):
                return scope.text(node.value, node.mark)
            return ast.Constant(node.value)
        if isinstance(node, Items):
            return ast.List([self.read(each, scope) for each in node.items], ast.Load())
        entries = node.entries.values()
        keys: list[ast.expr | None] = [ast.Constant(entry.key) for entry in entries]
        return ast.Dict(keys, [self.read(entry.value, scope) for entry in entries])

    def schema(self) -> Schema:
        """Return the schema; texts have the usual form at any depth."""
        return {"$ref": "#/definitions/data"}


@dataclass(frozen=True)
class Node:
    """A node on the screen: its text, or keywords as in Python.

    With ``takes_text``, a text alone means the node with that text.
    """

    takes_text: bool = True

    @property
    def wanted(self) -> str:
        """The expected kind of value, for messages."""
        return "a node such as {id: total}" + (", or its text" if self.takes_text else "")

    def fits(self, node: YamlNode) -> bool:
        """Whether it is a mapping, which may be wrong, or a text."""
        return isinstance(node, Mapping) or (self.takes_text and WORD.fits(node))

    def read(self, node: YamlNode, scope: Scope) -> ast.expr:
        """Return the locator."""
        if isinstance(node, Scalar):
            return _locator({"text": Text().read(node, scope)})
        assert isinstance(node, Mapping)
        unknown_key(node, NODE_KEYS, "a node")
        return read_locator(node, scope)

    def schema(self) -> Schema:
        """Return the schema."""
        mapping = {"$ref": "#/definitions/node"}
        return {"anyOf": [WORD.schema(), mapping]} if self.takes_text else mapping


def node_properties() -> dict[str, Schema]:
    """Return the schemas of the keys that describe a node."""
    around = {key: value_schema(Node()) for key in ("within", "has")}
    nth = value_schema(Number(whole=True))
    return {**{key: WORD.schema() for key in KEYWORDS}, **around, "nth": nth}


def is_node_named(mapping: Mapping) -> bool:
    """Whether a mapping describes a node; without a matcher, refuse keys that narrow one down."""
    if any(key in mapping.entries for key in KEYWORDS):
        return True
    for key in ("has", "nth"):
        if key in mapping.entries:
            raise Mistake(
                mapping.entries[key].mark,
                f"`{key}` narrows a node down, and none is named; add {', '.join(KEYWORDS)}",
            )
    return False


def read_locator(mapping: Mapping, scope: Scope) -> ast.expr:
    """Return ``clawperator.node(...)`` for the keys of a mapping that describe a node."""
    if not is_node_named(mapping):
        raise Mistake(mapping.mark, f"which node is meant? Name one by {', '.join(KEYWORDS)}")
    locator = _locator(read_matcher(mapping, scope, (*KEYWORDS, "has", "within")))
    nth = mapping.get("nth")
    if nth is None:
        return locator
    index = read_value(Number(whole=True), nth, scope, "nth")
    return syntax.call(syntax.attribute(locator, "nth"), [index])


def read_matcher(mapping: Mapping, scope: Scope, keys: Sequence[str]) -> dict[str, ast.expr]:
    """Return the Python of the keys of a mapping that describe a node."""
    shapes: dict[str, Shape] = {"has": Node(), "within": Node()}
    given = [entry for entry in mapping.entries.values() if entry.key in keys]
    for entry in given:
        if entry.key == "role":
            _check_role(entry.value)
    return {
        entry.key: read_value(shapes.get(entry.key, WORD), entry.value, scope, entry.key)
        for entry in given
    }


def _check_role(node: YamlNode) -> None:
    """Refuse a misspelt role."""
    role = text_in(node)
    if role is not None and not syntax.has_variables(role):
        try:
            check_role(role)
        except ConfigurationError as error:
            raise Mistake(node.mark, f"role: {error.message}. {error.hint}") from error


def _locator(keywords: dict[str, ast.expr]) -> ast.expr:
    return syntax.call(syntax.attribute(syntax.name(syntax.CLIENT), "node"), keywords=keywords)
