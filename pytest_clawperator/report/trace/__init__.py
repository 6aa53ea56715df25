"""The trace of a test: what happened, in its order, written while it happens.

``events`` are the lines that a trace has, ``writing`` appends them, ``reading`` reads them
back. The format is described in ``docs/trace.md``.
"""
