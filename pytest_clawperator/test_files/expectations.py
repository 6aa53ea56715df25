"""Read the step ``expect:``, which has the names and rules of ``expect`` in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from pytest_clawperator.contracts.matchers import KEYWORDS
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.test_files import rehearsal, shapes, syntax
from pytest_clawperator.test_files.arguments import arguments_schema, read_arguments
from pytest_clawperator.test_files.syntax import NAME_PATTERN, Scope, check_name
from pytest_clawperator.test_files.verbs import Verb, envelope_checks, node_checks, screen_checks
from pytest_clawperator.yaml_source import Entry, Mapping, Mistake, Scalar, YamlNode

_OPTIONS = ("message", "soft", "timeout", "result")
_VISIBLE = "to_be_visible"


def read_expect(node: YamlNode, scope: Scope) -> Iterator[ast.stmt]:
    """Yield one statement for each check."""
    if shapes.text_in(node) is not None:
        if not shapes.WORD.fits(node):
            raise shapes.unexpected(node, f"expect: {shapes.Node().wanted} is wanted")
        yield _statement(_expect(shapes.Node().read(node, scope), None, scope), _VISIBLE)
        return
    if not isinstance(node, Mapping):
        raise Mistake(
            node.mark,
            f"expect: a node and what is expected of it is wanted, found {shapes.found(node)}; for"
            " example {id: total, to_have_text: $12.00}",
        )
    is_node = any(key in node.entries for key in shapes.NODE_KEYS)
    known = _known_checks(node, is_node=is_node)
    checks = [entry for entry in node.entries.values() if entry.key in known]
    _refuse_others(node, known, is_node=is_node)
    if not checks and not is_node:
        raise Mistake(node.mark, "expect: what is expected? Name a check, such as to_be_in_app")
    subject = _subject(node, scope, is_node=is_node)
    rehearsed = rehearsal.expecting(subject, node.mark)
    for entry in checks:
        called = _check(entry, known[entry.key], _expect(subject, node, scope), node, scope)
        rehearsal.rehearse(rehearsed, known[entry.key], called, entry.mark)
        yield syntax.placed(ast.Expr(called), entry.mark)
    if not checks:
        timeout = _timeout(node, scope)
        yield _statement(_expect(subject, node, scope), _VISIBLE, timeout=timeout)


def _known_checks(node: Mapping, *, is_node: bool) -> dict[str, Verb]:
    if "result" in node.entries:
        return envelope_checks()
    return node_checks() if is_node else screen_checks()


def _refuse_others(node: Mapping, known: dict[str, Verb], *, is_node: bool) -> None:
    """Refuse a key that is neither a check of the subject nor allowed beside one."""
    for entry in node.entries.values():
        is_own = entry.key in (*known, *_OPTIONS) or (is_node and entry.key in shapes.NODE_KEYS)
        if is_own and not ("result" in node.entries and entry.key in shapes.NODE_KEYS):
            continue
        subject = "a result" if "result" in node.entries else "a node" if is_node else "the screen"
        everywhere = {**node_checks(), **screen_checks(), **envelope_checks()}
        near = closest(entry.key, [*known, *shapes.NODE_KEYS, *_OPTIONS])
        if entry.key in everywhere:
            raise Mistake(entry.mark, f"{quote(entry.key)} cannot be expected of {subject}")
        meant = f"; did you mean `{near}`?" if near else ""
        raise Mistake(
            entry.mark,
            f"expect has no {quote(entry.key)}{meant}",
            hint="The checks are those of expect(...) in Python: docs/expectations.md lists them.",
        )


def _subject(node: Mapping, scope: Scope, *, is_node: bool) -> ast.expr:
    result = node.get("result")
    if result is not None:
        mark = node.entries["result"].mark
        identifier = check_name(result.value if isinstance(result, Scalar) else None, result.mark)
        return scope.text(f"${{{identifier}}}", mark)
    return shapes.read_locator(node, scope) if is_node else syntax.name(syntax.CLIENT)


def _expect(subject: ast.expr, node: Mapping | None, scope: Scope) -> ast.expr:
    function: ast.expr = syntax.name("expect")
    arguments = [subject]
    if node is not None:
        soft = node.get("soft")
        if soft is not None and not shapes.Truth().fits(soft):
            raise shapes.unexpected(soft, "soft: true or false is wanted")
        if isinstance(soft, Scalar) and soft.value is True:
            function = syntax.attribute(function, "soft")
        message = node.get("message")
        arguments += (
            [shapes.read_value(shapes.Text(), message, scope, "message")] if message else []
        )
    return syntax.call(function, arguments)


def _check(entry: Entry, verb: Verb, expecting: ast.expr, node: Mapping, scope: Scope) -> ast.Call:
    arguments = read_arguments(without_timeout(verb), entry.value, scope)
    timeout = _timeout(node, scope)
    if timeout is not None and "timeout" not in verb.parameters:
        raise Mistake(node.entries["timeout"].mark, f"`{verb.name}` waits for nothing")
    arguments.named.update({} if timeout is None else {"timeout": timeout})
    return arguments.of(syntax.attribute(expecting, verb.name))


def _timeout(node: Mapping, scope: Scope) -> ast.expr | None:
    timeout = node.get("timeout")
    return None if timeout is None else shapes.read_value(shapes.SECONDS, timeout, scope, "timeout")


def _statement(expecting: ast.expr, check: str, timeout: ast.expr | None = None) -> ast.stmt:
    keywords = {} if timeout is None else {"timeout": timeout}
    return ast.Expr(syntax.call(syntax.attribute(expecting, check), keywords=keywords))


def without_timeout(verb: Verb) -> Verb:
    """Return a check without its timeout parameter, which is a key beside the check."""
    kept = {name: one for name, one in verb.parameters.items() if name != "timeout"}
    return replace(verb, parameters=kept)


def expect_schema() -> shapes.Schema:
    """Return the schema of the step."""
    return {
        "description": "Expect something of a node, the screen, or a result.",
        "anyOf": [shapes.WORD.schema(), _node_form(), _screen_form(), _result_form()],
    }


def _options() -> dict[str, shapes.Schema]:
    return {
        "message": {**shapes.Text().schema(), "description": "What a failure begins with."},
        "soft": {**shapes.Truth().schema(), "description": "Go on after a failure."},
    }


def _timed() -> shapes.Schema:
    return {
        **shapes.value_schema(shapes.SECONDS),
        "description": "How many seconds to wait for it.",
    }


def _checks(verbs: dict[str, Verb]) -> dict[str, shapes.Schema]:
    return {name: arguments_schema(without_timeout(verb)) for name, verb in verbs.items()}


def _form(properties: dict[str, shapes.Schema], any_of: list[str]) -> shapes.Schema:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": [key]} for key in any_of],
    }


def _node_form() -> shapes.Schema:
    properties = {
        **shapes.node_properties(),
        **_checks(node_checks()),
        **_options(),
        "timeout": _timed(),
    }
    return _form(properties, list(KEYWORDS))


def _screen_form() -> shapes.Schema:
    properties = {**_checks(screen_checks()), **_options(), "timeout": _timed()}
    return _form(properties, list(screen_checks()))


def _result_form() -> shapes.Schema:
    result = {"type": "string", "pattern": NAME_PATTERN, "description": "What `as:` named."}
    properties = {"result": result, **_checks(envelope_checks()), **_options()}
    return {**_form(properties, list(envelope_checks())), "required": ["result"]}
