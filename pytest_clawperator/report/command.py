"""``python -m pytest_clawperator.report``: rebuild pages, summarise, pack and serve runs."""

from __future__ import annotations

import argparse
import html
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    file_problem,
)
from pytest_clawperator.report.index import (
    INDEX_FILE,
    PAGE_FILE,
    RUN_FILE,
    Run,
    TestEnded,
    count_outcomes,
    groups_of,
    read_run,
    write_index,
)
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import Glance, last_passed, read_trace, traces_in
from pytest_clawperator.text import visible

_EXAMPLES = """examples:
  python -m pytest_clawperator.report claw-results/20260305-101500-3fa2
  python -m pytest_clawperator.report shard-1 shard-2 --output report/index.html
  python -m pytest_clawperator.report claw-results --serve
  python -m pytest_clawperator.report claw-results/20260305-101500-3fa2 --zip test_cart
"""


def main(
    arguments: Sequence[str],
    *,
    show: Callable[[str], None] = print,
    environ: dict[str, str] | os._Environ[str] = os.environ,
) -> int:
    """Run the command; return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        _do(asked, show, environ)
    except ClawperatorError as error:
        print("\n".join(map(visible, str(error).splitlines())), file=sys.stderr)
        return 1
    return 0


def _do(
    asked: argparse.Namespace,
    show: Callable[[str], None],
    environ: dict[str, str] | os._Environ[str],
) -> None:
    folders = [Path(one) for one in asked.folders]
    runs = find_runs(folders)
    if asked.zip is not None:
        run, test = chosen_test(runs, asked.zip)
        show(visible(str(bundle(run, test, asked.output))))
        return
    index = _index_path(folders, asked.output)
    if asked.url:
        _check_published([run.folder for run in runs], index)
    runs = rebuild(runs, index)
    tests = [test for run in runs for test in run.tests]
    show(visible(f"{count_outcomes(tests)}: {index}"))
    summary = asked.summary or environ.get(SUMMARY_VARIABLE)
    if summary:
        add_summary(Path(summary), runs, url=asked.url, start=index.parent)
    if asked.serve:
        serve(index, [run.folder for run in runs], port=asked.port, show=show)


def _index_path(folders: Sequence[Path], output: Path | None) -> Path:
    if output is not None:
        return output / INDEX_FILE if output.is_dir() else output
    if len(folders) > 1:
        raise ConfigurationError(
            f"the index of {len(folders)} folders needs a place",
            hint=f"Add --output {INDEX_FILE}, or the path of another file.",
        )
    return folders[0] / INDEX_FILE


def _check_published(folders: Sequence[Path], index: Path) -> None:
    """Raise ``ConfigurationError`` for a folder that is not published with the index."""
    for folder in folders:
        if not folder.resolve().is_relative_to(index.resolve().parent):
            raise ConfigurationError(
                f"--url is the address of the index's folder, and {folder} is not in it",
                hint=f"Name a folder around all runs, as in --output shards/{INDEX_FILE}.",
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_clawperator.report",
        description="Write the pages of traces again, and one index of all runs in these folders.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("folders", nargs="+", metavar="DIR", help="the folder of a run, or one with several")
    add("--output", "-o", type=Path, metavar="FILE", help="where the index, or the zip, goes")
    add("--serve", action="store_true", help="show it on this computer, until Ctrl-C")
    add("--port", type=int, default=0, help="for --serve; default: a free one")
    add("--zip", metavar="TEST", help="pack the files of one test, named by a part of its id")
    add(
        "--summary",
        metavar="FILE",
        help=f"append a summary in Markdown, as GitHub shows it; default: ${SUMMARY_VARIABLE}",
    )
    add(
        "--url",
        metavar="URL",
        help="where the folder of the index is published, for links and pictures in the summary",
    )
    return parser


_TRACE_FOLDER = "trace"


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """Return the runs in these folders; raise ``ConfigurationError`` for one without any.

    A folder with traces but without the file of a run counts as one run.
    """
    found: dict[Path, Run] = {}
    for folder in folders:
        if not folder.is_dir():
            what = "does not exist" if not folder.exists() else "is not a folder"
            raise ConfigurationError(
                f"{folder} {what}",
                code=ErrorCode.FILE_UNAVAILABLE,
                hint="Name the folder of a run, such as claw-results/20260305-101500-3fa2.",
            )
        places = list(_places(folder))
        if not places:
            raise ConfigurationError(
                f"{folder} has no {RUN_FILE} and no trace: nothing is known of its tests",
                hint="Name the folder of a run that used devices and kept traces, or one that"
                " has such folders.",
            )
        for place in places:
            found.setdefault(place.resolve(), read_run(place))
    return sorted(found.values(), key=lambda run: run.start)


def _places(folder: Path) -> Iterator[Path]:
    has_run = False
    for place, folders, files in os.walk(folder):
        folders.sort()
        if RUN_FILE in files:
            has_run = True
            folders.clear()
            yield Path(place)
    if not has_run and next(traces_in(folder), None) is not None:
        yield folder


def rebuild(runs: Sequence[Run], index: Path) -> list[Run]:
    """Write the page of each trace, the index of each run, and one of all runs; return the runs."""
    for run in runs:
        for found in traces_in(run.folder):
            trace = read_trace(found.folder)
            passed = last_passed(trace, run=run.folder.resolve().name)
            write_page(trace, _page_path(found), passed=passed)
    fresh = [read_run(run.folder) for run in runs]
    with _writing("the index", hint="See that there is room, or name another file with --output."):
        for run in fresh:
            write_index([run], run.folder / INDEX_FILE)
        write_index(fresh, index)
    return fresh


@contextmanager
def _writing(what: str, *, hint: str) -> Iterator[None]:
    """Raise ``ConfigurationError`` for a file that cannot be written."""
    try:
        yield
    except OSError as exc:
        raise ConfigurationError(
            f"{what} {exc.filename or ''} cannot be written: {file_problem(exc)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint=hint,
        ) from exc


def _page_path(trace: Glance) -> Path:
    """Return where the page of a trace belongs: beside it, or in it without a test folder."""
    is_kept = trace.folder.name == _TRACE_FOLDER
    return (trace.folder.parent if is_kept else trace.folder) / PAGE_FILE


_MOST_NAMED = 10


def chosen_test(runs: Sequence[Run], name: str) -> tuple[Run, TestEnded]:
    """Return the last attempt at the test with this name, or with this part in its id."""
    known = [(run, test) for run in runs for test in run.tests if _folder_of(run, test)]
    whole = [pair for pair in known if name in _names_of(pair[1])]
    found = whole or [pair for pair in known if name in pair[1].nodeid]
    names = sorted({test.nodeid for _, test in found})
    if len(names) == 1:
        return max(found, key=lambda pair: pair[1].start)
    shown = names or sorted({test.nodeid for _, test in known})
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    listed = ", ".join(shown[:_MOST_NAMED]) + more or "none"
    raise ConfigurationError(
        f"--zip {name}: {'several tests fit' if names else 'no test with files fits'}: {listed}",
        hint="Give the whole id of one of them."
        if shown
        else "Only tests whose traces were kept have files.",
    )


def _names_of(test: TestEnded) -> tuple[str, str]:
    """Return the id of a test, and the name of its function."""
    return test.nodeid, test.nodeid.rpartition("::")[2]


def bundle(run: Run, test: TestEnded, output: Path | None) -> Path:
    """Write a zip with the files of a test, and return its path."""
    folder = _folder_of(run, test)
    assert folder is not None
    path = output or Path(f"{folder.name}.zip")
    with (
        _writing("the zip", hint="Name another file with --output."),
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        for one in sorted(folder.rglob("*")):
            if one.is_file() and one.resolve() != path.resolve():
                name = PurePosixPath(folder.name) / one.relative_to(folder).as_posix()
                file.write(one, str(name))
    return path


def _folder_of(run: Run, test: TestEnded) -> Path | None:
    """Return the folder of a test's files, if there is one inside the folder of the run."""
    place = test.folder or (str(PurePosixPath(test.page).parent) if test.page else "")
    if not place or place == ".":
        return None
    folder = (run.folder / place).resolve()
    is_inside = run.folder.resolve() in folder.parents
    return folder if is_inside and folder.is_dir() else None


