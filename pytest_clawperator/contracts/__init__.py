"""WHAT IS SAID: payloads and envelopes as data, with their rules. No I/O, no clock.

Here belongs what an execution may hold (``actions``, ``params``, ``selectors``, ``limits``), how
it is read, completed and validated (``aliases``, ``completion``, ``payload``, ``schema/``), and
what comes back (``envelope``, ``failures``, ``log``, ``events``). What text and numbers mean to
the reference host is in ``text/``.
"""

# pydantic's core needs it, and panics when it is interrupted while it imports it.
import datetime  # noqa: F401
