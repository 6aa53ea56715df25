"""Read the values of steps and checks as the arguments of their methods.

A value is empty, a mapping of parameters and keywords of a node, or a single value: the text of
the node, or the first parameter.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.contracts.matchers import KEYWORDS
from pytest_clawperator.test_files import shapes, syntax
from pytest_clawperator.test_files.syntax import Scope
from pytest_clawperator.test_files.verbs import Parameter, Verb
from pytest_clawperator.yaml_source import Mapping, Mistake, Scalar, YamlNode


@dataclass
class Arguments:
    """The arguments of a call."""

    positional: list[ast.expr] = field(default_factory=list)
    named: dict[str, ast.expr] = field(default_factory=dict)

    def of(self, function: ast.expr) -> ast.Call:
        """Return the call of a function with these arguments."""
        return syntax.call(function, self.positional, self.named)

    def add(self, parameter: Parameter, value: ast.expr) -> None:
        """Add the value of a parameter."""
        if parameter.kind is parameter.kind.VAR_POSITIONAL:
            starred = ast.Starred(value, ast.Load())
            self.positional += value.elts if isinstance(value, ast.List) else [starred]
        elif parameter.is_required or parameter.kind is parameter.kind.POSITIONAL_ONLY:
            self.positional.append(value)
        else:
            self.named[parameter.name] = value


def is_nothing(node: YamlNode) -> bool:
    """Whether no value is given, as in ``- back:`` and ``to_be_visible: true``."""
    return isinstance(node, Scalar) and (node.value is None or node.value is True)


def read_arguments(verb: Verb, node: YamlNode, scope: Scope) -> Arguments:
    """Return the arguments of a method that a value describes."""
    if isinstance(node, Mapping) and not _is_first(verb, node):
        return _named(verb, node, scope)
    arguments = Arguments()
    given: list[str] = []
    first = verb.first
    if not _is_single(verb, node):
        if not is_nothing(node):
            _refuse_single(verb, node)
    elif first is None:
        arguments.named["text"] = shapes.read_value(shapes.WORD, node, scope, verb.name)
        return arguments
    else:
        arguments.add(first, shapes.read_value(first.shape, node, scope, verb.name))
        given = [first.name]
    _require(verb, Mapping(node.mark), given=given)
    return arguments


def _is_single(verb: Verb, node: YamlNode) -> bool:
    """Whether a value is the node's text or the first parameter; an empty one is neither."""
    if isinstance(node, Scalar) and node.value is None:
        return False
    if verb.first is None:
        return verb.takes_node and shapes.text_in(node) is not None
    return not is_nothing(node) or verb.first.shape.fits(node)


def _is_first(verb: Verb, mapping: Mapping) -> bool:
    """Whether a mapping is the value of the first parameter, such as a pattern."""
    first = verb.first
    if first is None or verb.takes_node or not mapping.entries or verb.extra is not None:
        return False
    is_named = any(key in verb.parameters for key in mapping.entries)
    return not is_named and first.shape.fits(mapping)


def _refuse_single(verb: Verb, node: YamlNode) -> None:
    if isinstance(node, Scalar) and node.value is False:
        opposite = verb.name.removeprefix("not_") if verb.name.startswith("not_") else ""
        opposite = opposite or f"not_{verb.name}"
        if verb.name.removeprefix("not_").startswith("to_"):
            raise Mistake(
                node.mark, f"`{verb.name}: false` has no meaning; write `{opposite}: true`"
            )
    if verb.takes_node:
        raise shapes.unexpected(node, f"{verb.name}: {shapes.Node().wanted} is wanted")
    if not verb.parameters:
        raise Mistake(node.mark, f"`{verb.name}` takes no value: leave it empty, or write true")
    known = ", ".join(verb.parameters)
    raise Mistake(node.mark, f"`{verb.name}` takes no value by itself; its keys: {known}")


def keys_of(verb: Verb) -> list[str]:
    """Return the keys that the mapping of a verb may have."""
    return [*verb.parameters, *(shapes.NODE_KEYS if verb.takes_node else ())]


def _refuse_unknown(verb: Verb, mapping: Mapping) -> None:
    """Refuse an unknown key; a pattern is known where it can be all of the value."""
    known, first = keys_of(verb), verb.first
    if first is not None and not verb.takes_node and shapes.may_be_pattern(first.shape):
        if (pattern := mapping.entries.get(shapes.PATTERN)) is not None:
            written = f"`{first.name}: {{{shapes.PATTERN}: ...}}`"
            raise Mistake(pattern.mark, f"beside other keys a pattern is written {written}")
        known.append(shapes.PATTERN)
    shapes.unknown_key(mapping, known, f"`{verb.name}`")


