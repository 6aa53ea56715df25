"""The code keeps to the maps in docs/architecture.md, and to the rules for modules and folders."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from benchmarks.house import trace_click

TOP = Path(__file__).parent.parent
PACKAGE = TOP / "pytest_clawperator"
NAME = PACKAGE.name
DOCUMENT = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")

MOST_LINES = 800
# A module smaller than this with one importer is part of that importer.
FEWEST_LINES = 120
DEEPEST = 2
FEWEST_IN_SUBFOLDER = 4
MOST_IMPORTS_IN_FUNCTIONS = 25
MOST_MODULES_OF_A_CLICK = 30
MOST_MODULES_OF_A_HOOK = 4

# Small modules with one importer, and why they stand alone.
ALONE = {
    "cli/entry.py": "works without click, which is optional, to say that it is missing",
    "contracts/selector_flags.py": "the command line starts without pydantic",
    "plugin/hookspecs.py": "the interface of hooks, which pytest reads as a module",
    "plugin/pausing.py": "a feature with an option of its own",
}

# The simulator knows next to nothing of the rest, else one bug can sit on both sides of the wire.
SIMULATOR_MAY_IMPORT = ("errors", "simulator", "yaml_source", "transport.adb_program")
# What the plugin imports where it is used, and why.
LATE_IN_PLUGIN = {
    # The models of simulated apps take as long to import as all of the plugin.
    ("plugin/settings.py", "pytest_clawperator.simulator.apps.load.load_app"),
    # xdist is optional.
    ("plugin/scheduler.py", "xdist.report.report_collection_diff"),
}
# What pytest loads in every project that has the package installed.
FRONT = {
    f"plugin/{name}.py"
    for name in ("fixtures", "hookspecs", "markers", "options", "stash", "usage")
}

# The one home of each third-party package, as path prefixes inside the package.
HOMES = {
    "pytest": ("plugin/",),
    "_pytest": (),
    "xdist": ("plugin/",),
    "pluggy": ("plugin/",),
    "adbutils": ("transport/",),
    "lxml": ("snapshot/",),
    "allure_commons": ("report/allure.py",),
    "starlette": ("service/",),
    "uvicorn": ("service/",),
    "h11": ("service/",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "httpx": ("remote/",),
    "pydantic": ("contracts/", "simulator/"),
    "pydantic_core": ("contracts/", "simulator/"),
    "typing_extensions": ("",),
    "yaml": ("yaml_source.py",),
    "PIL": ("pictures.py", "assertions/golden_picture.py", "simulator/picture/"),
    "pixelmatch": ("assertions/golden_picture.py",),
    "redis": ("devices/redis_lease.py",),
}

PATHS = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
MODULES = [path for path in PATHS if not path.endswith("__init__.py")]


@cache
def trees() -> dict[str, ast.Module]:
    """Parse every module of the package, once."""
    return {path: ast.parse((PACKAGE / path).read_text(encoding="utf-8")) for path in PATHS}


def lines_of(path: str) -> int:
    """Return the number of lines of a module."""
    return len((PACKAGE / path).read_text(encoding="utf-8").splitlines())


def layers() -> dict[str, int]:
    """Read the map of the document: each folder or root module with its layer."""
    block = DOCUMENT.partition("\n## Layers\n")[2].partition("```text\n")[2].partition("```")[0]
    rows = re.findall(r"^(\d+) +(\w+(?: \| \w+)*)(?:  |$)", block, re.MULTILINE)
    return {name: int(layer) for layer, names in rows for name in names.split(" | ")}


def allowed_imports() -> set[tuple[str, str]]:
    """Read the imports that the document allows although the layers forbid them."""
    rows = re.findall(r"^\| `([\w/]+)` \| `([\w/.]+)` \|", DOCUMENT, re.MULTILINE)
    return {(part, target.removesuffix(".py").replace("/", ".")) for part, target in rows}


LAYERS = layers()
ALLOWED = allowed_imports()


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield what an import statement imports, as dotted names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield every name that the code imports, wherever the import stands."""
    for node in ast.walk(tree):
        yield from names_in(node)


