"""Write the page of a test: one HTML file that needs no network and no other files."""

from __future__ import annotations

import base64
import html
import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_clawperator.report.contents import page_contents
from pytest_clawperator.report.trace import Trace

_FILES = Path(__file__).parent / "files"

# Texts can never become markup or script: only the page's own script and style are allowed.
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)

# These could end a script element or begin a comment; their JSON escapes mean the same.
_ESCAPES = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}

_MOST_MESSAGE = 2_000


def write_page(trace: Trace, path: Path, *, passed: Trace | None = None) -> None:
    """Write the page of a trace to a file.

    ``passed`` is the trace of the last run of this test that passed, to compare with.
    """
    write_file(path, page_text(trace, folder=path.parent, passed=passed))


def write_file(path: Path, text: str) -> None:
    """Write a page atomically: the file is complete or does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A page that is half written when the process is killed has another name.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def page_text(trace: Trace, *, folder: Path, passed: Trace | None = None) -> str:
    """Return the page of a trace, with links relative to ``folder``."""
    return page_of(
        "viewer/viewer.html",
        entry="viewer/main.js",
        styles=("base/base.css", "parts/parts.css", "viewer/viewer.css"),
        title=_title(trace),
        data=page_contents(trace, passed=passed, folder=folder),
        summary=_summary(trace),
    )


def page_of(
    template: str,
    *,
    entry: str,
    styles: tuple[str, ...],
    title: str,
    data: Any,
    summary: str = "",
) -> str:
    """Return a whole page: ``template`` is its body; script, styles and data are put around it.

    ``summary`` is HTML for browsers that do not run scripts.
    """
    script, style = _script(entry), _style(styles)
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    parts = {
        "policy": html.escape(policy, quote=True),
        "title": escaped(title),
        "summary": summary,
        "style": style,
        "data": embedded(data),
        "script": script,
    }
    parts["body"] = _filled(template, parts)
    return _filled("base/page.html", parts)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced; braces inside a part stay."""
    before, *rest = (_FILES / template).read_text(encoding="utf-8").split("{{")
    for part in rest:
        name, _, after = part.partition("}}")
        before += parts[name] + after
    return before


def embedded(data: Any) -> str:
    """Return data as JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


@cache
def _script(entry: str) -> str:
    script = join_modules(_FILES, entry)
    # A closing tag anywhere would end the element, also one in a comment.
    assert "</script" not in script.lower()
    assert "<!--" not in script
    return script


@cache
def _style(names: tuple[str, ...]) -> str:
    return "\n".join((_FILES / name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    digest = base64.b64encode(sha256(text.encode("utf-8")).digest())
    return f"sha256-{digest.decode('ascii')}"


def _title(trace: Trace) -> str:
    outcome = trace.end.get("outcome") if trace.end else None
    word = outcome if isinstance(outcome, str) else "broken off"
    return f"{word[:40]}: {trace.head['nodeid'][:200]}"


def _summary(trace: Trace) -> str:
    """Return what happened in a few lines of HTML."""
    lines = [f"<h1>{escaped(_title(trace))}</h1>"]
    for error in trace.of_kind("error"):
        failure = error.get("failure")
        if isinstance(failure, dict):
            parts = [str(failure[key]) for key in ("type", "message", "hint") if failure.get(key)]
            text = "\n".join(parts)[:_MOST_MESSAGE]
            lines.append(f"<pre>{escaped(text)}</pre>")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return text for HTML; lone surrogates, which UTF-8 cannot encode, are replaced."""
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";\n', re.MULTILINE)

_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)

_DECLARED = re.compile(
    r"^(?:async )?(?:function\*?|class|const|let) ([A-Za-z_$][\w$]*)", re.MULTILINE
)

_LEFT = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)


def join_modules(folder: Path, entry: str) -> str:
    """Return the module ``entry`` and all that it imports as one script.

    A page that is opened from disk cannot import files. Modules import names unchanged
    (``import { a, b } from "./other.js";``) and export declarations. Raise ``ValueError`` for any
    other form, and if two modules declare the same name.
    """
    sources: dict[str, str] = {}
    graph: dict[str, set[str]] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = (folder / name).read_text(encoding="utf-8")
            graph[name] = {other for other, _ in _imports(name, sources[name])}
            waiting.extend(graph[name])
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise ValueError(f"modules import each other: {error.args[1]}") from error
    _check_imports(sources)
    _check_names(sources)
    return "\n".join(_bare(name, sources[name]) for name in order)


def declared_names(source: str) -> list[str]:
    """Return the names that a module declares at its top level."""
    return _DECLARED.findall(_EXPORT.sub("", source))


def _imports(name: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield each module that a module imports, with the imported names."""
    for names, target in _IMPORT.findall(source):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), target)), names


def _check_imports(sources: dict[str, str]) -> None:
    for name, source in sources.items():
        for other, names in _imports(name, source):
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
