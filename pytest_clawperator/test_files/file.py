"""Whole test files: read into the Python functions they stand for, run, written as Python."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ConfigurationError, is_file
from pytest_clawperator.test_files import header, syntax
from pytest_clawperator.test_files.shapes import text_in, unexpected, unknown_key
from pytest_clawperator.test_files.steps import read_steps
from pytest_clawperator.test_files.syntax import Mistakes, Scope
from pytest_clawperator.text import shown_path
from pytest_clawperator.yaml_source import (
    Mapping,
    Mark,
    Mistake,
    YamlNode,
    read_yaml,
)

#: How the names of files of tests, and of files of steps, end.
SUFFIX = ".claw.yaml"


@dataclass
class UsedFile:
    """A file of steps that was read."""

    path: Path
    function: ast.FunctionDef
    needs: tuple[str, ...]


@dataclass
class TestFile:
    """A file of tests that was read; ``used`` has files of steps, each after those it uses."""

    __test__ = False

    path: Path
    about: str
    marks: list[ast.expr] = field(default_factory=list)
    tests: list[ast.FunctionDef] = field(default_factory=list)
    used: list[UsedFile] = field(default_factory=list)

    def imports(self) -> list[ast.stmt]:
        """Return the imports that the functions need."""
        functions: list[ast.AST] = [*self.tests, *(one.function for one in self.used), *self.marks]
        names = {n.id for one in functions for n in ast.walk(one) if isinstance(n, ast.Name)}
        plain = [name for name in ("os", "re", "pytest") if name in names]
        ours = ["Clawperator", *(["expect"] if "expect" in names else [])]
        return [
            ast.ImportFrom("__future__", [ast.alias("annotations")], 0),
            *(ast.Import([ast.alias(name)]) for name in plain),
            *([ast.ImportFrom("typing", [ast.alias("Any")], 0)] if "Any" in names else []),
            ast.ImportFrom("pytest_clawperator", [ast.alias(name) for name in ours], 0),
        ]

    def head(self) -> list[ast.stmt]:
        """Return the statements above the functions."""
        marks: ast.expr = ast.List(self.marks, ast.Load())
        return [*self.imports(), *([syntax.assign("pytestmark", marks)] if self.marks else [])]

    def run(self, namespace: dict[str, Any]) -> None:
        """Define the functions in a namespace, with the line numbers of their files."""
        for path, body in self._modules():
            for statement in body:
                syntax.placed(statement, Mark(1, 1))
            tree = ast.fix_missing_locations(ast.Module(body, []))
            # Only syntax that this package generates from a test file is executed.
            exec(compile(tree, str(path), "exec", dont_inherit=True), namespace)  # noqa: S102

    def _modules(self) -> Iterator[tuple[Path, list[ast.stmt]]]:
        yield self.path, self.head()
        future: list[ast.stmt] = self.imports()[:1]
        for one in self.used:
            yield one.path, [*future, one.function]
        yield self.path, [*future, *(part for test in self.tests for part in _marked(test))]


def read_test_file(path: Path, *, root: Path) -> TestFile:
    """Read a file of tests; what it uses must be below ``root``."""
    return _Reader(path, root).read()


def is_test_file(name: str) -> bool:
    """Whether a file of this name has tests."""
    return name.startswith("test_") and name.endswith(SUFFIX)


class _Reader:
    """Read one file of tests, and each file that it uses once."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root = root.resolve()
        self._used: dict[Path, UsedFile] = {}
        self._idle: set[str] = set()
        self._reading: list[Path] = []

    def read(self) -> TestFile:
        """Return the tests of the file."""
        mistakes = Mistakes(self._path)
        file = TestFile(self._path, f"The tests of {self._path.name} as Python.")
        self._reading.append(self._path.resolve())
        with mistakes.collecting():
            top = _mapping(read_yaml(self._path), "a test file")
            if "tests" in top.entries:
                self._read_several(top, file, mistakes)
            else:
                unknown_key(top, [*header.TEST_KEYS, "tests"], "a test file")
                name = self._path.name.removesuffix(SUFFIX)
                function = self._read_test(name, top, top, mistakes)
                file.tests.append(syntax.placed(function, top.entries["steps"].mark))
        mistakes.raise_if_any()
        file.used = list(self._used.values())
        return file

    def _read_several(self, top: Mapping, file: TestFile, mistakes: Mistakes) -> None:
        shared = [key for key in header.TEST_KEYS if key not in ("steps", "parameters")]
        unknown_key(top, [*shared, "tests"], "a file of several tests")
        tests = _mapping(top.entries["tests"].value, "`tests`")
        if not tests.entries:
            raise Mistake(tests.mark, "tests: at least one is required")
        file.about = _docstring(file.about, top)
        file.marks = header.read_marks(top)
        known: dict[str, str] = {}
        for number, entry in enumerate(tests.entries.values(), 1):
            with mistakes.collecting():
                body = _mapping(entry.value, f"the test `{entry.key}`")
                unknown_key(body, header.TEST_KEYS, f"the test `{entry.key}`")
                function = self._read_test(entry.key, body, top, mistakes, number=number)
                syntax.placed(function, entry.mark)
                other = known.setdefault(function.name, entry.key)
                if other != entry.key:
                    raise Mistake(
                        entry.mark,
                        f"`{other}` and `{entry.key}` would both be called {function.name}",
                    )
                file.tests.append(function)

    def _read_test(
        self, title: str, body: Mapping, top: Mapping, mistakes: Mistakes, *, number: int = 1
    ) -> ast.FunctionDef:
        """Return the function of a test; the keys at the top of the file apply to it as well."""
        steps = body.entries.get("steps")
        if steps is None:
            raise Mistake(body.mark, "`steps` is missing: the list of what the test does")
        scope = Scope(mistakes, lambda path, mark: self._use(path, mark, self._path))
        tops = [top] if body is top else [top, body]
        fixtures = [name for one in tops for name in header.read_needs(one, "fixtures")]
        parameters, decorator = header.read_parameters(body)
        scope.names.update([*fixtures, *parameters])
        variables = [each for one in tops for each in header.read_variables(one, scope)]
        statements = _failing_if_idle(read_steps(steps.value, scope), self._idle)
        statements = [*_used_variables(variables, statements), *statements]
        decorators = [*header.read_marks(body), *decorator]
        arguments = [*_untyped(dict.fromkeys(fixtures)), *parameters.values()]
        function = _function(
            function_name(title, number), _docstring(title, body), arguments, statements
        )
        function.decorator_list = decorators
        return function

    def _use(self, text: str, mark: Mark, user: Path) -> tuple[str, tuple[str, ...]]:
        path = _inside(text, mark, user=user, root=self._root)
        if path in self._reading:
            ring = [*self._reading[self._reading.index(path) :], path]
            names = " → ".join(shown_path(one) for one in ring)
            raise Mistake(mark, f"use: {text} uses itself: {names}")
        if path not in self._used:
            self._reading.append(path)
            try:
                read = self._read_used(path)
            except ConfigurationError as error:
                raise Mistake(mark, f"use: {error.message}") from error
            finally:
                self._reading.pop()
            self._used[path] = read
        return self._used[path].function.name, self._used[path].needs

    def _read_used(self, path: Path) -> UsedFile:
        mistakes = Mistakes(path)
        function: ast.FunctionDef | None = None
        needs: list[str] = []
        with mistakes.collecting():
            top = _mapping(read_yaml(path), "a file of steps")
            unknown_key(top, header.STEPS_KEYS, "a file of steps")
            if "steps" not in top.entries:
                raise Mistake(top.mark, "`steps` is missing: the list of what the file does")
            needs = header.read_needs(top, "needs")
            scope = Scope(mistakes, lambda text, mark: self._use(text, mark, path), set(needs))
            variables = [*header.read_variables(top, scope)]
            steps = read_steps(top.entries["steps"].value, scope)
            title = path.name.removesuffix(SUFFIX)
            is_idle = _may_be_idle(steps, self._idle)
            statements = _telling_if_idle(steps, self._idle) if is_idle else steps
            name, about = self._free_name(title), _docstring(title, top)
            function = _function(name, about, [], [*variables, *statements])
            if is_idle:
                function.returns = syntax.name("bool")
                self._idle.add(name)
            function.args.kwonlyargs = _untyped(needs)
            function.args.kw_defaults = [None for _ in needs]
            syntax.placed(function, top.entries["steps"].mark)
        mistakes.raise_if_any()
        assert function is not None
        return UsedFile(path, function, tuple(needs))

    def _free_name(self, title: str) -> str:
        taken = {one.function.name for one in self._used.values()}
        wanted = name = f"do_{_identifier(title) or 'steps'}"
        number = 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        return name


