"""Print pages on the terminal with rich; text from phones is never markup."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from pytest_clawperator.cli.output import Line, Piece, Table
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible, visible_line

_WIDE = 1000


def print_page(page: Sequence[Piece]) -> None:
    """Print the pieces of a page, one below the other."""
    # Outside of a terminal nothing is folded.
    width = None if sys.stdout.isatty() else _WIDE
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=width)
    for piece in page:
        console.print(_table(piece) if isinstance(piece, Table) else _text(piece, visible))
    console.file.flush()


def _table(table: Table) -> RichTable:
    drawn = RichTable(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in table.columns:
        drawn.add_column(column, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_text(cell, visible_line) for cell in row))
    return drawn


def _text(piece: str | Line, show: Callable[[str], str]) -> Text:
    line = piece if isinstance(piece, Line) else Line(piece)
    return Text(show(hide(line.text)), style=line.style)