def _named(verb: Verb, mapping: Mapping, scope: Scope) -> Arguments:
    if verb.extra is None:
        _refuse_unknown(verb, mapping)
    _require(verb, mapping, given=list(mapping.entries))
    arguments = Arguments()
    for parameter in verb.parameters.values():
        value = mapping.get(parameter.name)
        if value is not None:
            read = shapes.read_value(parameter.shape, value, scope, parameter.name)
            arguments.add(parameter, read)
    if verb.takes_node:
        _add_node(verb, mapping, scope, arguments)
    if verb.extra is not None:
        for entry in mapping.entries.values():
            if entry.key not in verb.parameters:
                arguments.named[_data_name(entry.key, entry.mark)] = shapes.read_value(
                    verb.extra, entry.value, scope, entry.key
                )
    return arguments


def _data_name(key: str, mark: Any) -> str:
    if not key.isidentifier():
        raise Mistake(mark, f"{key!r} is not a valid name; names are like foreground_package")
    return key


def _add_node(verb: Verb, mapping: Mapping, scope: Scope, arguments: Arguments) -> None:
    """Add the node: by keywords where they are sufficient, else as a locator."""
    if not shapes.is_node_named(mapping):
        arguments.named.update(shapes.read_matcher(mapping, scope, ["within"]))
        return
    is_plain = not {"has", "nth"} & mapping.entries.keys()
    if is_plain and (verb.takes_within or "within" not in mapping.entries):
        keywords = shapes.read_matcher(mapping, scope, [*KEYWORDS, "within"])
        arguments.named = {**keywords, **arguments.named}
        return
    inner = {key: entry for key, entry in mapping.entries.items() if key != "within"}
    is_taken = verb.takes_within and "within" in mapping.entries
    described = Mapping(mapping.mark, inner) if is_taken else mapping
    arguments.positional.append(shapes.read_locator(described, scope))
    if is_taken:
        arguments.named = {**shapes.read_matcher(mapping, scope, ["within"]), **arguments.named}


def _require(verb: Verb, mapping: Mapping, *, given: list[str]) -> None:
    """Refuse a value without a required parameter, or without the node."""
    missing = [one.name for one in verb.parameters.values() if one.is_required]
    missing = [name for name in missing if name not in given]
    if missing:
        raise Mistake(mapping.mark, f"`{verb.name}` needs `{missing[0]}`")
    if not verb.takes_node or shapes.is_node_named(mapping) or "" in verb.instead_of_node:
        return
    if not any(key in given for key in verb.instead_of_node):
        instead = "".join(f", or `{key}`" for key in verb.instead_of_node)
        raise Mistake(mapping.mark, f"`{verb.name}` needs a node: {', '.join(KEYWORDS)}{instead}")


def arguments_schema(verb: Verb, *, without: tuple[str, ...] = ()) -> shapes.Schema:
    """Return the schema of the values of a verb."""
    forms = [_mapping_schema(verb, without)]
    first = verb.first
    if first is not None:
        only = all(one is first or not one.is_required for one in verb.parameters.values())
        if only and (not verb.takes_node or first.name in verb.instead_of_node):
            forms.append(shapes.value_schema(first.shape))
    elif verb.takes_node:
        forms.append(shapes.WORD.schema())
    if takes_nothing(verb):
        forms.append({"enum": [None, True]})
    return {"description": verb.summary, "anyOf": forms}


def takes_nothing(verb: Verb) -> bool:
    """Whether a verb can be used without a value."""
    is_complete = not any(one.is_required for one in verb.parameters.values())
    return is_complete and (not verb.takes_node or "" in verb.instead_of_node)


def _mapping_schema(verb: Verb, without: tuple[str, ...]) -> shapes.Schema:
    properties = {
        one.name: shapes.value_schema(one.shape)
        for one in verb.parameters.values()
        if one.name not in without
    }
    required = [one.name for one in verb.parameters.values() if one.is_required]
    schema: shapes.Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = required
    if verb.extra is not None:
        schema["additionalProperties"] = False
        schema["patternProperties"] = {"^[A-Za-z_][A-Za-z0-9_]*$": shapes.value_schema(verb.extra)}
    if verb.takes_node:
        schema["properties"] = {**properties, **shapes.node_properties()}
        named = [{"required": [key]} for key in KEYWORDS]
        schema["dependencies"] = {key: {"anyOf": named} for key in ("has", "nth")}
        if "" not in verb.instead_of_node:
            schema["anyOf"] = named + [{"required": [key]} for key in verb.instead_of_node]
    return schema