# Steps that may all be skipped by their `when:`: a test that did nothing must not pass.

# No variable of a file can have this name.
_DONE = "_done"
_SKIPPED = (
    "every step was skipped by its `when:`, so nothing was tested: check how the nodes are written,"
    " or add a step without `when:`"
)


def _may_be_idle(statements: Sequence[ast.stmt], idle: Collection[str]) -> bool:
    """Whether each statement may do nothing; ``idle`` are the functions that may."""
    return all(_may_skip(one, idle) for one in statements)


def _failing_if_idle(statements: Sequence[ast.stmt], idle: Collection[str]) -> list[ast.stmt]:
    """Return the statements of a test; it fails if all of them were skipped."""
    if not _may_be_idle(statements, idle):
        return list(statements)
    fail = syntax.call(syntax.attribute(syntax.name("pytest"), "fail"), [ast.Constant(_SKIPPED)])
    nothing = ast.UnaryOp(ast.Not(), syntax.name(_DONE))
    return [*_noting_all(statements, idle), ast.If(nothing, [ast.Expr(fail)], [])]


def _telling_if_idle(statements: Sequence[ast.stmt], idle: Collection[str]) -> list[ast.stmt]:
    """Return the statements of a file of steps; its function returns whether it did anything."""
    return [*_noting_all(statements, idle), ast.Return(syntax.name(_DONE))]