#: The variable that names the file.
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"

# GitHub refuses a step that writes more than a mebibyte.
_MOST_GROUPS, _MOST_TESTS = 30, 10

_MOST_BYTES = 500_000

_LONGEST = 300

_MARKUP = r"""<>&"'\`*_[]~|@#:"""

_PICTURES = ("screenshot.png", "setup-screenshot.png", "teardown-screenshot.png")


def add_summary(path: Path, runs: Sequence[Run], *, url: str | None, start: Path) -> None:
    """Append a summary of runs to a file.

    ``url`` is where the folder ``start`` is published. GitHub shows only published pictures, so
    there are none without it.
    """
    hint = f"Name a file with --summary, or unset {SUMMARY_VARIABLE}."
    with _writing("the summary", hint=hint), path.open("a", encoding="utf-8") as file:
        file.write(summary_text(runs, url=url, start=start))


def summary_text(runs: Sequence[Run], *, url: str | None, start: Path) -> str:
    """Return the summary: the number of tests per outcome, and similar failures in groups."""
    pairs = [(run, test) for run in runs for test in run.tests]
    tests = [test for _, test in pairs]
    lines = [f"### {count_outcomes(tests)}", ""]
    groups = groups_of(tests)
    shown = size = 0
    for group in groups[:_MOST_GROUPS]:
        found = _group_lines([pairs[place] for place in group], url, start)
        size += sum(len(line.encode()) + 1 for line in found)
        if size > _MOST_BYTES:
            break
        lines += found
        shown += 1
    if len(groups) > shown:
        lines += [f"… and {len(groups) - shown} more kinds of failures.", ""]
    return "\n".join([*lines, ""])