def imported_at_run_time(tree: ast.AST) -> Iterator[str]:
    """Yield every name that the code imports, but for those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield from names_in(node)
        yield from imported_at_run_time(node)


def imported_in_functions(tree: ast.AST) -> list[str]:
    """List the import statements that run when a function is called, by the first name of each."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inside = {child for function in functions for child in ast.walk(function)}
    return [name for node in inside for name in list(names_in(node))[:1]]


def own_target(name: str) -> str | None:
    """Return a dotted name inside the package; None for what is not ours."""
    if name != NAME and not name.startswith(f"{NAME}."):
        return None
    return name.removeprefix(NAME).removeprefix(".")


def complaints(path: str, tree: ast.Module) -> list[str]:
    """List what the imports of one module break; ``path`` is relative to the package."""
    found = []
    for name in imported(tree):
        target = own_target(name)
        if target is not None:
            found += layer_complaints(path.split("/")[0].removesuffix(".py"), target)
        elif name.split(".")[0] not in sys.stdlib_module_names:
            home = HOMES.get(name.split(".")[0])
            if home is None or not path.startswith(home or ("\0",)):
                found.append(f"{path} imports {name}, which is at home in {home}")
    if path in FRONT:
        found += [
            f"{path}, which is always loaded, imports {name}"
            for name in imported_at_run_time(tree)
            if own_target(name) and module_of(name) not in FRONT | {"plugin/__init__.py"}
        ]
    return found


def layer_complaints(part: str, target: str) -> list[str]:
    """List what is wrong with one import inside the package."""
    if part == "__init__":
        return []  # the public names, resolved lazily
    if not target:
        return [f"{part} imports the package's own root"]
    other = target.split(".")[0]
    if part == "simulator" and not target.startswith(SIMULATOR_MAY_IMPORT):
        return [f"simulator imports {target}"]
    downward = other == part or LAYERS[other] < LAYERS[part]
    return [] if downward or is_allowed(part, target) else [f"{part} imports {target}"]


def is_allowed(part: str, target: str) -> bool:
    """Whether the document allows the import although the layers forbid it."""
    return any(f"{target}.".startswith(f"{allowed}.") for one, allowed in ALLOWED if one == part)


def module_of(name: str) -> str | None:
    """Return the module of the package that an imported name is, or is in."""
    target = own_target(name)
    if not target:
        return None
    path = target.replace(".", "/")
    return next(
        (
            file
            for place in (path, path.rpartition("/")[0])
            for file in (f"{place}.py", f"{place}/__init__.py")
            if file in PATHS
        ),
        None,
    )


def test_imports_keep_to_layers_and_homes() -> None:
    """A module imports only what lies below it, and third-party packages only at home."""
    assert [text for path, tree in trees().items() for text in complaints(path, tree)] == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("simulator/x.py", "from pytest_clawperator.contracts.payload import Execution"),
        ("simulator/x.py", "from pytest_clawperator.transport.adb import AdbTransport"),
        ("contracts/x.py", "from pytest_clawperator.execution import postprocess"),
        ("contracts/x.py", "def f():\n    import pytest_clawperator.snapshot.parse"),
        ("snapshot/x.py", "from pytest_clawperator.transport.adb_program import find_adb"),
        ("report/x.py", "import pytest_clawperator.devices.lease"),
        ("execution/x.py", "import pytest_clawperator"),
        ("execution/x.py", "import pytest"),
        ("contracts/x.py", "from lxml import etree"),
        ("contracts/x.py", "import requests"),
        ("plugin/options.py", "from pytest_clawperator.errors import ClawperatorError"),
        ("plugin/options.py", "from pytest_clawperator.plugin import evidence"),
    ],
)
def test_a_broken_rule_is_noticed(path: str, source: str) -> None:
    """The check itself can fail: each of these imports is refused."""
    assert complaints(path, ast.parse(source)) != []


