"""The code keeps to the maps in docs/architecture.md, and each package has one home."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from benchmarks.house import trace_click

TOP = Path(__file__).parent.parent
PACKAGE = TOP / "pytest_clawperator"
NAME = PACKAGE.name
DOCUMENT = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")

MOST_LINES = 800
MOST_MODULES = 15
MOST_IMPORTS_IN_FUNCTIONS = 25

# The simulator knows next to nothing of the rest, else one bug can sit on both sides of the wire.
SIMULATOR_MAY_IMPORT = ("errors", "simulator", "transport.binary")
# What the plugin imports where it is used: xdist is optional, and the models of simulated apps
# take as long to import as all of the plugin.
LATE_IN_PLUGIN = {
    (
        "plugin/input/option_values.py",
        "pytest_clawperator.simulator.screen.app_files.load.load_app",
    ),
    ("plugin/xdist/scheduling.py", "xdist.report.report_collection_diff"),
}

# The one home of each third-party package, as path prefixes inside the package.
HOMES = {
    "pytest": ("plugin/",),
    "_pytest": (),
    "xdist": ("plugin/",),
    "pluggy": ("plugin/",),
    "adbutils": ("transport/",),
    "lxml": ("snapshot/",),
    "allure": ("report/sinks/allure.py",),
    "allure_commons": ("report/sinks/allure.py",),
    "starlette": ("service/",),
    "uvicorn": ("service/",),
    "h11": ("service/",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "httpx": ("execution/remote/",),
    "pydantic": ("contracts/", "simulator/"),
    "pydantic_core": ("contracts/", "simulator/"),
    "typing_extensions": ("",),
    "yaml": ("simulator/", "snapshot/golden/", "skills/test_files/yaml_tree.py"),
    "PIL": (
        "simulator/picture/",
        "assertions/golden/",
        "report/blackening.py",
        "report/small_picture.py",
        "report/page/pictures.py",
        "service/page/thumbnail.py",
    ),
    "pixelmatch": ("assertions/golden/pixels.py",),
    "redis": ("devices/redis/",),
}

MODULES = sorted(PACKAGE.rglob("*.py"))
PATHS = [module.relative_to(PACKAGE).as_posix() for module in MODULES]
FOLDERS = sorted({module.parent for module in MODULES})


def layers_under(heading: str) -> dict[str, int]:
    """Read the map under a heading of the document: each name with its layer."""
    block = DOCUMENT.partition(f"\n{heading}\n")[2].partition("```text\n")[2].partition("```")[0]
    rows = re.findall(r"^(\d+) +(\w+(?: \| \w+)*)(?:  |$)", block, re.MULTILINE)
    return {name: int(layer) for layer, names in rows for name in names.split(" | ")}


def allowed_imports() -> set[tuple[str, str]]:
    """Read the imports that the document allows although the layers forbid them."""
    rows = re.findall(r"^\| `([\w/]+)` \| `([\w/.]+)` \|", DOCUMENT, re.MULTILINE)
    return {(part, target.removesuffix(".py").replace("/", ".")) for part, target in rows}


LAYERS = layers_under("## Layers")
PLUGIN_LAYERS = layers_under("### Inside the plugin")
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


def complaints(path: str, source: str) -> list[str]:
    """List what the imports of one module break; ``path`` is relative to the package."""
    tree, found = ast.parse(source), []
    for name in imported(tree):
        target = own_target(name)
        if target is not None:
            found += layer_complaints(path.split("/")[0].removesuffix(".py"), target)
        elif name.split(".")[0] not in sys.stdlib_module_names:
            home = HOMES.get(name.split(".")[0])
            if home is None or not path.startswith(home or ("\0",)):
                found.append(f"{path} imports {name}, which is at home in {home}")
    if path.startswith("plugin/"):
        for name in imported_at_run_time(tree):
            found += plugin_complaints(path, name)
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


def plugin_complaints(path: str, name: str) -> list[str]:
    """List what is wrong with one import that a module of the plugin runs."""
    room, target = room_of(path.removeprefix("plugin/")), own_target(name)
    if target is None:
        return []
    if not target.startswith("plugin."):
        return [f"the front imports {target}"] if room == "front" else []
    other = room_of(target.removeprefix("plugin.").replace(".", "/"))
    downward = other == room or PLUGIN_LAYERS[other] < PLUGIN_LAYERS[room]
    allowed = is_allowed(f"plugin/{room}", target)
    return [] if downward or allowed else [f"{path} imports {target}, which is not below it"]


def room_of(path: str) -> str:
    """Return the room of a module of the plugin; what is in none of them is the front."""
    first = path.split("/")[0].removesuffix(".py")
    return first if first in PLUGIN_LAYERS else "front"


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


def tree_of(path: str) -> ast.Module:
    """Parse a module of the package."""
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PATHS)
def test_imports_keep_to_layers_and_homes(path: str) -> None:
    """A module imports only what lies below it, and third-party packages only at home."""
    source = (PACKAGE / path).read_text(encoding="utf-8")

    assert complaints(path, source) == []


def test_no_modules_import_each_other() -> None:
    """No module imports itself through others, also counting imports inside functions."""
    graph = {
        path: {module_of(name) for name in imported_at_run_time(tree_of(path))} - {path, None}
        for path in PATHS
        if path != "__init__.py"
    }

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {error.args[1]}")


def test_few_imports_stand_inside_functions() -> None:
    """An import inside a function has a strong reason, and there are few."""
    found = [(path, name) for path in PATHS for name in imported_in_functions(tree_of(path))]

    assert len(found) <= MOST_IMPORTS_IN_FUNCTIONS, found
    assert {each for each in found if each[0].startswith("plugin/")} == LATE_IN_PLUGIN


def test_only_the_gate_imports_modules_by_name() -> None:
    """What is behind the gate of the plugin is imported there and nowhere else."""
    calling = [
        path
        for path in PATHS
        if path.startswith("plugin/") and "import_module" in ast.dump(tree_of(path))
    ]

    assert calling == ["plugin/gate.py"]


def test_the_map_has_every_part_and_no_other() -> None:
    """A folder or module that the map does not know is refused, and so is a ghost."""
    parts = {path.split("/")[0].removesuffix(".py") for path in PATHS} - {"__init__", "py"}
    rooms = {path.split("/")[1] for path in PATHS if path.count("/") == 2 and "plugin/" in path}

    assert parts == LAYERS.keys()
    assert rooms | {"front", "rooms"} == PLUGIN_LAYERS.keys()


def modules_of_a_click() -> set[str]:
    """Read the modules that the document lists for one click."""
    chapter = DOCUMENT.partition("\n## The way of one click\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+`) \|", chapter, re.MULTILINE)
    return {path for cell in cells for path in re.findall(r"`([\w/]+\.py)`", cell)}


def test_the_way_of_a_click_is_in_the_document() -> None:
    """A click passes no module that the document does not list, and enters no room again."""
    trace = trace_click()
    passed = {f"{name.partition('.')[2].replace('.', '/')}.py" for name in trace.modules}

    assert passed - modules_of_a_click() == set()
    assert trace.entered_again == set()


def test_the_modules_of_a_click_are_there() -> None:
    """The document lists only modules that exist."""
    assert modules_of_a_click() - set(PATHS) == set()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("simulator/x.py", "from pytest_clawperator.contracts.payload import Execution"),
        ("contracts/x.py", "from pytest_clawperator.execution import postprocess"),
        ("contracts/x.py", "def f():\n    import pytest_clawperator.snapshot.extract"),
        ("snapshot/x.py", "from pytest_clawperator.transport.binary import find_adb"),
        ("simulator/x.py", "from pytest_clawperator.transport.adb import AdbTransport"),
        ("report/x.py", "import pytest_clawperator.devices.lease"),
        ("execution/x.py", "import pytest_clawperator"),
        ("execution/x.py", "import pytest"),
        ("contracts/x.py", "from lxml import etree"),
        ("report/html_trace.py", "import allure"),
        ("contracts/x.py", "import requests"),
        ("plugin/x.py", "from pytest_clawperator.errors import ClawperatorError"),
        ("plugin/x.py", "from pytest_clawperator.plugin.leasing import fixture_bodies"),
        ("plugin/evidence/x.py", "from pytest_clawperator.plugin.leasing import fixture_bodies"),
        ("plugin/leasing/x.py", "def f():\n    import pytest_clawperator.plugin.xdist.backlog"),
        ("plugin/evidence/x.py", "from pytest_clawperator.plugin.reporting import hints"),
    ],
)
def test_a_broken_rule_is_noticed(path: str, source: str) -> None:
    """The check itself can fail: each of these imports is refused."""
    assert complaints(path, source) != []


def test_modules_stay_small() -> None:
    """A module that passes 500 lines is two modules."""
    long = {
        path.name: lines
        for path in MODULES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }

    assert long == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(TOP).as_posix())
def test_a_folder_is_small_and_says_what_belongs_there(folder: Path) -> None:
    """A folder holds few modules, and its docstring says what it is for."""
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    door = folder / "__init__.py"

    assert len(modules) <= MOST_MODULES
    assert ast.get_docstring(ast.parse(door.read_text(encoding="utf-8")))