def _noting_all(statements: Sequence[ast.stmt], idle: Collection[str]) -> list[ast.stmt]:
    return [syntax.assign(_DONE, ast.Constant(False)), *_noting(statements, idle)]


def _noting(statements: Sequence[ast.stmt], idle: Collection[str]) -> list[ast.stmt]:
    """Return the statements, which note that one was not skipped."""
    if not _may_be_idle(statements, idle):
        return [syntax.assign(_DONE, ast.Constant(True)), *statements]
    return [_noted(one, idle) for one in statements]


def _noted(statement: ast.stmt, idle: Collection[str]) -> ast.stmt:
    if isinstance(statement, (ast.If, ast.With)):
        statement.body = _noting(statement.body, idle)
    elif isinstance(statement, ast.Expr):
        done = ast.BoolOp(ast.Or(), [statement.value, syntax.name(_DONE)])
        return ast.copy_location(syntax.assign(_DONE, done), statement)
    return statement


def _may_skip(statement: ast.stmt, idle: Collection[str]) -> bool:
    if isinstance(statement, ast.With):
        return _may_be_idle(statement.body, idle)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return isinstance(function, ast.Name) and function.id in idle
    return isinstance(statement, (ast.If, ast.Pass))


def _marked(test: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield a test without its decorators, then their calls, each at its own line.

    Otherwise the first line of the function would be that of its first decorator.
    """
    bare = _function(test.name, "", [], [])
    bare.args, bare.body = test.args, test.body
    yield ast.copy_location(bare, test)
    for decorator in reversed(test.decorator_list):
        called = syntax.call(decorator, [syntax.name(test.name)])
        mark = Mark(decorator.lineno, decorator.col_offset + 1)
        yield syntax.placed(syntax.assign(test.name, called), mark)


def _used_variables(variables: list[ast.Assign], statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return the variables that a test uses: others may be missing in the environment."""
    kept: list[ast.stmt] = []
    for one in reversed(variables):
        names = {n.id for s in [*kept, *statements] for n in ast.walk(s) if isinstance(n, ast.Name)}
        kept += [one] if ast.unparse(one.targets[0]) in names else []
    return kept[::-1]


def _untyped(names: Iterable[str]) -> list[ast.arg]:
    return [ast.arg(name, syntax.name("Any")) for name in names]


def _function(
    name: str, docstring: str, arguments: list[ast.arg], statements: list[ast.stmt]
) -> ast.FunctionDef:
    client = ast.arg(syntax.CLIENT, syntax.name("Clawperator"))
    given = [client, *arguments]
    body: list[ast.stmt] = [ast.Expr(ast.Constant(docstring)), *statements]
    parameters = ast.arguments([], given, None, [], [], None, [])
    made = ast.FunctionDef(name, parameters, body, [], ast.Constant(None))
    if "type_params" in made._fields:
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]  # since Python 3.12
    return made


def _docstring(title: str, body: Mapping) -> str:
    """Return the description or title of a test as a sentence."""
    description = body.get("description")
    if description is None:
        text = title if any(c.isspace() for c in title) else title.replace("_", " ").strip()
        text = text[:1].upper() + text[1:]
        return text if text.endswith((".", "?", "!")) else f"{text}."
    given = text_in(description)
    if given is None:
        raise unexpected(description, "description: a text is wanted")
    return " ".join(given.replace('"""', '"').split())


def function_name(title: str, number: int) -> str:
    """Return the name of a test's function: its title as an identifier."""
    plain = _identifier(title) or str(number)
    return plain if plain.startswith("test_") else f"test_{plain}"


def _identifier(title: str) -> str:
    text = unicodedata.normalize("NFKC", title).lower()
    text = "".join(c if f"a{c}".isidentifier() else "_" for c in text)
    return re.sub("_+", "_", text).strip("_")