def _group_lines(group: Sequence[tuple[Run, TestEnded]], url: str | None, start: Path) -> list[str]:
    error = group[0][1].error
    assert error is not None
    title = f"{error.code}: {error.message}" if error.code else error.message
    lines = [f"<details open><summary>{len(group)} × <code>{_safe(title)}</code></summary>", "<ul>"]
    for run, test in group[:_MOST_TESTS]:
        devices = f" <code>{_safe(', '.join(test.devices))}</code>" if test.devices else ""
        lines.append(f"<li>{_linked(run, test, url, start)}{devices}</li>")
    if len(group) > _MOST_TESTS:
        lines.append(f"<li>… and {len(group) - _MOST_TESTS} more</li>")
    lines.append("</ul>")
    if picture := _picture(*group[0], url, start):
        lines.append(f'<img src="{picture}" width="240" alt="the screen of the first of them">')
    return [*lines, "</details>", ""]


def _linked(run: Run, test: TestEnded, url: str | None, start: Path) -> str:
    name = f"<code>{_safe(test.nodeid)}</code>"
    if url is None or not test.page:
        return name
    return f'<a href="{_address(run.folder / test.page, url, start)}">{name}</a>'


def _picture(run: Run, test: TestEnded, url: str | None, start: Path) -> str | None:
    if url is None or not test.folder:
        return None
    places = [run.folder / test.folder / name for name in _PICTURES]
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else _address(found, url, start)


def _address(path: Path, url: str, start: Path) -> str:
    relative = Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()
    return html.escape(f"{url.rstrip('/')}/{quote(relative)}", quote=True)


def _safe(text: str) -> str:
    """Return text in one line, without markup of HTML or Markdown.

    It is meant for ``<code>``, where GitHub does not turn names and numbers into links either.
    """
    line = visible(" ".join(text[:_LONGEST].split()))
    whole = line.encode("utf-8", "replace").decode("utf-8")
    return "".join(f"&#{ord(one)};" if one in _MARKUP else one for one in whole)


_LOOPBACK = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """Serve the files below a folder to requests that name this computer."""

    def send_head(self) -> Any:
        """Refuse requests for another host name, as DNS rebinding sends them."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in (_LOOPBACK, "localhost"):
            self.send_error(403)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        """Forbid caching: pages are written again."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def serve(index: Path, folders: Sequence[Path], *, port: int, show: Callable[[str], None]) -> None:
    """Serve an index and the folders that it links to, until Ctrl-C."""
    try:
        server, url = server_of(index, folders, port=port)
    except (OSError, OverflowError, ValueError) as exc:
        raise ConfigurationError(
            f"--port {port} cannot be used: {exc}", hint="Leave --port out to use a free one."
        ) from exc
    with server:
        show(url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            show("")


def server_of(
    index: Path, folders: Sequence[Path], *, port: int = 0
) -> tuple[ThreadingHTTPServer, str]:
    """Return a server that listens already, and the URL of the index."""
    places = [index.resolve().parent, *(one.resolve() for one in folders)]
    root = Path(os.path.commonpath(places))
    server = ThreadingHTTPServer((_LOOPBACK, port), partial(_Files, directory=str(root)))
    path = quote(index.resolve().relative_to(root).as_posix())
    return server, f"http://{_LOOPBACK}:{server.server_port}/{path}"
