"""The index of a run: which tests ran, where, how long, and what became of them.

``record`` is a line of the file that is written while the tests run, ``writing`` appends them,
``reading`` reads them back and finds the traces, ``likeness`` groups failures, and
``index_page`` writes the page. The format is described in ``docs/reports.md``.
"""
