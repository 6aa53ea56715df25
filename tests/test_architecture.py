"""The layers point downward, and each third-party package has one home."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pytest_clawperator"
NAME = PACKAGE.name

# What may import what: a part may import any part with a smaller number.
LAYERS = {
    "error_codes": 0,
    "errors": 0,
    "remedies": 0,
    "contracts": 1,
    "snapshot": 2,
    "transport": 2,
    "execution": 3,
    "client": 4,
    "assertions": 5,
    "report": 5,
    "devices": 5,
    "emulators": 5,
    "skills": 5,
    "simulator": 5,
    "connect": 6,
    "plugin": 7,
    "cli": 7,
    "service": 7,
}
# Edges that the numbers forbid and that are allowed all the same.
EXTRA = {("errors", "error_codes"), ("errors", "remedies"), ("emulators", "devices.inventory")}
# The simulator knows next to nothing of the rest, else one bug can sit on both sides of the wire.
SIMULATOR_MAY_IMPORT = ("contracts", "errors", "simulator", "transport.binary")

# The one home of each third-party package, as path prefixes inside the package.
HOMES = {
    "pytest": ("plugin/",),
    "_pytest": (),
    "xdist": ("plugin/",),
    "pluggy": ("plugin/",),
    "adbutils": ("transport/",),
    "lxml": ("snapshot/",),
    "allure": ("report/allure_bridge.py",),
    "allure_commons": ("report/allure_bridge.py",),
    "starlette": ("service/",),
    "uvicorn": ("service/",),
    "click": ("cli/",),
    "httpx": ("execution/remote/",),
    "pydantic": ("contracts/", "simulator/"),
    "pydantic_core": ("contracts/", "simulator/"),
    "typing_extensions": ("",),
    "yaml": ("simulator/", "snapshot/golden/"),
    "PIL": ("simulator/picture/", "assertions/golden/"),
    "pixelmatch": ("assertions/golden/pixels.py",),
    "filelock": ("devices/file_lease.py",),
    "redis": ("devices/redis_lease.py",),
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield every module that the code imports, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def complaints(path: str, source: str) -> list[str]:
    """List what the imports of one module break; ``path`` is relative to the package."""
    part = path.split("/")[0].removesuffix(".py")
    found = []
    for module in imported(ast.parse(source)):
        if module == NAME or module.startswith(f"{NAME}."):
            target = module.removeprefix(NAME).removeprefix(".")
            found += layer_complaints(part, target)
        elif module.split(".")[0] not in sys.stdlib_module_names:
            home = HOMES.get(module.split(".")[0])
            if home is None or not path.startswith(home or ("\0",)):
                found.append(f"{path} imports {module}, which is at home in {home}")
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
    extra = any((part, target[: len(e)]) == (p, e) for p, e in EXTRA)
    return [] if downward or extra else [f"{part} imports {target}, which is not below it"]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.relative_to(PACKAGE).as_posix())
def test_imports_keep_to_layers_and_homes(module: Path) -> None:
    """A module imports only what lies below it, and third-party packages only at home."""
    path = module.relative_to(PACKAGE).as_posix()

    found = complaints(path, module.read_text(encoding="utf-8"))

    assert found == []


def test_every_part_is_on_the_map() -> None:
    """A folder or module that the map does not know is refused."""
    parts = {
        path.name.removesuffix(".py")
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path.is_dir() and path.name != "__pycache__")
    }

    assert parts - {"__init__"} <= LAYERS.keys()


@pytest.mark.parametrize(
    ("path", "source"),
    [
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
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }

    assert long == {}
