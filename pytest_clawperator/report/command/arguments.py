"""The words of the command line, and what is done with them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.report.command.bundling import bundle, chosen_test
from pytest_clawperator.report.command.rebuilding import find_runs, rebuild
from pytest_clawperator.report.command.serving import serve
from pytest_clawperator.report.command.step_summary import SUMMARY_VARIABLE, add_summary
from pytest_clawperator.report.index.index_page import INDEX_FILE, told_counts
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
    """Do what the arguments ask for; return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        _do(asked, show, environ)
    except ClawperatorError as error:
        print(visible_lines(str(error)), file=sys.stderr)
        return 1
    return 0


def visible_lines(text: str) -> str:
    """Return text whose lines stay, and whose other control characters are shown."""
    return "\n".join(map(visible, text.splitlines()))


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
    show(visible(f"{told_counts(tests)}: {index}"))
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
            f"{len(folders)} folders have one index, and it is not said where",
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
        description="Make the pages of traces anew, and one index of all runs in these folders.",
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
