"""Read what is above the steps: tags, markers, variables, parameters and fixtures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_clawperator.contracts.wording import quote
from pytest_clawperator.test_files import shapes, syntax
from pytest_clawperator.test_files.syntax import Mistakes, Scope, check_name
from pytest_clawperator.yaml_source import (
    Entry,
    Items,
    Mapping,
    Mark,
    Mistake,
    Scalar,
    YamlNode,
)

#: The keys of a test, and those of a file of steps.
TEST_KEYS = (
    "description", "tags", "app", "device", "timeout", "markers", "fixtures", "variables",
    "parameters", "steps",
)  # fmt: skip

STEPS_KEYS = ("description", "needs", "variables", "steps")


#: The keys of ``app:`` and ``device:``, which are the markers claw_app and claw_device.
APP_KEYS: dict[str, shapes.Shape] = {
    "package": shapes.Text(),
    "launch": shapes.Truth(),
    "stop": shapes.Truth(),
    "clear": shapes.Truth(),
    "grant": shapes.Listed(shapes.Text()),
    "missing": shapes.Choice(("error", "skip")),
}

DEVICE_KEYS: dict[str, shapes.Shape] = {
    "api": shapes.OneOf((shapes.Number(whole=True), shapes.Text())),
    "abi": shapes.Text(),
    "form": shapes.Choice(("phone", "tablet")),
    "emulator": shapes.Truth(),
    "model": shapes.Text(),
    "manufacturer": shapes.Text(),
}

MARKER_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$"


def read_marks(body: Mapping) -> list[ast.expr]:
    """Return the markers of a file or a test."""
    marks: list[ast.expr] = []
    for key, read in _MARKS.items():
        entry = body.entries.get(key)
        if entry is not None:
            marks += [syntax.placed(mark, entry.mark) for mark in read(entry, _constants())]
    return marks


def _constants() -> Scope:
    """Return a scope without variables: markers are evaluated before any test runs."""

    def no_file(path: str, mark: Mark) -> tuple[str, tuple[str, ...]]:
        raise Mistake(mark, "files are used in steps")

    return Scope(Mistakes(Path()), no_file)


def _mark(
    name: str, args: list[ast.expr] | None = None, named: dict[str, ast.expr] | None = None
) -> ast.expr:
    marker = syntax.attribute(syntax.name("pytest"), "mark", name)
    return marker if not args and not named else syntax.call(marker, args or [], named)


def _tags(entry: Entry, scope: Scope) -> Iterator[ast.expr]:
    if not isinstance(entry.value, Items):
        raise shapes.unexpected(entry.value, "tags: a list is wanted")
    for item in entry.value.items:
        text = item.value if isinstance(item, Scalar) else None
        yield syntax.placed(_mark(_marker_name(text, item.mark)), item.mark)


def _marker_name(text: object, mark: Mark) -> str:
    if not isinstance(text, str) or not re.fullmatch(MARKER_PATTERN[1:-1], text):
        raise Mistake(mark, f"{quote(str(text))} is not a valid marker: use letters, digits and _")
    return text


def _app(entry: Entry, scope: Scope) -> Iterator[ast.expr]:
    if isinstance(entry.value, Scalar):
        yield _mark("claw_app", [shapes.read_value(shapes.Text(), entry.value, scope, "app")])
        return
    named = _keywords(entry, APP_KEYS, scope)
    if "package" not in named:
        raise Mistake(entry.value.mark, "`app` needs `package`")
    yield _mark("claw_app", [named.pop("package")], named)


def _device(entry: Entry, scope: Scope) -> Iterator[ast.expr]:
    named = _keywords(entry, DEVICE_KEYS, scope)
    if not named:
        raise Mistake(entry.value.mark, f"`device` requires nothing; name {', '.join(DEVICE_KEYS)}")
    yield _mark("claw_device", named=named)


def _keywords(entry: Entry, allowed: dict[str, shapes.Shape], scope: Scope) -> dict[str, ast.expr]:
    if not isinstance(entry.value, Mapping):
        raise shapes.unexpected(entry.value, f"{entry.key}: a mapping is wanted")
    shapes.unknown_key(entry.value, list(allowed), f"`{entry.key}`")
    return {
        one.key: shapes.read_value(allowed[one.key], one.value, scope, one.key)
        for one in entry.value.entries.values()
    }


def _timeout(entry: Entry, scope: Scope) -> Iterator[ast.expr]:
    yield _mark("claw_timeout", [shapes.read_value(shapes.SECONDS, entry.value, scope, "timeout")])


def _markers(entry: Entry, scope: Scope) -> Iterator[ast.expr]:
    if not isinstance(entry.value, Mapping):
        raise shapes.unexpected(entry.value, "markers: a mapping is wanted")
    for one in entry.value.entries.values():
        name = _marker_name(one.key, one.mark)
        args, named = _marker_arguments(one.value, scope)
        yield syntax.placed(_mark(name, args, named), one.mark)


def _marker_arguments(node: YamlNode, scope: Scope) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """Return the arguments of a marker: a value, a list of them, or names with values."""
    if isinstance(node, Scalar) and (node.value is None or node.value is True):
        return [], {}
    if isinstance(node, Items):
        return [shapes.Data().read(item, scope) for item in node.items], {}
    if not isinstance(node, Mapping):
        return [shapes.Data().read(node, scope)], {}
    given = {
        _marker_name(one.key, one.mark): shapes.Data().read(one.value, scope)
        for one in node.entries.values()
    }
    args = given.pop("args", ast.List([], ast.Load()))
    return (args.elts if isinstance(args, ast.List) else [args]), given


_MARKS = {"tags": _tags, "app": _app, "device": _device, "timeout": _timeout, "markers": _markers}


def read_needs(body: Mapping, key: str) -> list[str]:
    """Return the names that are listed under a key."""
    node = body.get(key)
    if node is None:
        return []
    if not isinstance(node, Items):
        raise shapes.unexpected(node, f"{key}: a list of names is wanted")
    names: list[str] = []
    for item in node.items:
        given = item.value if isinstance(item, Scalar) else None
        if key == "fixtures" and given == syntax.CLIENT:
            continue  # every test has it
        name = check_name(given, item.mark)
        if name in names:
            raise Mistake(item.mark, f"{key}: `{name}` is there twice")
        names.append(name)
    return names


def read_variables(body: Mapping, scope: Scope) -> Iterator[ast.Assign]:
    """Yield the assignments of variables; each may use those above it."""
    node = body.get("variables")
    if node is None:
        return
    if not isinstance(node, Mapping):
        raise shapes.unexpected(node, "variables: names and values are wanted")
    for entry in node.entries.values():
        name = check_name(entry.key, entry.mark)
        value = _environment(entry.value, scope) or shapes.Data().read(entry.value, scope)
        scope.names.add(name)
        yield syntax.placed(syntax.assign(name, value), entry.mark)


def _environment(node: YamlNode, scope: Scope) -> ast.expr | None:
    """Return the value of an environment variable: ``{env: NAME}``; else None."""
    if not isinstance(node, Mapping):
        return None
    if "env" not in node.entries:
        _refuse_misspelt(node)
        return None
    shapes.unknown_key(node, ["env", "default"], "a variable from the environment")
    named = shapes.text_in(node.entries["env"].value)
    if not named:
        raise shapes.unexpected(node.entries["env"].value, "env: the name of a variable is wanted")
    getenv = syntax.attribute(syntax.name("os"), "getenv")
    default = node.get("default")
    if default is not None:
        fallback = shapes.read_value(shapes.Text(), default, scope, "default")
        return syntax.call(getenv, [ast.Constant(named), fallback])
    fail = syntax.attribute(syntax.name("pytest"), "fail")
    message = ast.Constant(f"the environment variable {named} is not set")
    found_there = syntax.call(getenv, [ast.Constant(named)])
    return ast.BoolOp(ast.Or(), [found_there, syntax.call(fail, [message])])


# What may be meant by `env`, and how a variable of the environment is usually called.
_LIKE_ENV = re.compile(r"(?i)e.?n.?v.?|en.|evn|environ\w*|getenv")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def _refuse_misspelt(node: Mapping) -> None:
    """Refuse a mapping that was meant to be a variable from the environment."""
    others = [entry for entry in node.entries.values() if entry.key != "default"]
    if len(others) > 1:
        return
    for entry in others:
        named = shapes.text_in(entry.value) or ""
        if _LIKE_ENV.fullmatch(entry.key) and _ENV_NAME.fullmatch(named):
            raise Mistake(
                entry.mark,
                f"a variable from the environment has no {quote(entry.key)}; did you mean `env`?",
            )


def read_parameters(body: Mapping) -> tuple[dict[str, ast.arg], list[ast.expr]]:
    """Return the parameters by name, and the marker that runs the test for each row."""
    entry = body.entries.get("parameters")
    if entry is None:
        return {}, []
    rows = _rows(entry)
    names = [check_name(one.key, one.mark) for one in rows[0][1].entries.values()]
    scope = _constants()
    values: list[ast.expr] = []
    for label, row in rows:
        _check_names(row, names)
        given = [shapes.Data().read(row.entries[name].value, scope) for name in names]
        values.append(_row(given, label))
    many: ast.expr = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
    argnames = ast.Constant(names[0]) if len(names) == 1 else many
    arguments = {name: _argument(name, [row for _, row in rows]) for name in names}
    rows_mark = _mark("parametrize", [argnames, ast.List(values, ast.Load())])
    return arguments, [syntax.placed(rows_mark, entry.mark)]


def _argument(name: str, rows: list[Mapping]) -> ast.arg:
    """Return a parameter with the type that its values have in common."""
    cells = [row.entries[name].value for row in rows]
    kinds = {type(cell.value) if isinstance(cell, Scalar) else None for cell in cells}
    kind = kinds.pop() if len(kinds) == 1 else None
    known = kind if kind in (str, int, float, bool) else None
    return ast.arg(name, syntax.name(known.__name__ if known else "Any"))


def _rows(entry: Entry) -> list[tuple[str | None, Mapping]]:
    """Return the rows, each with its id if it has one."""
    node = entry.value
    rows: list[tuple[str | None, YamlNode]] = []
    if isinstance(node, Items):
        rows = [(None, item) for item in node.items]
    elif isinstance(node, Mapping):
        rows = [(one.key, one.value) for one in node.entries.values()]
    if not rows:
        raise Mistake(node.mark, "parameters: a list of rows is wanted, such as [{item: Tea}]")
    found_rows: list[tuple[str | None, Mapping]] = []
    for label, row in rows:
        if not isinstance(row, Mapping) or not row.entries:
            raise Mistake(row.mark, "a row of parameters is a mapping, such as {item: Tea}")
        found_rows.append((label, row))
    return found_rows


def _check_names(row: Mapping, names: list[str]) -> None:
    shapes.unknown_key(row, names, "a row of parameters")
    for name in names:
        if name not in row.entries:
            raise Mistake(row.mark, f"this row of parameters lacks `{name}`, which the first has")


def _row(values: list[ast.expr], label: str | None) -> ast.expr:
    if label is None:
        return values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
    param = syntax.attribute(syntax.name("pytest"), "param")
    return syntax.call(param, values, {"id": ast.Constant(label)})
