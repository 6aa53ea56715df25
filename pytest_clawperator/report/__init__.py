"""WHAT HAPPENED: evidence and reports, made from plain data.

``read_run`` and ``read_trace`` read what a run left behind; ``write_index`` and ``write_page``
write the pages that show it.
"""

from pytest_clawperator.report.index import Run, TestEnded, read_run, write_index
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import Trace, read_trace

__all__ = [
    "Run",
    "TestEnded",
    "Trace",
    "read_run",
    "read_trace",
    "write_index",
    "write_page",
]