def test_no_modules_import_each_other() -> None:
    """No module imports itself through others, also counting imports inside functions."""
    graph = {
        path: {module_of(name) for name in imported_at_run_time(tree)} - {path, None}
        for path, tree in trees().items()
        if path != "__init__.py"
    }

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {error.args[1]}")


def test_few_imports_stand_inside_functions() -> None:
    """An import inside a function has a strong reason, and there are few."""
    found = [(path, name) for path, tree in trees().items() for name in imported_in_functions(tree)]

    assert len(found) <= MOST_IMPORTS_IN_FUNCTIONS, found
    assert {each for each in found if each[0].startswith("plugin/")} == LATE_IN_PLUGIN


def test_only_the_gate_imports_modules_by_name() -> None:
    """What is behind the gate of the plugin is imported there and nowhere else."""
    calling = [
        path
        for path, tree in trees().items()
        if path.startswith("plugin/") and "import_module" in ast.dump(tree)
    ]

    assert calling == ["plugin/usage.py"]


def test_the_map_has_every_part_and_no_other() -> None:
    """A folder or module that the map does not know is refused, and so is a ghost."""
    parts = {path.split("/")[0].removesuffix(".py") for path in PATHS} - {"__init__"}

    assert parts == LAYERS.keys()


def test_folders_are_few_and_flat() -> None:
    """No folder is deeper than two levels, a subfolder has at least four modules."""
    deep = [path for path in PATHS if path.count("/") > DEEPEST]
    sizes = Counter(path.rpartition("/")[0] for path in MODULES if path.count("/") == DEEPEST)
    small = {folder: size for folder, size in sizes.items() if size < FEWEST_IN_SUBFOLDER}

    assert deep == []
    assert small == {}


def test_folders_say_what_belongs_there() -> None:
    """Each folder has a docstring."""
    doors = [path for path in PATHS if path.endswith("__init__.py")]

    assert [path for path in doors if not ast.get_docstring(trees()[path])] == []


def test_modules_are_chapters() -> None:
    """No module is too long, and a small one is part of its only importer, or has a reason."""
    importers = defaultdict(set)
    for path, tree in trees().items():
        for name in imported(tree):
            importers[module_of(name)].add(path)
    lonely = {
        path
        for path in MODULES
        if len(importers[path] - {path}) == 1 and lines_of(path) < FEWEST_LINES
    }

    assert [path for path in MODULES if lines_of(path) > MOST_LINES] == []
    assert lonely - ALONE.keys() == set(), "merge these into their importers, or give a reason"
    assert ALONE.keys() - lonely == set(), "these no longer need a reason"


def test_names_stand_once_or_twice() -> None:
    """No file name is in more than two folders of the host part."""
    names = Counter(path.rpartition("/")[2] for path in MODULES if "simulator/" not in path)

    assert {name: count for name, count in names.items() if count > 2} == {}


def test_hooks_are_implemented_in_few_modules() -> None:
    """What pytest calls around a test stands in a few modules, in an order one can read."""
    where = defaultdict(set)
    for path in MODULES:
        if path.startswith("plugin/") and path != "plugin/hookspecs.py":
            for node in ast.walk(trees()[path]):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
                    where[node.name].add(path)

    assert {
        hook: paths for hook, paths in where.items() if len(paths) > MOST_MODULES_OF_A_HOOK
    } == {}


def modules_of_a_click() -> set[str]:
    """Read the modules that the document lists for one click."""
    chapter = DOCUMENT.partition("\n## The path of one click\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+`) \|", chapter, re.MULTILINE)
    return {path for cell in cells for path in re.findall(r"`([\w/]+\.py)`", cell)}


def test_the_way_of_a_click_is_in_the_document() -> None:
    """A click passes few modules, exactly those of the document, and enters no folder again."""
    trace = trace_click()
    passed = {f"{name.partition('.')[2].replace('.', '/')}.py" for name in trace.modules}

    assert passed == modules_of_a_click()
    assert len(passed) <= MOST_MODULES_OF_A_CLICK
    assert trace.entered_again == set()
