"""Makes one script of modules: a page that is opened from disk cannot import files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_DECLARED = re.compile(
    r"^(?:async )?(?:function\*?|class|const|let) ([A-Za-z_$][\w$]*)", re.MULTILINE
)
_LEFT = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)


def join_modules(folder: Path, entry: str) -> str:
    """Return the module ``entry`` and all that it imports as one script.

    Modules import names as they are (``import { a, b } from "./other.js";``) and export
    declarations. Raise ``ValueError`` for any other form, and where two modules declare the
    same name.
    """
    sources: dict[str, str] = {}
    graph: dict[str, set[str]] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = (folder / name).read_text(encoding="utf-8")
            graph[name] = set(_imported(name, sources[name]))
            waiting.extend(graph[name])
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise ValueError(f"modules import each other: {error.args[1]}") from error
    _check_imports(sources)
    _check_names(sources)
    return "\n".join(_bare(name, sources[name]) for name in order)


def declared_names(source: str) -> list[str]:
    """Return the names that a module declares at its top."""
    return _DECLARED.findall(_EXPORT.sub("", source))


def _imported(name: str, source: str) -> Iterator[str]:
    for _, target in _IMPORT.findall(source):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _check_imports(sources: dict[str, str]) -> None:
    for name, source in sources.items():
        for names, target in _IMPORT.findall(source):
            other = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            exported = {
                found for line in _exported_lines(sources[other]) for found in declared_names(line)
            }
            wanted = {one.strip() for one in names.split(",") if one.strip()}
            if lacking := sorted(wanted - exported):
                raise ValueError(f"{name} imports {lacking}, which {other} does not export")


def _exported_lines(source: str) -> list[str]:
    return [source[found.end() :].partition("\n")[0] for found in _EXPORT.finditer(source)]


def _check_names(sources: dict[str, str]) -> None:
    owners: dict[str, str] = {}
    for name, source in sources.items():
        for declared in declared_names(source):
            if declared in owners:
                raise ValueError(f"{owners[declared]} and {name} both declare {declared}")
            owners[declared] = name


def _bare(name: str, source: str) -> str:
    bare = _EXPORT.sub("", _IMPORT.sub("", source))
    if found := _LEFT.search(bare):
        line = bare[found.start() :].strip().partition("\n")[0]
        raise ValueError(f"{name} has an import or export of another form: {line}")
    return bare
