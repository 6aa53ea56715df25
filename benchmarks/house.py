"""How the package is built: sizes, names, imports, cycles, hooks, and the way of one click.

``python -m benchmarks.house [PACKAGE_FOLDER]`` measures another checkout's package, without
the click, which is traced through the installed package.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from pytest_clawperator import connect
from pytest_clawperator.simulator import Simulator

PACKAGE = Path(__file__).parent.parent / "pytest_clawperator"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules_of(package: Path) -> dict[str, ast.Module]:
    """Return every module of a package by its dotted name."""
    named = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        named[name] = ast.parse(path.read_text(encoding="utf-8"))
    return named


def functions_of(tree: ast.Module) -> Iterator[Function]:
    """Yield the functions and methods of a module."""
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def imports_in_functions(tree: ast.Module) -> int:
    """Count the imports that stand inside functions."""
    lines = {
        inner.lineno
        for function in functions_of(tree)
        for inner in ast.walk(function)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    return len(lines)


def edges_of(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which module imports which when it runs, also inside functions."""
    edges: dict[str, set[str]] = {}
    for name, tree in modules.items():
        targets = set()
        for node in _at_run_time(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {each if each in modules else node.module for each in inner}
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
        edges[name] = {target for target in targets if target in modules} - {name}
    return edges


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, but for what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _at_run_time(node)


def cycles_of(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules that import each other, directly or not."""
    reached = {name: _reachable(name, edges) for name in edges}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in edges
        if name in reached[name]
    }
    return [set(group) for group in groups]


def _reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(edges[start])
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += edges[name]
    return found


class ClickTrace:
    """The modules that one click passes, in order, and the rooms that it enters again.

    A room is entered again where it is called by a room that it called itself: that a lower
    room is used several times is not a way back.
    """

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.entered_again: set[str] = set()
        self._stack: list[str | None] = []

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """Note a call that enters a module of the package, and the return from it."""
        if event == "return" and self._stack:
            self._stack.pop()
        if event != "call":
            return
        name = frame.f_globals.get("__name__", "")
        is_ours = name.startswith("pytest_clawperator.") and ".simulator" not in name
        self._stack.append(name if is_ours else None)
        if is_ours and self.modules[-1:] != [name]:
            self.modules.append(name)
            self._note_way_back(name)

    def _note_way_back(self, name: str) -> None:
        rooms = [room for room, _ in groupby(_room(each) for each in self._stack if each)]
        if rooms.count(rooms[-1]) > 1:
            self.entered_again.add(f"{' > '.join(rooms)} ({name})")

    @property
    def rooms(self) -> list[str]:
        """The top-level folders that it passes, in the order in which each is first entered."""
        return list(dict.fromkeys(_room(name) for name in self.modules))


def _room(name: str) -> str:
    return name.split(".")[1]


def trace_click() -> ClickTrace:
    """Click on a simulated phone, and follow it from module to module."""
    trace = ClickTrace()
    with Simulator() as phones, connect(adb=f"{phones.adb_host}:{phones.adb_port}") as claw:
        claw.open_app("com.android.settings")
        claw.click(text="Connections")
        claw.press_key("back")
        claw.wait_for_node(text="Connections")
        sys.setprofile(trace)
        try:
            claw.click(text="Connections")
        finally:
            sys.setprofile(None)
    return trace


def report(package: Path) -> None:
    """Print the sizes of a package."""
    modules = modules_of(package)
    lines = {
        name: len(_path(package, name).read_text(encoding="utf-8").splitlines()) for name in modules
    }
    folders: dict[str, list[int]] = defaultdict(list)
    for name in modules:
        folders[_path(package, name).parent.relative_to(package.parent).as_posix()].append(
            lines[name]
        )
    print(f"{'folder':44}{'modules':>8}{'lines':>8}{'median':>8}{'longest':>8}")
    for folder, sizes in sorted(folders.items()):
        row = (len(sizes), sum(sizes), int(statistics.median(sizes)), max(sizes))
        print(f"{folder:44}" + "".join(f"{number:8}" for number in row))
    functions = [
        (node.end_lineno - node.lineno + 1, f"{name}.{node.name}")
        for name, tree in modules.items()
        for node in functions_of(tree)
        if node.end_lineno is not None
    ]
    sizes = [size for size, _ in functions]
    real = {name: count for name, count in lines.items() if _is_module(package, name)}
    total = sum(lines.values())
    simulated = sum(count for name, count in lines.items() if ".simulator" in name)
    print(f"modules {len(real)} in {len(folders)} folders, at most {_deepest(folders)} deep")
    print(f"lines {total}: host {total - simulated}, simulator {simulated}")
    print(f"modules per 1,000 lines: {1000 * len(real) / total:.1f}")
    print(
        f"modules: median {statistics.median(real.values()):g} lines, longest {max(real.values())}"
    )
    print(f"functions: median {statistics.median(sizes):g}, longest {max(functions)}")
    imports = sum(map(_import_lines, modules.values()))
    print(f"import lines: {imports / total:.1%}")
    importers = Counter(target for targets in edges_of(modules).values() for target in targets)
    print(f"modules with one importer: {sum(importers[name] == 1 for name in real)}")
    names = Counter(name.rpartition(".")[2] for name in real if ".simulator" not in name)
    repeated = {name: count for name, count in names.items() if count > 1}
    print(f"file names that stand twice or more in the host part: {len(repeated)} {repeated}")
    hooks = Counter(
        node.name
        for name, tree in modules.items()
        if ".plugin." in name and not name.endswith("hookspecs")
        for node in functions_of(tree)
        if node.name.startswith("pytest_")
    )
    print(f"hooks by the modules that implement them: {hooks.most_common(3)}")
    hidden = Counter({name: imports_in_functions(tree) for name, tree in modules.items()})
    print(f"imports inside functions: {hidden.total()}; most {hidden.most_common(3)}")
    cycles = cycles_of(edges_of(modules))
    print(f"cycles: {len(cycles)} groups, largest {max(map(len, cycles), default=0)}")
    for group in cycles:
        print("   ", ", ".join(sorted(group)))


def _path(package: Path, name: str) -> Path:
    path = package.parent.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _is_module(package: Path, name: str) -> bool:
    return _path(package, name).name != "__init__.py"


def _deepest(folders: Iterable[str]) -> int:
    return max(folder.count("/") for folder in folders)


def _import_lines(tree: ast.Module) -> int:
    """Count the lines of import statements."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def main() -> None:
    """Print all figures."""
    if sys.argv[1:]:
        return report(Path(sys.argv[1]))
    report(PACKAGE)
    trace = trace_click()
    print(f"one click: {len(set(trace.modules))} modules, {len(trace.modules)} hops")
    print("rooms:", " > ".join(trace.rooms))
    print(f"rooms entered again: {len(trace.entered_again)}")
    for way in sorted(trace.entered_again):
        print("   ", way)
    return None


if __name__ == "__main__":
    main()