def _mapping(node: YamlNode, what: str) -> Mapping:
    if not isinstance(node, Mapping):
        raise unexpected(node, f"{what} is a mapping")
    return node


def _inside(text: str, mark: Mark, *, user: Path, root: Path) -> Path:
    """Resolve the path of a used file; refuse one outside of the project."""
    if not text.endswith(SUFFIX):
        raise Mistake(mark, f"use: a file of steps is called *{SUFFIX}, not {text!r}")
    try:
        path = (user.parent / text).resolve()
        is_there = is_file(path)
    except (OSError, ValueError) as error:
        raise Mistake(mark, f"use: {text!r} is not a valid path: {error}") from error
    if Path(text).is_absolute() or not path.is_relative_to(root):
        raise Mistake(
            mark,
            f"use: {text!r} leaves the project",
            hint=f"A path starts from the folder of the file, and stays in {root}.",
        )
    if not is_there:
        raise Mistake(mark, f"use: there is no file {shown_path(path)}")
    return path


_WIDTH = 99
_OPEN, _CLOSE = "([{", ")]}"
_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def as_python(file: TestFile) -> str:
    """Return the module of pytest functions that a file stands for."""
    future, *rest = file.head()
    standard = [one for one in rest if _imports(one, "os", "re", "typing")]
    others = [one for one in rest if _imports(one, "pytest", "pytest_clawperator")]
    marks = [one for one in rest if isinstance(one, ast.Assign)]
    groups: list[Sequence[ast.stmt]] = [[future], standard, others, marks]
    about = ast.Module([ast.Expr(ast.Constant(file.about))], [])
    title = ast.unparse(ast.fix_missing_locations(about))
    head = [title, *("\n".join(map(_written, group)) for group in groups if group)]
    functions = [*(one.function for one in file.used), *file.tests]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(map(_written, functions)) + "\n"


def _imports(statement: ast.stmt, *names: str) -> bool:
    if isinstance(statement, ast.Import):
        return statement.names[0].name in names
    return isinstance(statement, ast.ImportFrom) and statement.module in names


def _written(statement: ast.stmt) -> str:
    text = ast.unparse(ast.fix_missing_locations(syntax.placed(statement, Mark(1, 1))))
    return "\n".join(_folded(_double_quoted(line)) for line in _logical_lines(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; a docstring counts as one."""
    lines = iter(text.splitlines())
    for line in lines:
        while line.count('"""') == 1:
            line += "\n" + next(lines)
        yield line


def _double_quoted(line: str) -> str:
    """Use double quotes for texts where that needs no escaping."""
    if line.lstrip().startswith('"""'):
        return line
    written = line
    for token in reversed(_tokens(line)):
        body = token.string[1:-1]
        is_plain = token.string.startswith("'") and not set(body) & {'"', "\\", "'"}
        if token.type == tokenize.STRING and is_plain:
            first, last = token.start[1], token.end[1]
            written = f'{written[:first]}"{body}"{written[last:]}'
    return written


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of one line, also of one that begins a block."""
    margin = len(line) - len(line.lstrip())
    found: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type not in _LAYOUT:
                start, end = (token.start[0], token.start[1] + margin), (1, token.end[1] + margin)
                found.append(token._replace(start=start, end=end))
    except (tokenize.TokenError, IndentationError):  # a block without its body
        pass
    return found


def _folded(line: str) -> str:
    """Break a line that is too long into one argument per line."""
    if len(line) <= _WIDTH or line.lstrip().startswith('"""'):
        return line
    cuts = _cuts(_tokens(line))
    if len(cuts) < 2:
        return line
    margin = " " * (len(line) - len(line.lstrip()))
    head, tail = line[: cuts[0]], line[cuts[-1] :]
    parts = [line[a:b].strip().removesuffix(",") for a, b in pairwise(cuts)]
    inner = [_folded(f"{margin}    {part},") for part in parts if part]
    return "\n".join([head, *inner, f"{margin}{tail}"])


def _cuts(tokens: list[tokenize.TokenInfo]) -> list[int]:
    """Return where the last outermost bracket can be broken: at its ends and its commas."""
    depth = 0
    cuts: list[int] = []
    found: list[int] = []
    for token in tokens:
        if token.string in _OPEN and token.type == tokenize.OP:
            depth += 1
            cuts = [token.end[1]] if depth == 1 else cuts
        elif token.string in _CLOSE and token.type == tokenize.OP:
            depth -= 1
            if depth == 0:
                found = [*cuts, token.start[1]]
        elif token.string == "," and depth == 1:
            cuts.append(token.end[1])
    return found
